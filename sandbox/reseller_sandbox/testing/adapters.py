"""In-process transports: the same HTTP client as in production, without a socket.

For httpx there is one already: ``httpx.Client(transport=httpx.WSGITransport(app=sandbox.app))``.
"""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from requests import PreparedRequest, Response
from requests.adapters import BaseAdapter
from requests.utils import get_encoding_from_headers
from werkzeug.test import EnvironBuilder, run_wsgi_app

if TYPE_CHECKING:
    from flask import Flask


class SandboxAdapter(BaseAdapter):
    """Carries the requests of a ``requests.Session`` to a sandbox in this process.

    >>> session = requests.Session()
    >>> session.mount("https://api.example.test", SandboxAdapter(sandbox.app))

    What would have been a broken connection is raised as the ConnectionError, or the TimeoutError,
    that the sandbox was told to cause.
    """

    def __init__(self, app: Flask) -> None:
        super().__init__()
        self._app = app

    def send(self, request: PreparedRequest, *_: Any, **__: Any) -> Response:
        """The sandbox's answer to ``request``."""
        where = urlsplit(str(request.url))
        environ = EnvironBuilder(
            request.path_url,
            f"{where.scheme}://{where.netloc}/",
            method=str(request.method),
            headers=[(name, _text(value)) for name, value in request.headers.items()],
            input_stream=BytesIO(_bytes(request.body)),
        ).get_environ()
        environ["REQUEST_URI"] = request.path_url  # the target as it would be sent: it is what is signed
        answer, status, headers = run_wsgi_app(self._app, environ, buffered=True)
        response = Response()
        response.status_code = int(status[:3])
        response.reason = status[4:]
        response.headers.update(dict(headers))
        response.encoding = get_encoding_from_headers(response.headers)
        response.raw = BytesIO(b"".join(answer))
        response.url = str(request.url)
        response.request = request
        return response

    def close(self) -> None:
        """Nothing is held open."""


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("latin-1")


def _bytes(body: Any) -> bytes:
    """A request's body, which may be text, bytes, a file or pieces of any of them."""
    if body is None:
        return b""
    if hasattr(body, "read"):
        body = body.read()
    if isinstance(body, str):
        return body.encode()
    return body if isinstance(body, bytes) else b"".join(_bytes(piece) for piece in body)
