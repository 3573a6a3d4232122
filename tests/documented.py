"""Holds every answer against the OpenAPI document that the sandbox serves for it."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any, NamedTuple

from jsonschema_rs import Draft202012Validator, Registry

from reseller_sandbox import Sandbox
from tests.clients import Answer, Headers, Transport

#: What is answered where no operation has taken the request, so that none documents it.
UNMATCHED = ("unknown_path", "method_not_allowed", "uri_too_long")

#: The key of an operation's id in the sandbox.
ID = "x-sandbox-operation"

#: The address of a document's components, which all validators share: a copy for each takes seconds.
BASE = "urn:document"

_PREFIX = re.compile(r"^/_worlds/[^/]+")


class Document:
    """An OpenAPI document, ready to check answers."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.content = content
        components = content["components"]
        self._components = Registry([(BASE, {"components": components})])
        self._closed = Registry([(BASE, {"components": closed(components)})])
        self.paths = [
            (re.compile("".join(_segment(part) for part in re.split(r"(\{\w+\})", path))), operations)
            for path, operations in sorted(content["paths"].items(), key=lambda item: item[0].count("{"))
        ]
        self.validators: dict[str, Draft202012Validator] = {}

    def operation(self, method: str, path: str) -> dict[str, Any] | None:
        operations_there = (
            operations.get(method.lower()) for rule, operations in self.paths if rule.fullmatch(path)
        )
        return next((operation for operation in operations_there if operation is not None), None)

    def check(self, method: str, target: str, answer: Answer) -> None:
        """Assert that the document allows this answer to this request."""
        operation = self.operation(method, _PREFIX.sub("", target).partition("?")[0])
        if operation is None:
            return
        said = operation["responses"].get(str(answer.status), {}).get("headers", {})
        headers = {name for name in map(str.lower, answer.headers) if name.startswith("x-sandbox-")}
        assert headers <= {name.lower() for name in said} or answer.error in UNMATCHED, (
            operation[ID],
            headers,
        )
        form = answer.headers["content-type"].partition(";")[0]
        if form != "application/json":
            assert form in operation["responses"][str(answer.status)]["content"]
            return
        if isinstance(answer.json, dict) and answer.error in UNMATCHED:
            return
        said = operation["responses"].get(str(answer.status))
        assert said is not None, f"{operation[ID]} does not document {answer.status}: {answer.raw!r}"
        self.validate(operation, answer.status, answer.json)

    def validate(self, operation: dict[str, Any], status: int, value: Any) -> None:
        """Assert that ``value`` has the shape in which an operation answers with a status."""
        self.answers(operation["responses"][str(status)]).validate(value)

    def requests(self, said: dict[str, Any]) -> Draft202012Validator:
        """Return what holds a body against the JSON schema of a request, ``said``."""
        return _validator(said["content"]["application/json"]["schema"], self._components)

    def answers(self, said: dict[str, Any]) -> Draft202012Validator:
        """Return what holds a body against the JSON schema of an answer, which may have no other keys."""
        schema = said["content"]["application/json"]["schema"]
        known = json.dumps(schema)  # many an operation has the same one
        if known not in self.validators:
            self.validators[known] = _validator(closed(schema), self._closed)
        return self.validators[known]


def _validator(schema: dict[str, Any], components: Registry) -> Draft202012Validator:
    known = json.dumps(schema).replace('"#/', f'"{BASE}#/')
    return Draft202012Validator(json.loads(known), registry=components)


def closed(part: Any) -> Any:
    """Return a part of a document in which each object has the keys that are described, and no others."""
    if isinstance(part, list):
        return [closed(item) for item in part]
    if not isinstance(part, dict):
        return part
    added = {"additionalProperties": False} if isinstance(part.get("properties"), dict) else {}
    return {**added, **{name: closed(inner) for name, inner in part.items()}}


def _segment(part: str) -> str:
    return r"[^/]+" if part.startswith("{") else re.escape(part)


def document(name: str, answer: Answer | None = None) -> Document:
    """Return the document of ``v3``, ``v2`` or ``control``, as a sandbox serves it.

    With an ``answer`` it is that of a world which assumes what the answer rests on.
    """
    return _document(name, tuple(answer.assumptions.items()) if answer is not None else ())


@cache
def _document(name: str, assumed: tuple[tuple[str, str], ...]) -> Document:
    return _served(name, tuple(pair for pair in assumed if pair not in _defaults()))


@cache
def _defaults() -> set[tuple[str, str]]:
    listed = Sandbox().assumptions.list().assumptions
    return {(row.name, _text(row.default)) for row in listed}


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return "|".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


@cache
def _served(name: str, departures: tuple[tuple[str, str], ...]) -> Document:
    from tests.registry import REGISTRY

    client = Sandbox(
        REGISTRY, assume={key: value.split("|") if "|" in value else value for key, value in departures}
    ).client()
    return Document(client.get(f"/_sandbox/openapi/{name}.json").get_json())


def documented(transport: Transport) -> Transport:
    """``transport``, each of whose answers must be one that the v3 or control document allows."""

    def checked(method: str, target: str, headers: Headers, raw: bytes) -> Answer:
        answer = transport(method, target, headers, raw)
        if method != "HEAD":
            name = "control" if "/_sandbox/" in target else "v3"
            document(name, answer).check(method, target, answer)
        return answer

    return checked


class Operation(NamedTuple):
    """An operation: its method, its paths, and the documented status of each of its error codes."""

    id: str
    method: str
    paths: tuple[str, ...]
    errors: dict[str, int]


@cache
def operations() -> dict[str, Operation]:
    """Return every operation of v3 by its id."""
    known: dict[str, Operation] = {}
    for path, methods in document("v3").content["paths"].items():
        for method, row in methods.items():
            errors = {
                code: int(status)
                for status, answer in row["responses"].items()
                if status != "200"
                for code in answer["content"]["application/json"].get("examples", {})
            }
            paths = known[row[ID]].paths if row[ID] in known else ()
            known[row[ID]] = Operation(row[ID], method.upper(), (*paths, path), errors)
    return known
