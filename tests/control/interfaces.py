"""Calls through the four interfaces to a world: Python, HTTP, a remote sandbox, the command line."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from reseller_sandbox import Refused, Sandbox
from tests.clients import JSON, InProcess, Socket, encoded
from tests.command import run
from tests.documented import ID, document

#: The outcome of a call: ("ok", the result), or (the rule's code, (message, remedy)).
Came = tuple[str, Any]
#: Calls an operation, such as ``clock.advance``, with parameters by name.
Through = Callable[[str, dict[str, Any]], Came]


@dataclass(frozen=True)
class Parameter:
    """A parameter of an operation, with its JSON schema."""

    name: str
    shape: Any
    in_path: bool
    required: bool


@dataclass(frozen=True)
class Operation:
    """An operation of the control interface in the OpenAPI document that Python has, too."""

    id: str
    method: str
    path: str
    parameters: tuple[Parameter, ...]
    streams: bool

    def in_python(self, sandbox: Sandbox) -> Any:
        resource, _, verb = self.id.partition(".")
        return getattr(getattr(sandbox, resource), verb)


def _operations() -> Iterator[Operation]:
    for path, rows in document("control").content["paths"].items():
        for method, row in rows.items():
            name = row[ID].removeprefix("control.")
            if "." not in name or name.startswith(("page.", "manual.", "session.", "reader.", "signature.")):
                continue
            parameters = [
                Parameter(
                    parameter["name"],
                    parameter["schema"],
                    parameter["in"] == "path",
                    parameter.get("required", False),
                )
                for parameter in row["parameters"]
            ]
            body = row.get("requestBody", {}).get("content", {}).get("application/json", {})
            shape = resolved(body.get("schema", {}))
            parameters += [
                Parameter(key, part, False, key in shape.get("required", ()))
                for key, part in shape.get("properties", {}).items()
            ]
            streams = "text/event-stream" in str(row["responses"])
            yield Operation(name, method.upper(), path, tuple(parameters), streams)


def resolved(shape: Any) -> Any:
    """Return a schema of the control interface's document. A reference is followed."""
    while "$ref" in shape:
        shape = document("control").content["components"]["schemas"][shape["$ref"].rpartition("/")[2]]
    return shape


BY_NAME = {operation.id: operation for operation in _operations()}
OPERATIONS = tuple(BY_NAME.values())


def in_python(sandbox: Sandbox) -> Through:
    """Return a function that calls the methods of a sandbox, in this process or remote."""

    def call(name: str, given: dict[str, Any]) -> Came:
        operation, rest = BY_NAME[name], dict(given)
        segments = [rest.pop(parameter.name) for parameter in operation.parameters if parameter.in_path]
        try:
            answer = operation.in_python(sandbox)(*segments, **rest)
        except Refused as refused:
            return refused.code, (refused.message, refused.remedy)
        return "ok", answer.close() if operation.streams else answer

    return call


def over_http(socket: Socket | InProcess) -> Through:
    """Return a function that sends requests, without the client of the sandbox."""

    def call(name: str, given: dict[str, Any]) -> Came:
        operation, rest = BY_NAME[name], dict(given)
        path = re.sub(r"\{(\w+)\}", lambda part: quote(str(rest.pop(part[1], "")), safe=""), operation.path)
        if operation.method == "GET":
            words = {key: _word(value) for key, value in rest.items()}
            answer = socket("GET", f"{path}?{urlencode(words)}" if words else path, [], b"")
        else:
            answer = socket(operation.method, path, [JSON], encoded(rest))
        if answer.status >= 400:
            return str(answer.error), (answer.message, answer.json["remedy"])
        return "ok", None if operation.streams else answer.json

    return call


def by_command(sandbox: Sandbox, url: str) -> Through:
    """Return a function that runs commands. A refusal has the error output as its message."""

    def call(name: str, given: dict[str, Any]) -> Came:
        signature = inspect.signature(BY_NAME[name].in_python(sandbox)).parameters
        placed = [key.removesuffix("_") for key, one in signature.items() if "POSITIONAL" in one.kind.name]
        arguments = [_word(given[key]) for key in placed if key in given]
        options = [_option(key, value) for key, value in given.items() if key not in placed]
        done = run(*name.replace("_", "-").split("."), *options, "--url", url, "--json", "--", *arguments)
        if done.status == 0:
            return "ok", json.loads(done.out)
        return {1: "refused", 2: "invalid_parameter"}[done.status], (done.err,)

    return call


def _option(key: str, value: Any) -> str:
    name = key.replace("_", "-")
    if isinstance(value, bool) and key != "value":
        return f"--{name}" if value else f"--no-{name}"
    return f"--{name}={_word(value)}"


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def measured(result: Any) -> Any:
    """Return a result as built-in types, without measured times, which differ between two runs."""
    if hasattr(result, "__struct_fields__"):
        shown = [name for name in result.__struct_fields__ if not name.startswith("_")]
        result = {"type": type(result).__name__, **{name: getattr(result, name) for name in shown}}
    if isinstance(result, Mapping):
        times = ("duration_ms", "idle_seconds")
        return {name: 0 if name in times else measured(value) for name, value in result.items()}
    return [measured(item) for item in result] if isinstance(result, list | tuple) else result
