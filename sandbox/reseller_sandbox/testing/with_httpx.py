"""httpx without a socket: one transport for its synchronous and its asynchronous client.

An answer that arrives as usual is handed over as it is. Anything else, such as what faults do to
an answer, comes as bytes on a line, which httpx's own reader of HTTP reads: so what it raises, and what it
has read by then, is what it is over a socket.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any

import h11
import httpcore
import httpx

from reseller_sandbox.server.answer import WireAnswer
from reseller_sandbox.server.heads import Unread
from reseller_sandbox.server.problem import INCOMPLETE
from reseller_sandbox.testing.caller import METHODS, PORTS, Caller, WholeRequest
from reseller_sandbox.testing.elsewhere import Elsewhere, elsewhere
from reseller_sandbox.testing.interception import Detour
from reseller_sandbox.testing.line import Line, silence, transmission

if TYPE_CHECKING:
    from reseller_sandbox import Sandbox


class SandboxTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Carries the requests of an ``httpx.Client`` or an ``httpx.AsyncClient`` to a sandbox.

    >>> client = httpx.Client(transport=SandboxTransport(sandbox), base_url="https://api.example.test")

    With a fork, requests reach its world; those to a sandbox that a server holds go there. What faults do to
    a connection raises what it raises over a socket (``httpx.ReadError``, ``httpx.RemoteProtocolError``, …).
    In process the client's timeouts count, but nobody waits: a delay that is too long for the client raises
    ``httpx.ReadTimeout`` at once. With ``real_time`` delays are waited for.
    """

    def __init__(self, sandbox: Sandbox, *, real_time: bool = False) -> None:
        there = elsewhere(sandbox)
        self._server = ServerTransport(there) if there is not None else None
        if there is None:
            self._caller = Caller(sandbox)
        self._real_time = real_time

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the sandbox's answer; raise what httpx raises where none arrives."""
        if self._server is not None:
            return self._server.handle_request(request)
        assert isinstance(request.stream, httpx.SyncByteStream)
        body = b"".join(request.stream)
        begun = self._begin(request, body)
        if isinstance(begun, WireAnswer):
            return _response(begun)
        asked = _asked(request, body)
        with _as_httpx():
            response = httpcore.HTTP11Connection(asked.url.origin, _Stream(begun)).handle_request(asked)
        return _read(response)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the sandbox's answer; raise what httpx raises where none arrives."""
        if self._server is not None:
            return await self._server.handle_async_request(request)
        assert isinstance(request.stream, httpx.AsyncByteStream)
        body = b"".join([piece async for piece in request.stream])
        begun = self._begin(request, body)
        if isinstance(begun, WireAnswer):
            return _response(begun)
        asked = _asked(request, body)
        connection = httpcore.AsyncHTTP11Connection(asked.url.origin, _AsyncStream(begun))
        with _as_httpx():
            response = await connection.handle_async_request(asked)
        return _read(response)

    def close(self) -> None:
        """Give up the connections to a server."""
        if self._server is not None:
            self._server.close()

    def _begin(self, request: httpx.Request, body: bytes) -> WireAnswer | Line:
        """Return the answer to a request, or the line on which httpx itself has to read what comes."""
        url, headers = request.url, request.headers.raw
        target, scheme = request.extensions.get("target", url.raw_path), url.scheme
        if headers and _is_not_host(headers[0]):
            headers = sorted(headers, key=_is_not_host)
        port = url.port or PORTS.get(scheme, 0)
        asked = WholeRequest(request.method, scheme, port, target, headers, body)
        if not is_ordinary(asked):
            try:
                h11.Request(method=asked.method, target=target, headers=headers)
            except h11.LocalProtocolError as error:
                raise httpx.LocalProtocolError(str(error)) from error
        if asked.declared not in (None, len(body)):
            self._caller.refuse(Unread.of(asked.head, INCOMPLETE))
            return Line(silence())  # httpx notices as it writes, and goes no further
        reply = self._caller.call(asked)
        if reply.is_plain and "trace" not in request.extensions:
            return reply.answer
        return Line(transmission(reply), real_time=self._real_time, about=asked)


class ServerTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Carries the requests of both clients over a socket to the server that holds the sandbox."""

    def __init__(self, there: Elsewhere) -> None:
        self._there = there
        self._network = httpx.HTTPTransport(verify=there.trusted or True)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the server's answer."""
        return _SEND(self._network, self._led(request))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the server's answer, on a connection of its own: a loop outlives no other's connections."""
        network = httpx.AsyncHTTPTransport(verify=self._there.trusted or True)
        response = await _SEND_ASYNC(network, self._led(request))
        response.stream = _Lasting(response.stream, network)
        return response

    def close(self) -> None:
        """Give up the connections."""
        self._network.close()

    def _led(self, request: httpx.Request) -> httpx.Request:
        there = self._there
        target = there.target(request.extensions.get("target", request.url.raw_path))
        url = httpx.URL(scheme=there.scheme, host=there.host, port=there.port, raw_path=target)
        return httpx.Request(
            request.method,
            url,
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "target": target},
        )


class _Lasting(httpx.AsyncByteStream):
    """An answer whose connection is given up with it."""

    def __init__(self, stream: Any, network: httpx.AsyncHTTPTransport) -> None:
        self._stream = stream
        self._network = network

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
        await self._network.aclose()


#: By which httpx reaches the network, whoever intercepts it.
_SEND, _SEND_ASYNC = httpx.HTTPTransport.handle_request, httpx.AsyncHTTPTransport.handle_async_request


def way_to(sandbox: Sandbox, real_time: bool) -> SandboxTransport:
    """Return what takes the requests that are intercepted."""
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


#: The names and values of headers that h11 takes; the latter are printable ASCII.
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9a-z-]+")
_VALUE = re.compile(rb"[!-~](?:[ -~]*[!-~])?")
_TARGET = re.compile(rb"[!-~]+")


def is_ordinary(asked: WholeRequest) -> bool:
    """Whether h11, which takes ten times as long to say so, would send a request's head."""
    named = asked.named
    return (
        asked.method in METHODS
        and len(named) == len(asked.headers)
        and b"host" in named
        and b"transfer-encoding" not in named
        and named.get(b"content-length", b"0").isdigit()
        and _TARGET.fullmatch(asked.target) is not None
        and all(map(_NAME.fullmatch, named))
        and all(map(_VALUE.fullmatch, named.values()))
    )


def _is_not_host(header: tuple[bytes, bytes]) -> bool:
    """Whether a header comes after those that httpx sends first, wherever they were given."""
    return header[0].lower() != b"host"


def _response(answer: WireAnswer) -> httpx.Response:
    return httpx.Response(
        answer.status,
        headers=answer.headers,
        stream=httpx.ByteStream(answer.body),
        extensions={"http_version": b"HTTP/1.1", "reason_phrase": answer.phrase},
    )


def _asked(request: httpx.Request, body: bytes) -> httpcore.Request:
    url = request.url
    return httpcore.Request(
        method=request.method,
        url=httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        headers=request.headers.raw,
        content=body,
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
    """Raise what httpcore raises for what a socket does."""
    try:
        yield
    except TimeoutError as error:
        raise httpcore.ReadTimeout(str(error)) from error
    except OSError as error:
        raise httpcore.ReadError(str(error)) from error


class _Stream(httpcore.NetworkStream):
    """A line, for httpcore to read. The request has been made already, so what it writes goes nowhere."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with _as_httpcore():
            return self._line.read(max_bytes, timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        pass

    def close(self) -> None:
        self._line.leave()

    def start_tls(self, *_: Any, **__: Any) -> httpcore.NetworkStream:
        return self

    def get_extra_info(self, info: str) -> Any:  # noqa: ARG002
        return None


class _AsyncStream(httpcore.AsyncNetworkStream):
    """The same for its asynchronous half."""

    def __init__(self, line: Line) -> None:
        self._line = line

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with _as_httpcore():
            return await self._line.aread(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        pass

    async def aclose(self) -> None:
        self._line.leave()

    async def start_tls(self, *_: Any, **__: Any) -> httpcore.AsyncNetworkStream:
        return self

    def get_extra_info(self, info: str) -> Any:  # noqa: ARG002
        return None
