"""The credentials that the accounts of a world had where the world comes from."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import field
from msgspec.structs import replace

from reseller_sandbox.core.model import OUTSIDE, Account
from reseller_sandbox.core.signatures import Quiet
from reseller_sandbox.core.state import State, own_accounts


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
