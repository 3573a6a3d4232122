"""Turnstile: holds requests before they take effect, and releases one at a time.

It wraps an application during an exploration. A held request is a waiting coroutine in a server, and a
waiting thread or task in this process. It has no lock of the world. ``Actors`` finds the worker of each
request.
"""

from __future__ import annotations

import re
from asyncio import current_task
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from itertools import count
from threading import Condition, Lock, Thread, current_thread
from threading import enumerate as threads
from typing import TYPE_CHECKING, Any

from reseller_sandbox.control.resource import ROOT
from reseller_sandbox.registry.state import Draft
from reseller_sandbox.server.delivery import Again, Env
from reseller_sandbox.server.log import masked
from reseller_sandbox.server.wsgi import environ_key
from reseller_sandbox.tools.explore.read_write_set import Footprint
from reseller_sandbox.tools.outcomes import ACTOR
from reseller_sandbox.values.clock import stopwatch
from reseller_sandbox.web.context import ENV_WORLD
from reseller_sandbox.web.headers import REQUEST, WORLD
from reseller_sandbox.worlds import World

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment
    from flask import Flask

#: The actor of requests without the header ``X-Sandbox-Actor`` and without a credential.
NOBODY = "nobody"

#: Protects the installation of gates (``_Gate``), because several runs begin and end at once.
_GATES = Lock()

_ACTOR = environ_key(ACTOR)
_WORLD = re.compile(r"/_worlds/[^/?]+")


@dataclass(eq=False, slots=True)
class HeldRequest:
    """A request that the turnstile holds, and releases later.

    ``named`` is the actor in its header, and ``account`` the owner of its credential. ``line`` is its
    connection, its task or its thread, and ``rank`` the position of that line among all lines. ``content`` is
    a hash of the body. ``footprint`` is the read-write set, and ``status`` the status of the response, 0
    before that. ``refused`` is whether the journal records a refusal. ``arrived_at`` is the arrival time by
    the stopwatch, and ``held_for`` the hold in seconds. ``is_abandoned`` is whether its client left during
    the hold. ``passed`` is done when the request is released. A ``dropped`` request never takes effect.
    """

    named: str
    account: str
    line: object
    rank: int
    asked: str
    content: str
    footprint: Footprint = field(default_factory=Footprint)
    status: int = 0
    refused: bool = False
    arrived_at: float = field(default_factory=stopwatch)
    held_for: float = 0.0
    is_abandoned: bool = False
    passed: Future[None] = field(default_factory=Future)
    dropped: bool = False

    @property
    def base(self) -> str:
        """The name of the request's actor, without the number in ``worker-2``, ``worker-3`` and so on."""
        return self.named or self.account or NOBODY

    @property
    def text(self) -> str:
        """The request line and a hash of the body: the identity of the request."""
        return f"{self.asked} {self.content}"

    def when(self, call: Callable[[], None]) -> None:
        """Call ``call`` when the request is released."""
        self.passed.add_done_callback(lambda _: call())


class _OfHeld(Again, frozen=True):
    """Asks the server to serve a held request later: by the turnstile, or by the application if ``inner``."""

    request: HeldRequest | None = None
    inner: bool = False


