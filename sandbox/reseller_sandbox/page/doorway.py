"""Serves the page to browsers at ``/``, and JSON to programs.

The automatic request for the icon is not recorded as client traffic.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

from reseller_sandbox.web.access_control import PAGE

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


def with_page(app: WSGIApplication) -> WSGIApplication:
    """Return ``app`` with the page at ``/`` for clients that prefer HTML to JSON."""

    def serve(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] in ("GET", "HEAD"):
            path = environ["PATH_INFO"]
            if path == "/" and _prefers_html(environ.get("HTTP_ACCEPT", "")):
                environ["PATH_INFO"] = PAGE
            elif path == "/favicon.ico":
                environ["PATH_INFO"] = f"{PAGE}/icon.svg"
        return app(environ, start_response)

    return serve


def _prefers_html(accept: str) -> bool:
    accepted = parse_accept_header(accept, MIMEAccept)
    return accepted["text/html"] > accepted["application/json"]
