"""The routes that authenticate the page on a server with a control token.

The access control of the server accepts or refuses each request before these functions run.
"""

from __future__ import annotations

from marshmallow import fields

from reseller_sandbox.control_http.endpoints import ControlCall, about, extra_endpoint
from reseller_sandbox.web.fields import Shape


class PageSession(Shape):
    """The data of the page's session."""

    instance = fields.String(
        metadata=about(
            "Identifies this start of the server. If the value changes, the server has restarted, and its "
            "worlds can be different. In process, the string is empty."
        )
    )
    change = fields.String(
        metadata=about("Value of the header X-Sandbox-Change for changes by the page, or an empty string.")
    )


def _session(call: ControlCall) -> dict[str, object]:
    """Return the id of this start of the server, and the value for the header X-Sandbox-Change."""
    return {"instance": call.request.instance, "change": call.control.gate.page_word}


show = extra_endpoint("session", "session", answer=PageSession())(_session)


@extra_endpoint("session.begin", "session", method="POST", answer=PageSession())
def begin(call: ControlCall) -> dict[str, object]:
    """Start a session for the page in this browser, with a cookie in place of the control token."""
    _set_cookie(call)
    return _session(call)


@extra_endpoint("session.end", "session", method="DELETE", answer=PageSession())
def end(call: ControlCall) -> dict[str, object]:
    """End the session of the page in this browser."""
    _set_cookie(call, ended=True)
    return {"instance": call.request.instance, "change": ""}


def _set_cookie(call: ControlCall, *, ended: bool = False) -> None:
    if call.control.settings.control_token is not None:
        call.request.headers_out["Set-Cookie"] = call.control.gate.page_cookie(call.request, ended=ended)
