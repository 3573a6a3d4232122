"""How much a server's worlds may hold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The bounds of one server.

    ``worlds`` counts the default one. A world that nobody has used for ``idle`` seconds of the machine's
    time is dropped; 0 keeps them all. Each world keeps its latest ``requests``, with up to ``body`` bytes
    of each body, its latest ``events`` beside them, its latest ``branches``, and as many ``snapshots`` and
    ``faults`` as it is asked to up to that number.
    """

    worlds: int = 1000
    idle: float = 3600.0
    requests: int = 1000
    body: int = 1 << 16
    branches: int = 32
    snapshots: int = 100
    faults: int = 1000
    events: int = 10_000
