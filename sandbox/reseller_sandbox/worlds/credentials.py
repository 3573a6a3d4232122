"""Credentials of accounts: which world they belong to or did, and how new ones are drawn."""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain, count
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from reseller_sandbox.core.model import Account
from reseller_sandbox.core.shards import ALONE, Shard
from reseller_sandbox.core.state import State, own_accounts, replaced
from reseller_sandbox.worlds.world import World

#: Why a credential lets nobody in of which nothing is known.
NOBODYS = "nobody has it"

#: A kind of credential, and one of it.
Claim: TypeAlias = tuple[str, str]

#: How many credentials of former worlds are remembered.
MOST_REMEMBERED = 3000


class Index:
    """Which worlds have a credential, revoked or not, the oldest first. Tuples: a look-up needs no lock.

    A world keeps its claim on every credential that it ever had: it can go back to where it had it, and no
    other world is to have it by then.
    """

    def __init__(self) -> None:
        self.keys: dict[str, tuple[World, ...]] = {}
        self.tokens: dict[str, tuple[World, ...]] = {}
        self.secrets: dict[str, tuple[World, ...]] = {}
        self._held: dict[World, list[tuple[str, str, str]]] = {}
        self._claims: dict[Claim, World] = {}
        self._claimed: dict[World, list[Claim]] = {}
        self._ends: OrderedDict[str, str] = OrderedDict()  # whose oldest is found at once, as a dict's is not

    @property
    def _kinds(self) -> tuple[dict[str, tuple[World, ...]], ...]:
        return self.keys, self.tokens, self.secrets

    def add(self, world: World) -> None:
        """Take up the credentials that ``world`` has now."""
        accounts = own_accounts(world.state)
        self._held[world] = held = [(one.key, one.token, one.secret) for one in accounts]
        kinds = self._kinds
        for words in held:
            for found, word in zip(kinds, words, strict=True):
                others = found.get(word)
                if others is None:
                    found[word] = (world,)
                elif world not in others:  # where two accounts of the world have one secret
                    found[word] = _in_order((*others, world))
        for account in accounts:
            for claim in _claims(account):
                if claim not in self._claims:
                    self._claim(claim, world)

    def _claim(self, claim: Claim, world: World) -> None:
        self._claims[claim] = world
        self._claimed.setdefault(world, []).append(claim)

    def _drop_claims(self, world: World) -> None:
        for claim in self._claimed.pop(world, ()):
            if self._claims.get(claim) is world:
                del self._claims[claim]

    def remove(self, world: World) -> None:
        """Forget the credentials that ``world`` had until now, but not its claim on them."""
        for words in self._held.pop(world, ()):
            for found, word in zip(self._kinds, words, strict=True):
                rest = tuple(one for one in found.get(word, ()) if one is not world)
                if rest:
                    found[word] = rest
                else:
                    found.pop(word, None)

    def holders(self, credential: str) -> Iterator[World]:
        """Yield the worlds that have it, be it as a key, a token or a secret."""
        for found in self._kinds:
            yield from found.get(credential, ())

    def forget(self, world: World, end: str) -> None:
        """Forget a world that is there no longer, but for how it came to its ``end``; what it had is free."""
        became = f"it was of the world {world.name}, which {end}"
        for credential in chain.from_iterable(self._held.get(world, ())):
            self._ends[credential] = became
            self._ends.move_to_end(credential)
        while len(self._ends) > MOST_REMEMBERED:
            self._ends.popitem(last=False)
        self.remove(world)
        self._drop_claims(world)

    def begin_again(self, world: World) -> None:
        """Drop the claims of a world that can go back to nothing on all but what it has now."""
        self._drop_claims(world)
        self.remove(world)
        self.add(world)

    def remembered(self) -> tuple[tuple[tuple[Claim, str], ...], Mapping[str, str]]:
        """Return the claims, each with the name of its world, and the ends of former worlds."""
        return tuple((claim, world.name) for claim, world in self._claims.items()), dict(self._ends)

    def recall(
        self, claims: Iterable[tuple[Claim, str]], ends: Mapping[str, str], worlds: Mapping[str, World]
    ) -> None:
        """Take up what another index remembered; ``worlds`` are those there are, by name."""
        for claim, name in claims:
            if name in worlds:
                self._claim(claim, worlds[name])
        self._ends |= ends

    def what_became_of(self, credential: str) -> str:
        """Return what became of the world that a credential was of; an empty text where that is unknown."""
        return self._ends.get(credential, "")

    def is_taken(self, account: Account, *, by_other_than: World | None) -> bool:
        """Whether a world other than that has or has had the key or the token of ``account``."""
        key, token = _claims(account)
        claims = self._claims
        return (
            claims.get(key, by_other_than) is not by_other_than
            or claims.get(token, by_other_than) is not by_other_than
        )


