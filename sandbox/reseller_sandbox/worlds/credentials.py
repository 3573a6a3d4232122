"""Credentials of accounts: how they are generated, and how a fork inherits them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from itertools import count
from typing import TypeAlias

from msgspec import field
from msgspec.structs import replace

from reseller_sandbox.registry.model import Account
from reseller_sandbox.registry.shards import ALONE, Shard
from reseller_sandbox.registry.state import State, account_with, changed, own_accounts
from reseller_sandbox.values.parameters import Quiet

#: A kind of credential (``key``, ``token`` or ``secret``) and its value.
Claim: TypeAlias = tuple[str, str]


class Inherited(Quiet, frozen=True):
    """Credentials that the accounts of a fork had in the world that was forked.

    They work only where the path selects the world, for a client that cannot change its credentials.
    """

    keys: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    tokens: Mapping[str, int] = field(default_factory=dict)

    def and_of(self, state: State) -> Inherited:
        """Return these credentials, with the present credentials of the accounts in ``state`` added."""
        accounts = own_accounts(state)
        return Inherited(
            {**self.keys, **{account.key: (account.client_id, account.secret) for account in accounts}},
            {**self.tokens, **{account.token: account.client_id for account in accounts}},
        )

    def account(self, claim: Claim, state: State) -> Account | None:
        """Return the account that has, or has inherited, the credential ``claim``, or None.

        For an inherited key, the result has that key and the secret that belongs to the key.
        """
        kind, credential = claim
        own = account_with(state, kind, credential)
        if own is not None:
            return own
        client_id, secret = self.keys.get(credential, (None, ""))
        if kind == "token":
            client_id = self.tokens.get(credential)
        account = None if client_id is None else state.accounts.get(client_id)
        if account is None or kind in account.revoked:
            return None
        return replace(account, key=credential, secret=secret) if kind == "key" else account

    def kind_of(self, credential: str, client_id: int) -> str | None:
        """Return ``key`` or ``token`` if the account inherited this credential, else None."""
        if credential in self.keys and self.keys[credential][0] == client_id:
            return "key"
        return "token" if self.tokens.get(credential) == client_id else None


def renewed(
    state: State,
    seed: str,
    number: int,
    is_taken: Callable[[Account], bool],
    only: set[int],
    shard: Shard = ALONE,
) -> State:
    """Return ``state`` with new credentials for the accounts whose client ids are in ``only``.

    They follow from ``seed`` and ``number``. They differ from all credentials in ``state`` and from those for
    which ``is_taken`` is true.
    """
    holders = {claim: account.client_id for account in own_accounts(state) for claim in claims(account)}
    renewed_accounts: list[Account] = []
    source = f"{shard.unique(seed)}/world/{number}"
    for client_id in sorted(only):
        account = state.accounts[client_id]
        for attempt in count():
            new = _drawn(account, source, number, attempt, shard)
            is_free = all(holders.get(claim, client_id) == client_id for claim in claims(new))
            if is_free and not is_taken(new):
                break
        renewed_accounts.append(new)
        for claim in claims(new):
            holders[claim] = client_id
    return changed(state, (), renewed_accounts)


def claims(account: Account) -> tuple[Claim, Claim]:
    return (("key", account.key), ("token", account.token))


def _drawn(account: Account, source: str, number: int, attempt: int, shard: Shard) -> Account:
    word = re.sub(r"[^A-Za-z0-9]+", "-", account.name).strip("-") or str(account.client_id)
    again = f"/{attempt}" if attempt else ""

    credentials = {}
    for kind in ("key", "secret", "token"):
        digest = hashlib.sha256(f"{source}/{account.client_id}/{kind}{again}".encode()).hexdigest()
        credentials[kind] = shard.unique(f"{word}-{kind}-w{number}-{digest[:16]}")
    return replace(account, **credentials)
