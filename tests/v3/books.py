"""The books of a world, by its ledger."""

from __future__ import annotations

from reseller_sandbox import Sandbox


def assert_books_balance(sandbox: Sandbox) -> None:
    """Assert that each balance is its opening and its movements, and that nothing is refunded twice."""
    found = sandbox.ledger.find(limit=10_000)
    for account in sandbox.accounts.list().accounts:
        moved = sum(one.amount for one in found.entries if one.account == account.name)
        assert account.balance == account.opening + moved, account.name
        assert account.balance >= 0
    refunded = [one.refunds for one in found.entries if one.refunds is not None]
    assert len(refunded) == len(set(refunded))
    assert {one.id: -one.amount for one in found.entries if one.id in refunded} == {
        one.refunds: one.amount for one in found.entries if one.refunds is not None
    }
