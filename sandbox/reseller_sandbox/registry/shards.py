"""Shards: servers that share the load. Each shard has its own worlds.

World names and credentials that a shard creates begin with the shard's name and a hyphen. A router in front
of several shards therefore needs no list of worlds.
"""

from __future__ import annotations

import re

from msgspec import Struct

#: Pattern of a shard's name: letters, then a number (``s1``).
NAME = r"[a-z]{1,8}[0-9]{1,4}"

_PREFIXED = re.compile(rf"({NAME})-")


class Shard(Struct, frozen=True):
    """A shard: one of several servers. An empty ``name`` means a single server.

    ``instance`` identifies one start of the server, so that a later start does not create the same
    credentials.
    """

    name: str = ""
    instance: str = ""

    def named(self, name: str) -> str:
        """Return ``name``, which a user chose, with the prefix of this shard."""
        return name if not self.name or self.owns(name) else f"{self.name}-{name}"

    def unique(self, name: str) -> str:
        """Return ``name`` with a prefix that is unique to this start of the shard."""
        return f"{self.name}-{self.instance}-{name}" if self.name else name

    def bare(self, named: str) -> str:
        """Return ``named`` without the prefix of this shard."""
        return named.removeprefix(f"{self.name}-") if self.name else named

    def owns(self, name: str) -> bool:
        """Whether ``name`` has the prefix of this shard."""
        return bool(self.name) and name.startswith(f"{self.name}-")

    def elsewhere(self, name: str) -> str:
        """Return an error phrase that names the creator (a shard) of ``name``, or an empty string.

        If the prefix is that of this shard, the phrase says why its world may be missing.
        """
        match = _PREFIXED.match(name) if self.name else None
        if match is None or match[1].rstrip("0123456789") != self.name.rstrip("0123456789"):
            return ""
        if match[1] == self.name:
            missing = "which deleted its world, restarted without it, or never had it"
            return f"it belongs to this shard, {self.name}, {missing}"
        return f"it belongs to the shard {match[1]}, and this is the shard {self.name}"


#: A single server, without shards.
ALONE = Shard()
