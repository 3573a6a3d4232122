"""Adapter for aiohttp: requests go over a socket to the server of the sandbox.

Only the address of a request changes. So faults raise aiohttp's own exceptions, and delays take real time.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast
from weakref import WeakKeyDictionary

import aiohttp
from yarl import URL

from reseller_sandbox.clients.caller import AnySandbox, Detour, server_of
from reseller_sandbox.remote import trust

#: The original method by which aiohttp reaches the network. An interception does not replace this reference.
_CONNECT = aiohttp.BaseConnector.connect


class SandboxConnector(aiohttp.TCPConnector):
    """Connector from an ``aiohttp.ClientSession`` to a sandbox.

    >>> connector = SandboxConnector(sandbox)
    >>> session = aiohttp.ClientSession("https://api.example.test", connector=connector)

    If the sandbox is a fork, requests go to the world of the fork. If the sandbox is in this process, the
    first request starts a server on a local port. Connection faults raise the errors of aiohttp
    (``aiohttp.ClientConnectionError``, …). ``options`` are passed to ``aiohttp.TCPConnector``.
    """

    def __init__(self, sandbox: AnySandbox, **options: Any) -> None:
        server = server_of(sandbox)
        if server is not None and server.url.startswith("https:"):
            options.setdefault("ssl", trust(server.authority))
        super().__init__(**options)
        self._sandbox = sandbox

    async def connect(self, req: aiohttp.ClientRequest, traces: Any, timeout: Any) -> Any:
        """Return a connection to the sandbox's server. The ``Host`` header is unchanged."""
        shown, response_class = req.url, req.response_class

        def response(*args: Any, request_info: aiohttp.RequestInfo, **options: Any) -> aiohttp.ClientResponse:
            method, headers, real = request_info.method, request_info.headers, request_info.real_url
            asked = aiohttp.RequestInfo(shown, method, headers, real)
            return response_class(*args, request_info=asked, **options)

        req.url = URL(self._sandbox.url + req.url.raw_path_qs, encoded=True)
        req.proxy = None
        connection = await _CONNECT(self, req, traces, timeout)
        # The path keeps the prefix of a fork. ``request_info`` and traces show the client's address.
        req.url = URL(f"{shown.origin()}{req.url.raw_path_qs}", encoded=True)
        req.response_class = cast(type[aiohttp.ClientResponse], response)
        return connection


class Connectors:
    """The connectors of one interception: one connector for each event loop."""

    def __init__(self, sandbox: AnySandbox, *, real_time: bool = False) -> None:  # noqa: ARG002
        self._sandbox = sandbox
        self._of: WeakKeyDictionary[object, SandboxConnector] = WeakKeyDictionary()

    def connector(self) -> SandboxConnector:
        """Return the connector of the running event loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._of:
            # Do not reuse connections, because an event loop may end before the interception.
            self._of[loop] = SandboxConnector(self._sandbox, force_close=True, limit=0)
        return self._of[loop]

    def close(self) -> None:
        """Do nothing, because no connection is kept."""


TRANSPORT = Connectors
DETOURS = (
    Detour(
        aiohttp.BaseConnector,
        "connect",
        lambda _, req, *__, **___: str(req.url),
        lambda transport, _, *request, **options: transport.connector().connect(*request, **options),
    ),
)
