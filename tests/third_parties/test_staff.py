"""Actions of the staff and the registry on a name of an account, over a socket, as v3 and v2.0 show them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from reseller_sandbox import Sandbox, replay
from tests.clients import Api
from tests.registry import assert_consistent, balance, create
from tests.worlds.control import Player

WANTED = {"domain": {"domainName": "theirs.com"}, "authCode": "let-me-in"}


@pytest.fixture(autouse=True)
def _sound(served: Sandbox) -> Iterator[None]:
    """The world is consistent after each test, and its recording and its export lead to the same world."""
    yield
    assert_consistent(served)
    replayed = replay(served.recording.get().content)
    assert replayed.identical, replayed.difference


def shown(api: Api, name: str) -> Any:
    answer = api.get(f"/v3/domains/getDomain/{name}")
    return answer.error or answer.json


def in_v2(api: Api, served: Sandbox, name: str) -> Any:
    token = [("X-Auth-Token", served.accounts["main"].token)]
    return api.send("GET", f"/V2.0/domain/{name}", token).json


def changes(event: Any) -> dict[str, tuple[Any, Any]]:
    return {name: (change["before"], change["after"]) for name, change in event["changes"].items()}


def test_staff_changes_a_name_in_one_event_and_leaves_the_money(
    player: Player, wire: Api, served: Sandbox
) -> None:
    served.contacts.add("STAFF-1", name="Ann", mail="ann@example.com")
    served.customers.add(7, name="Ann", mail="ann@example.com")
    before = balance(served)
    [event] = player.act(
        "change",
        domain="second.com",
        expires="2027-01-31T00:00:00Z",
        auth_code="from-staff",
        nameservers=["ns1.example.net", "NS2.example.net"],
        flags=["client_transfer_prohibited"],
        autorenew=True,
        privacy=True,
        contacts={"tech": "STAFF-1"},
        customer=7,
    )["events"]
    assert (event["event"], event["subject"], event["actor"]) == ("change", "second.com", "staff")
    assert event["charged"] == "0.00"
    altered = changes(event)
    assert altered["flags"] == ([], ["client_transfer_prohibited"])
    assert altered["expires"][1] == "2027-01-31T00:00:00Z"
    assert altered["nameservers"][1] == ["ns1.example.net", "ns2.example.net"]
    assert altered["auth_code"] == ("***", "***")
    assert altered["customer_id"] == (None, 7)
    assert altered["contacts"][1]["tech"] == "STAFF-1"
    assert balance(served) == before
    name = shown(wire, "second.com")["domain"]
    assert name["expireDate"] == "2027-01-31 00:00:00"
    assert name["nameservers"] == ["ns1.example.net", "ns2.example.net"]
    assert (name["autorenewEnabled"], name["privacyEnabled"]) == (True, True)
    assert served.names["second.com"].flags == ("client_transfer_prohibited",)
    assert wire.get("/v3/domains/getAuthcode/second.com").json["authCode"] == "from-staff"
    [logged] = served.events.list(name="simulate.change").events
    assert logged.registry_event is not None
    assert dict(logged.registry_event.changes) == event["changes"]


def test_update_lock_that_the_staff_clears_is_shown_as_used(
    player: Player, wire: Api, served: Sandbox
) -> None:
    served.assumptions.set({"v3.update_prohibited.shown": "once_used"})
    assert "updateProhibited" not in shown(wire, "second.com")["domain"]
    for flags, is_locked in ((["client_update_prohibited"], True), ([], False)):
        [event] = player.act("change", domain="second.com", flags=flags)["events"]
        assert changes(event).keys() == {"flags"}
        assert shown(wire, "second.com")["domain"]["updateProhibited"] is is_locked


def test_flags_that_a_client_set_are_listed_in_order(player: Player, wire: Api, served: Sandbox) -> None:
    """A set of flags that is not sorted would be another list in each process."""
    kinds = ("delete_prohibited", "hold", "renew_prohibited", "transfer_prohibited", "update_prohibited")
    flags = [f"client_{kind}" for kind in kinds]
    headers = [("X-Auth-Token", served.accounts["main"].token), ("Content-Type", "application/json")]
    body = json.dumps(dict.fromkeys(flags, 1)).encode()
    assert wire.send("PUT", "/V2.0/domain/second.com", headers, body).status == 200
    [event] = player.act("change", domain="second.com", flags=[])["events"]
    assert changes(event)["flags"] == (flags, [])


def test_a_changed_expiry_moves_the_name_through_its_life(player: Player, wire: Api, served: Sandbox) -> None:
    """A past expiry makes an active name overdue, a later one makes it active again."""
    [event] = player.act("change", domain="second.com", expires="-1d", by="registry")["events"]
    assert (event["actor"], changes(event)["stage"]) == ("registry", ("active", "overdue"))
    assert in_v2(wire, served, "second.com")["status"] == "3"
    player.act("change", domain="second.com", expires="+10d")
    assert served.names["second.com"].stage == "active"
    events = player.advance(by="P10D")["events"]
    assert [event["event"] for event in events if event["subject"] == "second.com"] == ["expiry"]
    player.act("change", domain="redemption.com", expires="+P2Y")
    assert served.names["redemption.com"].stage == "redemption"


def test_staff_moves_a_name_to_another_account_with_its_contacts_and_without_its_refunds(
    player: Player, wire: Api, served: Sandbox
) -> None:
    answer = wire.post("/v3/domains/createDomain", {"domain": {"domainName": "moved.com"}})
    paid, expires = Decimal(answer.json["totalPaid"]), served.names["moved.com"].expires
    other, contact = served.accounts["other"], served.accounts["other"].contact
    [event] = player.act("change", domain="moved.com", account="other", charge="2.50")["events"]
    assert (event["account"], event["charged"]) == ("other", "2.50")
    assert changes(event)["account"] == (served.accounts["main"].client_id, other.client_id)
    moved = served.names["moved.com"]
    assert (moved.account, moved.expires, set(moved.contacts.values())) == ("other", expires, {contact})
    assert shown(wire, "moved.com") == "domain_not_found"
    assert "moved.com" not in {row["domainName"] for row in wire.get("/v3/domains").json["domains"]}
    token = [("X-Auth-Token", other.token)]
    assert wire.send("GET", "/V2.0/domain/moved.com", token).json["contact_registrant"] == contact
    assert balance(served, "other") == other.balance - Decimal("2.50")
    assert balance(served) == Decimal(10_000) - paid
    [nothing] = player.act("change", domain="moved.com", account="other")["events"]
    assert changes(nothing) == {}
    player.act("drop", domain="moved.com")
    assert (balance(served), balance(served, "other")) == (10_000 - paid, other.balance - Decimal("2.50"))
    assert player.failure("change", domain="arriving.com", account="poor") == "transfer_pending"
    assert player.failure("change", domain="second.com", account="outside") == "unknown_account"


def test_staff_can_charge_for_a_change_and_a_change_without_funds_is_refused_whole(
    player: Player, served: Sandbox
) -> None:
    before = balance(served)
    [event] = player.act("change", domain="second.com", charge="2.50")["events"]
    assert (event["charged"], event["balance"]) == ("2.50", "9997.50")
    assert (before, balance(served)) == (Decimal(10_000), Decimal("9997.50"))
    [entry] = served.ledger.list(domain="second.com").entries
    assert (str(entry.amount), entry.purpose, entry.kind) == ("-2.50", "adjustment", "charge")
    code = served.names["poor.com.ua"].auth_code
    refused = player.failure("change", domain="poor.com.ua", auth_code="new-code", charge="1.01")
    assert refused == "insufficient_funds"
    assert served.names["poor.com.ua"].auth_code == code


def test_wrong_changes_are_refused_and_change_nothing(player: Player, served: Sandbox) -> None:
    before = served.export()
    for error, parameters in (
        ("invalid_parameter", {}),
        ("invalid_parameter", {"expires": "1999-01-01"}),
        ("invalid_parameter", {"expires": "tomorrow"}),
        ("invalid_parameter", {"flags": ["client_hold", "client_hold"]}),
        ("invalid_parameter", {"nameservers": ["ns_1.example.net"]}),
        ("invalid_parameter", {"contacts": {"owner": "A1001"}}),
        ("contact_not_found", {"contacts": {"tech": "A9999"}}),
        ("customer_not_found", {"customer": 99}),
    ):
        assert player.failure("change", domain="second.com", **parameters) == error, parameters
    assert player.failure("change", domain="held.com.ua", privacy=True) == "privacy_not_offered"
    assert player.failure("change", domain="free.com", autorenew=True) == "not_held"
    assert served.export() == before


def test_staff_renews_at_the_price_of_the_day_or_for_nothing(
    player: Player, wire: Api, served: Sandbox
) -> None:
    before = balance(served)
    player.act("set_prices", zone="com", renewal="13.25")
    [event] = player.act("renew", domain="second.com", years=2)["events"]
    assert (event["charged"], event["actor"]) == ("26.50", "staff")
    earlier, later = changes(event)["expires"]
    assert int(later[:4]) - int(earlier[:4]) == 2
    assert before - balance(served) == Decimal("26.50")
    paid = served.ledger.list(domain="second.com").entries[-1]
    assert (paid.purpose, paid.years, paid.operation) == ("renewal", 2, "simulate.renew")
    [event] = player.act("renew", domain="overdue.com", charge=False)["events"]
    assert (event["charged"], changes(event)["stage"]) == ("0.00", ("overdue", "active"))
    assert shown(wire, "overdue.com")["status"] == "active"
    player.act("renew", domain="gold.com")
    assert str(served.ledger.list(domain="gold.com").entries[-1].amount) == "-300.00"
    player.act("renew", domain="elsewhere.com")
    for error, name, years in (
        ("wrong_state", "redemption.com", 1),
        ("transfer_pending", "leaving.com", 1),
        ("period_too_long", "second.com", 10),
        ("zone_out_of_service", "held.quiet", 1),
        ("insufficient_funds", "poor.com.ua", 1),
    ):
        assert player.failure("renew", domain=name, years=years) == error


def test_refused_registration_ends_the_order_and_refunds_it(
    player: Player, wire: Api, served: Sandbox
) -> None:
    """It works for an order that is requested and for one in processing, with or without a refund."""
    before = balance(served)
    served.assumptions.set({"v2.order_processing": "3600"})
    for seconds, status, refund in ((0, "0", True), (3600, "1", True), (3600, "1", False)):
        assert create(wire, "new.com").json["status"] == "pending"
        if seconds:
            player.advance(by=seconds)
        assert in_v2(wire, served, "new.com")["status"] == status
        [event] = player.act("refuse_registration", domain="new.com", refund=refund, reason="no papers")[
            "events"
        ]
        assert (event["actor"], event["note"]) == ("registry", "no papers")
        assert event["charged"] == ("-10.00" if refund else "0.00")
        assert shown(wire, "new.com") == "domain_not_found"
        assert in_v2(wire, served, "new.com")["code"] == 404
        player.advance(by=10_000)
    assert balance(served) == before - 10
    assert player.failure("refuse_registration", domain="second.com") == "no_registration_pending"


def test_expired_code_is_refused_as_a_wrong_one_until_there_is_a_new_code(
    player: Player, wire: Api, other_wire: Api, served: Sandbox
) -> None:
    [event] = player.act("expire_auth_code", domain="theirs.com")["events"]
    assert changes(event) == {"auth_code_expires": (None, "2026-03-01T12:00:00Z")}
    answer = wire.post("/v3/domains/requestTransfer", WANTED)
    assert answer.error == "wrong_auth_code"
    assert "expired on 2026-03-01T12:00:00Z" in answer.message
    wrong = wire.post("/v3/domains/requestTransfer", {**WANTED, "authCode": "guessed"})
    assert wrong.error == "wrong_auth_code"
    assert "expired" not in wrong.message
    assert player.failure("request_transfer", domain="theirs.com") in ("wrong_auth_code", "held_outside")
    assert other_wire.post("/v3/domains/setAuthcode/theirs.com", {"authCode": "let-me-in"}).status == 200
    assert wire.post("/v3/domains/requestTransfer", WANTED).status == 200


def test_actions_of_the_staff_wait_for_an_instant_or_a_request(
    player: Player, wire: Api, served: Sandbox
) -> None:
    """A name that changes between two requests of a client is the case that they are for."""
    player.act("change", domain="second.com", flags=["client_hold"], after="v3.getDomain")
    player.act("renew", domain="second.com", charge=False, at="P1D")
    player.act("expire_auth_code", domain="second.com", at="P2D")
    assert shown(wire, "second.com")["status"] == "active"
    assert shown(wire, "second.com")["status"] == "suspended"
    served.load(served.export())
    events = [event for event in player.advance(by="P2D")["events"] if event["subject"] == "second.com"]
    assert [(event["event"], event["actor"]) for event in events] == [
        ("renew", "staff"),
        ("expire_auth_code", "registry"),
    ]
    assert served.names["second.com"].auth_code_expires is not None
