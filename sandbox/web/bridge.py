"""The bridge from uvicorn to the WSGI application, which it calls right on the event loop.

A call is a few hundred microseconds of computation, so it wants no thread, and
requests take effect in the order in which they arrive.
"""

from __future__ import annotations

import asyncio
import logging
import re
import sys
import traceback
from collections.abc import Callable, Iterable
from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from sandbox.core.clock import stopwatch
from sandbox.web.problem import Problem
from sandbox.web.requestlog import RequestLine, masked
from sandbox.web.transport import ENV_DELIVERY, ENV_NOTE, ENV_SERVED, ENV_TOO_LARGE, Delivery, Hang
from sandbox.web.wire import Answer, Receive, Send, Wire

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

log = logging.getLogger("sandbox")

#: How much of a body that is too large is read and thrown away, and for how many seconds: a client that
#: is cut off while it sends would not get to read the answer that tells it so.
SPILL_BYTES = 16 << 20
SPILL_SECONDS = 2.0

PLAIN = Delivery()
FAILED = Problem(500, "internal_error", "The sandbox failed while answering; its log says where.")

_ABSOLUTE = re.compile(rb"[a-z][a-z0-9+.-]*://([^/?#]*)(.*)", re.IGNORECASE | re.DOTALL)


class Gone(Exception):
    """The client left before its request was complete."""


class TooLarge(Exception):
    """The body is longer than is taken."""


class Bridge:
    """An ASGI application that serves ``app``, taking bodies of up to ``max_body`` bytes.

    A longer body is not read: ``app`` is called with an empty one and
    ``sandbox.body_too_large`` set, and the connection is closed after its answer.
    """

    def __init__(
        self, app: WSGIApplication, max_body: int, request_log: Callable[[RequestLine], None] | None
    ) -> None:
        self.app = app
        self.max_body = max_body
        self.request_log = request_log
        #: The answers being held back, and whether they are still to come. Stopping looks here.
        self.held: dict[asyncio.Task[Any], bool] = {}

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Serve one request."""
        began = stopwatch()
        wire = Wire(receive, send, scope["state"]["transport"], scope["state"]["tcp"])
        environ = environment(scope)
        try:
            await self._read(environ, receive)
        except Gone:
            return
        answer = self._call(environ)
        delivery = environ.get(ENV_DELIVERY) or PLAIN
        try:
            await self._deliver(wire, answer, delivery, environ)
        except asyncio.CancelledError:
            await wire.drop()
        if self.request_log is not None:
            method, target = environ["REQUEST_METHOD"], masked(environ["RAW_URI"])
            note, took = environ.get(ENV_NOTE, ""), stopwatch() - began
            self.request_log(RequestLine(method, target, answer.status, took, len(answer.body), note))

    async def _read(self, environ: WSGIEnvironment, receive: Receive) -> None:
        """Put the body into ``environ``, or the word that it is too large; raises Gone."""
        try:
            body = await read_body(environ, receive, self.max_body)
        except TooLarge:
            body = b""
            environ[ENV_TOO_LARGE] = True
        if body or "CONTENT_LENGTH" in environ:
            environ["CONTENT_LENGTH"] = str(len(body))
        environ["wsgi.input"] = BytesIO(body)

    def _call(self, environ: WSGIEnvironment) -> Answer:
        try:
            return call(self.app, environ)
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{frame.filename}, line {frame.lineno}"
            asked = f"{environ['REQUEST_METHOD']} {masked(environ['RAW_URI'])}"
            log.error("%s failed with %s: %r (%s)", asked, type(error).__name__, str(error), where)
            environ.pop(ENV_DELIVERY, None)
            return FAILED.answer()

    async def _deliver(
        self, wire: Wire, answer: Answer, delivery: Delivery, environ: WSGIEnvironment
    ) -> None:
        if delivery is PLAIN and ENV_TOO_LARGE not in environ:
            await wire.carry(answer, delivery)
            return
        task = asyncio.current_task()
        assert task is not None
        self.held[task] = not isinstance(delivery.cut, Hang)
        try:
            if delivery is PLAIN:
                await refuse_body(wire, answer)
            else:
                await wire.carry(answer, delivery)
        finally:
            del self.held[task]


async def read_body(environ: WSGIEnvironment, receive: Receive, limit: int) -> bytes:
    """The request's body; raises :class:`TooLarge` past ``limit`` bytes, and :class:`Gone`.

    A body whose announced length is too large is not asked for: who waits for
    ``100 Continue`` gets the refusal in its place.
    """
    announced = environ.get("CONTENT_LENGTH")
    if announced is None and "HTTP_TRANSFER_ENCODING" not in environ:
        return b""
    if announced is not None and int(announced) > limit:
        raise TooLarge
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        body += message["body"]
        if len(body) > limit:
            raise TooLarge
        more = message["more_body"]
    return bytes(body)


async def refuse_body(wire: Wire, answer: Answer) -> None:
    """Answer while the client may still be sending, see it through to a point, and end the connection."""
    answer.headers.append((b"connection", b"close"))
    await wire.start(answer)
    await wire.send({"type": "http.response.body", "body": answer.body, "more_body": True})
    spilled, more = 0, True
    try:
        async with asyncio.timeout(SPILL_SECONDS):
            while more and spilled < SPILL_BYTES:
                message = await wire.receive()
                more = message.get("more_body", False)
                spilled += len(message.get("body", b""))
    except TimeoutError:
        pass
    await wire.send({"type": "http.response.body", "body": b"", "more_body": False})


def environment(scope: Any) -> WSGIEnvironment:
    """The WSGI environment of a request, all but its body.

    ``RAW_URI`` is the request target as it was sent; ``REQUEST_URI`` the path and
    query of that, undecoded. They differ only for a target in absolute form.
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
        ENV_SERVED: True,
    }
    _add_headers(environ, scope["headers"])
    if absolute := _ABSOLUTE.match(target):
        environ["HTTP_HOST"] = absolute[1].decode("latin-1")
    return environ


