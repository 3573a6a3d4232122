"""The rows that authenticate the page on a server with a control token.

The server's gate has admitted each request before it gets here.
"""

from __future__ import annotations

from typing import Any

from marshmallow import fields

from reseller_sandbox.control_http.rows import ControlCall, about, extra_row
from reseller_sandbox.web.fields import Shape


class PageSession(Shape):
    """The session data of the page."""

    change = fields.String(
        metadata=about("Value of the header X-Sandbox-Change for changes by the page, or an empty string.")
    )


@extra_row("session", "session", answer=PageSession())
def show(call: ControlCall) -> dict[str, Any]:
    """Return the word that the page sends with each change."""
    return _session(call)


def _session(call: ControlCall) -> dict[str, Any]:
    page_pass = call.control.gate.page_pass
    return {"change": page_pass.word if page_pass is not None else ""}


@extra_row("session.begin", "session", method="POST", answer=PageSession())
def begin(call: ControlCall) -> dict[str, Any]:
    """Start a session for the page of this browser, with a cookie for the control token."""
    if (page_pass := call.control.gate.page_pass) is not None:
        call.incoming.headers_out["Set-Cookie"] = page_pass.cookie(call.incoming)
    return _session(call)


@extra_row("session.end", "session", method="DELETE", answer=PageSession())
def end(call: ControlCall) -> dict[str, Any]:
    """End the session of this browser's page."""
    if (page_pass := call.control.gate.page_pass) is not None:
        call.incoming.headers_out["Set-Cookie"] = page_pass.cookie(call.incoming, ended=True)
    return {"change": ""}
