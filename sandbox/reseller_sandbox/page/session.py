"""The rows for which the page needs more than the powers: its session, and signatures for the console."""

from __future__ import annotations

from typing import Any

from marshmallow import RAISE, Schema, fields, validate

from reseller_sandbox.control.rows import ControlCall, extra_row
from reseller_sandbox.core.outside import account_called
from reseller_sandbox.core.refusals import UNKNOWN_ACCOUNT
from reseller_sandbox.core.texts import Must
from reseller_sandbox.powers.power import ROOT
from reseller_sandbox.v3.signing import signed_headers, signed_url
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.fields import Shape, Text
from reseller_sandbox.web.gate import Gate


class PageSession(Shape):
    """What the page has to know of its session."""

    change = fields.String(
        metadata={"description": "What X-Sandbox-Change carries in all that the page changes; or nothing."}
    )


class SessionRows:
    """The rows by which the page of a browser is let in to a server that wants a control token.

    The server's ``gate`` has let each request in before it gets here.
    """

    name = "session"

    def __init__(self, gate: Gate) -> None:
        self._pass = gate.page_pass

    def show(self, call: ControlCall) -> dict[str, Any]:  # noqa: ARG002
        """Return what the page has to send with all that it changes."""
        return {"change": self._pass.word if self._pass is not None else ""}

    def begin(self, call: ControlCall) -> dict[str, Any]:
        """Let the page of this browser in, which has shown the control token: from now on by a cookie."""
        if self._pass is not None:
            call.incoming.headers_out["Set-Cookie"] = self._pass.cookie(call.incoming)
        return self.show(call)

    def end(self, call: ControlCall) -> dict[str, Any]:
        """Let the page of this browser in no more without the control token."""
        if self._pass is not None:
            call.incoming.headers_out["Set-Cookie"] = self._pass.cookie(call.incoming, ended=True)
        return {"change": ""}

    def rows(self) -> tuple[Endpoint, ...]:
        """Return the rows."""
        path, told = f"{ROOT}/session", {"answer": PageSession(), "subject": self}
        return (
            extra_row("session", path, self.show, **told),
            extra_row("session.begin", path, self.begin, method="POST", **told),
            extra_row("session.end", path, self.end, method="DELETE", **told),
        )


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
    """What the console signs: the headers of a request as an account of the world would send it.

    They are those that the sandbox would let in: by its assumptions, with names that begin with ``prefix``.
    """

    name = "signing"

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
        told: dict[str, Any] = {"answer": RequestSigned(), "body": UnsignedRequest(), "only_reads": True}
        path = f"{ROOT}/signature"
        row = extra_row("signature", path, self.sign, UNKNOWN_ACCOUNT, method="POST", subject=self, **told)
        return (row,)
