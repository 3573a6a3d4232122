"""The statements of all months explain the balance, whatever an account pays and gets back."""

from __future__ import annotations

import csv
from contextlib import suppress
from decimal import Decimal
from io import StringIO
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reseller_sandbox import Refused, Sandbox
from tests.command import run
from tests.registry import REGISTRY

NAMES = ("first.com", "ñandú.com", "third.com")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["register", "renew", "delete", "adjust"]),
        st.sampled_from(NAMES),
        st.integers(0, 45),
        st.decimals(-20, 20, places=2),
    ),
    min_size=1,
    max_size=12,
)


def act(sandbox: Sandbox, client: Any, what: str, name: str, amount: Decimal) -> None:
    if what == "adjust":
        adjust = sandbox.accounts.debit if amount < 0 else sandbox.accounts.credit
        adjust("main", abs(amount))
    elif what == "register":
        client.post("/v3/domains/createDomain", json={"domain": {"domainName": name}})
    elif what == "renew":
        client.post(f"/v3/domains/renewDomain/{name}")
    else:
        with suppress(Refused):
            sandbox.simulate.drop(name)


def months_until(sandbox: Sandbox) -> list[str]:
    """Return the months from that of the earliest movement to that of the clock."""
    now = sandbox.clock.now
    earliest = min([now, *(entry.at for entry in sandbox.ledger.list(limit=10_000).entries)])
    count = (now.year - earliest.year) * 12 + now.month - earliest.month
    ordinals = (earliest.year * 12 + earliest.month - 1 + number for number in range(count + 1))
    return [f"{ordinal // 12}-{ordinal % 12 + 1:02}" for ordinal in ordinals]


@settings(max_examples=25)
@given(steps=STEPS)
def test_monthly_statements_of_an_account_add_up_to_its_balance(
    steps: list[tuple[str, str, int, Decimal]],
) -> None:
    sandbox = Sandbox(REGISTRY)
    client = sandbox.client()
    for what, name, days, amount in steps:
        act(sandbox, client, what, name, amount)
        sandbox.clock.advance(f"P{days}D")
    for balance in sandbox.ledger.list().balances:
        closing = balance.opening
        movements = []
        for month in months_until(sandbox):
            statement = sandbox.ledger.statement(month=month, account=balance.account, format="csv")
            (account,) = statement.accounts
            assert account.opening == closing
            moved = sum(name.balance for name in account.names)
            assert account.opening + moved == account.closing
            assert account.refunded + account.added - account.charged == moved
            closing = account.closing
            movements += [entry for name in account.names for entry in name.movements]
            first, *rows, last = csv.DictReader(StringIO(statement.document))
            assert (first["kind"], last["kind"]) == ("opening", "closing")
            amounts = [Decimal(row["amount"]) for row in (first, *rows)]
            assert sum(amounts) == Decimal(last["amount"]) == account.closing
        assert closing == balance.balance
        entries = sandbox.ledger.list(account=balance.account, limit=10_000).entries
        assert sorted(movements, key=lambda entry: entry.id) == list(entries)


def test_monthly_statement_lists_charges_and_refunds_of_each_domain(sandbox: Sandbox) -> None:
    client = sandbox.client()
    client.post("/v3/domains/createDomain", json={"domain": {"domainName": "ñandú.com"}})
    client.post("/v3/domains/renewDomain/second.com")
    sandbox.simulate.drop("ñandú.com")
    month = f"{sandbox.clock.now:%Y-%m}"
    (account,) = sandbox.ledger.statement(account="main").accounts
    assert account.month == month
    by_name = {name.domain: (name.charged, name.refunded) for name in account.names}
    assert by_name == {"second.com": (Decimal(12), 0), "ñandú.com": (Decimal(10), Decimal(10))}
    assert "ñandú.com" in sandbox.ledger.statement().document
    assert sandbox.ledger.statement(month="2020-02", account="main").accounts[0].names == ()


def test_the_command_ledger_statement_prints_only_the_statement() -> None:
    with Sandbox(REGISTRY) as sandbox, sandbox.serve() as server:
        for form in ("text", "csv", "json"):
            done = run("ledger", "statement", "--format", form, "--url", server.url)
            assert done.out == sandbox.ledger.statement(format=form).document
