"""Each action of a third party at once, over a socket, and its effect for clients."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.registry import assert_consistent, balance, edit_name
from tests.worlds.control import Player

WANTED = {"domain": {"domainName": "wanted.com"}}
ELSEWHERE = {"domain": {"domainName": "elsewhere.com"}, "authCode": "let-me-in"}


def availability(api: Api, name: str) -> Any:
    return api.post("/v3/domains/checkAvailability", {"domainNames": [name]}).json["results"][0]


def domain(api: Api, name: str) -> Any:
    answer = api.get(f"/v3/domains/getDomain/{name}")
    return answer.error or answer.json


@pytest.fixture(autouse=True)
def _sound(served: Sandbox) -> Iterator[None]:
    yield
    assert_consistent(served)


NAME: dict[str, Any] = {"domain": "wanted.com"}

#: Actions that are refused, each with the error and several parameters.
REFUSED: tuple[tuple[str, str, list[dict[str, Any]]], ...] = (
    ("register", "name_reserved", [{"domain": "nic.com"}]),
    ("register", "invalid_name", [{"domain": "a.b.com"}]),
    ("register", "zone_out_of_service", [{"domain": "wanted.quiet"}]),
    ("register", "period_too_long", [{"domain": "wanted.shop", "years": 6}]),
    ("register", "period_too_short", [{"domain": "wanted.shop", "years": 1}]),
    ("register", "invalid_parameter", [{"domain": "-.com"}, {**NAME, "years": 11}, {**NAME, "at": "P3000Y"}]),
    ("register", "invalid_parameter", [{**NAME, "after": {"operation": "v3.*", "nth": 2}}]),
    ("request_transfer", "too_young", [{"domain": "early.com"}]),
    ("request_transfer", "wrong_state", [{"domain": "redemption.com", "force": True}]),
    ("request_transfer", "held_outside", [{"domain": "elsewhere.com", "force": True}]),
    ("request_transfer", "not_held", [{"domain": "free.com", "force": True}]),
    ("request_transfer", "transfers_not_supported", [{"domain": "held.shop", "force": True}]),
    ("cancel_transfer", "no_transfer_out", [{"domain": "arriving.com"}]),
    ("approve_transfer", "no_transfer_in", [{"domain": "second.com"}]),
    ("reject_transfer", "no_transfer_in", [{"domain": "elsewhere.com"}, {"domain": "free.com"}]),
    ("complete_transfer", "no_transfer_pending", [{"domain": "second.com"}, {"domain": "free.com"}]),
    ("drop", "transfer_pending", [{"domain": "leaving.com"}]),
    ("release", "not_held", [{"domain": "free.com"}]),
    ("set_promotion", "invalid_parameter", [{"zone": "com", "of": "renewal", "price": 1}]),
    ("credit", "invalid_parameter", [{"account": "main", "amount": amount} for amount in (-1, "NaN")]),
    ("debit", "invalid_parameter", [{"account": "main", "amount": "-0.01"}, {"account": "main"}]),
    ("set_balance", "unknown_account", [{"account": "nobody", "amount": 1}]),
)


def test_refused_third_party_action_changes_nothing(player: Player, served: Sandbox) -> None:
    before = served.export()
    for action, error, requests in REFUSED:
        for parameters in requests:
            assert player.failure(action, **parameters) == error, (action, parameters)
    assert served.export() == before


def test_name_at_another_registrar_can_be_transferred_after_60_days(
    player: Player, wire: Api, served: Sandbox
) -> None:
    assert availability(wire, "wanted.com")["status"] == "available"
    done = player.act("register", domain="wanted.com", years=2, auth_code="their-code")
    assert done["scheduled"] is None
    [event] = done["events"]
    assert (event["event"], event["subject"]) == ("register", "wanted.com")
    assert availability(wire, "wanted.com")["status"] == "registered"
    assert wire.post("/v3/domains/createDomain", WANTED).error == "name_taken"
    request = {**WANTED, "authCode": "their-code"}
    assert wire.post("/v3/domains/requestTransfer", request).error == "too_young"
    player.advance(by="P60D")
    assert wire.post("/v3/domains/requestTransfer", request).status == 200
    player.act("register", domain="wanted.shop")
    name = served.names["wanted.shop"]
    shortest = name.expires.year - name.created.year
    assert (shortest, name.autorenew) == (2, True)


def test_transfer_to_another_registrar_can_end_in_each_documented_way(player: Player, wire: Api) -> None:
    """``force`` passes over the transfer lock and the age of a name."""
    [requested] = player.act("request_transfer", domain="second.com")["events"]
    assert (requested["event"], requested["account"]) == ("request_transfer", "main")
    assert wire.post("/v3/domains/renewDomain/second.com").error == "transfer_pending"
    assert player.failure("request_transfer", domain="second.com", force=True) == "transfer_pending"
    player.act("cancel_transfer", domain="second.com")
    assert wire.post("/v3/domains/renewDomain/second.com").status == 200
    wire.post("/v3/domains/lockTransfer/second.com")
    assert player.failure("request_transfer", domain="second.com") == "locked"
    for decision, is_gone in (("rejectTransfer", False), ("approveTransfer", True)):
        player.act("request_transfer", domain="gold.com")
        assert wire.post(f"/v3/domains/{decision}/gold.com").status == 200
        assert (domain(wire, "gold.com") == "domain_not_found") is is_gone
    for name in ("second.com", "early.com"):
        player.act("request_transfer", domain=name, force=True)
    events = player.advance(by="P5D")["events"]
    [completed] = [event for event in events if event["subject"] == "second.com"]
    assert (completed["event"], completed["account"]) == ("transfer completion", "main")
    assert domain(wire, "second.com") == "domain_not_found"
    assert availability(wire, "second.com")["status"] == "registered"


def test_losing_registrar_approves_or_rejects_a_transfer_to_an_account(
    player: Player, wire: Api, served: Sandbox
) -> None:
    assert domain(wire, "arriving.com")["status"] == "pending"
    [approved] = player.act("approve_transfer", domain="arriving.com")["events"]
    assert (approved["account"], approved["charged"]) == ("main", "0.00")
    arrived = domain(wire, "arriving.com")
    assert (arrived["status"], arrived["domain"]["expireDate"]) == ("active", "2027-06-09 12:00:00")
    assert player.failure("approve_transfer", domain="arriving.com") == "no_transfer_in"
    assert wire.post("/v3/domains/requestTransfer", ELSEWHERE).json["totalPaid"] == "9.00"
    before = balance(served)
    [rejected] = player.act("reject_transfer", domain="elsewhere.com")["events"]
    assert rejected["charged"] == "-9.00"
    assert Decimal(rejected["balance"]) == before + 9 == balance(served)
    assert domain(wire, "elsewhere.com") == "domain_not_found"


def test_registry_completes_pending_transfers_early(player: Player, wire: Api, served: Sandbox) -> None:
    [arrived] = player.act("complete_transfer", domain="arriving.com")["events"]
    assert (arrived["event"], arrived["account"]) == ("complete_transfer", "main")
    assert domain(wire, "arriving.com")["status"] == "active"
    assert served.transfers["arriving.com"].status == "serverApproved"
    player.act("request_transfer", domain="second.com")
    [left] = player.act("complete_transfer", domain="second.com")["events"]
    assert (left["event"], left["account"]) == ("complete_transfer", "main")
    assert domain(wire, "second.com") == "domain_not_found"


def test_registry_hold_stays_after_a_renewal_and_an_unlock_and_a_transfer(
    player: Player, wire: Api, other_wire: Api
) -> None:
    """The lock of the holder stays when the registry releases its hold."""
    player.act("hold", domain="second.com")
    assert domain(wire, "second.com")["status"] == "suspended"
    assert wire.post("/v3/domains/unlock/second.com").error == "held_by_registry"
    assert wire.post("/v3/domains/renewDomain/second.com").json["status"] == "suspended"
    wire.post("/v3/domains/lock/second.com")
    player.act("release_hold", domain="second.com")
    assert domain(wire, "second.com")["status"] == "suspended"
    assert wire.post("/v3/domains/unlock/second.com").json["status"] == "active"
    player.act("hold", domain="leaving.com")
    assert wire.post("/v3/domains/approveTransfer/leaving.com").status == 200
    assert domain(other_wire, "leaving.com")["status"] == "suspended"


def test_third_party_deletes_a_name_under_the_rules_for_registrants(
    player: Player, wire: Api, served: Sandbox
) -> None:
    edit_name(served, "theirs.com", flags=["client_delete_prohibited"])
    assert player.failure("drop", domain="theirs.com") == "locked"
    paid = wire.post("/v3/domains/createDomain", WANTED).json["totalPaid"]
    [done] = player.act("drop", domain="wanted.com")["events"]
    assert done["charged"] == f"-{paid}"
    assert availability(wire, "wanted.com")["status"] == "available"
    for name in ("elsewhere.com", "second.com"):
        [done] = player.act("drop", domain=name)["events"]
        assert (done["event"], done["subject"], done["charged"]) == ("drop", name, "0.00")
        assert availability(wire, name)["status"] == "registered"
        assert player.failure("drop", domain=name) == "wrong_state"
    assert domain(wire, "second.com")["status"] == "suspended"
    player.advance(by="P35D")
    for name in ("elsewhere.com", "second.com"):
        assert availability(wire, name)["status"] == "available"


def test_name_released_by_a_third_party_is_free_at_once_and_its_transfer_is_refunded(
    player: Player, wire: Api, served: Sandbox
) -> None:
    before = balance(served)
    assert wire.post("/v3/domains/requestTransfer", ELSEWHERE).status == 200
    player.act("release", domain="elsewhere.com")
    assert balance(served) == before
    assert domain(wire, "elsewhere.com") == "domain_not_found"
    for name in ("second.com", "redemption.com", "leaving.com"):
        player.act("release", domain=name)
        assert availability(wire, name)["status"] == "available"
        assert wire.post("/v3/domains/createDomain", {"domain": {"domainName": name}}).status == 200


def test_third_party_changes_zone_prices_and_premium_names(player: Player, wire: Api) -> None:
    player.act("set_prices", zone="com", registration=11.5, renewal="13.25")
    offered = availability(wire, "wanted.com")
    assert (offered["purchaseCost"], offered["renewalCost"]) == ("11.50", "13.25")
    player.act("set_premium", domain="wanted.com", registration=77, renewal=7)
    offered = availability(wire, "wanted.com")
    assert (offered["premium"], offered["purchaseCost"], offered["renewalCost"]) == (True, "77.00", "7.00")
    player.act("set_premium", domain="wanted.com")
    assert availability(wire, "wanted.com")["premium"] is False
    order = {"domain": {"domainName": "wanted.com", "privacyEnabled": True}}
    assert wire.post("/v3/domains/createDomain", order).json["totalPaid"] == "14.50"


def test_promotion_ends_at_its_instant_or_by_a_third_party_action(player: Player, wire: Api) -> None:
    player.act("set_promotion", zone="com", of="registration", price=1, until="P10D")
    assert availability(wire, "wanted.com")["purchaseCost"] == "1.00"
    ended = [event for event in player.advance(by="P10D")["events"] if event["subject"] == "com"]
    assert [(event["at"], event["event"]) for event in ended] == [
        ("2026-03-11T12:00:00Z", "registration promotion ends")
    ]
    assert availability(wire, "wanted.com")["purchaseCost"] == "10.00"
    player.act("set_promotion", zone="com", of="renewal", price=1, until="2027-01-01")
    assert availability(wire, "wanted.com")["renewalCost"] == "1.00"
    player.act("set_promotion", zone="com", of="renewal")
    assert availability(wire, "wanted.com")["renewalCost"] == "12.00"


def test_third_party_raises_and_lowers_the_balance_of_an_account(
    player: Player, wire: Api, served: Sandbox
) -> None:
    """Each adjustment has a ledger entry. The client id stands for the name of an account."""
    [done] = player.act("debit", account="main", amount=9999)["events"]
    assert (done["subject"], done["charged"], done["balance"]) == ("main", "9999.00", "1.00")
    assert wire.post("/v3/domains/createDomain", WANTED).error == "insufficient_funds"
    player.act("set_balance", account=str(served.accounts["main"].client_id), amount="12.34")
    assert wire.get("/v3/balance").json[0]["balance"] == "12.34"
    assert wire.post("/v3/domains/createDomain", WANTED).status == 200
    entries = served.ledger.list(purpose="adjustment").entries
    adjustments = [(str(entry.amount), entry.cause) for entry in entries]
    assert adjustments == [("-9999.00", "accounts.debit"), ("11.34", "accounts.set_balance")]
    [done] = player.act("credit", account="main", amount=0)["events"]
    assert (done["actor"], done["charged"]) == ("staff", "0.00")
    [done] = player.act("credit", account="main", amount="50")["events"]
    assert done["charged"] == "-50.00"
    assert Decimal(done["balance"]) == balance(served) == served.ledger.list().entries[-1].balance


def test_third_party_revokes_and_restores_credentials(player: Player, wire: Api, served: Sandbox) -> None:
    def status_of_token(account: str) -> int:
        token = [("X-Auth-Token", served.accounts[account].token)]
        return wire.send("GET", "/V2.0/domain/free.com/check", token).status

    effects = {"key": ("unknown_key", 200), "token": (None, 403), "both": ("unknown_key", 403)}
    for which, (error, status) in effects.items():
        player.act("revoke_credentials", account="main", which=which)
        assert wire.get("/v3/balance").error == error
        assert (status_of_token("main"), status_of_token("other")) == (status, 200)
        player.act("restore_credentials", account="main", which=which)
        assert wire.get("/v3/balance").status == 200
        assert status_of_token("main") == 200
