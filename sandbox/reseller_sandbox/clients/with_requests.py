"""requests without a socket: its own machinery, down to where it would connect.

Everything above the connection is requests and urllib3 as in production: what is written and read is HTTP,
so retries, exceptions, and the part of an answer that was read before them are the same as over a socket.
"""

from __future__ import annotations

import io
from functools import partial
from typing import Any

from requests import PreparedRequest
from requests.adapters import DEFAULT_POOLSIZE, HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.util import parse_url

from reseller_sandbox.clients.caller import PORTS, AnySandbox, Caller, server_of
from reseller_sandbox.clients.fake_connection import LineFile
from reseller_sandbox.clients.socket_client import Socket
from reseller_sandbox.remote import HttpTransport, trust


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
        server = server_of(sandbox)
        pool: Any = (
            partial(_pool_there, server) if server else partial(_pool_here, Caller(sandbox), real_time)
        )
        kinds: dict[str, Any] = {scheme: partial(pool, scheme) for scheme in PORTS}
        self._pools = PoolManager(maxsize=DEFAULT_POOLSIZE)
        self._pools.pool_classes_by_scheme = kinds

    def get_connection_with_tls_context(
        self, request: PreparedRequest, *_: Any, **__: Any
    ) -> HTTPConnectionPool:
        """Return connections to the sandbox."""
        return self._pools.connection_from_url(str(request.url))

    def close(self) -> None:
        """Close every connection."""
        super().close()
        self._pools.clear()


DETOURS = ((HTTPAdapter, "get_connection_with_tls_context"),)


def _pool_here(
    caller: Caller, real_time: bool, scheme: str, host: str, port: int, **options: Any
) -> HTTPConnectionPool:
    """Return connections to a sandbox in this process."""

    class Connection(HTTPConnection):
        default_port = PORTS[scheme]  # type: ignore[misc]  # as urllib3's own

        def connect(self) -> None:
            self.sock: Any = _SocketOfHTTPClient(caller, port, scheme, real_time=real_time)

        @property
        def is_connected(self) -> bool:
            return self.sock is not None and not self.sock.has_ended

    pool = HTTPConnectionPool(host, port, **options)
    pool.scheme, pool.ConnectionCls = scheme, Connection
    return pool


def _pool_there(
    server: HttpTransport, scheme: str, host: str, port: int, **options: Any
) -> HTTPConnectionPool:
    """Return connections over sockets to the server that holds the sandbox."""
    at = parse_url(server.url)
    kind: Any = HTTPConnection
    if at.scheme == "https":
        context = trust(server.authority)
        context.check_hostname = False  # urllib3 checks it, unless nothing is to be verified
        kind, options = HTTPSConnection, {**options, "ssl_context": context}

    class Connection(kind):  # type: ignore[misc]  # whichever of the two
        def connect(self) -> None:
            """Connect. A client that believes in plain HTTP has not said whether to verify a certificate."""
            if scheme == "http":
                self.cert_reqs = "CERT_REQUIRED"
            super().connect()

        def putrequest(self, method: str, url: str, skip_host: bool = False, **told: Any) -> None:
            """Begin a request, which keeps the host that its client means."""
            super().putrequest(method, server.prefix + url, skip_host=True, **told)
            if not skip_host:
                self.putheader("Host", host if port == PORTS[scheme] else f"{host}:{port}")

    pools = HTTPSConnectionPool if at.scheme == "https" else HTTPConnectionPool
    pool = pools(str(at.host), at.port, **options)
    pool.ConnectionCls = Connection
    return pool


class _SocketOfHTTPClient(Socket):
    """A socket as ``http.client`` uses it: closed only when no file of it is open any more."""

    _timeout: float | None = None
    _readers = 0
    _is_closed = False

    def settimeout(self, timeout: float | None) -> None:
        """Limit the wait for each piece of an answer, in seconds."""
        self._timeout = timeout

    def makefile(self, *_: Any) -> io.BufferedReader:
        """Return the answer as a file."""
        self._readers += 1
        return io.BufferedReader(LineFile(lambda size: self.read(size, self._timeout), self._done))

    def close(self) -> None:
        """Leave, as soon as no file is open."""
        self._is_closed = True
        if not self._readers:
            super().close()

    def _done(self) -> None:
        self._readers -= 1
        if self._is_closed and not self._readers:
            super().close()