class Stranger(Struct, frozen=True):
    """Why a credential is refused, in words that do not repeat it, and the account that has it, if any."""

    reason: str
    sender: tuple[World, Account] | None = None


def somebodys(world: World, credential: str, there: World | None) -> Stranger | None:
    """Return what a credential is that an account of ``world`` has, if one does.

    ``there`` is the world that the path chose.
    """
    for client_id in sorted(world.state.accounts):
        account = world.state.accounts[client_id]
        kind = {account.key: "key", account.token: "token", account.secret: "secret"}.get(credential)
        if kind is None and world is there:
            kind = world.inherited.kind_of(credential, client_id)
        if kind is None:
            continue
        if there not in (None, world):
            return Stranger(f"it is of the world {world.name}, and the path names another")
        if kind in account.revoked:
            return Stranger("it has been revoked", (world, account))
        return Stranger(f"it is the {_CALLED[kind]} of the account {account.name}", (world, account))
    return None


_CALLED = {"key": "v3 API key", "token": "v2.0 token", "secret": "v3 secret"}


def renewed(
    state: State,
    seed: str,
    number: int,
    is_taken: Callable[[Account], bool],
    only: set[int],
    shard: Shard = ALONE,
) -> State:
    """Return ``state`` with credentials for the accounts ``only`` that follow from ``seed`` and ``number``.

    They are those of nobody else, here or where ``is_taken`` says so.
    """
    holders = {claim: one.client_id for one in own_accounts(state) for claim in _claims(one)}
    found: list[Account] = []
    source = f"{shard.unique(seed)}/world/{number}"
    for client_id in sorted(only):
        account = state.accounts[client_id]
        for attempt in count():
            made = _drawn(account, source, number, attempt, shard)
            if not is_taken(made) and not _is_here(made, holders):
                break
        found.append(made)
        for claim in _claims(made):
            holders[claim] = client_id
    return replaced(state, found)


def _in_order(worlds: Iterable[World]) -> tuple[World, ...]:
    return tuple(sorted(worlds, key=lambda one: one.number))


def _claims(account: Account) -> tuple[Claim, Claim]:
    return (("key", account.key), ("token", account.token))


def _is_here(account: Account, holders: Mapping[tuple[str, str], int]) -> bool:
    own, (key, token) = account.client_id, _claims(account)
    return holders.get(key, own) != own or holders.get(token, own) != own


@lru_cache(maxsize=4096)
def _word(name: str) -> str:
    """Return the name of an account as it may stand in a credential."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")


def _drawn(account: Account, source: str, number: int, attempt: int, shard: Shard) -> Account:
    word = _word(account.name) or str(account.client_id)
    again = f"/{attempt}" if attempt else ""

    made = {}
    for what in ("key", "secret", "token"):
        digest = hashlib.sha256(f"{source}/{account.client_id}/{what}{again}".encode()).hexdigest()
        made[what] = shard.unique(f"{word}-{what}-w{number}-{digest[:16]}")
    return replace(account, **made)
