"""Conversion of requests to WSGI environments, and calls of a WSGI application."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from reseller_sandbox.server.delivery import Env
from reseller_sandbox.server.messages import WireAnswer

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

#: Request headers whose WSGI keys have no ``HTTP_`` prefix.
UNMARKED = ("CONTENT_TYPE", "CONTENT_LENGTH")

_ABSOLUTE = re.compile(rb"[a-z][a-z0-9+.-]*://([^/?#]*)(.*)", re.IGNORECASE | re.DOTALL)


def environment(scope: Any) -> WSGIEnvironment:
    """Return the WSGI environment of a request, without its body.

    ``RAW_URI`` is the request target as the client sent it. ``REQUEST_URI`` is its path and query, undecoded.
    They differ only for a target in absolute form.
    """
    target: bytes = scope["state"]["target"]
    server, client = scope["server"] or ("", None), scope["client"] or ("", "")
    environ: WSGIEnvironment = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "REQUEST_URI": origin_form(target).decode("latin-1"),
        "RAW_URI": target.decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1]),
        "REMOTE_ADDR": client[0],
        "REMOTE_PORT": str(client[1]),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": False,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        Env.HOSTS: [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"],
    }
    _add_headers(environ, scope["headers"])
    if absolute := _ABSOLUTE.match(target):
        environ["HTTP_HOST"] = absolute[1].decode("latin-1")
    return environ


def _add_headers(environ: WSGIEnvironment, headers: Iterable[tuple[bytes, bytes]]) -> None:
    for raw_name, raw_value in headers:
        if b"_" in raw_name:  # Skip such a name, because ``a_b`` and ``a-b`` have the same WSGI key.
            continue
        key = environ_key(raw_name.decode("latin-1"))
        value = raw_value.strip(b" \t").decode("latin-1")
        if key in environ:
            value = f"{environ[key]}{'; ' if key == 'HTTP_COOKIE' else ','}{value}"
        environ[key] = value


def environ_key(name: str) -> str:
    """Return the WSGI key of a request header, such as ``HTTP_X_NAME`` for ``X-Name``."""
    key = name.upper().replace("-", "_")
    return key if key in UNMARKED else f"HTTP_{key}"


def origin_form(target: bytes) -> bytes:
    """Return the path and query of a request target, which may be in absolute form."""
    absolute = _ABSOLUTE.match(target)
    if absolute is None:
        return target
    rest = absolute[2]
    return rest if rest.startswith(b"/") else b"/" + rest


def call(app: WSGIApplication, environ: WSGIEnvironment) -> WireAnswer:
    """Return the complete response of ``app``.

    Raise the exceptions of ``app``, and ValueError for a response that cannot be sent.
    """
    head: list[Any] = []
    written: list[bytes] = []

    def start_response(
        status: str, headers: list[tuple[str, str]], _exc_info: object = None
    ) -> Callable[[bytes], object]:
        head[:] = [status, headers]
        return written.append

    result = app(environ, start_response)
    try:
        written.extend(result)
    finally:
        if hasattr(result, "close"):
            result.close()
    if not head:
        raise ValueError("the application did not start a response")
    return _answer(head[0], head[1], b"".join(written), environ["REQUEST_METHOD"])


def _answer(line: str, headers: list[tuple[str, str]], body: bytes, method: str) -> WireAnswer:
    status = int(line[:3])
    if not 200 <= status <= 599:
        raise ValueError(f"the status of a response must be from 200 to 599, not {line!r}")
    length = b"%d" % len(body)
    encoded: list[tuple[bytes, bytes]] = []
    for name, value in headers:
        if name.lower() != "content-length":
            encoded.append((name.encode("latin-1"), value.encode("latin-1")))
        elif method == "HEAD":
            length = value.encode("latin-1")
    if status in (204, 304):
        return WireAnswer(status, encoded, b"")
    encoded.append((b"content-length", length))
    return WireAnswer(status, encoded, b"" if method == "HEAD" else body)
