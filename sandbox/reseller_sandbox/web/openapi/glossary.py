"""Texts, links and examples of documents that no declaration contains."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import yaml

from reseller_sandbox.web.interface import Interface


def beside(interface: type[Interface], name: str) -> str:
    """Return the text of a file in an interface's package, or an empty string."""
    package = interface.__module__.rpartition(".")[0]
    file = files(package) / name
    return file.read_text("utf-8") if file.is_file() else ""


@dataclass(frozen=True)
class Glossary:
    """The contents of an interface's ``glossary.yaml``.

    ``terms`` describe properties and parameters by name. A term with a special meaning in one object
    has the path as its key: ``Balance.balance``, ``HostWanted.ip.type``. ``links`` are the operations
    that can follow another one with values from its response.
    """

    title: str
    version: str
    about: str
    terms: Mapping[str, str]
    links: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, interface: type[Interface]) -> Glossary:
        """Return the glossary of an interface."""
        told = yaml.safe_load(beside(interface, "glossary.yaml"))
        return cls(**{"links": {}, **told})

    def put_into(self, document: dict[str, Any]) -> None:
        """Describe the properties and parameters of a document, and link its operations."""
        for name, schema in document["components"].get("schemas", {}).items():
            self._describe(name, schema)
        operations = {one["operationId"]: one for _, one in operations_of(document)}
        for operation in operations.values():
            for one in operation["parameters"]:
                one.setdefault("description", self.terms.get(one["name"], ""))
        for name in self.links.keys() & operations.keys():
            before, following = operations[name], (one for one in self.links[name] if one in operations)
            links = {one: _link(before, operations[one], document) for one in following}
            _first(before["responses"])["links"] = links

    def _describe(self, name: str, schema: Any) -> None:
        for key, shape in schema.get("properties", {}).items():
            about = self.terms.get(f"{name}.{key}") or self.terms.get(key)
            if about:
                shape.setdefault("description", about)
            self._describe(f"{name}.{key}", shape)
        for inner in (schema.get("items"), schema.get("additionalProperties"), *schema.get("oneOf", ())):
            if isinstance(inner, dict):
                self._describe(name, inner)


def operations_of(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the operations of a document, each after its path."""
    for path, row in document["paths"].items():
        for operation in row.values():
            yield path, operation


def _first(responses: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    return next(iter(responses.values()))


def _link(before: Mapping[str, Any], after: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the OpenAPI link from ``before`` to ``after``.

    It fills the path parameters of ``after`` from the response, the path or the body of ``before``.
    """
    known: dict[str, str] = {}
    for where, said in (("request", before.get("requestBody")), ("response", _first(before["responses"]))):
        if said is not None:
            schema = said["content"]["application/json"]["schema"]
            known |= {name: f"${where}.body#{at}" for name, at in _pointers(schema, document)}
        if where == "request":
            known |= {one["name"]: f"$request.path.{one['name']}" for one in before["parameters"]}
    wanted = [one["name"] for one in after["parameters"] if one["in"] == "path"]
    told = {name: known[name if name in known else "name"] for name in wanted}
    return {"operationId": after["operationId"], "parameters": told}


def _pointers(
    schema: Mapping[str, Any], document: Mapping[str, Any], at: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield the keys of an object with their JSON pointers, inner objects first."""
    name = re.sub(".*/", "", schema.get("$ref", ""))
    found = document["components"]["schemas"][name] if name else schema
    for key, inner in found.get("properties", {}).items():
        if not at:
            yield from _pointers(inner, document, f"/{key}")
        yield key, f"{at}/{key}"


@dataclass(frozen=True)
class Examples:
    """The contents of an interface's ``examples.json``.

    ``operations`` are by their ids: the request (``parameters`` and ``body``), and the ``answer``.
    ``errors`` are the bodies of refusals by the code or the message that names the error.
    """

    operations: Mapping[str, Mapping[str, Any]]
    errors: Mapping[str, Any]

    @classmethod
    def of(cls, interface: type[Interface]) -> Examples:
        """Return the examples of an interface."""
        return cls(**json.loads(beside(interface, "examples.json") or '{"operations": {}, "errors": {}}'))

    def put_into(self, document: dict[str, Any]) -> None:
        """Add the examples of operations and errors to a document."""
        if self.errors:
            named = {key_of(name): {"value": body} for name, body in self.errors.items()}
            document["components"]["examples"] = named
        for _, operation in operations_of(document):
            self._put_into(operation)

    def _put_into(self, operation: dict[str, Any]) -> None:
        example = self.operations.get(operation["operationId"], {})
        for one in operation["parameters"]:
            if one["name"] in example.get("parameters", {}):
                one["example"] = example["parameters"][one["name"]]
        if "body" in example:
            operation["requestBody"]["content"]["application/json"]["example"] = example["body"]
        answer, *refusals = operation["responses"].values()
        if "answer" in example:
            answer["content"]["application/json"]["example"] = example["answer"]
        for said in refusals:
            names = re.findall(r"^\* `(.*?)`", said["description"], re.MULTILINE)
            shown = {key_of(name): {"$ref": f"#/components/examples/{key_of(name)}"} for name in names}
            known = {key: one for key, one in shown.items() if key in map(key_of, self.errors)}
            if known:
                said["content"]["application/json"]["examples"] = known


def key_of(name: str) -> str:
    """Return the name of an error as the key of a component."""
    return re.sub(r"\W+", "_", name).strip("_")
