"""Faults and delays in the delivery of a response, and their imitation in plain WSGI.

The application puts a ``Delivery`` into the WSGI environment. The server applies it to the socket
(``asgi_adapter``), and in-process clients imitate it (``clients.fake_connection``). Under another WSGI
server, ``delivering`` sleeps, shortens the body, or raises the exception that a client would get.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from http.client import BadStatusLine
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

#: Set by the server: the server itself applies deliveries.
ENV_SERVED = "sandbox.served"
#: Set by the server: the body was longer than the limit, so the server did not read it.
ENV_TOO_LARGE = "sandbox.body_too_large"
#: Set by the server: the values of all Host headers of the request.
ENV_HOSTS = "sandbox.hosts"
#: Set by the application: the ``Delivery`` of its answer.
ENV_DELIVERY = "sandbox.delivery"
#: Set by the application: an ``Again``, which asks the server to call the application again.
ENV_AGAIN = "sandbox.again"
#: Set by the application: a ``Stream``, which follows the head of its answer.
ENV_STREAM = "sandbox.stream"
#: Set by the application: the words about the request for the request log (``LogWords``).
ENV_SAID = "sandbox.said"

#: Interval of the heartbeats of an idle stream, in seconds.
HEARTBEAT = 15.0
HEARTBEAT_BYTES = b": here\n\n"


class Drops(Struct, frozen=True):
    """Body sent in pieces of ``size`` bytes, with ``pause`` seconds between them."""

    size: int
    pause: float

    def __post_init__(self) -> None:
        if self.size < 1 or self.pause < 0:
            raise ValueError(f"{self} has no bytes to send at a time, or a pause below zero")


class TcpReset(Struct, frozen=True):
    """TCP RST in place of the response."""


class TcpClose(Struct, frozen=True):
    """TCP FIN in place of the response."""


class CutShort(Struct, frozen=True):
    """Response whose body ends after ``keep`` bytes, with a FIN, or with a RST if ``reset``.

    The head announces the whole body. By default ``keep`` is half of the body. At most, all bytes but
    one are sent.
    """

    keep: int | None = None
    reset: bool = False

    def __post_init__(self) -> None:
        if self.keep is not None and self.keep < 0:
            raise ValueError(f"{self} keeps fewer than no bytes")


class RawBytes(Struct, frozen=True):
    """Raw bytes, perhaps not HTTP, in place of the response. The connection is closed after them."""

    raw: bytes


class Silence(Struct, frozen=True):
    """Open connection without a response, for ``seconds`` or until the client leaves."""

    seconds: float | None = None


Cut: TypeAlias = TcpReset | TcpClose | CutShort | RawBytes | Silence


class Pause(Struct, frozen=True):
    """Pause in seconds without a byte. A ``real`` pause takes real time, also for in-process clients."""

    seconds: float
    real: bool = False


class Delivery(Struct, frozen=True):
    """Delivery of a response: after ``delay`` seconds, in drops if ``drip`` is set, and ended by ``cut``."""

    delay: float = 0.0
    drip: Drops | None = None
    cut: Cut | None = None

    def __post_init__(self) -> None:
        if self.delay < 0:
            raise ValueError(f"{self} has a delay below zero")

    def holds_up(self, body: bytes) -> float:
        """Return the seconds until a client has received the last byte that is sent of ``body``."""
        pauses = (len(pieces(body, self)) - 1) * self.drip.pause if self.drip else 0.0
        match self.cut:
            case None | CutShort():
                return self.delay + pauses
            case Silence(seconds):
                return self.delay + (seconds or 0.0)
        return self.delay

    def lasts(self, body: bytes) -> float:
        """Return the seconds that a response with ``body`` takes, or infinity if no response is sent."""
        return self.holds_up(body) if self.cut is None or isinstance(self.cut, CutShort) else math.inf


class Again(Struct, frozen=True):
    """Request to call the application again with the same HTTP request, ``after`` this many seconds.

    If ``when`` is set, it gets a function, and the second call happens when ``when`` calls this function.
    The application then finds this object in the environment, with its own data in ``held``. With ``aside``
    the call runs on a thread, because it takes long. The first response is discarded. Only our own server
    supports this; under other servers the application waits inside the call.
    """

    after: float = 0.0
    held: Any = None
    aside: bool = False
    when: Callable[[Callable[[], None]], None] | None = None


class LogWords(Protocol):
    """Words of the application about a request. The log reads only the properties that it writes."""

    @property
    def note(self) -> str:
        """A short note for people."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """The content of the note for programs."""

    @property
    def is_unanswered(self) -> bool:
        """Whether the request has no response, so that the status has no meaning."""

    @property
    def is_read_only(self) -> bool:
        """Whether the request comes from the application's own page, so that people can skip it."""


