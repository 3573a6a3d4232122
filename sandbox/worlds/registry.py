"""The worlds of one server, by name, and which of them a credential belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sandbox.core.model import Account
from sandbox.core.state import State
from sandbox.worlds.world import World

DEFAULT = "default"


class Worlds:
    """The worlds of one server."""

    def __init__(self, default: World) -> None:
        self._by_name = {default.name: default}
        self.default = default

    def __iter__(self) -> Iterator[World]:
        return iter(list(self._by_name.values()))

    def get(self, name: str) -> World | None:
        """The world of that name."""
        return self._by_name.get(name)

    def by_key(self, key: str) -> tuple[World, Account] | None:
        """The account with this API key, and its world."""
        return self._find(lambda state: state.account_by_key.get(key))

    def by_token(self, token: str) -> tuple[World, Account] | None:
        """The account with this v2.0 token, and its world."""
        return self._find(lambda state: state.account_by_token.get(token))

    def _find(self, look_up: Callable[[State], int | None]) -> tuple[World, Account] | None:
        for world in self:
            client_id = look_up(world.state)
            if client_id is not None:
                return world, world.state.accounts[client_id]
        return None
