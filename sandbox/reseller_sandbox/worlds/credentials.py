"""Credentials of accounts: those of the world that theirs comes from, and how new ones are drawn."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import count
from typing import TypeAlias

from msgspec import field
from msgspec.structs import replace

from reseller_sandbox.registry.model import OUTSIDE, Account
from reseller_sandbox.registry.parameters import Quiet
from reseller_sandbox.registry.shards import ALONE, Shard
from reseller_sandbox.registry.state import State, own_accounts, replaced

#: A kind of credential, and one of it.
Claim: TypeAlias = tuple[str, str]


class Inherited(Quiet, frozen=True):
    """What the accounts of a world had where the world comes from.

    It works where the world is chosen by its path: for a client that cannot change its credentials.
    """

    keys: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    tokens: Mapping[str, int] = field(default_factory=dict)

    def and_of(self, state: State) -> Inherited:
        """Return these credentials and those in ``state``, which go first."""
        accounts = own_accounts(state)
        return Inherited(
            {**self.keys, **{one.key: (one.client_id, one.secret) for one in accounts}},
            {**self.tokens, **{one.token: one.client_id for one in accounts}},
        )

    def by_key(self, key: str, state: State) -> Account | None:
        """Return the account in ``state`` with this key, or that had it, and the secret beside it."""
        own = state.account_by_key.get(key)
        if own is not None:
            return state.accounts[own]
        client_id, secret = self.keys.get(key, (OUTSIDE, ""))
        account = _working(state, client_id, "key")
        return account and replace(account, key=key, secret=secret)

    def by_token(self, token: str, state: State) -> Account | None:
        """Return the account in ``state`` with this token, or that had it."""
        own = state.account_by_token.get(token)
        if own is not None:
            return state.accounts[own]
        return _working(state, self.tokens.get(token, OUTSIDE), "token")

    def kind_of(self, credential: str, client_id: int) -> str | None:
        """Return as what an account had a credential, ``key`` or ``token``; None where it had it not."""
        if credential in self.keys and self.keys[credential][0] == client_id:
            return "key"
        return "token" if self.tokens.get(credential) == client_id else None


def _working(state: State, client_id: int, which: str) -> Account | None:
    account = state.accounts.get(client_id) if client_id != OUTSIDE else None
    return None if account is None or which in account.revoked else account


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
    holders = {claim: one.client_id for one in own_accounts(state) for claim in claims(one)}
    found: list[Account] = []
    source = f"{shard.unique(seed)}/world/{number}"
    for client_id in sorted(only):
        account = state.accounts[client_id]
        for attempt in count():
            made = _drawn(account, source, number, attempt, shard)
            if not is_taken(made) and not _is_here(made, holders):
                break
        found.append(made)
        for claim in claims(made):
            holders[claim] = client_id
    return replaced(state, found)


def claims(account: Account) -> tuple[Claim, Claim]:
    return (("key", account.key), ("token", account.token))


def _is_here(account: Account, holders: Mapping[tuple[str, str], int]) -> bool:
    own, (key, token) = account.client_id, claims(account)
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
