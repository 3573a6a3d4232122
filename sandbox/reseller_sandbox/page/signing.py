"""Signs requests for the page's console, as an account of the world.

The headers follow the world's assumptions and the server's header prefix.
"""

from __future__ import annotations

from typing import Any

from marshmallow import fields, validate

from reseller_sandbox.control_http.rows import ControlCall, Nothing, about, extra_row
from reseller_sandbox.refusals import UNKNOWN_ACCOUNT
from reseller_sandbox.registry.third_parties import find_account
from reseller_sandbox.v3.signing import signed_headers, signed_url
from reseller_sandbox.web.fields import Shape, String


class UnsignedRequest(Nothing):
    """A request to sign."""

    account = String(
        required=True, metadata=about("Name or client id of the account that sends the request.")
    )
    interface = String(
        required=True,
        validate=validate.OneOf(["v3", "v2"], error="must be v3 or v2"),
        metadata=about("Interface of the request: v3 or v2."),
    )
    target = String(required=True, metadata=about("Path and query of the request."))
    body = String(load_default="", metadata=about("Body of the request."))


class SignedRequest(Shape):
    """The headers of a signed request."""

    headers = fields.Dict(String(), String(), metadata=about("Headers of the signed request."))
    signed = fields.List(
        String(), metadata=about("Parts of the signed string, in this order: key, URL and body.")
    )


@extra_row(
    *("signature", "signature", UNKNOWN_ACCOUNT),
    method="POST",
    answer=SignedRequest(),
    body=UnsignedRequest(),
    only_reads=True,
)
def sign(call: ControlCall) -> dict[str, Any]:
    """Return the headers that authenticate a request, and for v3 the signed string.

    The sandbox sends nothing, and the answer does not contain the secret.
    """
    arguments, world = call.arguments, call.transport.world
    assumptions, account = world.assumptions, find_account(world.present().state, arguments["account"])
    if arguments["interface"] == "v2":
        return {"headers": {assumptions.token_headers[0]: account.token}, "signed": []}
    base = f"{call.request.scheme}://{call.request.headers.get('Host', '')}"
    url = signed_url(assumptions, base, arguments["target"])
    body = arguments["body"] or ("{}" if assumptions.signature_payload == "empty_object" else "")
    headers = signed_headers(account.key, account.secret, call.control.header_prefix, url, body.encode())
    return {"headers": headers, "signed": [account.key, url, body]}
