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
from reseller_sandbox.web.fields import Shape, Text


class UnsignedRequest(Nothing):
    """A request to sign."""

    account = Text(required=True, metadata=about("Who sends it: an account's name, or its client id."))
    interface = Text(
        required=True,
        validate=validate.OneOf(["v3", "v2"], error="must be v3 or v2"),
        metadata=about("Which generation it is for."),
    )
    target = Text(required=True, metadata=about("Its path, with its query."))
    body = Text(load_default="", metadata=about("Its body."))


class RequestSigned(Shape):
    """The headers of a signed request."""

    headers = fields.Dict(Text(), Text(), metadata=about("What the request has to carry."))
    signed = fields.List(
        Text(), metadata=about("The texts that are signed, with nothing between them: key, URL and body.")
    )


@extra_row(
    *("signature", "signature", UNKNOWN_ACCOUNT),
    method="POST",
    answer=RequestSigned(),
    body=UnsignedRequest(),
    only_reads=True,
)
def sign(call: ControlCall) -> dict[str, Any]:
    """Return the headers that authenticate a request, and for v3 the signed string.

    The sandbox sends nothing, and the answer does not contain the secret.
    """
    given, world = call.arguments, call.transport.world
    assumed, account = world.assumptions, find_account(world.present().state, given["account"])
    if given["interface"] == "v2":
        return {"headers": {assumed.token_headers[0]: account.token}, "signed": []}
    base = f"{call.incoming.scheme}://{call.incoming.headers.get('Host', '')}"
    where = signed_url(assumed, base, given["target"])
    body = given["body"] or ("{}" if assumed.signature_payload == "empty_object" else "")
    headers = signed_headers(account.key, account.secret, call.control.header_prefix, where, body.encode())
    return {"headers": headers, "signed": [account.key, where, body]}
