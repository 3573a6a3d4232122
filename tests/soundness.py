"""What holds of every state of every world, whatever has been done to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import astuple
from decimal import Decimal
from itertools import chain

from reseller_sandbox import Sandbox
from reseller_sandbox.core.model import OUTSIDE, Stage
from reseller_sandbox.core.state import State, filled
from reseller_sandbox.core.texts import has_control

TABLES = ("accounts", "customers", "contacts", "zones", "orders", "hosts", "transfers", "ledger", "plans")


def rebuilt(state: State) -> State:
    """A state made anew from the records of ``state`` alone."""
    empty = State(seed=state.seed, contact_params=state.contact_params, counters=state.counters)
    records = [record for table in TABLES for record in getattr(state, table).values()]
    return filled(empty, records)


def assert_sound(state: State) -> None:
    """Assert that the books balance, that no name has two holders, and that the indexes are right."""
    assert state == rebuilt(state), "an index does not follow from the records"
    assert all(state.is_due(due) for due in state.calendar), "a record does not know when it is due"
    sums: Counter[int] = Counter()
    for entry in state.ledger.values():
        sums[entry.account] += entry.amount  # type: ignore[assignment]
    for account in state.accounts.values():
        if account.client_id != OUTSIDE:
            assert account.balance == account.opening + Decimal(sums[account.client_id]), account.name
            assert account.balance >= min(account.opening, Decimal(0)), account.name
    refunded = Counter(entry.refunds for entry in state.ledger.values() if entry.refunds is not None)
    assert all(count == 1 for count in refunded.values()), "something was refunded twice"
    _assert_holders(state)
    assert not has_control("".join(_texts(state))), "a record holds a control character"
    for host in state.hosts.values():
        assert host.domain in state.holding_order, f"{host.name} outlived its domain"


def _texts(state: State) -> Iterator[str]:
    """Every text that a client can have sent."""
    for contact in state.contacts.values():
        yield from (*astuple(contact.card), *chain(*contact.extra))
    for customer in state.customers.values():
        yield from (*astuple(customer.card), customer.lang, customer.password, customer.post_address)
    for order in state.orders.values():
        yield from (order.auth_code, order.license)


def _assert_holders(state: State) -> None:
    holders = Counter(order.name for order in state.orders.values() if order.stage is not Stage.ARRIVING)
    assert all(count == 1 for count in holders.values()), "a name has two holders"
    own = Counter((order.account, order.name) for order in state.orders.values())
    assert all(count == 1 for count in own.values()), "an account has a name twice"
    for order in state.orders.values():
        transfer = state.transfers.get(order.name)
        arriving = transfer is not None and transfer.pending and transfer.gaining_order == order.id
        assert (order.stage is Stage.ARRIVING) == arriving, f"{order.name} arrives without a transfer"
        if order.stage is not Stage.ARRIVING:
            assert order.due is not None, f"{order.name} stays {order.stage} for ever"
            assert order.stage is not Stage.RELEASED
        assert all(handle in state.contacts for handle in order.contacts.handles())


def assert_consistent(sandbox: Sandbox) -> None:
    """Assert that the books balance, that no name has two holders, and that nothing is overdue.

    A world that is made of the export has to export the same again, so every index follows from the records.
    """
    text = sandbox.export()
    again = Sandbox()
    again.load(text)
    assert again.export() == text
    assert not any(character < " " and character != "\n" for character in text)
    found = sandbox.ledger.find(limit=10_000)
    assert found.matching == len(found.entries)
    for account in found.balances:
        moved = sum(row.amount for row in found.entries if row.account == account.account)
        assert account.balance == account.opening + moved, account
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
