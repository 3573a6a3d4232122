"""What holds of every world, whatever has been done to it."""

from __future__ import annotations

from collections import Counter

from reseller_sandbox import Sandbox


def assert_books_balance(sandbox: Sandbox) -> None:
    """Assert that each balance is its opening and its movements, and that nothing is refunded twice."""
    found = sandbox.ledger.find(limit=10_000)
    for account in sandbox.accounts.list().accounts:
        moved = sum(one.amount for one in found.entries if one.account == account.name)
        assert account.balance == account.opening + moved, account.name
        assert account.balance >= 0
    refunded = [one.refunds for one in found.entries if one.refunds is not None]
    assert found.matching == len(found.entries)
    assert len(refunded) == len(set(refunded))
    assert {one.id: -one.amount for one in found.entries if one.id in refunded} == {
        one.refunds: one.amount for one in found.entries if one.refunds is not None
    }


def assert_consistent(sandbox: Sandbox) -> None:
    """Assert that the books balance, that no name has two holders, and that nothing is overdue.

    A world that is made of the export has to export the same again, so every index follows from the records.
    """
    text = sandbox.export()
    again = Sandbox()
    again.load(text)
    assert again.export() == text
    assert not any(character < " " and character != "\n" for character in text)
    assert_books_balance(sandbox)
    coming = sandbox.clock.due().due
    assert all(one.at > sandbox.clock.now for one in coming), coming
    names = list(sandbox.names)
    holders = Counter(name.name for name in names if name.stage != "arriving")
    assert not [name for name, count in holders.items() if count > 1], "a name has two holders"
    assert not [name.name for name in names if name.stage == "released"]
    for host in sandbox.hosts:
        assert host.domain in sandbox.names, f"{host.name} outlived its domain"


def assert_unchanged(sandbox: Sandbox) -> None:
    """Assert that the latest request has changed nothing."""
    (latest,) = sandbox.journal.find(limit=1).requests
    assert latest.changes == ()
