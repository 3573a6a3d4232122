"""Adapter for httpx without a socket: one transport for synchronous and asynchronous clients.

httpx's HTTP implementation writes each request to an in-process connection and reads the response from it.
So exceptions, and the bytes read before them, are the same as over a socket.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias

import httpcore
import httpx

from reseller_sandbox.clients.caller import AnySandbox, Caller, Detour, server_of
from reseller_sandbox.clients.socket_client import Socket
from reseller_sandbox.remote import trust

#: The original methods by which httpx reaches the network. An interception does not replace these references.
_SEND, _SEND_ASYNC = httpx.HTTPTransport.handle_request, httpx.AsyncHTTPTransport.handle_async_request

#: A function that connects to a port of a sandbox.
Connect: TypeAlias = Callable[[int], Socket]


class SandboxTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Transport from an ``httpx.Client`` or an ``httpx.AsyncClient`` to a sandbox.

    >>> client = httpx.Client(transport=SandboxTransport(sandbox), base_url="https://api.example.test")

    If the sandbox is a fork, requests go to the world of the fork. If the sandbox is on a server, requests go
    to that server. Connection faults raise the same errors as over a socket (``httpx.ReadError``,
    ``httpx.RemoteProtocolError``, …). In process, a delay that is longer than the client's timeout raises
    ``httpx.ReadTimeout`` immediately, and a shorter delay takes no time. With ``real_time``, delays take real
    time.
    """

    def __init__(self, sandbox: AnySandbox, *, real_time: bool = False) -> None:
        self._server = server = server_of(sandbox)
        self._sync: httpx.HTTPTransport
        self._async: httpx.AsyncHTTPTransport
        if server is None:
            connect = partial(Socket, Caller(sandbox), real_time=real_time)
            self._sync, self._async = _Transport(connect), _AsyncTransport(connect)
        else:
            verify = trust(server.authority) if server.url.startswith("https:") else True
            # Do not reuse connections: each belongs to one event loop, and the next request may have another.
            alone = httpx.Limits(max_keepalive_connections=0)
            self._sync = httpx.HTTPTransport(verify=verify)
            self._async = httpx.AsyncHTTPTransport(verify=verify, limits=alone)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the sandbox's response. If none arrives, raise the error of httpx."""
        return _SEND(self._sync, self._redirected(request))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the sandbox's response. If none arrives, raise the error of httpx."""
        return await _SEND_ASYNC(self._async, self._redirected(request))

    def close(self) -> None:
        """Close the connections to a server."""
        self._sync.close()

    def _redirected(self, request: httpx.Request) -> httpx.Request:
        """Return a copy of a request with the URL of the sandbox's server, but the same ``Host``."""
        if self._server is None:
            return request
        target = self._server.prefix.encode() + request.extensions.get("target", request.url.raw_path)
        return httpx.Request(
            request.method,
            httpx.URL(self._server.url).copy_with(raw_path=target),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "target": target},
        )


TRANSPORT = SandboxTransport
DETOURS = (
    Detour(
        httpx.HTTPTransport,
        "handle_request",
        lambda _, request: str(request.url),
        lambda transport, _, request: transport.handle_request(request),
    ),
    Detour(
        httpx.AsyncHTTPTransport,
        "handle_async_request",
        lambda _, request: str(request.url),
        lambda transport, _, request: transport.handle_async_request(request),
    ),
)


class _Transport(httpx.HTTPTransport):
    """httpx transport that opens a new in-process connection for each request."""

    def __init__(self, connect: Connect) -> None:
        self._pool = httpcore.ConnectionPool(network_backend=_Network(connect), **_pooling())


class _AsyncTransport(httpx.AsyncHTTPTransport):
    """``_Transport`` for asynchronous clients."""

    def __init__(self, connect: Connect) -> None:
        self._pool = httpcore.AsyncConnectionPool(network_backend=_AsyncNetwork(connect), **_pooling())


def _pooling() -> dict[str, Any]:
    """Return options for a connection pool without reuse of connections and without certificates."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return {"ssl_context": context, "max_connections": None, "max_keepalive_connections": 0}


class _Network(httpcore.NetworkBackend):
    def __init__(self, connect: Connect) -> None:
        self._connect = connect

    def connect_tcp(self, host: str, port: int, *_: Any, **__: Any) -> httpcore.NetworkStream:  # noqa: ARG002
        return _Stream(self._connect(port))


class _AsyncNetwork(httpcore.AsyncNetworkBackend):
    def __init__(self, connect: Connect) -> None:
        self._connect = connect

    async def connect_tcp(
        self,
        host: str,  # noqa: ARG002
        port: int,
        *_: Any,
        **__: Any,
    ) -> httpcore.AsyncNetworkStream:
        return _AsyncStream(self._connect(port))


@contextmanager
def _as_httpcore() -> Iterator[None]:
    """Translate the exceptions of a socket to those of httpcore."""
    try:
        yield
    except TimeoutError as error:
        raise httpcore.ReadTimeout(str(error)) from error
    except OSError as error:
        raise httpcore.ReadError(str(error)) from error


class _Stream(httpcore.NetworkStream):
    """In-process connection with the interface of httpcore."""

    def __init__(self, socket: Socket) -> None:
        self._socket = socket

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with _as_httpcore():
            return self._socket.read(max_bytes, timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        self._socket.sendall(buffer)

    def close(self) -> None:
        self._socket.close()

    def start_tls(self, *_: Any, **__: Any) -> httpcore.NetworkStream:
        self._socket.scheme = "https"
        return self


class _AsyncStream(httpcore.AsyncNetworkStream):
    """``_Stream`` for asynchronous clients."""

    def __init__(self, socket: Socket) -> None:
        self._socket = socket

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with _as_httpcore():
            return await self._socket.aread(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        self._socket.sendall(buffer)

    async def aclose(self) -> None:
        self._socket.close()

    async def start_tls(self, *_: Any, **__: Any) -> httpcore.AsyncNetworkStream:
        self._socket.scheme = "https"
        return self
