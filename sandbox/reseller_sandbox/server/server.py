"""The server: a WSGI application on a port, in the foreground or on a thread of its own."""

from __future__ import annotations

import errno
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from reseller_sandbox.registry.clock import stopwatch
from reseller_sandbox.server.log import LoggedRequest
from reseller_sandbox.server.messages import SPOKE_PLAIN, Unread

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from concurrent.futures import Future
    from ssl import SSLContext

    from _typeshed.wsgi import WSGIApplication

    from reseller_sandbox.server.asgi_adapter import Bridge
    from reseller_sandbox.server.listener import Listener
    from reseller_sandbox.server.tls import Certificate


#: How many descriptors no connection takes, and the part of all there are that this is at the most.
KEPT = 8
_PART = 5

__all__ = ["CannotListen", "LoggedRequest", "PortInUse", "Server", "Unread"]

#: How many seconds ``Server.stop`` lets ordinary answers take that are on their way.
STOP_GRACE = 1.0

BACKLOG = 2048


class Entrance(socket.socket):
    """A listening socket that takes in nobody to whom one of the last descriptors would go.

    Modules are loaded, and files read and written, for those who are in. It says what the system would say
    with none left, and whoever comes then waits.
    """

    def accept(self) -> tuple[socket.socket, Any]:
        """Take in the next connection; raise OSError where too few descriptors are left."""
        free = os.dup(self.fileno())  # the lowest number there is, as the connection would get
        os.close(free)
        if free >= _first_kept():
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return super().accept()


