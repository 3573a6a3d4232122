"""httpx without a socket: one transport for its synchronous and its asynchronous client.

httpx's own implementation of HTTP writes each request to a connection of this process and reads the answer
from it, so exceptions, and the part of an answer that was read before them, are the same as over a socket.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import httpcore
import httpx

from reseller_sandbox.clients.caller import PORTS, AnySandbox, Caller, Elsewhere, elsewhere
from reseller_sandbox.clients.interception import Detour
from reseller_sandbox.clients.socket import Socket


class SandboxTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Carries the requests of an ``httpx.Client`` or an ``httpx.AsyncClient`` to a sandbox.

    >>> client = httpx.Client(transport=SandboxTransport(sandbox), base_url="https://api.example.test")

    With a fork, requests reach its world; those to a sandbox that a server holds go there. What faults do to
    a connection raises what it raises over a socket (``httpx.ReadError``, ``httpx.RemoteProtocolError``, …).
    In process the client's timeouts count, but nobody waits: a delay that is too long for the client raises
    ``httpx.ReadTimeout`` at once. With ``real_time`` delays are waited for.
    """

    def __init__(self, sandbox: AnySandbox, *, real_time: bool = False) -> None:
        there = elsewhere(sandbox)
        self._way = _Here(Caller(sandbox), real_time) if there is None else _There(there)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the sandbox's answer; raise what httpx raises where none arrives."""
        return self._way.handle_request(request)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the sandbox's answer; raise what httpx raises where none arrives."""
        return await self._way.handle_async_request(request)

    def close(self) -> None:
        """Close the connections to a server."""
        self._way.close()


class _Here:
    """Requests to a sandbox in this process, each on a new connection."""

    def __init__(self, caller: Caller, real_time: bool) -> None:
        self._caller = caller
        self._real_time = real_time

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        asked = _asked(request)
        with _as_httpx():
            connection = httpcore.HTTP11Connection(asked.url.origin, _Stream(self._socket(request.url)))
            return _read(connection.handle_request(asked))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        asked = _asked(request)
        with _as_httpx():
            connection = httpcore.AsyncHTTP11Connection(
                asked.url.origin, _AsyncStream(self._socket(request.url))
            )
            return _read(await connection.handle_async_request(asked))

    def close(self) -> None:
        """Do nothing: each connection ends with its answer."""

    def _socket(self, url: httpx.URL) -> Socket:
        port = url.port or PORTS.get(url.scheme, 0)
        return Socket(self._caller, url.scheme, port, real_time=self._real_time)


class _There:
    """Requests to the server that holds the sandbox, over sockets."""

    def __init__(self, there: Elsewhere) -> None:
        self._there = there
        verify = there.trusted or True
        self._network = httpx.HTTPTransport(verify=verify)
        # A connection belongs to its event loop, and the next request may come from another one.
        self._async_network = httpx.AsyncHTTPTransport(
            verify=verify, limits=httpx.Limits(max_keepalive_connections=0)
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return _SEND(self._network, self._led(request))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await _SEND_ASYNC(self._async_network, self._led(request))

    def close(self) -> None:
        self._network.close()

    def _led(self, request: httpx.Request) -> httpx.Request:
        there = self._there
        target = there.target(request.extensions.get("target", request.url.raw_path))
        return httpx.Request(
            request.method,
            httpx.URL(scheme=there.scheme, host=there.host, port=there.port, raw_path=target),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "target": target},
        )


#: The methods by which httpx reaches the network, also while they are intercepted.
_SEND, _SEND_ASYNC = httpx.HTTPTransport.handle_request, httpx.AsyncHTTPTransport.handle_async_request


def way_to(sandbox: AnySandbox, real_time: bool) -> SandboxTransport:
    """Return the transport for intercepted requests."""
    return SandboxTransport(sandbox, real_time=real_time)


def _divert(original: Callable[..., Any], way: Callable[[str], Any]) -> Callable[..., Any]:
    @wraps(original)
    def handle_request(self: httpx.HTTPTransport, request: httpx.Request) -> Any:
        transport = way(str(request.url))
        return original(self, request) if transport is None else transport.handle_request(request)

    return handle_request


def _divert_async(original: Callable[..., Any], way: Callable[[str], Any]) -> Callable[..., Any]:
    @wraps(original)
    async def handle_async_request(self: httpx.AsyncHTTPTransport, request: httpx.Request) -> Any:
        transport = way(str(request.url))
        if transport is None:
            return await original(self, request)
        return await transport.handle_async_request(request)

    return handle_async_request


DETOURS = (
    Detour(httpx.HTTPTransport, "handle_request", _divert),
    Detour(httpx.AsyncHTTPTransport, "handle_async_request", _divert_async),
)


def _asked(request: httpx.Request) -> httpcore.Request:
    url = request.url
    return httpcore.Request(
        method=request.method,
        url=httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        headers=request.headers.raw,
        content=request.stream,
        extensions=request.extensions,
    )


def _read(response: httpcore.Response) -> httpx.Response:
    return httpx.Response(
        response.status,
        headers=response.headers,
        stream=_Body(response.stream),
        extensions=response.extensions,
    )


@contextmanager
def _as_httpx() -> Iterator[None]:
    """Raise httpx's exceptions for those of httpcore, which have the same names."""
    try:
        yield
    except Exception as error:
        found = getattr(httpx, type(error).__name__, None) if type(error) in _RAISED else None
        if found is None:
            raise
        raise found(str(error)) from error


_RAISED = frozenset(
    one for one in vars(httpcore).values() if isinstance(one, type) and issubclass(one, Exception)
)


class _Body(httpx.SyncByteStream, httpx.AsyncByteStream):
    """The body of an answer that httpcore reads."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx():
            yield from self._stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _as_httpx():
            async for piece in self._stream:
                yield piece

    def close(self) -> None:
        self._stream.close()

    async def aclose(self) -> None:
        await self._stream.aclose()


@contextmanager
def _as_httpcore() -> Iterator[None]:
    """Raise the exceptions of httpcore for those of a socket."""
    try:
        yield
    except TimeoutError as error:
        raise httpcore.ReadTimeout(str(error)) from error
    except OSError as error:
        raise httpcore.ReadError(str(error)) from error


class _Stream(httpcore.NetworkStream):
    """A connection of this process, as httpcore has it."""

    def __init__(self, socket: Socket) -> None:
        self._socket = socket

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with _as_httpcore():
            return self._socket.read(max_bytes, timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        self._socket.sendall(buffer)

    def close(self) -> None:
        self._socket.close()

    def get_extra_info(self, info: str) -> Any:  # noqa: ARG002
        return None


class _AsyncStream(httpcore.AsyncNetworkStream):
    """The same for asynchronous clients."""

    def __init__(self, socket: Socket) -> None:
        self._socket = socket

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with _as_httpcore():
            return await self._socket.aread(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        self._socket.sendall(buffer)

    async def aclose(self) -> None:
        self._socket.close()

    def get_extra_info(self, info: str) -> Any:  # noqa: ARG002
        return None
