"""requests without a socket: its own machinery, down to where it would connect.

Everything above the connection is requests and urllib3 as in production: what is written and read is HTTP,
so retries, what is raised, and how much of an answer has been read by then are what they are over a socket.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httptools
import urllib3.util.wait
from requests import PreparedRequest
from requests.adapters import DEFAULT_POOLSIZE, HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

from reseller_sandbox.server.heads import Unread
from reseller_sandbox.server.problem import INCOMPLETE
from reseller_sandbox.testing.caller import PORTS, Caller, Reply, WholeRequest, malformed_in
from reseller_sandbox.testing.elsewhere import Elsewhere, elsewhere
from reseller_sandbox.testing.interception import Detour
from reseller_sandbox.testing.line import Line, LineFile, silence, transmission

if TYPE_CHECKING:
    from reseller_sandbox import Sandbox


#: What urllib3 before 2 raises itself where a socket cannot be waited for.
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

    def __init__(self, sandbox: Sandbox, *, real_time: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self._pools = way_to(sandbox, real_time)

    def get_connection_with_tls_context(
        self, request: PreparedRequest, *_: Any, **__: Any
    ) -> HTTPConnectionPool:
        """Return connections to the sandbox."""
        return self._pools.to(str(request.url))

    def get_connection(self, url: Any, proxies: Any = None) -> Any:  # noqa: ARG002
        """Do the same for requests before 2.32."""
        return self._pools.to(str(url))

    def close(self) -> None:
        """Give up every connection."""
        super().close()
        self._pools.close()


class _Pools:
    """Connections by the place that they are to."""

    def __init__(self) -> None:
        self._pools: dict[Any, HTTPConnectionPool] = {}

    def close(self) -> None:
        """Give up every connection."""
        for pool in self._pools.values():
            pool.close()
        self._pools.clear()


class Pools(_Pools):
    """Connections to the sandbox that ``caller`` calls, by the address that they are to."""

    def __init__(self, caller: Caller, real_time: bool) -> None:
        super().__init__()
        self._caller = caller
        self._real_time = real_time

    def to(self, url: str) -> HTTPConnectionPool:
        """Return the connections to where ``url`` leads."""
        parts = urlsplit(url)
        place = parts.scheme, parts.hostname or "", parts.port or PORTS[parts.scheme]
        if place not in self._pools:
            self._pools[place] = self._made(*place)
        return self._pools[place]

    def _made(self, scheme: str, host: str, port: int) -> HTTPConnectionPool:
        caller, real_time = self._caller, self._real_time

        class Connection(HTTPConnection):
            default_port = PORTS[scheme]  # type: ignore[misc]  # as urllib3's own

            def connect(self) -> None:
                self.sock: Any = Socket(caller, scheme, port, real_time)

            @property
            def is_connected(self) -> bool:
                return self.sock is not None and not self.sock.has_ended

        pool = HTTPConnectionPool(host, port, maxsize=DEFAULT_POOLSIZE)
        pool.scheme, pool.ConnectionCls = scheme, Connection
        return pool


class ServerPools(_Pools):
    """Connections over sockets to the server that holds the sandbox."""

    def __init__(self, there: Elsewhere) -> None:
        super().__init__()
        self._there = there

    def to(self, url: str) -> HTTPConnectionPool:
        """Return the connections that stand for those to where ``url`` leads."""
        parts = urlsplit(url)
        place = parts.scheme, parts.netloc.rpartition("@")[2]
        if place not in self._pools:
            self._pools[place] = self._made(*place)
        return self._pools[place]

    def _made(self, scheme: str, place: str) -> HTTPConnectionPool:
        there, trusted = self._there, dict[str, Any]()
        kind: Any = HTTPConnection
        if (context := there.trusted) is not None:
            context.check_hostname = False  # urllib3 checks it, unless nothing is to be verified
            kind, trusted = HTTPSConnection, {"ssl_context": context}

        class Connection(kind):  # type: ignore[misc]  # whichever of the two
            def connect(self) -> None:
                """Connect; where the client believes that there is no TLS, it has not said what to verify."""
                if scheme == "http":
                    self.cert_reqs = "CERT_REQUIRED"
                super().connect()

            def putrequest(self, method: str, url: str, skip_host: bool = False, **told: Any) -> None:
                """Begin a request, which keeps the host that its client has meant."""
                target = there.target(url.encode()).decode()
                super().putrequest(method, target, skip_host=True, **told)
                if not skip_host:
                    self.putheader("Host", place)

        pools = HTTPSConnectionPool if trusted else HTTPConnectionPool
        pool = pools(there.host, there.port, maxsize=DEFAULT_POOLSIZE, **trusted)
        pool.ConnectionCls = Connection
        return pool


def way_to(sandbox: Sandbox, real_time: bool) -> Pools | ServerPools:
    """Return what has the connections for the requests that are intercepted."""
    there = elsewhere(sandbox)
    return Pools(Caller(sandbox), real_time) if there is None else ServerPools(there)


def _divert(original: Callable[..., Any], way: Callable[[str], Any]) -> Callable[..., Any]:
    @wraps(original)
    def connection(self: HTTPAdapter, request: PreparedRequest | str, *args: Any, **options: Any) -> Any:
        url = str(getattr(request, "url", request))
        pools = way(url)
        return original(self, request, *args, **options) if pools is None else pools.to(url)

    return connection


#: How requests finds a connection; before 2.32 it did so by another method.
_CONNECTING = "get_connection_with_tls_context"

DETOURS = (
    Detour(HTTPAdapter, _CONNECTING if hasattr(HTTPAdapter, _CONNECTING) else "get_connection", _divert),
)


class Socket:
    """What a connection takes for its socket: takes requests, and gives what comes of them."""

    def __init__(self, caller: Caller, scheme: str, port: int, real_time: bool) -> None:
        self._caller = caller
        self._scheme = scheme
        self._port = port
        self._real_time = real_time
        self._timeout: float | None = None
        self._parser = httptools.HttpRequestParser(self)
        self._sent = b""
        self._line = self._silent()
        #: Whether it is closed, and how many still read from it: it ends after the last of them.
        self._is_closed, self._readers = False, 0
        self._is_refused = False

    @property
    def has_ended(self) -> bool:
        """Whether no other request can be made on it."""
        return self._line.has_ended

    def sendall(self, data: bytes) -> None:
        """Take a piece of a request; make it as soon as it is whole."""
        if self._is_refused:
            return
        self._sent += data
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            lost = malformed_in(self._sent)
            assert lost is not None
            self._is_refused = True
            self._hear(self._caller.refuse(lost), "A request that is not HTTP")

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._line = self._silent()
        self._target, self._body = b"", b""
        self._headers: list[tuple[bytes, bytes]] = []

    def on_url(self, url: bytes) -> None:
        """Take a piece of its target."""
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        self._headers.append((name, value))

    def on_body(self, body: bytes) -> None:
        """Take a piece of its body."""
        self._body += body

    def on_message_complete(self) -> None:
        """Make it."""
        method = self._parser.get_method().decode()
        request = WholeRequest(method, self._scheme, self._port, self._target, self._headers, self._body)
        self._hear(self._caller.call(request), request)

    def _hear(self, reply: Reply, about: object) -> None:
        self._line = Line(transmission(reply), real_time=self._real_time, about=about)
        self._sent = b""

    def _silent(self) -> Line:
        """Return the line while a request is not whole: the sandbox, too, waits."""
        return Line(silence(), real_time=self._real_time, about="A request that is not whole")

    def fileno(self) -> int:
        """Raise that there is none to wait for; urllib3 before 2 asks, and keeps the connection then."""
        raise _NO_WAY("a connection within this process has no descriptor")

    def settimeout(self, timeout: float | None) -> None:
        """Let each piece of an answer take so many seconds."""
        self._timeout = timeout

    def makefile(self, *_: Any) -> io.BufferedReader:
        """Return the answer, to be read."""
        self._readers += 1
        return io.BufferedReader(LineFile(self.read, self.read_no_longer))

    def read(self, size: int) -> bytes:
        """Return the next bytes of the answer."""
        return self._line.read(size, self._timeout)

    def shutdown(self, _how: int) -> None:
        """Go away, whoever reads."""
        self._line.leave()

    def close(self) -> None:
        """Go away, as soon as nobody reads; be it in the middle of a request."""
        self._is_closed = True
        if self._sent:
            self._caller.refuse(Unread.of(self._sent, INCOMPLETE))
            self._sent = b""
        self._leave_if_done()

    def read_no_longer(self) -> None:
        """Note that one of those who read is done."""
        self._readers -= 1
        self._leave_if_done()

    def _leave_if_done(self) -> None:
        if self._is_closed and not self._readers:
            self._line.leave()
