"""The ledger has each charge and refund with its cause, and totals."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.worlds.control import Control, control, inside, register, renew


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


def _by(totals: dict[str, Any], what: str) -> dict[Any, dict[str, str]]:
    return {one["key"]: one for one in totals[what]}


def test_each_entry_names_its_cause(lived: Control) -> None:
    entries = [one for one in lived.get("ledger")["entries"] if one["operation"] != "fixture"]
    told = [(one["request"], one["operation"], one["kind"], one["amount"]) for one in entries]
    assert told[:5] == [
        ("r1", "v3.createDomain", "charge", "-20.00"),
        ("r2", "v3.createDomain", "charge", "-10.00"),
        ("r3", "v3.renewDomain", "charge", "-12.00"),
        ("r4", "v3.createDomain", "charge", "-4.00"),
        ("r5", "v2.domain.delete", "refund", "10.00"),
    ]
    assert entries[4]["refunds"] == entries[1]["id"]
    by_itself = entries[5:]
    assert {(one["request"], one["operation"]) for one in by_itself} == {(None, "time")}
    assert all(one["cause"].startswith("event:order:") for one in by_itself)
    assert by_itself


def test_totals_equal_the_changes_of_the_balances(sandbox: Sandbox, lived: Control) -> None:
    answer = lived.get("ledger")
    moved = {one["account"]: Decimal(one["balance"]) - Decimal(one["opening"]) for one in answer["balances"]}
    accounts = {key: Decimal(one["balance"]) for key, one in _by(answer["totals"], "account").items()}
    assert accounts == {name: amount for name, amount in moved.items() if amount}
    for what in ("operation", "purpose", "account"):
        assert sum(Decimal(one["balance"]) for one in answer["totals"][what]) == sum(moved.values())
    for account in ("main", "other", "poor"):
        assert Decimal({one["account"]: one["balance"] for one in answer["balances"]}[account]) == (
            sandbox.account(account).balance
        )
    for totals in answer["totals"].values():
        for one in totals:
            net = Decimal(one["refunded"]) + Decimal(one["added"]) - Decimal(one["charged"])
            assert net == Decimal(one["balance"])


def test_totals_by_order_and_operation(sandbox: Sandbox, lived: Control) -> None:
    totals = lived.get("ledger", since="2026-03-01T12:00:00Z")["totals"]
    order = sandbox.names["kept.com"].order
    found = lived.get("ledger", order=order)["entries"]
    assert [one["request"] for one in found] == ["r1", "r3"]
    assert _by(totals, "order")[order]["charged"] == "32.00"
    assert _by(totals, "operation")["v3.createDomain"]["charged"] == "34.00"
    assert _by(totals, "operation")["v2.domain.delete"]["refunded"] == "10.00"
    assert _by(totals, "purpose")["registration"]["balance"] == "-24.00"


def test_each_filter_finds_exactly_its_movements(lived: Control) -> None:
    """Totals include movements that are not listed."""
    cases: list[tuple[dict[str, Any], list[str]]] = [
        ({"account": "other", "operation": "v3.*"}, ["r4"]),
        ({"domain": "KEPT.com"}, ["r1", "r3"]),
        ({"operation": "v2.*"}, ["r5"]),
        ({"request": "r3"}, ["r3"]),
        ({"purpose": "renewal", "operation": "v3.*"}, ["r3"]),
        ({"operation": "v3.*", "limit": 2}, ["r3", "r4"]),
        ({"since": "2030-01-01"}, []),
    ]
    answers = [lived.get("ledger", **query) for query, _ in cases]
    assert [[one["request"] for one in answer["entries"]] for answer in answers] == [one for _, one in cases]
    assert answers[5]["matching"] == 4


def test_pages_list_every_movement_exactly_once(sandbox: Sandbox, lived: Control) -> None:
    whole = lived.get("ledger")
    listed: list[Any] = []
    query: dict[str, Any] = {"limit": 2}
    while (page := lived.get("ledger", **query))["entries"]:
        listed = page["entries"] + listed
        query["before"] = listed[0]["id"]
        assert page["matching"] == whole["matching"]
        assert all(
            page["totals"][what] == whole["totals"][what] for what in ("operation", "purpose", "account")
        )
    assert listed == whole["entries"]


def test_a_filter_with_an_invalid_value_is_refused(lived: Control) -> None:
    assert lived.refused("GET", "ledger?account=nobody")[1] == "unknown_account"
    for query in ("order=x", "purpose=fun", "since=then", "acount=main", "limit=10001"):
        assert lived.refused("GET", f"ledger?{query}")[1] == "invalid_parameter", query


def test_an_operation_outlives_the_journal_and_an_export(sandbox: Sandbox, lived: Control) -> None:
    lived.delete("journal")
    was = lived.get("ledger")
    sandbox.load(sandbox.export())
    assert lived.get("ledger") == was


def test_the_ledger_in_python_has_the_same_movements(sandbox: Sandbox, lived: Control) -> None:
    answer = lived.get("ledger")
    assert [entry.id for entry in sandbox.ledger.find().entries] == [one["id"] for one in answer["entries"]]
    totals = {one.key: one.charged for one in sandbox.ledger.find(account="main").totals.operation}
    assert totals["v3.createDomain"] == Decimal(30)


def test_totals_by_order_are_those_of_the_listed_orders(lived: Control) -> None:
    whole = lived.get("ledger")
    everything = _by(whole["totals"], "order")
    for limit in (0, 1, 3, 10_000):
        asked = lived.get(f"ledger?limit={limit}")
        listed = {one["order"] for one in asked["entries"]} - {None}
        assert _by(asked["totals"], "order") == {order: everything[order] for order in listed}
        for what in ("operation", "purpose", "account"):
            assert asked["totals"][what] == whole["totals"][what]