def _first_kept() -> int:
    """Return the lowest of the descriptors that are kept."""
    if sys.platform == "win32":
        return sys.maxsize
    import resource

    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return sys.maxsize if most == resource.RLIM_INFINITY else most - min(KEPT, most // _PART)


class CannotListen(Exception):
    """The address is none that a server could listen on; the message is one line that says why."""


class PortInUse(CannotListen):
    """Something listens on that port already; the message is one line that says what to do."""


@dataclass(eq=False, kw_only=True)
class Server:
    """One listening server for a WSGI application.

    It has its port from the start: connections made before it runs wait for it. ``port`` 0 takes any free
    one. With the ``certificate`` of a file it speaks TLS: on ``tls_port``, beside plain HTTP on ``port``, or
    without one on ``port``. ``max_body`` returns the bytes that a path takes; for a longer body the
    application is called with ``sandbox.body_too_large`` set. Past ``limit_connections`` clients are answered
    503. ``when_unread`` is called with each request that could not be read, and so never reached the
    application, and ``log`` after each answer. ``grace`` is how many seconds the requests in flight have when
    ``run`` ends.

    Raise ``PortInUse``, and ``CannotListen`` for any other address that cannot be had.
    """

    app: WSGIApplication
    host: str
    port: int
    certificate: Certificate
    tls_port: int | None
    max_body: Callable[[str], int]
    limit_connections: int | None
    when_unread: Callable[[Unread], None]
    log: Callable[[LoggedRequest], None] | None = None
    grace: float = 5.0

    def __post_init__(self) -> None:
        self._sockets = _all_bound(self.host, self.port, self.tls_port)
        self.port = self._sockets[0].getsockname()[1]
        speaks_tls = self.certificate.certfile is not None
        self.tls_port = self._sockets[-1].getsockname()[1] if speaks_tls else None
        self._listener: Listener | None = None
        self._thread: threading.Thread | None = None
        self._stops = 0

    @property
    def authority(self) -> str | None:
        """The file by which clients trust the certificate, where there is such a file."""
        return self.certificate.authority

    @property
    def url(self) -> str:
        """Where a client on this machine finds it, without a slash at the end; by plain HTTP if it can."""
        return self._url("http", self.port) if self.port != self.tls_port else self.tls_url

    @property
    def tls_url(self) -> str:
        """Where a client finds it by TLS; empty where it speaks none."""
        return "" if self.tls_port is None else self._url("https", self.tls_port)

    def _url(self, scheme: str, port: int) -> str:
        host = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"

    def run(self, ready: Callable[[], None] | None = None) -> None:
        """Serve until a signal (see ``heeding_signals``) or ``stop`` in another thread, then return.

        ``ready`` is called once it listens. Requests in flight are finished first, delayed answers too
        where the grace suffices for them; a second signal cuts that short.
        """
        self._serve(self.grace, ready or (lambda: None))

    @contextmanager
    def heeding_signals(self) -> Iterator[None]:
        """Have SIGINT, SIGTERM and SIGHUP end ``run``, at once if they come before it; in the main thread."""
        heeded = [signal.SIGINT, signal.SIGTERM]
        if hasattr(signal, "SIGBREAK"):
            heeded.append(signal.SIGBREAK)
        if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            heeded.append(signal.SIGHUP)  # nohup has it ignored
        before = {one: signal.signal(one, lambda *_: self._ask(patient=True)) for one in heeded}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def start(self) -> Self:
        """Serve on a thread; return when it does, and raise what kept it from that."""
        from concurrent.futures import Future

        ready: Future[None] = Future()
        self._thread = threading.Thread(
            target=self._serve_on_thread, args=(ready,), name=f"sandbox:{self.port}", daemon=True
        )
        self._thread.start()
        ready.result()
        return self

    def stop(self) -> None:
        """Stop serving, and return when that is done. Answers held back are dropped, not waited for.

        It does nothing to a server that has stopped. One that has not been started gives its port free.
        """
        self._ask(patient=False)
        if self._thread not in (None, threading.current_thread()):
            self._thread.join()
        if self._listener is None:
            self._close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _ask(self, *, patient: bool) -> None:
        self._stops += 1
        if self._listener is not None:
            self._listener.stop(patient=patient)

    def _serve(self, grace: float, ready: Callable[[], None]) -> None:
        # Callers that never open a port should not pay for these, nor those who wait for the first line.
        import asyncio

        from reseller_sandbox.server.asgi_adapter import Bridge
        from reseller_sandbox.server.listener import Listener

        bridge = Bridge(self.app, self.max_body, self.log, self.when_unread)
        self._listener = Listener(
            bridge, grace=grace, limit_connections=self.limit_connections, backlog=BACKLOG
        )
        try:
            if not self._stops:
                sockets = dict.fromkeys(self._sockets) | {self._sockets[-1]: self._tls(bridge)}
                with asyncio.Runner(loop_factory=_loop) as runner:
                    runner.run(self._listener.listen(sockets, ready))
        finally:
            self._close()

    def _tls(self, bridge: Bridge) -> SSLContext | None:
        if self.certificate.certfile is None:
            return None
        from reseller_sandbox.server.tls import serving

        context = serving(self.certificate.certfile, self.certificate.keyfile)
        context.when_plain = lambda came: bridge.unread(came, SPOKE_PLAIN)
        return context

    def _close(self) -> None:
        for sock in self._sockets:
            sock.close()

    def _serve_on_thread(self, ready: Future[None]) -> None:
        try:
            self._serve(STOP_GRACE, lambda: ready.set_result(None))
        except BaseException as error:
            if ready.done():
                raise
            ready.set_exception(error)


def _loop() -> AbstractEventLoop:
    """Return an event loop whose waiting ends in time, while a test in this process has frozen time too."""
    from asyncio import new_event_loop

    loop = new_event_loop()
    loop.time = stopwatch  # type: ignore[method-assign]
    return loop


def _all_bound(host: str, port: int, tls_port: int | None) -> list[socket.socket]:
    """Return the sockets of both ports, or of the one there is; raise ``CannotListen``."""
    if port == tls_port != 0:
        raise CannotListen(f"the ports for HTTP and for HTTPS are the same: {port}")
    sockets = [bound(host, port)]
    try:
        return sockets if tls_port is None else [*sockets, bound(host, tls_port)]
    except CannotListen:
        sockets[0].close()
        raise


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens on ``host`` and ``port``; raise ``CannotListen``."""
    if not 0 <= port <= 65535:  # The look-up below would take it modulo 65536.
        raise CannotListen(f"{host}:{port} is no address to listen on: ports end at 65535")
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        raise CannotListen(f"{host}:{port} is no address to listen on: there is no such host") from None
    # A name such as localhost may have several; clients that try IPv6 first go on to IPv4.
    family, kind, protocol, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
    listening = Entrance(family, kind, protocol)
    try:
        if sys.platform != "win32":  # There it would let two servers share one port.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)  # Until one of them listens, two sockets may have the same port.
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(
                f"{host}:{port} is in use by another program: stop that one, or choose another port "
                f"(0 takes any that is free)"
            ) from None
        raise CannotListen(f"cannot listen on {host}:{port}: {error.strerror}") from None
    return listening
