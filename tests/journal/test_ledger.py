"""Totals, verification, and the movements of money."""

from __future__ import annotations

from decimal import Decimal
from itertools import accumulate
from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.clients import Api
from tests.worlds.control import Control, control, inside, money_of, register, renew

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


def test_each_ledger_entry_names_the_cause_of_the_payment(lived: Control) -> None:
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


def test_ledger_totals_equal_the_changes_of_account_balances(sandbox: Sandbox, lived: Control) -> None:
    answer = lived.get("ledger")
    balances = {row["account"]: Decimal(row["balance"]) for row in answer["balances"]}
    assert balances["main"] == sandbox.accounts["main"].balance
    moved = {row["account"]: Decimal(row["balance"]) - Decimal(row["opening"]) for row in answer["balances"]}
    accounts = {key: Decimal(row["balance"]) for key, row in _by(answer["totals"], "account").items()}
    assert accounts == {name: amount for name, amount in moved.items() if amount}
    for key in SUMS:
        assert sum(Decimal(row["balance"]) for row in answer["totals"][key]) == sum(moved.values())
    for row in answer["balances"]:
        listed = [entry for entry in answer["entries"] if entry["account"] == row["account"]]
        paid = accumulate((Decimal(entry["amount"]) for entry in listed), initial=Decimal(row["opening"]))
        assert [row["opening"], *(entry["balance"] for entry in listed)] == list(map(str, paid))
    for part in ({"limit": 3}, {"account": "main", "purpose": "renewal"}):
        assert all(entry in answer["entries"] for entry in lived.get("ledger", **part)["entries"])
    for request in lived.get("journal")["requests"]:
        assert all(entry in answer["entries"] for entry in request["ledger"])
    for totals in answer["totals"].values():
        for row in totals:
            net = Decimal(row["refunded"]) + Decimal(row["added"]) - Decimal(row["charged"])
            assert net == Decimal(row["balance"])


def test_the_ledger_has_totals_by_order_and_operation(sandbox: Sandbox, lived: Control) -> None:
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


def test_the_ledger_survives_a_cleared_journal_and_a_reloaded_export(
    sandbox: Sandbox, lived: Control
) -> None:
    """Python has the same movements."""
    lived.delete("journal")
    before = lived.get("ledger")
    sandbox.load(sandbox.export())
    assert lived.get("ledger") == before
    assert [entry.id for entry in sandbox.ledger.list().entries] == [row["id"] for row in before["entries"]]
    totals = {row.key: row.charged for row in sandbox.ledger.list(account="main").totals.operation}
    assert totals["v3.createDomain"] == Decimal(30)


CREATE = {"operation": "v3.createDomain"}


@pytest.fixture
def two_names(sandbox: Sandbox) -> Control:
    """A world in which main has registered two names and renewed the second."""
    main = inside(sandbox)
    register(main, "one.com")
    register(main, "two.com", 3)
    renew(main, "two.com")
    money_of(inside(sandbox, "other"))
    return control(sandbox)


def test_the_operation_verify_checks_the_number_and_the_sequence_of_requests(two_names: Control) -> None:
    """The message of a wrong count has the expected and the actual count."""
    lock = {"operation": "v3.lock"}
    three, first = {**CREATE, "body": {"years": 3}}, {**CREATE, "body": {"domain": {"domainName": "one.com"}}}
    cases: list[tuple[dict[str, Any], bool | str]] = [
        ({"match": CREATE}, True),
        ({"match": {}}, True),
        ({"match": CREATE, "times": 2}, True),
        ({"match": CREATE, "times": 1}, "exactly 1 expected, 2 came"),
        ({"match": CREATE, "at_least": 3}, "at least 3 expected, 2 came"),
        ({"match": CREATE, "at_least": 3, "at_most": 5}, "between 3 and 5 expected, 2 came"),
        ({"match": CREATE, "at_most": 3}, True),
        ({"match": CREATE, "at_most": 1}, "at most 1 expected, 2 came"),
        ({"match": lock, "times": 0}, True),
        ({"match": lock}, "at least 1 expected, 0 came"),
        ({"match": three, "times": 1}, True),
        ({"match": first, "times": 1}, True),
        ({"match": {"account": "other", "outcome": "ok", "since": "r3"}, "times": 1}, True),
        ({"in_order": [CREATE, {"operation": "v3.renew*"}, {"account": "other"}]}, True),
        ({"in_order": [CREATE, CREATE]}, True),
        ({"in_order": [CREATE, CREATE, CREATE]}, "the expected request number 3 did not come after r2"),
        ({"in_order": [{"account": "other"}, CREATE]}, "the expected request number 2 did not come after r4"),
        ({"in_order": []}, True),
    ]
    verdicts = [two_names.post("journal/verify", wanted) for wanted, _ in cases]
    for (wanted, expected), verdict in zip(cases, verdicts, strict=True):
        assert (verdict["verified"] or verdict["message"]) == expected, wanted


