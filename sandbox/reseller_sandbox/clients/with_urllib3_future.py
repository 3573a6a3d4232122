"""Refusal of requests by urllib3-future, which replaces urllib3. niquests installs it.

It writes HTTP in another way than urllib3, so its requests cannot be intercepted.
"""

from __future__ import annotations

from typing import NoReturn

import urllib3

from reseller_sandbox.clients.caller import AnySandbox, Detour
from reseller_sandbox.clients.fence import NetworkRefused
from reseller_sandbox.clients.urllib3_requests import url_of


class Refusal:
    """Transport that refuses every request."""

    def __init__(self, sandbox: AnySandbox, *, real_time: bool = False) -> None:
        """Ignore the arguments of other transports."""

    def refuse(self, pool: object, method: str, url: str, *_: object, **__: object) -> NoReturn:
        """Raise ``NetworkRefused``."""
        raise NetworkRefused(
            f"the request to {url_of(pool, method, url)} cannot be intercepted, because urllib3-future "
            "replaces urllib3 (niquests installs it). Send the request to sandbox.url, or install urllib3 "
            "again, or use httpx"
        )

    def close(self) -> None:
        """Do nothing, because there is no connection."""


TRANSPORT = Refusal
DETOURS = tuple(
    Detour(getattr(urllib3, name), "urlopen", url_of, Refusal.refuse)
    for name in ("HTTPConnectionPool", "AsyncHTTPConnectionPool")
    if hasattr(urllib3, name)
)
