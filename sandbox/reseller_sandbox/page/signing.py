"""What the console signs: the headers of a request as an account of the world would send it."""

from __future__ import annotations

from typing import Any

from marshmallow import RAISE, Schema, fields, validate

from reseller_sandbox.control.rows import ControlCall, Nothing
from reseller_sandbox.core.outside import account_called
from reseller_sandbox.core.refusals import INVALID_PARAMETER, MALFORMED_BODY, UNKNOWN_ACCOUNT
from reseller_sandbox.core.texts import Must
from reseller_sandbox.v3.signing import signed_headers, signed_url
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.fields import Shape, Text

#: Where the console has its requests signed.
SIGNATURE = "/_sandbox/signature"


class UnsignedRequest(Schema):
    """A request that is to be signed."""

    error_messages = Shape.error_messages

    class Meta:
        unknown = RAISE

    account = Text(
        required=True, metadata={"description": "Who sends it: an account's name, or its client id."}
    )
    interface = Text(
        required=True,
        validate=validate.OneOf(["v3", "v2"], error=Must("be v3 or v2")),
        metadata={"description": "Which generation it is for."},
    )
    target = Text(required=True, metadata={"description": "Its path, with its query."})
    body = Text(load_default="", metadata={"description": "Its body."})


class RequestSigned(Shape):
    """What signs a request."""

    headers = fields.Dict(Text(), Text(), metadata={"description": "What the request has to carry."})
    signed = fields.List(
        Text(),
        metadata={"description": "The texts that are signed, with nothing between them: key, URL and body."},
    )


class SignatureRows:
    """Signs as the sandbox would let it in: by its assumptions, with headers that begin with ``prefix``."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def sign(self, call: ControlCall) -> dict[str, Any]:
        """Return what a request has to carry so that it is let in; for v3 also the string that is signed.

        Nothing is sent, and the secret stays here.
        """
        given, world = call.arguments, call.door.world
        assumed, account = world.assumptions, account_called(world.present().state, given["account"])
        if given["interface"] == "v2":
            return {"headers": {assumed.token_headers[0]: account.token}, "signed": []}
        base = f"{call.incoming.scheme}://{call.incoming.headers.get('Host', '')}"
        where = signed_url(assumed, base, given["target"])
        body = given["body"] or ("{}" if assumed.signature_payload == "empty_object" else "")
        headers = signed_headers(account.key, account.secret, self._prefix, where, body.encode())
        return {"headers": headers, "signed": [account.key, where, body]}

    def rows(self) -> tuple[Endpoint, ...]:
        """Return the one row."""
        row = Endpoint(
            id="control.signature",
            method="POST",
            paths=(SIGNATURE,),
            handle=self.sign,
            answer=RequestSigned(),
            query=Nothing(),
            body=UnsignedRequest(),
            refuses=(MALFORMED_BODY, INVALID_PARAMETER, UNKNOWN_ACCOUNT),
            only_reads=True,
        )
        return (row,)
