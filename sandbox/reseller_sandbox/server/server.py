"""Server of a WSGI application on a port, in the foreground or on a separate thread."""

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
from typing import TYPE_CHECKING, Self

from reseller_sandbox.server.log import LoggedRequest
from reseller_sandbox.server.messages import SPOKE_PLAIN, Unread
from reseller_sandbox.server.secrecy import Secrecy
from reseller_sandbox.values.clock import stopwatch

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from concurrent.futures import Future
    from ssl import SSLContext

    from _typeshed.wsgi import WSGIApplication

    from reseller_sandbox.server.asgi_adapter import Bridge
    from reseller_sandbox.server.listener import Listener
    from reseller_sandbox.server.tls import Certificate


#: File descriptors that are reserved for modules and files: 8, but at most one fifth of all descriptors.
KEPT = 8
_PART = 5

#: Seconds that ``Server.stop`` waits for ordinary responses in flight.
STOP_GRACE = 1.0

BACKLOG = 2048

#: The name of each thread that runs a long call.
LONG_CALL = "sandbox:long call"


class Entrance(socket.socket):
    """Listening socket that accepts no connection if few file descriptors are left.

    The requests of accepted clients need descriptors to load modules and to open files. The socket raises
    the system's error for exhausted descriptors, and further clients wait.
    """

    def accept(self) -> tuple[socket.socket, object]:
        """Accept the next connection. Raise OSError if too few descriptors are left."""
        free = os.dup(self.fileno())  # The lowest free descriptor: the connection would get this number.
        os.close(free)
        if free >= _first_kept():
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return super().accept()