def test_near_misses_show_the_differences_from_the_match(two_names: Control) -> None:
    """The requests of the operation that differ least come first."""
    match = {**CREATE, "account": "main", "body": {"years": 3, "domain": {"domainName": "one.com"}}}
    verdict = two_names.post("journal/verify", {"match": match})
    assert (verdict["verified"], verdict["count"]) == (False, 0)
    assert [(near["request"]["id"], near["misses"]) for near in verdict["near_misses"][:2]] == [
        ("r2", [{"what": "body.domain.domainName", "expected": "one.com", "actual": "two.com"}]),
        ("r1", [{"what": "body.years", "expected": 3, "actual": 1}]),
    ]
    for domain, near in (("tow.com", "r2"), ("onne.com", "r1")):
        verdict = two_names.post("journal/verify", {"match": {**CREATE, "domain": domain, "method": "POST"}})
        assert verdict["near_misses"][0]["request"]["id"] == near


def test_requests_in_the_wrong_sequence_report_the_first_missing_request(two_names: Control) -> None:
    wanted = [{"operation": "v3.renew*"}, {**CREATE, "domain": "one.com"}]
    verdict = two_names.post("journal/verify", {"in_order": wanted})
    assert [row["id"] for row in verdict["requests"]] == ["r3"]
    assert [near["request"]["id"] for near in verdict["near_misses"]] == ["r4"]


def test_the_operation_verify_matches_a_secret_but_does_not_show_the_secret(
    steer: Control, main: Api
) -> None:
    main.post("/v3/domains/setAuthcode/active.com", {"authCode": "sesame"})
    right, wrong = ({"match": {"body": {"authCode": code}}} for code in ("sesame", "mustard"))
    assert steer.post("journal/verify", right)["verified"]
    verdict = steer.post("journal/verify", wrong)
    misses = [miss for near in verdict["near_misses"] for miss in near["misses"]]
    assert misses == [{"what": "body.authCode", "expected": "***", "actual": "***"}]


def test_the_error_of_a_failed_expectation_shows_near_misses(sandbox: Sandbox, main: Api) -> None:
    register(main, "one.com")
    renew(main, "one.com")
    journal = sandbox.journal
    assert [entry.id for entry in journal.expect(operation="v3.createDomain", times=1)] == ["r1"]
    journal.expect_in_order({"operation": "v3.create*"}, {"operation": "v3.renew*"})
    near = r"at least 1 expected, 0 came[^$]*r1 v3.createDomain one.com by main: ok: body.years is 1, not 2"
    with pytest.raises(AssertionError, match=near):
        journal.expect(operation="v3.createDomain", body={"years": 2})
    with pytest.raises(Refused, match="operatoin"):
        journal.expect(**{"operatoin": "v3.createDomain"})
    sandbox.faults.add("reset", name="lost", when={"phase": "after"})
    with pytest.raises(ConnectionResetError):
        sandbox.client().get("/v3/balance")
    with pytest.raises(AssertionError, match=r"r3 .*: fault, though carried out \(fault lost\)"):
        journal.expect(operation="v3.balance", outcome="ok")
