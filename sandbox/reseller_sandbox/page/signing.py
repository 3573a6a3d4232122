"""Signs requests for the page's console, as an account of the world.

The headers follow the world's assumptions and the server's header prefix.
"""

from __future__ import annotations

from typing import Any

from marshmallow import fields

from reseller_sandbox.control_http.rows import ControlCall, Nothing, about, extra_row
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


class SignedRequest(Shape):
    """The headers of a signed request."""

    headers = fields.Dict(String(), String(), metadata=about("Headers of the signed request."))
    signed = fields.List(
        String(), metadata=about("Parts of the signed string in their order. Empty without a signature.")
    )


@extra_row(
    *("signature", "signature", UNKNOWN_ACCOUNT),
    method="POST",
    answer=SignedRequest(),
    body=UnsignedRequest(),
    only_reads=True,
)
def sign(call: ControlCall) -> Any:
    """Return the headers that authenticate a request, and its signed string.

    The sandbox sends nothing, and the answer does not contain the secret.
    """
    arguments, world, control = call.arguments, call.transport.world, call.control
    account, target = find_account(world.present().state, arguments["account"]), arguments["target"]
    base = f"{call.request.scheme}://{call.request.headers.get('Host', '')}"
    prefix, body = control.settings.header_prefix, arguments["body"].encode()
    interface = interfaces.interface_of(target, control.public) or control.public[0]
    return interface.sign(interfaces.UnsignedRequest(account, world.assumptions, prefix, base, target, body))
