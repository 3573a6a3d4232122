"""Shards: servers side by side, each with worlds of its own that carry its name.

The names of worlds and the credentials that a shard makes begin with its name and a hyphen, so a router in
front of several shards needs to know no world.
"""

from __future__ import annotations

import re

from msgspec import Struct

#: What a shard may be called: letters, and a number.
NAME = r"[a-z]{1,8}[0-9]{1,4}"

_MADE = re.compile(rf"({NAME})-")


class Shard(Struct, frozen=True):
    """One of several servers, by its name. A server without a name is alone.

    ``instance`` marks one start of the server, so that no later start makes the same credentials again.
    """

    name: str = ""
    instance: str = ""

    def named(self, what: str) -> str:
        """Return a name that a user has chosen, after the name of the shard."""
        return what if not self.name or self.owns(what) else f"{self.name}-{what}"

    def unique(self, what: str) -> str:
        """Return a name or a credential that this start of the shard makes, and no other start."""
        return f"{self.name}-{self.instance}-{what}" if self.name else what

    def bare(self, named: str) -> str:
        """Return a name without the shard's own before it."""
        return named.removeprefix(f"{self.name}-") if self.name else named

    def owns(self, made: str) -> bool:
        """Whether something carries this shard's name."""
        return bool(self.name) and made.startswith(f"{self.name}-")

    def elsewhere(self, made: str) -> str:
        """Return in words which other shard something is of, or why this one does not have it any more."""
        found = _MADE.match(made) if self.name else None
        if found is None or found[1].rstrip("0123456789") != self.name.rstrip("0123456789"):
            return ""
        if found[1] == self.name:
            return f"it is of this shard, {self.name}, which has started anew since or has dropped its world"
        return f"it is of the shard {found[1]}, and this is the shard {self.name}"


#: A server beside which there is no other.
ALONE = Shard()