def _add_headers(environ: WSGIEnvironment, headers: Iterable[tuple[bytes, bytes]]) -> None:
    for raw_name, raw_value in headers:
        if b"_" in raw_name:  # It would pass for the header that has a dash there.
            continue
        name = raw_name.decode("latin-1").upper().replace("-", "_")
        key = name if name in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{name}"
        value = raw_value.decode("latin-1")
        if key in environ:
            value = f"{environ[key]}{'; ' if name == 'COOKIE' else ','}{value}"
        environ[key] = value


def origin_form(target: bytes) -> bytes:
    """The path and query of a request target, which may be in absolute form."""
    absolute = _ABSOLUTE.match(target)
    if absolute is None:
        return target
    rest = absolute[2]
    return rest if rest.startswith(b"/") else b"/" + rest


def call(app: WSGIApplication, environ: WSGIEnvironment) -> Answer:
    """What ``app`` answers, whole; raises what it raises, and ValueError for what cannot be sent."""
    head: list[Any] = []
    written: list[bytes] = []

    def start_response(
        status: str, headers: list[tuple[str, str]], exc_info: Any = None
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


def _answer(line: str, headers: list[tuple[str, str]], body: bytes, method: str) -> Answer:
    status = int(line[:3])
    if not 200 <= status <= 599:
        raise ValueError(f"{line!r} is no status to answer with")
    sent = {name.lower(): value for name, value in headers}
    length = str(len(body))
    if method == "HEAD":
        length, body = sent.get("content-length", length), b""
    encoded = [
        (n.encode("latin-1"), v.encode("latin-1")) for n, v in headers if n.lower() != "content-length"
    ]
    if status in (204, 304):
        return Answer(status, encoded, b"")
    encoded.append((b"content-length", length.encode("latin-1")))
    return Answer(status, encoded, body)