class Stream(Protocol):
    """Streamed response: pieces as soon as they are available, until the stream ends."""

    def piece(self) -> bytes:
        """Return the bytes that are ready to be sent, perhaps none."""

    def end(self) -> bytes:
        """Return the bytes that announce the end of the stream."""

    @property
    def ended(self) -> bool:
        """Whether the stream has no more pieces."""

    @property
    def pause(self) -> float:
        """Seconds between two pieces."""

    def when_news(self, call: Callable[[], None]) -> None:
        """Register ``call``, which any thread may call when new bytes are ready."""

    def close(self) -> None:
        """Release the reader of the stream."""


def delivering(app: WSGIApplication) -> WSGIApplication:
    """Return ``app`` with its deliveries imitated in plain WSGI. Our own server needs no imitation.

    A delay and a drip sleep in the calling thread. Other faults raise the exception of a client: a reset
    raises ConnectionResetError, a close ConnectionAbortedError, garbage http.client.BadStatusLine, and a
    hang TimeoutError, without waiting.
    """

    def delivered(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        answer = app(environ, start_response)
        delivery = environ.get(ENV_DELIVERY)
        if delivery is None or environ.get(ENV_SERVED):
            return answer
        try:
            body = b"".join(answer)
        finally:
            if hasattr(answer, "close"):
                answer.close()
        return _imitated(body, delivery)

    return delivered


def _imitated(body: bytes, delivery: Delivery) -> Iterator[bytes]:
    for step in course(body, delivery):
        match step:
            case bytes():
                yield step
            case Pause(seconds):
                time.sleep(seconds)
            case TcpReset() | CutShort(reset=True):
                raise ConnectionResetError("the connection was reset")
            case TcpClose():
                raise ConnectionAbortedError("the connection was closed without an answer")
            case Silence():
                raise TimeoutError("no answer came")
            case RawBytes(raw):
                raise BadStatusLine(repr(raw))


def course(body: bytes, delivery: Delivery) -> Iterator[Pause | bytes | Cut]:
    """Yield the steps of a response with ``body``: pauses, pieces of the body, and last the cut, if any.

    The head is sent before the first piece. There is at least one piece, unless a cut replaces the response.
    """
    if delivery.delay:
        yield Pause(delivery.delay)
    if delivery.cut is None or isinstance(delivery.cut, CutShort):
        for number, piece in enumerate(pieces(body, delivery)):
            if number and delivery.drip:
                yield Pause(delivery.drip.pause)
            yield piece
    if delivery.cut is not None:
        yield delivery.cut


def pieces(body: bytes, delivery: Delivery) -> list[bytes]:
    """Return the part of ``body`` that is sent, as a list of one or more pieces."""
    if isinstance(delivery.cut, CutShort):
        keep = len(body) // 2 if delivery.cut.keep is None else delivery.cut.keep
        body = body[: max(min(keep, len(body) - 1), 0)]
    size = delivery.drip.size if delivery.drip else len(body)
    return [body[start : start + size] for start in range(0, len(body), size or 1)] or [b""]
