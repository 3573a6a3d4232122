"""Transports of httpx and of httpx2 to a sandbox. Both libraries have the same classes.

The library's HTTP implementation writes each request to an in-process connection and reads the response from
it. So exceptions, and the bytes read before them, are the same as over a socket.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from reseller_sandbox.clients.caller import FIRST_ON_LOOP, AnySandbox, Caller, Detour, server_of
from reseller_sandbox.clients.socket_client import Socket
from reseller_sandbox.remote import trust
from reseller_sandbox.values.processes import PerProcess

#: A function that connects to a port of a sandbox.
Connect: TypeAlias = Callable[[int], Socket]

#: The synchronous transport of each process, and the asynchronous transport.
_Pair: TypeAlias = tuple[PerProcess[Any], Any]

#: The package with the connections of each library. ``httpx`` can also be another name of httpx2.
_CORES = {"httpx": "httpcore", "httpx2": "httpcore2"}


class Library:
    """The module httpx or httpx2, and the original methods by which it reaches the network.

    An interception does not replace these references.
    """

    def __init__(self, module: Any) -> None:
        self.module = module
        self.core: Any = import_module(_CORES[module.__name__])
        self.network, self.async_network = _networks(self.core)
        self.send = module.HTTPTransport.handle_request
        self.send_async = module.AsyncHTTPTransport.handle_async_request

    @property
    def detours(self) -> tuple[Detour, ...]:
        """The methods that an interception replaces."""
        return (
            Detour(
                self.module.HTTPTransport,
                "handle_request",
                lambda _, request: str(request.url),
                lambda transport, client, request: transport.handle_request(request, client),
            ),
            Detour(
                self.module.AsyncHTTPTransport,
                "handle_async_request",
                lambda _, request: str(request.url),
                lambda transport, client, request: transport.handle_async_request(request, client),
            ),
        )


class Transports:
    """A synchronous and an asynchronous transport of one library to a sandbox."""

    def __init__(self, library: Library, sandbox: AnySandbox, *, real_time: bool = False) -> None:
        self._library = library
        self._server = server = server_of(sandbox)
        #: The connections of each client in this process, because clients share none.
        self._of: WeakKeyDictionary[object, _Pair] = WeakKeyDictionary()
        httpx, core = library.module, library.core
        if server is None:
            connect = partial(Socket, Caller(sandbox), real_time=real_time)
            on_loop = library.async_network(partial(connect, first=FIRST_ON_LOOP))
            self._made = (
                partial(_in_process, httpx.HTTPTransport, core.ConnectionPool, library.network(connect)),
                partial(_in_process, httpx.AsyncHTTPTransport, core.AsyncConnectionPool, on_loop),
            )
        else:
            verify = trust(server.authority) if server.url.startswith("https:") else True
            # Do not reuse connections: each belongs to one event loop, and the next request may have another.
            alone = httpx.Limits(max_keepalive_connections=0)
            sync = PerProcess(partial(httpx.HTTPTransport, verify=verify))
            self._to_server: _Pair = sync, httpx.AsyncHTTPTransport(verify=verify, limits=alone)

    def handle_request(self, request: object, client: object = None) -> Any:
        """Return the sandbox's response. If none arrives, raise the error of the library.

        ``client`` is the transport of another client, whose requests an interception sends to the sandbox.
        """
        return self._library.send(self._connections(client or self)[0](), self._redirected(request))

    async def handle_async_request(self, request: object, client: object = None) -> Any:
        """Return the sandbox's response, as ``handle_request`` does."""
        return await self._library.send_async(self._connections(client or self)[1], self._redirected(request))

    def close(self) -> None:
        """Close the connections to a server."""
        if self._server is not None:
            self._to_server[0]().close()

    def _connections(self, client: object) -> _Pair:
        if self._server is not None:
            return self._to_server
        if client not in self._of:
            sync, asynchronous = self._made
            self._of[client] = PerProcess(sync), asynchronous()
        return self._of[client]

    def _redirected(self, request: Any) -> object:
        """Return a copy of a request with the URL of the sandbox's server, but the same ``Host``."""
        if self._server is None:
            return request
        target = self._server.prefix.encode() + request.extensions.get("target", request.url.raw_path)
        return self._library.module.Request(
            request.method,
            self._library.module.URL(self._server.url).copy_with(raw_path=target),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "target": target},
        )


def _in_process(kind: Any, pool: Any, network: Any) -> object:
    """Return a transport whose connections are in this process."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # without certificates, which take long to load
    transport = kind(verify=context)
    transport._pool = pool(
        ssl_context=context, max_connections=None, max_keepalive_connections=20, network_backend=network
    )
    return transport


def _networks(core: Any) -> tuple[Any, Any]:
    """Return the classes of in-process networks for a core library, synchronous and asynchronous."""

    @contextmanager
    def translated() -> Iterator[None]:
        """Translate the exceptions of a socket to those of the core library."""
        try:
            yield
        except TimeoutError as error:
            raise core.ReadTimeout(str(error)) from error
        except OSError as error:
            raise core.ReadError(str(error)) from error

    class Stream(core.NetworkStream):  # type: ignore[misc]
        def __init__(self, socket: Socket) -> None:
            self._socket = socket

        def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
            with translated():
                return self._socket.read(max_bytes, timeout)

        def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
            self._socket.sendall(buffer)

        def close(self) -> None:
            self._socket.close()

        def start_tls(self, *_: object, **__: object) -> object:
            self._socket.scheme = "https"
            return self

    class AsyncStream(core.AsyncNetworkStream):  # type: ignore[misc]
        def __init__(self, socket: Socket) -> None:
            self._socket = socket

        async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
            with translated():
                return await self._socket.aread(max_bytes, timeout)

        async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
            self._socket.sendall(buffer)

        async def aclose(self) -> None:
            self._socket.close()

        async def start_tls(self, *_: object, **__: object) -> Any:
            self._socket.scheme = "https"
            return self

    class Network(core.NetworkBackend):  # type: ignore[misc]
        def __init__(self, connect: Connect) -> None:
            self._connect = connect

        def connect_tcp(self, host: str, port: int, *_: object, **__: object) -> object:  # noqa: ARG002
            return Stream(self._connect(port))

    class AsyncNetwork(core.AsyncNetworkBackend):  # type: ignore[misc]
        def __init__(self, connect: Connect) -> None:
            self._connect = connect

        async def connect_tcp(self, host: str, port: int, *_: object, **__: object) -> object:  # noqa: ARG002
            return AsyncStream(self._connect(port))

    return Network, AsyncNetwork
