"""Adapter for httpx without a socket: one transport for synchronous and asynchronous clients."""

from __future__ import annotations

from functools import partial

import httpx

from reseller_sandbox.clients.caller import AnySandbox
from reseller_sandbox.clients.httpx_transports import Library, Transports

_LIBRARY = Library(httpx)


class SandboxTransport(Transports, httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Transport from an ``httpx.Client`` or an ``httpx.AsyncClient`` to a sandbox.

    >>> client = httpx.Client(transport=SandboxTransport(sandbox), base_url="https://api.example.test")

    If the sandbox is a fork, requests go to the world of the fork. If the sandbox is on a server, requests go
    to that server. Connection faults raise the same errors as over a socket (``httpx.ReadError``,
    ``httpx.RemoteProtocolError``, …). In process, a delay that is longer than the client's timeout raises
    ``httpx.ReadTimeout`` immediately, and a shorter delay takes no time. With ``real_time``, delays take real
    time.
    """

    def __init__(self, sandbox: AnySandbox, *, real_time: bool = False) -> None:
        super().__init__(_LIBRARY, sandbox, real_time=real_time)


TRANSPORT = partial(Transports, _LIBRARY)
DETOURS = _LIBRARY.detours
