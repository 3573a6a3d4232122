"""The ledger has each charge and refund with its cause, and totals."""

from __future__ import annotations

from decimal import Decimal
from itertools import accumulate
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.worlds.control import Control, control, inside, register, renew

SUMS = ("operation", "purpose", "account")


@pytest.fixture
def lived(sandbox: Sandbox) -> Control:
    """A world with charges of two accounts, a refund, and an automatic renewal."""
    main, other = inside(sandbox), inside(sandbox, "other")
    register(main, "kept.com", 2)
    register(main, "given-back.com")
    renew(main, "kept.com")
    register(other, "others.net")
    sandbox.client().delete("/V2.0/domain/given-back.com")
    sandbox.clock.advance("300d")
    return control(sandbox)


def _by(totals: dict[str, Any], key: str) -> dict[Any, dict[str, str]]:
    return {row["key"]: row for row in totals[key]}


def test_each_entry_names_its_cause(lived: Control) -> None:
    entries = [row for row in lived.get("ledger")["entries"] if row["operation"] != "fixture"]
    shown = [(row["request"], row["operation"], row["kind"], row["amount"]) for row in entries]
    assert shown[:5] == [
        ("r1", "v3.createDomain", "charge", "-20.00"),
        ("r2", "v3.createDomain", "charge", "-10.00"),
        ("r3", "v3.renewDomain", "charge", "-12.00"),
        ("r4", "v3.createDomain", "charge", "-4.00"),
        ("r5", "v2.domain.delete", "refund", "10.00"),
    ]
    assert entries[4]["refunds"] == entries[1]["id"]
    automatic = entries[5:]
    assert {(row["request"], row["operation"]) for row in automatic} == {(None, "time")}
    assert all(row["cause"].startswith("event:order:") for row in automatic)


def test_totals_equal_the_changes_of_the_balances(sandbox: Sandbox, lived: Control) -> None:
    answer = lived.get("ledger")
    balances = {row["account"]: Decimal(row["balance"]) for row in answer["balances"]}
    assert balances["main"] == sandbox.accounts["main"].balance
    moved = {row["account"]: Decimal(row["balance"]) - Decimal(row["opening"]) for row in answer["balances"]}
    accounts = {key: Decimal(row["balance"]) for key, row in _by(answer["totals"], "account").items()}
    assert accounts == {name: amount for name, amount in moved.items() if amount}
    for key in SUMS:
        assert sum(Decimal(row["balance"]) for row in answer["totals"][key]) == sum(moved.values())
    for row in answer["balances"]:
        listed = [one for one in answer["entries"] if one["account"] == row["account"]]
        paid = accumulate((Decimal(one["amount"]) for one in listed), initial=Decimal(row["opening"]))
        assert [row["opening"], *(one["balance"] for one in listed)] == list(map(str, paid))
    for part in ({"limit": 3}, {"account": "main", "purpose": "renewal"}):
        assert all(one in answer["entries"] for one in lived.get("ledger", **part)["entries"])
    for request in lived.get("journal")["requests"]:
        assert all(one in answer["entries"] for one in request["ledger"])
    for totals in answer["totals"].values():
        for row in totals:
            net = Decimal(row["refunded"]) + Decimal(row["added"]) - Decimal(row["charged"])
            assert net == Decimal(row["balance"])


def test_totals_by_order_and_operation(sandbox: Sandbox, lived: Control) -> None:
    """Totals by order are those of the listed orders."""
    order = sandbox.names["kept.com"].order
    totals = lived.get("ledger", since="2026-03-01T12:00:00Z")["totals"]
    assert _by(totals, "order")[order]["charged"] == "32.00"
    assert _by(totals, "operation")["v3.createDomain"]["charged"] == "34.00"
    assert _by(totals, "operation")["v2.domain.delete"]["refunded"] == "10.00"
    assert _by(totals, "purpose")["registration"]["balance"] == "-24.00"
    whole = lived.get("ledger")
    for limit in (0, 1, 3, 10_000):
        listed = lived.get("ledger", limit=limit)
        orders = {row["order"] for row in listed["entries"]} - {None}
        everything = _by(whole["totals"], "order")
        assert _by(listed["totals"], "order") == {order: everything[order] for order in orders}
        assert all(listed["totals"][key] == whole["totals"][key] for key in SUMS)


def test_each_filter_finds_exactly_its_movements(sandbox: Sandbox, lived: Control) -> None:
    """Totals include movements that are not listed."""
    cases: list[tuple[dict[str, Any], list[str]]] = [
        ({"account": "other", "operation": "v3.*"}, ["r4"]),
        ({"domain": "KEPT.com"}, ["r1", "r3"]),
        ({"order": sandbox.names["kept.com"].order}, ["r1", "r3"]),
        ({"operation": "v2.*"}, ["r5"]),
        ({"request": "r3"}, ["r3"]),
        ({"purpose": "renewal", "operation": "v3.*"}, ["r3"]),
        ({"since": "2030-01-01"}, []),
        ({"operation": "v3.*", "limit": 2}, ["r3", "r4"]),
    ]
    answers = [lived.get("ledger", **query) for query, _ in cases]
    assert [[row["request"] for row in answer["entries"]] for answer in answers] == [row for _, row in cases]
    assert answers[-1]["matching"] == 4
    assert lived.refused("GET", "ledger?account=nobody")[1] == "unknown_account"
    for query in ("order=x", "purpose=fun", "since=then", "acount=main", "limit=10001"):
        assert lived.refused("GET", f"ledger?{query}")[1] == "invalid_parameter", query


def test_pages_list_every_movement_exactly_once(lived: Control) -> None:
    whole = lived.get("ledger")
    listed: list[Any] = []
    query: dict[str, Any] = {"limit": 2}
    while (page := lived.get("ledger", **query))["entries"]:
        listed = page["entries"] + listed
        query["before"] = listed[0]["id"]
        assert page["matching"] == whole["matching"]
    assert listed == whole["entries"]


def test_movements_outlive_the_journal_and_an_export(sandbox: Sandbox, lived: Control) -> None:
    """Python has the same movements."""
    lived.delete("journal")
    before = lived.get("ledger")
    sandbox.load(sandbox.export())
    assert lived.get("ledger") == before
    assert [entry.id for entry in sandbox.ledger.find().entries] == [row["id"] for row in before["entries"]]
    totals = {row.key: row.charged for row in sandbox.ledger.find(account="main").totals.operation}
    assert totals["v3.createDomain"] == Decimal(30)
