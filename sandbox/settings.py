"""What a sandbox can be told at its start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one sandbox.

    ``fixture`` is a packaged fixture's name or a path. ``now`` is the instant the world begins at,
    ``frozen`` whether its clock stands still; None leaves each to the fixture. ``assume`` names
    assumptions that differ from the ``profile`` and from what the fixture says. ``public_urls`` are
    where clients believe the service to be, ``max_body`` is in bytes.
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
