"""requests without a socket: its own machinery, down to where it would connect.

Everything above the connection is requests and urllib3 as in production: what is written and read is HTTP,
so retries, exceptions, and the part of an answer that was read before them are the same as over a socket.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import SplitResult, urlsplit

import urllib3.util.wait
from requests import PreparedRequest
from requests.adapters import DEFAULT_POOLSIZE, HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

from reseller_sandbox.clients.caller import PORTS, AnySandbox, Caller, Elsewhere, elsewhere
from reseller_sandbox.clients.interception import Detour
from reseller_sandbox.clients.line import LineFile
from reseller_sandbox.clients.socket import Socket

#: urllib3 before 2 raises it itself for a socket that cannot be waited for.
_NO_WAY: type[Exception] = getattr(urllib3.util.wait, "NoWayToWaitForSocketError", OSError)


class SandboxAdapter(HTTPAdapter):
    """Carries the requests of a ``requests.Session`` to a sandbox.

    >>> session = requests.Session()
    >>> session.mount("https://api.example.test", SandboxAdapter(sandbox))

    With a fork, requests reach its world; those to a sandbox that a server holds go there. What faults do to
    a connection raises what it raises over a socket (``requests.ConnectionError``, …). In process the
    client's timeouts count, but nobody waits: a delay that is too long for the client raises
    ``requests.ReadTimeout`` at once. With ``real_time`` delays are waited for. ``options`` are those of
    ``requests.adapters.HTTPAdapter``, such as ``max_retries``.
    """

    def __init__(self, sandbox: AnySandbox, *, real_time: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self._pools = way_to(sandbox, real_time)

    def get_connection_with_tls_context(
        self, request: PreparedRequest, *_: Any, **__: Any
    ) -> HTTPConnectionPool:
        """Return connections to the sandbox."""
        return self._pools.to(str(request.url))

    def close(self) -> None:
        """Close every connection."""
        super().close()
        self._pools.close()


class Pools:
    """Pools of connections by the address that the client means; ``made`` makes one."""

    def __init__(self, made: Callable[[SplitResult], HTTPConnectionPool]) -> None:
        self._made = made
        self._pools: dict[tuple[str, str], HTTPConnectionPool] = {}

    def to(self, url: str) -> HTTPConnectionPool:
        """Return the connections for a request to ``url``."""
        parts = urlsplit(url)
        place = parts.scheme, parts.netloc.rpartition("@")[2]
        if place not in self._pools:
            self._pools[place] = self._made(parts)
        return self._pools[place]

    def close(self) -> None:
        """Close every connection."""
        for pool in self._pools.values():
            pool.close()
        self._pools.clear()


def way_to(sandbox: AnySandbox, real_time: bool) -> Pools:
    """Return the connections for intercepted requests."""
    there = elsewhere(sandbox)
    if there is not None:
        return Pools(lambda parts: _pool_there(there, parts))
    caller = Caller(sandbox)
    return Pools(lambda parts: _pool_here(caller, parts, real_time))


def _pool_here(caller: Caller, parts: SplitResult, real_time: bool) -> HTTPConnectionPool:
    """Return connections to a sandbox in this process."""
    scheme, usual = parts.scheme, PORTS[parts.scheme]
    port = parts.port or usual

    class Connection(HTTPConnection):
        default_port = usual  # type: ignore[misc]  # as urllib3's own

        def connect(self) -> None:
            self.sock: Any = _SocketOfHTTPClient(caller, scheme, port, real_time=real_time)

        @property
        def is_connected(self) -> bool:
            return self.sock is not None and not self.sock.has_ended

    pool = HTTPConnectionPool(parts.hostname or "", port, maxsize=DEFAULT_POOLSIZE)
    pool.scheme, pool.ConnectionCls = scheme, Connection
    return pool


def _pool_there(there: Elsewhere, parts: SplitResult) -> HTTPConnectionPool:
    """Return connections over sockets to the server that holds the sandbox."""
    trusted = dict[str, Any]()
    kind: Any = HTTPConnection
    if (context := there.trusted) is not None:
        context.check_hostname = False  # urllib3 checks it, unless nothing is to be verified
        kind, trusted = HTTPSConnection, {"ssl_context": context}

    class Connection(kind):  # type: ignore[misc]  # whichever of the two
        def connect(self) -> None:
            """Connect. A client that believes in plain HTTP has not said whether to verify a certificate."""
            if parts.scheme == "http":
                self.cert_reqs = "CERT_REQUIRED"
            super().connect()

        def putrequest(self, method: str, url: str, skip_host: bool = False, **told: Any) -> None:
            """Begin a request, which keeps the host that its client means."""
            target = there.target(url.encode()).decode()
            super().putrequest(method, target, skip_host=True, **told)
            if not skip_host:
                self.putheader("Host", parts.netloc.rpartition("@")[2])

    pools = HTTPSConnectionPool if trusted else HTTPConnectionPool
    pool = pools(there.host, there.port, maxsize=DEFAULT_POOLSIZE, **trusted)
    pool.ConnectionCls = Connection
    return pool


def _divert(original: Callable[..., Any], way: Callable[[str], Any]) -> Callable[..., Any]:
    @wraps(original)
    def connection(self: HTTPAdapter, request: PreparedRequest, *args: Any, **options: Any) -> Any:
        url = str(request.url)
        pools = way(url)
        return original(self, request, *args, **options) if pools is None else pools.to(url)

    return connection


DETOURS = (Detour(HTTPAdapter, "get_connection_with_tls_context", _divert),)


class _SocketOfHTTPClient(Socket):
    """A socket as ``http.client`` uses it: closed only when no file of it is open any more."""

    _timeout: float | None = None
    _readers = 0
    _is_closed = False

    def fileno(self) -> int:
        """Raise, because there is no descriptor; urllib3 before 2 asks, and then keeps the connection."""
        raise _NO_WAY("a connection within this process has no descriptor")

    def settimeout(self, timeout: float | None) -> None:
        """Limit the wait for each piece of an answer, in seconds."""
        self._timeout = timeout

    def makefile(self, *_: Any) -> io.BufferedReader:
        """Return the answer as a file."""
        self._readers += 1
        return io.BufferedReader(LineFile(lambda size: self.read(size, self._timeout), self._done))

    def shutdown(self, _how: int) -> None:
        """Leave, although a file may be open."""
        super().close()

    def close(self) -> None:
        """Leave, as soon as no file is open."""
        self._is_closed = True
        if not self._readers:
            super().close()

    def _done(self) -> None:
        self._readers -= 1
        if self._is_closed and not self._readers:
            super().close()
