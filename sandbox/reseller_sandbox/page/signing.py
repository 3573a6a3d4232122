"""Routes for the page: they sign requests with credentials, and write requests as commands and code.

The headers follow the world's assumptions and the server's header prefix.
"""

from __future__ import annotations

import json
import shlex
from itertools import chain

from marshmallow import fields

from reseller_sandbox.control_http.endpoints import ControlCall, Nothing, about, extra_endpoint
from reseller_sandbox.refusals import UNKNOWN_ACCOUNT
from reseller_sandbox.registry.third_parties import find_account
from reseller_sandbox.web import interfaces
from reseller_sandbox.web.fields import Shape, String


class UnsignedRequest(Nothing):
    """A request to sign."""

    account = String(
        required=True, metadata=about("Name or client id of the account that sends the request.")
    )
    target = String(
        required=True,
        metadata=about("Path and query of the request, with the prefix of a world if it has one."),
    )
    body = String(load_default="", metadata=about("Body of the request."))


class CopiedRequest(UnsignedRequest):
    """A request to write as commands and code. Without an account, the request is not signed."""

    account = String(
        load_default="", metadata=about("Name or client id of the account that sends the request.")
    )
    method = String(required=True, metadata=about("Method of the request."))


class RequestCopies(Shape):
    """Commands and code that send a request."""

    copies = fields.Dict(String(), String(), metadata=about("Code that sends the request, by language."))


class SignedRequest(Shape):
    """The headers that sign a request, and the signed string."""

    headers = fields.Dict(String(), String(), metadata=about("Headers of the signed request."))
    signed = fields.List(
        String(), metadata=about("Parts of the signed string in their order. Empty without a signature.")
    )


@extra_endpoint(
    *("signature", "signature", UNKNOWN_ACCOUNT),
    method="POST",
    answer=SignedRequest(),
    body=UnsignedRequest(),
    only_reads=True,
)
def sign(call: ControlCall) -> object:
    """Return the headers that authenticate a request, and the signed string.

    The sandbox sends nothing, and the answer does not contain the secret.
    """
    return _signed(call, call.arguments["account"], call.arguments["target"], call.arguments["body"])


@extra_endpoint(
    *("signature.copies", "signature/copies", UNKNOWN_ACCOUNT),
    method="POST",
    answer=RequestCopies(),
    body=CopiedRequest(),
    only_reads=True,
)
def copy(call: ControlCall) -> object:
    """Return commands and code that send a request, including the headers that sign the request."""
    account, target, body, method = (call.arguments[key] for key in ("account", "target", "body", "method"))
    headers = dict(_signed(call, account, target, body).headers) if account else {}
    if body:
        headers["Content-Type"] = "application/json"
    sender = ("--account", account) if account else ()
    # A body that begins with @ would name a file.
    word = f"@{body}" if body.startswith("@") else body
    words = ["reseller-sandbox", "request", method, target, *([word] if word else []), *sender]
    url = call.request.base + target
    return {"copies": {"Shell": shlex.join(words), **programs(method, url, body, headers)}}


def programs(method: str, url: str, body: str, headers: dict[str, str]) -> dict[str, str]:
    """Return commands and programs that send a request, by language or tool."""
    lines = [f"{name}: {value}" for name, value in headers.items()]

    def command(data: str, *words: str) -> str:
        return shlex.join([*words, *((data, body) if body else ())])

    def python(library: str, data: str) -> str:
        parts = [repr(method), repr(url), f"headers={headers!r}", *([f"{data}={body!r}"] if body else [])]
        return f"{library}.request({', '.join(parts)})"

    sent = {"method": method, "headers": headers} | ({"body": body} if body else {})
    http = {"method": method, "header": lines, "ignore_errors": True} | ({"content": body} if body else {})
    return {
        "curl": command("--data-raw", "curl", "-X", method, url, *chain(*(("-H", line) for line in lines))),
        "HTTPie": command("--raw", "http", method, url, *(line.replace(": ", ":", 1) for line in lines)),
        "PHP": f"echo file_get_contents({_php(url)}, false, stream_context_create({_php({'http': http})}));",
        "Node": f"console.log(await (await fetch({json.dumps(url)}, {json.dumps(sent)})).text())",
        "httpx": python("httpx", "content"),
        "requests": python("requests", "data"),
    }


def _php(value: object) -> str:
    """Return a JSON value in PHP syntax."""
    if isinstance(value, dict):
        return f"[{', '.join(f'{_php(key)} => {_php(item)}' for key, item in value.items())}]"
    if isinstance(value, list):
        return f"[{', '.join(map(_php, value))}]"
    if isinstance(value, str):
        quoted = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{quoted}'"
    return json.dumps(value)


def _signed(call: ControlCall, account: str, target: str, body: str) -> interfaces.SignedRequest:
    world, control = call.transport.world, call.control
    interface = interfaces.interface_of(target, control.public) or control.public[0]
    return interface.sign(
        interfaces.UnsignedRequest(
            account=find_account(world.present().state, account),
            assumed=world.assumptions,
            header_prefix=control.settings.header_prefix,
            base=call.request.base,
            target=target,
            body=body.encode(),
        )
    )
