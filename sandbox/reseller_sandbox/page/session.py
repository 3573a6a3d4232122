"""The rows by which the page of a browser is let in to a server that wants a control token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from marshmallow import fields

from reseller_sandbox.control.rows import ControlCall, Nothing
from reseller_sandbox.core.refusals import INVALID_PARAMETER, MALFORMED_BODY
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.fields import Shape
from reseller_sandbox.web.gate import Gate


class PageSession(Shape):
    """What the page has to know of its session."""

    change = fields.String(
        metadata={"description": "What X-Sandbox-Change carries in all that the page changes; or nothing."}
    )


class SessionRows:
    """The rows of a server behind ``gate``, which has let each request in before it gets here."""

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
        return (
            _row("session", "GET", self.show),
            _row("session.begin", "POST", self.begin),
            _row("session.end", "DELETE", self.end),
        )


def _row(name: str, method: str, handle: Callable[[ControlCall], dict[str, Any]]) -> Endpoint:
    return Endpoint(
        id=f"control.{name}",
        method=method,
        paths=("/_sandbox/session",),
        handle=handle,
        answer=PageSession(),
        query=Nothing(),
        body=None if method == "GET" else Nothing(),
        refuses=(*((MALFORMED_BODY,) if method != "GET" else ()), INVALID_PARAMETER),
    )
