"""What the console signs: the headers of a request as an account of the world would send it.

They are those that the sandbox would let in: by its assumptions, with names that begin with the server's
prefix.
"""

from __future__ import annotations

from typing import Any

from marshmallow import fields, validate

from reseller_sandbox.control_http.rows import ControlCall, Nothing, about, extra_row
from reseller_sandbox.registry.refusals import UNKNOWN_ACCOUNT
from reseller_sandbox.registry.third_parties import account_called
from reseller_sandbox.v3.signing import signed_headers, signed_url
from reseller_sandbox.web.fields import Shape, Text


class UnsignedRequest(Nothing):
    """A request that is to be signed."""

    account = Text(required=True, metadata=about("Who sends it: an account's name, or its client id."))
    interface = Text(
        required=True,
        validate=validate.OneOf(["v3", "v2"], error="must be v3 or v2"),
        metadata=about("Which generation it is for."),
    )
    target = Text(required=True, metadata=about("Its path, with its query."))
    body = Text(load_default="", metadata=about("Its body."))


class RequestSigned(Shape):
    """What signs a request."""

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
    """Return what a request has to carry so that it is let in; for v3 also the string that is signed.

    Nothing is sent, and the secret stays here.
    """
    given, world = call.arguments, call.transport.world
    assumed, account = world.assumptions, account_called(world.present().state, given["account"])
    if given["interface"] == "v2":
        return {"headers": {assumed.token_headers[0]: account.token}, "signed": []}
    base = f"{call.incoming.scheme}://{call.incoming.headers.get('Host', '')}"
    where = signed_url(assumed, base, given["target"])
    body = given["body"] or ("{}" if assumed.signature_payload == "empty_object" else "")
    headers = signed_headers(account.key, account.secret, call.control.header_prefix, where, body.encode())
    return {"headers": headers, "signed": [account.key, where, body]}
