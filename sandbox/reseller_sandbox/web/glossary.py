"""Texts, links and examples for OpenAPI documents, from files in the package of an interface."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain
from typing import Any

from msgspec import yaml

from reseller_sandbox.values.parameters import docstring
from reseller_sandbox.web.interface import Interface


def package_text(interface: type[Interface], name: str) -> str:
    """Return the text of a file in an interface's package, or an empty string."""
    package = interface.package()
    file = files(package) / name if package else None
    return file.read_text("utf-8") if file is not None and file.is_file() else ""


@dataclass(frozen=True)
class Glossary:
    """The contents of an interface's ``glossary.yaml``.

    ``terms`` describe properties and parameters by name. A term with a special meaning in one object
    has the path as its key: ``Balance.balance``, ``HostRequest.ip.type``. ``links`` are the operations
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
        values = yaml.decode(package_text(interface, "glossary.yaml")) or {}
        defaults = {"title": interface.name, "version": "1.0", "about": docstring(interface)}
        return cls(**{**defaults, "terms": {}, "links": {}, **values})

    def put_into(self, document: dict[str, Any]) -> None:
        """Add the descriptions and the links of this glossary to an OpenAPI document."""
        for name, schema in document["components"].get("schemas", {}).items():
            self._describe(name, schema)
        operations = {operation["operationId"]: operation for operation in operations_of(document)}
        for operation in operations.values():
            for parameter in operation["parameters"]:
                parameter.setdefault("description", self.terms.get(parameter["name"], ""))
        for name in self.links.keys() & operations.keys():
            before = operations[name]
            targets = [target for target in self.links[name] if target in operations]
            links = {target: _link(before, operations[target], document) for target in targets}
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


def operations_of(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the operations of an OpenAPI document."""
    return chain.from_iterable(path.values() for path in document["paths"].values())


def _first(responses: Mapping[str, dict[str, object]]) -> dict[str, Any]:
    return next(iter(responses.values()))


def _link(
    before: Mapping[str, Any], after: Mapping[str, Any], document: Mapping[str, object]
) -> dict[str, Any]:
    """Return the OpenAPI link from ``before`` to ``after``.

    The link fills the path parameters of ``after`` from the response, the path or the body of ``before``.
    """
    sources = _body_sources("request", before.get("requestBody"), document)
    sources |= {sent["name"]: f"$request.path.{sent['name']}" for sent in before["parameters"]}
    sources |= _body_sources("response", _first(before["responses"]), document)
    names = [parameter["name"] for parameter in after["parameters"] if parameter["in"] == "path"]
    parameters = {name: sources[name if name in sources else "name"] for name in names}
    return {"operationId": after["operationId"], "parameters": parameters}


def _body_sources(message: str, body: Any, document: Mapping[str, object]) -> dict[str, str]:
    """Return the link expression of each key in a body, such as ``$response.body#/id``."""
    if body is None:
        return {}
    schema = body["content"]["application/json"]["schema"]
    return {name: f"${message}.body#{pointer}" for name, pointer in _pointers(schema, document)}


def _pointers(
    schema: Mapping[str, Any], document: Mapping[str, Any], at: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield each key of an object with its JSON pointer. The keys of inner objects come first."""
    name = re.sub(".*/", "", schema.get("$ref", ""))
    shape = document["components"]["schemas"][name] if name else schema
    for key, inner in shape.get("properties", {}).items():
        if not at:
            yield from _pointers(inner, document, f"/{key}")
        yield key, f"{at}/{key}"


@dataclass(frozen=True)
class Examples:
    """The contents of an interface's ``examples.json``.

    ``operations`` has a request (``parameters`` and ``body``) and the ``answer`` by operation id. ``errors``
    has the bodies of refusals by the code or the message that names the error.
    """

    operations: Mapping[str, Mapping[str, Any]]
    errors: Mapping[str, Any]

    @classmethod
    def of(cls, interface: type[Interface]) -> Examples:
        """Return the examples of an interface."""
        return cls(
            **json.loads(package_text(interface, "examples.json") or '{"operations": {}, "errors": {}}')
        )

    def put_into(self, document: dict[str, Any]) -> None:
        """Add the examples of operations and errors to an OpenAPI document."""
        if self.errors:
            named = {key_of(name): {"value": body} for name, body in self.errors.items()}
            document["components"]["examples"] = named
        for operation in operations_of(document):
            self._put_into(operation)

    def _put_into(self, operation: dict[str, Any]) -> None:
        example = self.operations.get(operation["operationId"], {})
        for parameter in operation["parameters"]:
            if parameter["name"] in example.get("parameters", {}):
                parameter["example"] = example["parameters"][parameter["name"]]
        if "body" in example:
            operation["requestBody"]["content"]["application/json"]["example"] = example["body"]
        answer, *refusals = operation["responses"].values()
        if "answer" in example:
            answer["content"]["application/json"]["example"] = example["answer"]
        documented = set(map(key_of, self.errors))
        for refusal in refusals:
            names = re.findall(r"^\* `(.*?)`", refusal["description"], re.MULTILINE)
            keys = [key for key in map(key_of, names) if key in documented]
            if keys:
                references = {key: {"$ref": f"#/components/examples/{key}"} for key in keys}
                refusal["content"]["application/json"]["examples"] = references


def key_of(name: str) -> str:
    """Return the key of an error's example in the OpenAPI components."""
    return re.sub(r"\W+", "_", name).strip("_")
