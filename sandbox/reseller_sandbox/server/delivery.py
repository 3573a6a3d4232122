"""What may happen to an answer on its way to the client, and what of it plain WSGI can bring about.

The application puts a ``Delivery`` into the WSGI environment. The server carries it out on the socket
(``asgi_adapter``), and clients in the same process imitate it (``clients.fake_connection``). Under another
WSGI server, ``delivering`` does the part that is possible there: it sleeps, shortens the body, and raises the
exception that a client would get.
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

#: Set by the server: it carries deliveries out itself.
ENV_SERVED = "sandbox.served"
#: Set by the server: the body was longer than it takes, and was not read.
ENV_TOO_LARGE = "sandbox.body_too_large"
#: Set by the server: the value of each Host header that came.
ENV_HOSTS = "sandbox.hosts"
#: Set by the application: the ``Delivery`` of its answer.
ENV_DELIVERY = "sandbox.delivery"
#: Set by the application: an ``Again``, with which it wants to be called again.
ENV_AGAIN = "sandbox.again"
#: Set by the application: a ``Stream``, which follows the head of its answer.
ENV_STREAM = "sandbox.stream"
#: Set by the application: what it has to say of the request for the request log (``LogWords``).
ENV_SAID = "sandbox.said"

#: After how many seconds without news a follower is told that the server is still there.
HEARTBEAT = 15.0
HEARTBEAT_BYTES = b": here\n\n"


class Drops(Struct, frozen=True):
    """The body goes out ``size`` bytes at a time, with ``pause`` seconds between them."""

    size: int
    pause: float

    def __post_init__(self) -> None:
        if self.size < 1 or self.pause < 0:
            raise ValueError(f"{self} has no bytes to send at a time, or a pause below zero")


class TcpReset(Struct, frozen=True):
    """A TCP RST takes the place of the answer."""


class TcpClose(Struct, frozen=True):
    """The connection is closed, with a FIN, in place of the answer."""


class CutShort(Struct, frozen=True):
    """The head announces the whole body, of which ``keep`` bytes come; then a FIN, or a RST if ``reset``.

    They are half of it unless ``keep`` says otherwise, and one less than all of them at most.
    """

    keep: int | None = None
    reset: bool = False

    def __post_init__(self) -> None:
        if self.keep is not None and self.keep < 0:
            raise ValueError(f"{self} keeps fewer than no bytes")


class RawBytes(Struct, frozen=True):
    """``raw``, which need not be HTTP, takes the place of the answer; then the connection is closed."""

    raw: bytes


class Silence(Struct, frozen=True):
    """Nothing is sent. The connection stays open for ``seconds``, or until the client leaves."""

    seconds: float | None = None


Cut: TypeAlias = TcpReset | TcpClose | CutShort | RawBytes | Silence


class Pause(Struct, frozen=True):
    """So many seconds without a byte; ``real`` ones have to be waited for, whatever the client's time."""

    seconds: float
    real: bool = False


class Delivery(Struct, frozen=True):
    """After ``delay`` seconds the answer goes, in drops if there is a ``drip``; unless ``cut`` strikes."""

    delay: float = 0.0
    drip: Drops | None = None
    cut: Cut | None = None

    def __post_init__(self) -> None:
        if self.delay < 0:
            raise ValueError(f"{self} has a delay below zero")

    def holds_up(self, body: bytes) -> float:
        """Return for how many seconds it keeps a client waiting that sees all of ``body`` that ever comes."""
        pauses = (len(pieces(body, self)) - 1) * self.drip.pause if self.drip else 0.0
        match self.cut:
            case None | CutShort():
                return self.delay + pauses
            case Silence(seconds):
                return self.delay + (seconds or 0.0)
        return self.delay

    def lasts(self, body: bytes) -> float:
        """Return how many seconds answering with ``body`` takes; infinity where no answer ever comes."""
        return self.holds_up(body) if self.cut is None or isinstance(self.cut, CutShort) else math.inf


class Again(Struct, frozen=True):
    """The application is to be called with the same request again, ``after`` so many seconds.

    With ``when`` it is called as soon as that calls the function which it is handed. It finds this in the
    environment then; ``held`` is its own. With ``aside`` it is called on a thread, since it will take long
    and nobody should wait for it. What it answers now is of no account. It is only asked of our own server;
    elsewhere the application waits by itself.
    """

    after: float = 0.0
    held: Any = None
    aside: bool = False
    when: Callable[[Callable[[], None]], None] | None = None


class LogWords(Protocol):
    """What an application says of a request; it is asked for what is logged, and for no more."""

    @property
    def note(self) -> str:
        """A few words, for people."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """The same for programs."""

    @property
    def is_unanswered(self) -> bool:
        """Whether there is no answer, and its status stands for none."""

    @property
    def is_read_only(self) -> bool:
        """Whether a page of the application looks at it, which people need not read."""


class Stream(Protocol):
    """An answer that goes on: pieces of it as they are there, until it has ended."""

    def piece(self) -> bytes:
        """Return what there is to send by now, which may be nothing."""

    def end(self) -> bytes:
        """Return what says that no more will be sent."""

    @property
    def ended(self) -> bool:
        """Whether no more will come."""

    @property
    def pause(self) -> float:
        """How many seconds to leave between two pieces."""

    def when_news(self, call: Callable[[], None]) -> None:
        """Have ``call`` called, from any thread, when there is something to send again."""

    def close(self) -> None:
        """Forget whoever reads it."""


def delivering(app: WSGIApplication) -> WSGIApplication:
    """Return ``app`` with its deliveries carried out as far as plain WSGI can; our own server does it itself.

    A delay and a drip sleep in the calling thread. What cannot be shown to an in-process caller is raised as
    what its client would have raised: a reset is ConnectionResetError, a close ConnectionAbortedError, a hang
    TimeoutError (at once: there is nobody to wait for), garbage http.client.BadStatusLine.
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
    """Yield the steps of an answer with ``body``: pauses, pieces of the body, and last the cut, if any.

    The head goes out before the first piece. There is a piece unless a cut takes the place of the answer.
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
    """Return what of ``body`` is sent, in the pieces it is sent in: always one or more."""
    if isinstance(delivery.cut, CutShort):
        keep = len(body) // 2 if delivery.cut.keep is None else delivery.cut.keep
        body = body[: max(min(keep, len(body) - 1), 0)]
    size = delivery.drip.size if delivery.drip else len(body)
    return [body[start : start + size] for start in range(0, len(body), size or 1)] or [b""]
