"""The ledger: each charge and refund with what caused it, and what they come to."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import InProcess
from tests.worlds.control import Control, control, inside, register, renew


@pytest.fixture
def lived(sandbox: Sandbox) -> Control:
    """A world with charges of two accounts, a refund, and a renewal that nobody asked for."""
    main, other = inside(sandbox), inside(sandbox, "other")
    register(main, "kept.com", 2)
    register(main, "given-back.com")
    renew(main, "kept.com")
    register(other, "others.net")
    InProcess(sandbox.app)(
        "DELETE", "/V2.0/domain/given-back.com", [("X-Auth-Token", sandbox.account().token)], b""
    )
    sandbox.clock.advance("300d")
    return control(sandbox)


def _by(totals: dict[str, Any], what: str) -> dict[Any, dict[str, str]]:
    return {one["key"]: one for one in totals[what]}


def test_each_entry_names_what_caused_it(lived: Control) -> None:
    """A request by its name and operation; time by its event; a refund by what it gives back."""
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


def test_totals_are_the_movements_of_the_balances(sandbox: Sandbox, lived: Control) -> None:
    """Whichever way they are cut, the totals come to what the accounts have gained and lost."""
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
    """What one order cost in all, and what one operation took and gave back."""
    totals = lived.get("ledger", since="2026-03-01T12:00:00Z")["totals"]
    state = sandbox.world.state
    order = state.own_order[sandbox.account().client_id, "kept.com"]
    assert _by(totals, "order")[order]["charged"] == "32.00"
    assert _by(totals, "operation")["v3.createDomain"]["charged"] == "34.00"
    assert _by(totals, "operation")["v2.domain.delete"]["refunded"] == "10.00"
    assert _by(totals, "purpose")["registration"]["balance"] == "-24.00"


@pytest.mark.parametrize(
    ("query", "requests"),
    [
        ({"account": "other", "operation": "v3.*"}, ["r4"]),
        ({"domain": "KEPT.com"}, ["r1", "r3"]),
        ({"operation": "v2.*"}, ["r5"]),
        ({"request": "r3"}, ["r3"]),
        ({"purpose": "renewal", "operation": "v3.*"}, ["r3"]),
        ({"operation": "v3.*", "limit": 2}, ["r3", "r4"]),
        ({"since": "2030-01-01"}, []),
    ],
)
def test_filters(lived: Control, query: dict[str, Any], requests: list[str]) -> None:
    """Each filter takes exactly its movements; totals are of all that are meant, listed or not."""
    answer = lived.get("ledger", **query)
    assert [one["request"] for one in answer["entries"]] == requests
    if "limit" in query:
        assert answer["matching"] == 4


def test_pages_go_back(sandbox: Sandbox, lived: Control) -> None:
    """Page after page, before the first of the page before, lists every movement once; totals stay."""
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


def test_by_order(sandbox: Sandbox, lived: Control) -> None:
    """An order's movements are found by its number."""
    order = sandbox.world.state.own_order[sandbox.account().client_id, "kept.com"]
    assert [one["request"] for one in lived.get("ledger", order=order)["entries"]] == ["r1", "r3"]


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("account=nobody", "unknown_account"),
        ("order=x", "invalid_parameter"),
        ("purpose=fun", "invalid_parameter"),
        ("since=then", "invalid_parameter"),
        ("acount=main", "invalid_parameter"),
    ],
)
def test_a_filter_that_makes_no_sense(lived: Control, query: str, error: str) -> None:
    """It is refused."""
    assert lived.refused("GET", f"ledger?{query}")[1] == error


def test_an_operation_outlives_the_journal_and_an_export(sandbox: Sandbox, lived: Control) -> None:
    """What caused a charge stands in the ledger itself."""
    lived.delete("journal")
    was = lived.get("ledger")
    sandbox.load(sandbox.export())
    assert lived.get("ledger") == was


def test_in_python_by_the_same_names(sandbox: Sandbox, lived: Control) -> None:
    """The ledger and its totals as objects."""
    answer = lived.get("ledger")
    assert [entry.id for entry in sandbox.ledger.find().entries] == [one["id"] for one in answer["entries"]]
    totals = {one.key: one.charged for one in sandbox.ledger.find(account="main").totals.operation}
    assert totals["v3.createDomain"] == Decimal(30)


@pytest.mark.parametrize("limit", [0, 1, 3, 10_000])
def test_totals_by_order_are_of_the_orders_that_are_listed(lived: Control, limit: int) -> None:
    """As many as are listed at the most, each with all its movements; what is listed is limited too."""
    whole, asked = lived.get("ledger"), lived.get(f"ledger?limit={limit}")
    listed = {one["order"] for one in asked["entries"]} - {None}
    everything = _by(whole["totals"], "order")
    assert _by(asked["totals"], "order") == {order: everything[order] for order in listed}
    for what in ("operation", "purpose", "account"):
        assert asked["totals"][what] == whole["totals"][what]
    assert lived.call("GET", "ledger?limit=10001").error == "invalid_parameter"
