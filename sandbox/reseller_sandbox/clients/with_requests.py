"""Adapter for the library requests, without a socket: only the connection is replaced.

requests and urllib3 work as in production: they write and read HTTP. So retries, exceptions, and the bytes
read before them are the same as over a socket.
"""

from __future__ import annotations

from typing import Any

from requests import PreparedRequest
from requests.adapters import DEFAULT_POOLSIZE, HTTPAdapter
from urllib3 import HTTPConnectionPool

from reseller_sandbox.clients.caller import AnySandbox
from reseller_sandbox.clients.with_urllib3 import SandboxPoolManager


class SandboxAdapter(HTTPAdapter):
    """Adapter from a ``requests.Session`` to a sandbox.

    >>> session = requests.Session()
    >>> session.mount("https://api.example.test", SandboxAdapter(sandbox))

    If the sandbox is a fork, requests go to the world of the fork. If the sandbox is on a server, requests go
    to that server. Connection faults raise the same errors as over a socket (``requests.ConnectionError``,
    …). In process, a delay that is longer than the client's timeout raises ``requests.ReadTimeout``
    immediately, and a shorter delay takes no time. With ``real_time``, delays take real time. ``options`` are
    passed to ``requests.adapters.HTTPAdapter``, such as ``max_retries``.
    """

    def __init__(self, sandbox: AnySandbox, *, real_time: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self._pools = SandboxPoolManager(sandbox, real_time=real_time, maxsize=DEFAULT_POOLSIZE)

    def get_connection_with_tls_context(
        self, request: PreparedRequest, *_: object, **__: object
    ) -> HTTPConnectionPool:
        """Return the pool of connections to the sandbox."""
        return self._pools.connection_from_url(str(request.url))

    def close(self) -> None:
        """Close every connection."""
        super().close()
        self._pools.close()
