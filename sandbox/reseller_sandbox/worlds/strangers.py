"""Credentials that do not let a request in: whose they are or were, as far as the server knows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from reseller_sandbox.core.model import Account
from reseller_sandbox.worlds.world import World

#: How many credentials of former worlds are remembered.
MOST_REMEMBERED = 3000


@dataclass(frozen=True, slots=True)
class Stranger:
    """Why a credential is refused, in words that do not repeat it, and the account that has it, if any."""

    reason: str
    sender: tuple[World, Account] | None = None


class Former:
    """The latest credentials of worlds that have been deleted or have expired."""

    def __init__(self) -> None:
        self._ends: dict[str, str] = {}

    def remember(self, world: World, credentials: Iterable[str], end: str) -> None:
        """Remember whose ``credentials`` these were, and how their world came to its ``end``."""
        for credential in credentials:
            self._ends.pop(credential, None)
            self._ends[credential] = f"it was of the world {world.name}, which {end}"
        while len(self._ends) > MOST_REMEMBERED:
            del self._ends[next(iter(self._ends))]

    def what_became_of(self, credential: str) -> str | None:
        """Return what became of the world that a credential was of, if it is remembered."""
        return self._ends.get(credential)


def somebodys(world: World, credential: str, there: World | None) -> Stranger | None:
    """Return what a credential is that an account of ``world`` has, if one does.

    ``there`` is the world that the path chose.
    """
    for client_id in sorted(world.state.accounts):
        account = world.state.accounts[client_id]
        kinds = {account.key: "key", account.token: "token", account.secret: "secret"}
        if credential not in kinds:
            continue
        if there not in (None, world):
            return Stranger(f"it is of the world {world.name}, and the path names another")
        kind = kinds[credential]
        if kind in account.revoked:
            return Stranger("it has been revoked", (world, account))
        return Stranger(f"it is the {_CALLED[kind]} of the account {account.name}", (world, account))
    return None


_CALLED = {"key": "v3 API key", "token": "v2.0 token", "secret": "v3 secret"}
