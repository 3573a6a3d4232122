"""Delivery of a response: delayed, in small pieces (drip), cut or reset.

The application puts a ``Delivery`` into the WSGI environment. The server executes it on the socket
(``asgi_adapter``), and clients in the same process imitate it (``clients.fake_connection``). Under another
WSGI server, ``imitated`` does the part that is possible there: it sleeps, shortens the body, and raises the
exception that a client would get.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from http.client import BadStatusLine
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

#: Seconds without news after which a stream sends a heartbeat.
HEARTBEAT = 15.0
HEARTBEAT_BYTES = b": here\n\n"


class Env:
    """Keys of the WSGI environment that a server and the application share."""

    #: Set by our server: a random mark, new at each start. It is empty for a request without a socket.
    SERVED = "sandbox.served"
    #: Set by the server: the body was too large, and was not read.
    TOO_LARGE = "sandbox.body_too_large"
    #: Set by the server: the values of all Host headers.
    HOSTS = "sandbox.hosts"
    #: Set by the application: the ``Delivery`` of the response.
    DELIVERY = "sandbox.delivery"
    #: Set by the application: an ``Again``, if the server must call the application again.
    AGAIN = "sandbox.again"
    #: Set by the server: the client disconnected while the application waited to be called again.
    LEFT = "sandbox.left"
    #: Set by the application: a ``Stream``, whose pieces are the body of the response.
    STREAM = "sandbox.stream"
    #: Set by the application: a function that returns ``log.Words``, which describe the request.
    LOG_WORDS = "sandbox.log_words"


class Drops(Struct, frozen=True):
    """A body sent in pieces of ``size`` bytes, with ``pause`` seconds between two pieces."""

    size: int
    pause: float


class TcpReset(Struct, frozen=True):
    """A TCP RST instead of the response."""


class TcpClose(Struct, frozen=True):
    """A closed connection (FIN) instead of the response."""


class CutShort(Struct, frozen=True):
    """A complete head and the first ``keep`` bytes of the body. Then a FIN, or with ``reset`` a RST.

    By default half of the body is sent. At least the last byte is missing.
    """

    keep: int | None = None
    reset: bool = False


class RawBytes(Struct, frozen=True):
    """Raw bytes instead of the response, not necessarily HTTP. Then the connection is closed."""

    raw: bytes


class Silence(Struct, frozen=True):
    """No response. The connection stays open for ``seconds``, or until the client disconnects."""

    seconds: float | None = None


Cut: TypeAlias = TcpReset | TcpClose | CutShort | RawBytes | Silence


class Pause(Struct, frozen=True):
    """A pause in seconds. If ``real``, the pause takes real time even for a client with simulated time."""

    seconds: float
    real: bool = False


class Delivery(Struct, frozen=True):
    """Way to deliver a response: after ``delay`` seconds, in pieces (``drip``), with a ``cut`` at the end.

    If ``stale``, the connection stays open after the response, and ends as soon as the client uses it again.
    """

    delay: float = 0.0
    drip: Drops | None = None
    cut: Cut | None = None
    stale: bool = False

    def holds_up(self, body: bytes) -> float:
        """Return the seconds that a client waits for the part of ``body`` that is sent."""
        pauses = (len(pieces(body, self)) - 1) * self.drip.pause if self.drip else 0.0
        match self.cut:
            case None | CutShort():
                return self.delay + pauses
            case Silence(seconds):
                return self.delay + (seconds or 0.0)
        return self.delay

    def lasts(self, body: bytes) -> float:
        """Return the seconds that sending takes, or infinity if a cut replaces the response."""
        return self.holds_up(body) if self.cut is None or isinstance(self.cut, CutShort) else math.inf


class Again(Struct, frozen=True):
    """Instruction to the server: call the application again with the same request, in ``after`` seconds.

    ``when`` is a function: it takes a callback and calls it as soon as the application can continue. The
    next call finds this object in the environment, with ``held`` for the application's own data. With
    ``aside`` the call runs on a separate thread, because it takes long. The current response is discarded.
    Only our own server supports this. Under other servers, the application waits itself.
    """

    after: float = 0.0
    held: Any = None
    aside: bool = False
    when: Callable[[Callable[[], None]], None] | None = None


class Stream(Protocol):
    """Response that is sent piece by piece, as the pieces become available."""

    def piece(self) -> bytes:
        """Return the bytes that can be sent now, perhaps none."""

    def end(self) -> bytes:
        """Return the last piece, which tells the client that the stream ends."""

    @property
    def ended(self) -> bool:
        """Whether the stream has ended."""

    @property
    def pause(self) -> float:
        """Minimum seconds between two pieces."""

    def when_news(self, call: Callable[[], None]) -> None:
        """Call ``call``, on any thread, each time new bytes can be sent."""

    def close(self) -> None:
        """End the subscription that supplies the stream."""


def imitated(answer: Iterable[bytes], delivery: Delivery) -> Iterator[bytes]:
    """Yield the body of ``answer`` as ``delivery`` describes, for a WSGI server other than ours.

    A delay and a drip sleep in the calling thread. Connection faults raise the exception of a client: a reset
    raises ConnectionResetError, a close ConnectionAbortedError, a hang TimeoutError (without waiting), and
    garbage http.client.BadStatusLine.
    """
    try:
        body = b"".join(answer)
    finally:
        if hasattr(answer, "close"):
            answer.close()
    for step in course(body, delivery):
        match step:
            case bytes():
                yield step
            case Pause(seconds):
                time.sleep(seconds)
            case TcpReset() | CutShort(reset=True):
                raise ConnectionResetError("the connection was reset")
            case TcpClose():
                raise ConnectionAbortedError("the connection was closed without a response")
            case Silence():
                raise TimeoutError("no response was received")
            case RawBytes(raw):
                raise BadStatusLine(repr(raw))


def course(body: bytes, delivery: Delivery) -> Iterator[Pause | bytes | Cut]:
    """Yield the steps to send ``body``: pauses, pieces of the body, and the cut as the last step.

    The head is sent before the first piece. There is a piece unless a cut replaces the response.
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
    """Return the part of ``body`` that is sent, in one or more pieces."""
    if isinstance(delivery.cut, CutShort):
        keep = len(body) // 2 if delivery.cut.keep is None else delivery.cut.keep
        body = body[: max(min(keep, len(body) - 1), 0)]
    size = delivery.drip.size if delivery.drip else len(body)
    return [body[start : start + size] for start in range(0, len(body), size or 1)] or [b""]
