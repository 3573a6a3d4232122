"""Requests to a sandbox that a server elsewhere holds, from clients that believe it at another address."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from reseller_sandbox.remote import There, trust
from reseller_sandbox.testing.caller import PORTS

if TYPE_CHECKING:
    from ssl import SSLContext

    from reseller_sandbox import Sandbox


class Elsewhere(Struct, frozen=True):
    """Where the server listens, and the ``prefix`` of the path by which it knows the world.

    ``authority`` is a file by which it is trusted, beside those of the environment.
    A request keeps its own ``Host``, and with it what its client has signed.
    """

    scheme: str
    host: str
    port: int
    prefix: bytes
    authority: str | None = None

    @property
    def trusted(self) -> SSLContext | None:
        """Return what trusts it; None where it speaks no TLS."""
        return trust(self.authority) if self.scheme == "https" else None

    def target(self, target: bytes) -> bytes:
        """Return the target that a request has there."""
        return self.prefix + target


def elsewhere(sandbox: Sandbox) -> Elsewhere | None:
    """Return where a sandbox is that a server holds; None for one in this process."""
    if not isinstance(sandbox.door, There):
        return None
    parts = urlsplit(sandbox.door.url)
    return Elsewhere(
        parts.scheme,
        parts.hostname or "",
        parts.port or PORTS[parts.scheme],
        (parts.path.rstrip("/") + sandbox.door.prefix).encode(),
        sandbox.door.authority,
    )
