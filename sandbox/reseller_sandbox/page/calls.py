"""Writes a control operation as a command, as Python, and as HTTP requests of other languages."""

from __future__ import annotations

import json
from urllib.parse import quote, urlencode

from marshmallow import fields

from reseller_sandbox.control.calls import command, python, word
from reseller_sandbox.control.resource import operations_by_id
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
def write(call: ControlCall) -> object:
    """Return commands and programs that carry out operations.

    Unknown operations are left out.
    """
    operations, base = operations_by_id(call.control.resources.values()), call.request.base
    texts: list[dict[str, str]] = []
    for each in call.arguments["calls"]:
        if (operation := operations.get(each["operation"])) is None:
            continue
        arguments, world = each.get("arguments", {}), each["world"]
        rest = dict(arguments)
        url, body = operation.path_with(rest), ""
        if rest and operation.method == "GET":
            url += "?" + urlencode({name: word(value) for name, value in rest.items()})
        elif rest:
            body = json.dumps(rest, ensure_ascii=False)
        url = f"{base}/_worlds/{quote(world, safe='')}{url}" if world else base + url
        sandbox = f"connect({base!r}, world={world!r})" if world else "sandbox"
        headers = {"Content-Type": "application/json"} if body else {}
        texts.append(
            {
                "Shell": command(operation, arguments, world),
                "Python": python(operation, arguments, sandbox),
                **programs(operation.method, url, body, headers),
            }
        )
    return {"calls": texts}
