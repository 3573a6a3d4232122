"""What a sandbox can be told at its start."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from reseller_sandbox.worlds.limits import Limits

_HEADER_PREFIX = re.compile(r"[A-Za-z0-9-]*")


class BadSetting(ValueError):
    """A setting that cannot have been meant; the message is one line that says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one sandbox.

    ``fixture`` is a packaged fixture's name or a path. ``now`` is the instant the world begins at,
    ``frozen`` whether its clock stands still; None leaves each to the fixture. ``assume`` names
    assumptions that differ from the ``profile`` and from what the fixture says. ``public_urls`` are
    where clients believe the service to be, ``max_body`` is in bytes, and so is
    ``max_control_body``, for the control interface, which takes whole worlds.

    ``control_token`` is what requests to the control interface must carry, ``control_open`` the word that
    they need not, whoever may reach it; on loopback neither is needed. ``max_connections`` is how many
    clients are served at once, None for as many as come.

    ``limits`` are what its worlds may hold. Raises ``BadSetting``.
    """

    fixture: str | Path = "default"
    now: datetime | None = None
    frozen: bool | None = None
    seed: str | None = None
    profile: str = "documented"
    assume: Mapping[str, object] = field(default_factory=dict)
    public_urls: tuple[str, ...] = ()
    header_prefix: str = "X-SVC-"
    max_body: int = 1 << 20
    max_control_body: int = 64 << 20
    control_token: str | None = field(default=None, repr=False)
    control_open: bool = False
    max_connections: int | None = None
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not _HEADER_PREFIX.fullmatch(self.header_prefix):
            raise BadSetting(
                f"{self.header_prefix!r} cannot begin a header's name: letters, digits and hyphens can"
            )
        for url in self.public_urls:
            parts = urlsplit(url)
            if parts.scheme not in ("http", "https") or not parts.netloc:
                raise BadSetting(
                    f"{url!r} is not where a service could be: a URL begins with http:// or https://"
                )
