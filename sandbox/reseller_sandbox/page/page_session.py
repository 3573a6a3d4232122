"""The rows by which the page of a browser is let in to a server that wants a control token.

The server's ``gate`` has let each request in before it gets here.
"""

from __future__ import annotations

from typing import Any

from marshmallow import fields

from reseller_sandbox.control_http.rows import ControlCall, about, extra_row
from reseller_sandbox.web.fields import Shape


class PageSession(Shape):
    """What the page has to know of its session."""

    change = fields.String(
        metadata=about("What X-Sandbox-Change carries in all that the page changes; or nothing.")
    )


@extra_row("session", "session", answer=PageSession())
def show(call: ControlCall) -> dict[str, Any]:
    """Return what the page has to send with all that it changes."""
    page_pass = call.control.gate.page_pass
    return {"change": page_pass.word if page_pass is not None else ""}


@extra_row("session.begin", "session", method="POST", answer=PageSession())
def begin(call: ControlCall) -> dict[str, Any]:
    """Let the page of this browser in, which has shown the control token: from now on by a cookie."""
    page_pass = call.control.gate.page_pass
    if page_pass is None:
        return {"change": ""}
    call.incoming.headers_out["Set-Cookie"] = page_pass.cookie(call.incoming)
    return {"change": page_pass.word}


@extra_row("session.end", "session", method="DELETE", answer=PageSession())
def end(call: ControlCall) -> dict[str, Any]:
    """Let the page of this browser in no more without the control token."""
    if (page_pass := call.control.gate.page_pass) is not None:
        call.incoming.headers_out["Set-Cookie"] = page_pass.cookie(call.incoming, ended=True)
    return {"change": ""}