def _first_kept() -> int:
    """Return the lowest reserved file descriptor. Connections use only those below it."""
    if sys.platform == "win32":
        return sys.maxsize
    import resource

    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return sys.maxsize if most == resource.RLIM_INFINITY else most - min(KEPT, most // _PART)


class CannotListen(Exception):
    """Error for an address that the server cannot listen on. The message gives the reason in one line."""


class PortInUse(CannotListen):
    """Error for a port that is in use. ``address`` is the host and the port, such as ``127.0.0.1:8053``."""

    def __init__(self, address: str) -> None:
        super().__init__(
            f"{address} is in use by another program. Stop that program, or choose another port (0 for any "
            "free port)"
        )
        self.address = address


class SecondSignal(BaseException):
    """Request to end the process at once. The main thread raises it, and no handler of errors catches it."""


@dataclass(eq=False, kw_only=True)
class Server:
    """Server that listens on a port and calls a WSGI application.

    The constructor binds the port, so connections that are made before the server runs wait for it. ``port``
    0 takes any free port. If ``certificate`` has a file, the server uses TLS on ``tls_port`` and plain HTTP
    on ``port``, or only TLS on ``port`` if ``tls_port`` is not set. ``max_body`` returns the maximum body
    size of a path in bytes. For a longer body, the application is called with ``Env.TOO_LARGE`` set. Clients
    above ``limit_connections`` get 503. An idle connection is closed after ``keep_alive`` seconds.
    ``when_unread`` is called with each request that could not be read, and ``log`` after each response, with
    secrets masked by ``secrecy``. When ``run`` ends, requests in flight have ``grace`` seconds to finish.

    Raise ``PortInUse`` if the port is taken, and ``CannotListen`` for any other unusable address.
    """

    app: WSGIApplication
    host: str
    port: int
    certificate: Certificate
    tls_port: int | None
    max_body: Callable[[str], int]
    limit_connections: int | None
    keep_alive: float
    when_unread: Callable[[Unread], None]
    secrecy: Secrecy
    log: Callable[[LoggedRequest], None] | None = None
    grace: float = 3.0

    def __post_init__(self) -> None:
        self._sockets = _all_bound(self.host, self.port, self.tls_port)
        self.port = self._sockets[0].getsockname()[1]
        speaks_tls = self.certificate.certfile is not None
        self.tls_port = self._sockets[-1].getsockname()[1] if speaks_tls else None
        self._listener: Listener | None = None
        self._thread: threading.Thread | None = None
        self._stops = self._signals = 0
        self._has_ended = False

    @property
    def authority(self) -> str | None:
        """File of the certificate authority that clients must trust, if it is known."""
        return self.certificate.authority

    @property
    def url(self) -> str:
        """URL for clients on this machine, without a slash at the end. Plain HTTP is preferred."""
        return self._url("http", self.port) if self.port != self.tls_port else self.tls_url

    @property
    def tls_url(self) -> str:
        """URL for clients that use TLS, or an empty string without TLS."""
        return "" if self.tls_port is None else self._url("https", self.tls_port)

    def _url(self, scheme: str, port: int) -> str:
        host = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"

    def run(self, ready: Callable[[], None] | None = None) -> None:
        """Serve until a signal (see ``heeding_signals``) or ``stop`` in another thread.

        ``ready`` is called when the server listens. Before the method returns, requests in flight finish,
        and so do delayed responses that end within the grace time. A second signal ends that wait, and the
        method raises ``SecondSignal``.
        """
        self._serve(self.grace, ready or (lambda: None))
        self._has_ended = True
        if self._signals > 1:
            raise SecondSignal

    @contextmanager
    def heeding_signals(self) -> Iterator[None]:
        """Let SIGINT, SIGTERM and SIGHUP end ``run``. Use it in the main thread.

        If a signal comes before ``run``, then ``run`` ends immediately. A second signal raises
        ``SecondSignal``, also in the rest of the block.
        """

        def heed(*_: object) -> None:
            self._signals += 1
            if self._has_ended and self._signals > 1:
                raise SecondSignal
            self._ask(patient=True)

        heeded = [signal.SIGINT, signal.SIGTERM]
        if hasattr(signal, "SIGBREAK"):
            heeded.append(signal.SIGBREAK)
        if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            heeded.append(signal.SIGHUP)  # unless nohup ignores it
        before = {number: signal.signal(number, heed) for number in heeded}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def start(self) -> Self:
        """Serve on a thread. Return when the server listens, or raise the error that prevents it."""
        from concurrent.futures import Future

        ready: Future[None] = Future()
        self._thread = threading.Thread(
            target=self._serve_on_thread, args=(ready,), name=f"sandbox:{self.port}", daemon=True
        )
        self._thread.start()
        ready.result()
        return self

    def stop(self) -> None:
        """Stop serving, and return when the server has stopped. Delayed responses are dropped.

        A second call has no effect. A server that was never started releases its port.
        """
        self._ask(patient=False)
        if self._thread not in (None, threading.current_thread()):
            self._thread.join()
        if self._listener is None:
            self._close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _ask(self, *, patient: bool) -> None:
        self._stops += 1
        if self._listener is not None:
            self._listener.stop(patient=patient)

    def _serve(self, grace: float, ready: Callable[[], None]) -> None:
        # Import late, because these modules load slowly and only a running server needs them.
        import asyncio

        from reseller_sandbox.server.asgi_adapter import Bridge
        from reseller_sandbox.server.listener import Listener

        bridge = Bridge(self.app, self.max_body, self.log, self.when_unread, self.secrecy)
        self._listener = Listener(
            bridge,
            grace=grace,
            limit_connections=self.limit_connections,
            keep_alive=self.keep_alive,
            backlog=BACKLOG,
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
        from reseller_sandbox.server.tls import tls_context

        context = tls_context(self.certificate.certfile, self.certificate.keyfile)
        context.when_plain = lambda received: bridge.unread(received, SPOKE_PLAIN)
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
    """Return an event loop with real time, even if a test in this process has frozen time."""
    from asyncio import new_event_loop

    loop = new_event_loop()
    loop.time = stopwatch  # type: ignore[method-assign]
    return loop


def _all_bound(host: str, port: int, tls_port: int | None) -> list[socket.socket]:
    """Return listening sockets for ``port``, and for ``tls_port`` if set. Raise ``CannotListen``."""
    if port == tls_port != 0:
        raise CannotListen(f"the ports for HTTP and for HTTPS are the same: {port}")
    sockets = [bound(host, port)]
    try:
        return sockets if tls_port is None else [*sockets, bound(host, tls_port)]
    except CannotListen:
        sockets[0].close()
        raise


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens on ``host`` and ``port``. Raise ``CannotListen``."""
    if not 0 <= port <= 65535:  # ``getaddrinfo`` would take the port modulo 65536.
        raise CannotListen(f"cannot listen on {host}:{port}: the highest port is 65535")
    try:
        addresses = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        raise CannotListen(f"cannot listen on {host}:{port}: the host is unknown") from None
    # A host such as localhost may have several addresses. Prefer IPv4, to which all clients fall back.
    family, kind, protocol, _, address = min(addresses, key=lambda entry: entry[0] != socket.AF_INET)
    listening = Entrance(family, kind, protocol)
    try:
        if sys.platform != "win32":  # On Windows, this option lets two servers share one port.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)  # Listen now: two sockets can bind the same port until one of them listens.
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(f"{host}:{port}") from None
        raise CannotListen(f"cannot listen on {host}:{port}: {error.strerror}") from None
    return listening
