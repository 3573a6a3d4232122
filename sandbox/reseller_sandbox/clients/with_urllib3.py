"""Adapter for urllib3 without a socket: only the connection is replaced.

urllib3 works as in production: it writes and reads HTTP. So retries, exceptions, and the bytes read before
them are the same as over a socket.
"""

from __future__ import annotations

import io
import os
from functools import partial
from typing import TYPE_CHECKING, Any

import urllib3.util.wait
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.util import parse_url

from reseller_sandbox.clients.caller import PORTS, AnySandbox, Caller, Detour, server_of
from reseller_sandbox.clients.fake_connection import ResponseFile
from reseller_sandbox.clients.socket_client import Socket
from reseller_sandbox.clients.urllib3_requests import url_of
from reseller_sandbox.remote import HttpTransport, trust

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse  # not in versions before 2.0

#: The exception that urllib3 raises in versions before 2.0, for a socket without a descriptor.
_NO_DESCRIPTOR: type[Exception] = getattr(urllib3.util.wait, "NoWayToWaitForSocketError", OSError)

#: The original method by which urllib3 reaches the network. An interception does not replace this reference.
_URLOPEN = HTTPConnectionPool.urlopen


class SandboxPoolManager(PoolManager):
    """Pool manager of urllib3 whose requests reach a sandbox.

    >>> urllib3_client = SandboxPoolManager(sandbox)
    >>> urllib3_client.request("GET", "https://api.example.test/v3/balance")

    If the sandbox is a fork, requests go to the world of the fork. If the sandbox is on a server, requests go
    to that server. Connection faults raise the same errors as over a socket. In process, a delay that is
    longer than the client's timeout raises ``ReadTimeoutError`` immediately, and a shorter delay takes no
    time. With ``real_time``, delays take real time. ``options`` are passed to ``urllib3.PoolManager``.
    """

    def __init__(self, sandbox: AnySandbox, *, real_time: bool = False, **options: Any) -> None:
        super().__init__(**options)
        server = server_of(sandbox)
        if server is None:
            pool: Any = partial(_pool_in_process, Caller(sandbox), real_time)
        else:
            pool = partial(_pool_of_server, server)
        kinds: dict[str, Any] = {scheme: partial(pool, scheme) for scheme in PORTS}
        self.pool_classes_by_scheme = kinds
        self._process = os.getpid()

    def connection_from_host(
        self,
        host: str | None,
        port: int | None = None,
        scheme: str | None = "http",
        pool_kwargs: dict[str, object] | None = None,
    ) -> HTTPConnectionPool:
        """Return the pool of connections to the sandbox for a host."""
        if self._process != os.getpid():
            self.clear()  # The inherited connections belong to the parent process.
            self._process = os.getpid()
        return super().connection_from_host(host, port, scheme, pool_kwargs)

    def close(self) -> None:
        """Close every connection."""
        self.clear()


def _urlopen(
    transport: SandboxPoolManager, pool: HTTPConnectionPool, method: str, url: str, *args: Any, **options: Any
) -> BaseHTTPResponse:
    """Send a request of the client's ``pool`` to the sandbox.

    The pool's options about certificates and sockets do not apply to a sandbox.
    """
    target = parse_url(url_of(pool, method, url))
    kept = {name: getattr(pool, name) for name in ("timeout", "retries", "block", "headers")}
    kept["maxsize"] = pool.pool.maxsize if pool.pool is not None else 1
    own = transport.connection_from_host(target.host, target.port, target.scheme, kept)
    return own.urlopen(method, parse_url(url).request_uri if parse_url(url).scheme else url, *args, **options)


TRANSPORT = SandboxPoolManager
DETOURS = (Detour(HTTPConnectionPool, "urlopen", url_of, _urlopen),)


def _pool_in_process(
    caller: Caller, real_time: bool, scheme: str, host: str, port: int, **options: Any
) -> HTTPConnectionPool:
    """Return a pool of connections to a sandbox in this process."""

    class Connection(HTTPConnection):
        default_port = PORTS[scheme]  # type: ignore[misc]  # as urllib3's own

        def connect(self) -> None:
            self.sock: Any = _SocketOfHTTPClient(caller, port, scheme, real_time=real_time)

        @property
        def is_connected(self) -> bool:
            return self.sock is not None and not self.sock.has_ended

    pool = _Pool(host, port, **options)
    pool.scheme, pool.ConnectionCls = scheme, Connection
    return pool


def _pool_of_server(
    server: HttpTransport, scheme: str, host: str, port: int, **options: Any
) -> HTTPConnectionPool:
    """Return a pool of connections over sockets to the sandbox's server.

    The pool has the host and the port that the client requested. Only its connections have others.
    """
    address = parse_url(server.url)
    kind: Any = HTTPConnection
    if address.scheme == "https":
        context = trust(server.authority)
        context.check_hostname = False  # urllib3 itself checks the host name.
        kind, options = HTTPSConnection, {**options, "ssl_context": context}

    class Connection(kind):  # type: ignore[misc]  # HTTPConnection or HTTPSConnection
        def __init__(self, host: str, port: int, **options: object) -> None:  # noqa: ARG002
            super().__init__(address.host, address.port, **options)

        def connect(self) -> None:
            """Connect. Verify the certificate even if the client's URL begins with ``http:``."""
            if scheme == "http":
                self.cert_reqs = "CERT_REQUIRED"
            super().connect()

        def putrequest(self, method: str, url: str, skip_host: bool = False, **options: object) -> None:
            """Begin a request. The ``Host`` header has the host of the URL that the client requested."""
            super().putrequest(method, server.prefix + url, skip_host=True, **options)
            if not skip_host:
                name = f"[{host}]" if ":" in host else host
                self.putheader("Host", name if port == PORTS[scheme] else f"{name}:{port}")

    pool = (_SecurePool if address.scheme == "https" else _Pool)(host, port, **options)
    pool.scheme, pool.ConnectionCls = scheme, Connection
    return pool


class _Pool(HTTPConnectionPool):
    """Pool of connections to a sandbox, which no interception affects."""

    def urlopen(self, *args: Any, **options: Any) -> Any:
        """Send a request, as urllib3 does."""
        return _URLOPEN(self, *args, **options)


class _SecurePool(_Pool, HTTPSConnectionPool):
    """The same pool with TLS."""


class _SocketOfHTTPClient(Socket):
    """Socket for ``http.client``, which closes only after all files from ``makefile`` are closed."""

    _timeout: float | None = None
    _readers = 0
    _is_closed = False

    def fileno(self) -> int:
        """Raise an error, because there is no descriptor. urllib3 before 2 then keeps the connection."""
        raise _NO_DESCRIPTOR("a connection within this process has no descriptor")

    def shutdown(self, _: int) -> None:
        """End the response, as ``HTTPResponse.shutdown`` of urllib3 does from another thread."""
        self._connection.leave()

    def settimeout(self, timeout: float | None) -> None:
        """Set the timeout in seconds for each read of a response."""
        self._timeout = timeout

    def makefile(self, *_: object) -> io.BufferedReader:
        """Return the response as a file."""
        self._readers += 1
        return io.BufferedReader(ResponseFile(lambda size: self.read(size, self._timeout), self._done))

    def close(self) -> None:
        """Close the socket, now or after its last open file is closed."""
        self._is_closed = True
        if not self._readers:
            super().close()

    def _done(self) -> None:
        self._readers -= 1
        if self._is_closed and not self._readers:
            super().close()
