"""The ledger of a fixture, and the opening balances that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from sandbox.core import ledger
from sandbox.core.model import Account, LedgerEntry, Order, Purpose
from sandbox.seeds.problems import shown
from sandbox.seeds.site import Path, Site

#: What caused a ledger entry that does not say.
FIXTURE = "fixture"


def build(site: Site) -> None:
    """Note the ledger's entries."""
    site.ledger.update({int(key): None for key in site.written("ledger") if key.isdecimal()})
    given = site.section("ledger")
    for number, entry in given.items():
        site.ledger[number] = _entry(site, ("ledger", number), number, entry)
    for number, entry in given.items():
        if "refunds" in entry:
            _check_refund(site, ("ledger", number, "refunds"), number, entry["refunds"])


def _entry(site: Site, path: Path, number: int, entry: Mapping[str, Any]) -> LedgerEntry | None:
    account = site.account((*path, "account"), entry.get("account"))
    if account is None:
        return None
    return LedgerEntry(
        id=number,
        at=site.date(entry["at"], site.now),
        account=account.client_id,
        amount=entry["amount"],
        purpose=entry["purpose"],
        cause=entry.get("cause", FIXTURE),
        operation=entry.get("operation", ""),
        order=entry.get("order"),
        name=site.spelled((*path, "domain"), entry.get("domain", "")),
        years=entry.get("years", 0),
        refunds=entry.get("refunds"),
    )


def _check_refund(site: Site, path: Path, number: int, refunded: int) -> None:
    if refunded not in site.ledger:
        site.report(path, f"there is no ledger entry {refunded}")
        return
    refund, taken = site.ledger[number], site.ledger[refunded]
    if refund is not None and taken is not None and refund.account != taken.account:
        site.report(path, f"the ledger entry {refunded} is another account's")


def charged(site: Site, order: Order, amount: Decimal) -> tuple[int, ...]:
    """A new entry for what an arriving order was charged, where that is anything."""
    if not amount:
        return ()
    number = max(site.ledger, default=0) + 1
    site.ledger[number] = LedgerEntry(
        id=number,
        at=order.since,
        account=order.account,
        amount=-amount,
        purpose=Purpose.TRANSFER,
        cause=FIXTURE,
        order=order.id,
        name=order.name,
        years=order.years,
    )
    return (number,)


def opened(site: Site) -> list[Account]:
    """The accounts, each with the opening balance that its ledger leads on from."""
    moved: dict[int, Decimal] = {}
    for entry in site.ledger.values():
        if entry is not None:
            moved[entry.account] = moved.get(entry.account, Decimal(0)) + entry.amount
    found = []
    for word, account in site.accounts.items():
        if account is None:
            continue
        opening = account.balance - moved.get(account.client_id, Decimal(0))
        if opening < 0:
            site.report(("accounts", word, "balance"), _overdrawn(account, opening))
        found.append(replace(account, opening=opening))
    return found


def _overdrawn(account: Account, opening: Decimal) -> str:
    balance = ledger.money(account.balance)
    if opening == account.balance:
        return f"the balance cannot be below zero with no ledger entry that explains it: {shown(balance)}"
    return (
        f"the balance {balance} and the ledger make it {ledger.money(opening)} in the beginning, below zero"
    )