class Turnstile:
    """Holds the requests that ``app`` gets for ``world``, until the turnstile is opened."""

    def __init__(self, app: WSGIApplication, world: World) -> None:
        self._app = app
        self._world = world
        self._waiting: list[HeldRequest] = []
        self._news = Condition()
        self._open = False
        #: Whether the program has ended.
        self.over = False
        #: The requests that were still held when the program ended.
        self.dropped: list[HeldRequest] = []
        #: The time of the last arrival or end of a request, by the stopwatch.
        self.moved = stopwatch()

    @property
    def waiting(self) -> list[HeldRequest]:
        """The requests that are held now."""
        with self._news:
            return list(self._waiting)

    def end(self) -> None:
        """Record that the program has ended, so that nothing waits for more requests."""
        with self._news:
            self.over = True
            self._news.notify_all()

    def wait(self, seconds: float) -> None:
        """Wait at most ``seconds`` until a request arrives or ends, or the program ends."""
        with self._news:
            self._news.wait(seconds)

    def carry_out(self, request: HeldRequest, hold: float) -> None:
        """Release a request ``hold`` seconds after its arrival, and wait until it has taken effect."""
        with self._news:
            self._news.wait_for(lambda: self.over, request.arrived_at + hold - stopwatch())
            self._waiting.remove(request)
        request.held_for = stopwatch() - request.arrived_at
        request.passed.set_result(None)
        with self._news:
            self._news.wait_for(lambda: request.status or self.over)

    def open(self) -> None:
        """Stop holding requests. The held requests never take effect, because their program has ended."""
        with self._news:
            self._open = True
            left, self._waiting = self._waiting, []
        self.dropped += left
        for request in left:
            request.held_for = stopwatch() - request.arrived_at
            request.dropped = True
            request.passed.set_result(None)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve a request when it is released."""
        again = environ.get(Env.AGAIN)
        if isinstance(again, _OfHeld):
            assert again.request is not None
            if not again.inner:
                del environ[Env.AGAIN]
                again.request.is_abandoned = Env.LEFT in environ
            return self._pass(again.request, environ, start_response)
        request = self._arrived(environ)
        if request is None:
            return self._app(environ, start_response)
        if Env.SERVED in environ and (again is None or not again.aside):
            environ[Env.AGAIN] = _OfHeld(when=request.when, request=request)
            start_response("204 No Content", [])
            return ()
        request.passed.result()
        return self._pass(request, environ, start_response)

    def _arrived(self, environ: WSGIEnvironment) -> HeldRequest | None:
        request = self._described(environ)
        with self._news:
            if self._open:
                return None
            self._waiting.append(request)
            self._moved()
        return request

    def _moved(self) -> None:
        self.moved = stopwatch()
        self._news.notify_all()

    def _described(self, environ: WSGIEnvironment) -> HeldRequest:
        body = environ.get("wsgi.input")
        content = body.getvalue() if isinstance(body, BytesIO) else b""
        target = _WORLD.sub("", environ.get("RAW_URI") or environ["PATH_INFO"], count=1)
        port = environ.get("REMOTE_PORT", "0")
        line, rank = _line_here() if port == "0" else ((environ["REMOTE_ADDR"], port), int(port))
        return HeldRequest(
            named=re.sub(r"\s+", "_", environ.get(_ACTOR, "").strip())[:40],
            account=self._account(environ),
            line=line,
            rank=rank,
            asked=f"{environ['REQUEST_METHOD']} {masked(target, self._world.secrecy)}",
            content=sha256(content).hexdigest()[:16] if content else "",
        )

    def _account(self, environ: WSGIEnvironment) -> str:
        """Return the name of the account whose credential is in a header or in the query."""
        state, had = self._world.state, self._world.inherited
        values = [value for name, value in environ.items() if name[:5] == "HTTP_"]
        values += [part.partition("=")[2] for part in environ.get("QUERY_STRING", "").split("&")]
        for value in values:
            for kind in ("key", "token"):
                if (account := had.account((kind, value), state)) is not None:
                    return account.name
        return ""

    def _pass(
        self, request: HeldRequest, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        """Serve a released request.

        The request is done when the application does not want to be called again.
        """
        if request.dropped:
            start_response("503 Service Unavailable", [])
            return ()
        again = environ.get(Env.AGAIN)
        answered: list[Any] = [0, {}]

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            answered[:] = [int(status[:3]), dict(headers)]
            return start_response(status, headers, exc_info)

        begun = self._world.snapshot
        try:
            with self._noting(request.footprint):
                answer = self._app(environ, start)
            later = environ.get(Env.AGAIN)
            if isinstance(later, Again) and later is not again:
                wish = {name: getattr(later, name) for name in Again.__struct_fields__}
                environ[Env.AGAIN] = _OfHeld(**wish, request=request, inner=True)
                answered[0] = 0
                return answer
            self._record_rest(request, environ, answered[1], begun)
        except BaseException:
            answered[0] = 500
            raise
        finally:
            if answered[0]:
                with self._news:
                    request.status = answered[0]
                    self._moved()
        return answer

    @contextmanager
    def _noting(self, footprint: Footprint) -> Iterator[None]:
        world = self._world
        if footprint.state is None:
            footprint.state = world.state
        world.drafts = footprint.drafts
        try:
            yield
        finally:
            world.drafts = Draft
            footprint.follow(world.state)

    def _record_rest(self, request: HeldRequest, environ: WSGIEnvironment, headers: Any, begun: Any) -> None:
        """Record whether a request was refused, and the places outside the registry that it read and wrote.

        These are counters of faults. For another world, the control interface or a new time, the places are
        unknown.
        """
        snapshot, footprint = self._world.snapshot, request.footprint
        elsewhere = headers.get(WORLD, self._world.name) != self._world.name
        refused = (entry.id for entry in self._world.journal.entries if entry.refused is not None)
        request.refused = not elsewhere and headers.get(REQUEST) in refused
        path = _WORLD.sub("", environ["PATH_INFO"], count=1)
        footprint.everything |= elsewhere or path.startswith(ROOT) or snapshot.clock != begun.clock
        faults, before = snapshot.faults, begun.faults
        footprint.reads |= {("faults", rule.name) for rule in faults.rules}
        footprint.writes |= {
            ("faults", rule.name)
            for rule in faults.rules
            if faults.count(rule.name) != before.count(rule.name)
        }
        # A fault rule or a scheduled action can depend on any record in the table ``orders``, so count all of
        # them as read.
        if faults.rules or snapshot.state.waiting:
            footprint.ranges.add(("orders", ()))


def _line_here() -> tuple[object, int]:
    """Return the task or the thread that sends a request in this process, and its rank.

    Threads are listed in the order of their start, and ports usually ascend in that order. Tasks of an event
    loop start in the same order in each run, so the order of their requests is enough.
    """
    with suppress(RuntimeError):  # No event loop runs in this thread.
        if (task := current_task()) is not None:
            return task, 0
    thread = current_thread()
    return thread, threads().index(thread)


class _Gate:
    """Passes each request to the turnstile of its world, or to the application if there is no turnstile."""

    def __init__(self, app: WSGIApplication) -> None:
        self.app = app
        self.turnstiles: dict[str, Turnstile] = {}

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        turnstiles = self.turnstiles
        path = _WORLD.match(environ["PATH_INFO"])
        world = path[0].rpartition("/")[2] if path else environ.get(ENV_WORLD, "")
        if world not in turnstiles and len(turnstiles) == 1:
            [world] = turnstiles
        return turnstiles.get(world, self.app)(environ, start_response)


@contextmanager
def installed_turnstile(app: Flask, world: World) -> Iterator[Turnstile]:
    """Provide a turnstile for a ``world`` of ``app``. When the context ends, the turnstile is opened."""
    with _GATES:
        gate: Any = app.wsgi_app
        if not isinstance(gate, _Gate):
            gate = _Gate(app.wsgi_app)
            app.wsgi_app = gate  # type: ignore[method-assign]
        gate.turnstiles = {**gate.turnstiles, world.name: (turnstile := Turnstile(gate.app, world))}
    try:
        yield turnstile
    finally:
        with _GATES:
            gate.turnstiles = {name: other for name, other in gate.turnstiles.items() if name != world.name}
            if not gate.turnstiles:
                app.wsgi_app = gate.app  # type: ignore[method-assign]
        turnstile.open()


class Threads:
    """The threads that a program has started in this process."""

    def __init__(self) -> None:
        self._before = set(threads())
        self._seen: set[Thread] = set()

    def all_wait(self, waiting: Iterable[HeldRequest], count: int) -> bool:
        """Whether each living thread has a waiting request, and there were at least ``count`` threads."""
        living = {
            thread for thread in threads() if thread not in self._before and thread is not current_thread()
        }
        self._seen |= living
        lines = {request.line for request in waiting}
        return bool(lines & living) and len(self._seen) >= count and living <= lines


class Actors:
    """Finds the worker (the actor) that sent each request of a run.

    The header of a request names its worker, otherwise the account of its credential does. If several workers
    share a name, the later ones get ``-2``, ``-3`` and so on, and a connection or a thread identifies each of
    them. A new connection or thread belongs to the worker that got the latest response, because all other
    known workers wait. The result does not depend on the order of arrival.
    """

    def __init__(self) -> None:
        self._of: dict[HeldRequest, str] = {}
        self._bases: dict[str, str] = {}
        self._lines: dict[object, str] = {}
        self._last = ""

    def __len__(self) -> int:
        return len(self._bases)

    def name(self, waiting: Iterable[HeldRequest]) -> dict[str, HeldRequest]:
        """Return the waiting requests, keyed by the names of their actors.

        The actors of new requests can change until ``settle`` is called.
        """
        requests = list(waiting)
        named = {self._of[request]: request for request in requests if request in self._of}
        new = sorted(
            (request for request in requests if request not in self._of),
            key=lambda request: (request.base, request.rank, request.text),
        )
        strange = []
        for request in new:
            actor = self._lines.get(request.line, "")
            if actor in named or self._bases.get(actor) != request.base:
                strange.append(request)
            else:
                named[actor] = request
        for request in strange:
            named[self._free(request.base, named)] = request
        return named

    def _free(self, base: str, taken: Mapping[str, object]) -> str:
        known = [actor for actor, its in self._bases.items() if its == base]
        free = [actor for actor in known if actor not in taken]
        if self._last in free:
            return self._last
        if free:
            return free[0]
        names = (base if number == 1 else f"{base}-{number}" for number in count(1))
        return next(name for name in names if name not in taken and name not in self._bases)

    def settle(self, named: Mapping[str, HeldRequest], answered: str) -> None:
        """Record the actor of each request in ``named``. Actor ``answered`` gets the next response."""
        for actor, request in named.items():
            self._of[request] = actor
            self._bases[actor] = request.base
            self._lines[request.line] = actor
        self._last = answered
