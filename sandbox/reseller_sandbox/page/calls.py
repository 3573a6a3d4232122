"""Writes a control operation as a command, as Python, and as HTTP requests of other languages."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from marshmallow import fields

from reseller_sandbox.control.resource import Operation, operations_by_id
from reseller_sandbox.control_http.endpoints import ControlCall, Nothing, about, extra_endpoint
from reseller_sandbox.page.signing import programs
from reseller_sandbox.web.fields import Shape, String


class WrittenCall(Nothing):
    """An operation with its arguments. The arguments can be incomplete."""

    operation = String(required=True, metadata=about("Id of the operation, such as clock.advance."))
    arguments = fields.Dict(String(), fields.Raw(allow_none=True), metadata=about("The arguments by name."))
    world = String(load_default="", metadata=about("The world. Default: the default world."))


class WrittenCalls(Nothing):
    """Calls of operations."""

    calls = fields.List(fields.Nested(WrittenCall()), required=True, metadata=about("The calls."))


class CallTexts(Shape):
    """Each call as a command and as programs."""

    calls = fields.List(
        fields.Dict(String(), String()), metadata=about("The code of each call, by language.")
    )


@extra_endpoint("calls", "calls", method="POST", answer=CallTexts(), body=WrittenCalls(), only_reads=True)
def write(call: ControlCall) -> Any:
    """Return commands and programs that carry out operations.

    Unknown operations are left out.
    """
    operations, base = operations_by_id(call.control.resources.values()), call.request.base
    return {
        "calls": [
            _written(operations[each["operation"]], each.get("arguments", {}), base, each["world"])
            for each in call.arguments["calls"]
            if each["operation"] in operations
        ]
    }


def _written(operation: Operation, arguments: Mapping[str, Any], server: str, world: str) -> dict[str, str]:
    rest = dict(arguments)
    path, query, body = operation.path_with(rest), "", ""
    if rest and operation.method == "GET":
        query = "?" + urlencode({name: _word(value) for name, value in rest.items()})
    elif rest:
        body = json.dumps(rest, ensure_ascii=False)
    prefix = f"/_worlds/{quote(world, safe='')}" if world else ""
    sandbox = f"connect({server!r}, world={world!r})" if world else "sandbox"
    return {
        "Shell": _command(operation, arguments, world),
        "Python": f"{sandbox}.{operation.id}({_python(operation, arguments)})",
        **programs(
            operation.method,
            server + prefix + path + query,
            body,
            {"Content-Type": "application/json"} if body else {},
        ),
    }


def _command(operation: Operation, arguments: Mapping[str, Any], world: str) -> str:
    words = ["reseller-sandbox", *operation.id.replace("_", "-").split(".")]
    if world:
        words += ["--world", world]
    for parameter in operation.parameters:
        if parameter.name not in arguments:
            continue
        value, name = arguments[parameter.name], parameter.name.replace("_", "-")
        if parameter.place != "option":
            words.append(_word(value))
        elif isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no-{name}")
        else:
            words += [f"--{name}", _word(value)]
    return shlex.join(words)


def _word(value: Any) -> str:
    """Return a JSON value as a word of a command. An object of plain texts becomes NAME=VALUE pairs."""
    if isinstance(value, str):
        return value
    texts = value.items() if isinstance(value, dict) else ()
    if texts and all(isinstance(text, str) and not {",", "="} & set(text) for _, text in texts):
        return ",".join(f"{name}={text}" for name, text in texts)
    return json.dumps(value, ensure_ascii=False)


def _python(operation: Operation, arguments: Mapping[str, Any]) -> str:
    """Return the arguments of a Python call. After a missing argument, give each argument by name."""
    words, is_complete = [], True
    for parameter in operation.parameters:
        if parameter.name not in arguments:
            is_complete = False
            continue
        name = "" if is_complete and parameter.place != "option" else f"{parameter.attribute}="
        words.append(f"{name}{arguments[parameter.name]!r}")
    return ", ".join(words)
