"""Each action of the other side, at once, over a real socket; what clients see of it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.outside.player import Player
from tests.registry import balance, edit_name
from tests.soundness import assert_consistent


def availability(api: Api, name: str) -> Any:
    """What checkAvailability says of a name."""
    return api.post("/v3/domains/checkAvailability", {"domainNames": [name]}).json["results"][0]


def domain(api: Api, name: str) -> Any:
    """What getDomain says of a name, or the error."""
    answer = api.get(f"/v3/domains/getDomain/{name}")
    return answer.error or answer.json


@pytest.fixture(autouse=True)
def _sound(served: Sandbox) -> Any:
    yield
    assert_consistent(served)


def test_a_stranger_takes_a_name(player: Player, wire: Api) -> None:
    """What was available is taken, and can be had by a transfer with the stranger's code."""
    assert availability(wire, "wanted.com")["status"] == "available"
    done = player.act("register", domain="wanted.com", years=2, auth_code="their-code")
    assert done["plan"] is None
    [happened] = done["fired"]
    assert happened["event"] == "register"
    assert happened["subject"] == "wanted.com"
    assert availability(wire, "wanted.com")["status"] == "registered"
    assert (
        wire.post("/v3/domains/createDomain", {"domain": {"domainName": "wanted.com"}}).error == "name_taken"
    )
    asked = {"domain": {"domainName": "wanted.com"}, "authCode": "their-code"}
    assert wire.post("/v3/domains/requestTransfer", asked).error == "too_young"
    player.advance(by="P60D")
    assert wire.post("/v3/domains/requestTransfer", asked).status == 200


def test_a_stranger_takes_the_shortest_term_there_is(player: Player, served: Sandbox) -> None:
    """The zone sells two years at the least, and so the stranger takes two."""
    player.act("register", domain="wanted.shop")
    name = served.names["wanted.shop"]
    assert (name.expires.year - name.created.year, name.autorenew) == (2, True)


def test_a_stranger_is_bound_by_the_registry(player: Player) -> None:
    """Taken, reserved, malformed, out of reach, too long: as for anybody."""
    assert player.refused("register", domain="active.com") == "name_taken"
    assert player.refused("register", domain="nic.com") == "name_reserved"
    assert player.refused("register", domain="-.com") == "invalid_parameter"
    assert player.refused("register", domain="a.b.com") == "invalid_name"
    assert player.refused("register", domain="wanted.nowhere") == "zone_not_supported"
    assert player.refused("register", domain="wanted.quiet") == "zone_out_of_service"
    assert player.refused("register", domain="wanted.shop", years=6) == "period_too_long"
    assert player.refused("register", domain="wanted.shop", years=1) == "period_too_short"


def test_a_competitor_takes_a_name_away(player: Player, wire: Api, served: Sandbox) -> None:
    """A transfer out is pending for the zone's five days; then the name is gone."""
    [done] = player.act("request_transfer", domain="second.com")["fired"]
    assert (done["event"], done["account"]) == ("request_transfer", "main")
    assert wire.post("/v3/domains/renewDomain/second.com").error == "transfer_pending"
    moved = player.advance(by="P5D")["fired"]
    [completed] = [one for one in moved if one["subject"] == "second.com"]
    assert (completed["event"], completed["account"]) == ("transfer completion", "main")
    assert domain(wire, "second.com") == "domain_not_found"
    assert availability(wire, "second.com")["status"] == "registered"


@pytest.mark.parametrize(("decision", "gone"), [("approveTransfer", True), ("rejectTransfer", False)])
def test_the_holder_answers_a_competitor(player: Player, wire: Api, decision: str, gone: bool) -> None:
    """A transfer out can be approved and rejected as any."""
    player.act("request_transfer", domain="second.com")
    assert wire.post(f"/v3/domains/{decision}/second.com").status == 200
    assert (domain(wire, "second.com") == "domain_not_found") is gone


def test_a_competitor_respects_locks_and_age_unless_forced(player: Player, wire: Api) -> None:
    """``force`` passes over the transfer lock and the 60 days, and over nothing else."""
    wire.post("/v3/domains/lockTransfer/second.com")
    assert player.refused("request_transfer", domain="second.com") == "locked"
    assert player.refused("request_transfer", domain="early.com") == "too_young"
    player.act("request_transfer", domain="second.com", force=True)
    player.act("request_transfer", domain="early.com", force=True)
    assert player.refused("request_transfer", domain="second.com", force=True) == "transfer_pending"
    assert player.refused("request_transfer", domain="redemption.com", force=True) == "wrong_state"
    assert player.refused("request_transfer", domain="elsewhere.com", force=True) == "held_outside"
    assert player.refused("request_transfer", domain="free.com", force=True) == "not_held"
    assert player.refused("request_transfer", domain="held.shop", force=True) == "transfers_not_supported"


def test_a_competitor_changes_its_mind(player: Player, wire: Api) -> None:
    """A request for a transfer out is taken back, and the name stays and can be renewed again."""
    player.act("request_transfer", domain="second.com")
    player.act("cancel_transfer", domain="second.com")
    assert wire.post("/v3/domains/renewDomain/second.com").status == 200
    assert player.refused("cancel_transfer", domain="second.com") == "no_transfer_out"
    assert player.refused("cancel_transfer", domain="arriving.com") == "no_transfer_out"


def test_a_premium_name_goes_out_like_any(player: Player) -> None:
    """The competitor agrees to whatever the registry asks."""
    player.act("request_transfer", domain="gold.com")


def test_the_losing_registrar_lets_a_name_come(player: Player, wire: Api) -> None:
    """A pending transfer in completes at once, with its year."""
    assert domain(wire, "arriving.com")["status"] == "pending"
    [done] = player.act("approve_transfer", domain="arriving.com")["fired"]
    assert (done["account"], done["charged"]) == ("main", "0.00")
    found = domain(wire, "arriving.com")
    assert found["status"] == "active"
    assert found["domain"]["expireDate"] == "2027-06-09 12:00:00"
    assert player.refused("approve_transfer", domain="arriving.com") == "no_transfer_in"


def test_the_losing_registrar_keeps_a_name(player: Player, wire: Api, served: Sandbox) -> None:
    """A pending transfer in ends, and what it cost comes back."""
    asked = {"domain": {"domainName": "elsewhere.com"}, "authCode": "let-me-in"}
    assert wire.post("/v3/domains/requestTransfer", asked).json["totalPaid"] == "9.00"
    before = balance(served)
    [done] = player.act("reject_transfer", domain="elsewhere.com")["fired"]
    assert done["charged"] == "-9.00"
    assert Decimal(done["balance"]) == before + 9 == balance(served)
    assert domain(wire, "elsewhere.com") == "domain_not_found"
    assert player.refused("reject_transfer", domain="elsewhere.com") == "no_transfer_in"
    assert player.refused("reject_transfer", domain="free.com") == "no_transfer_in"


def test_the_registry_holds_a_name_and_its_holder_cannot_help_it(player: Player, wire: Api) -> None:
    """Suspended, whatever the holder unlocks; its own lock stays when the registry lets go."""
    player.act("hold", domain="second.com")
    assert domain(wire, "second.com")["status"] == "suspended"
    assert wire.post("/v3/domains/unlock/second.com").error == "held_by_registry"
    wire.post("/v3/domains/lock/second.com")
    player.act("release_hold", domain="second.com")
    assert domain(wire, "second.com")["status"] == "suspended"
    assert wire.post("/v3/domains/unlock/second.com").json["status"] == "active"
    assert player.refused("hold", domain="free.com") == "not_held"


def test_a_hold_goes_with_the_name(player: Player, wire: Api, other_wire: Api) -> None:
    """A transfer does not shake off what the registry has set."""
    player.act("hold", domain="leaving.com")
    assert wire.post("/v3/domains/approveTransfer/leaving.com").status == 200
    assert domain(other_wire, "leaving.com")["status"] == "suspended"


def test_a_hold_outlives_a_renewal(player: Player, wire: Api) -> None:
    """Paying does not help either."""
    player.act("hold", domain="second.com")
    assert wire.post("/v3/domains/renewDomain/second.com").json["status"] == "suspended"


def test_a_name_that_its_holder_drops_becomes_free_in_time(player: Player, wire: Api) -> None:
    """A stranger's as an account's: it goes through redemption and pending delete, and can be had then."""
    for name in ("elsewhere.com", "second.com"):
        [done] = player.act("drop", domain=name)["fired"]
        assert (done["event"], done["subject"], done["charged"]) == ("drop", name, "0.00")
        assert availability(wire, name)["status"] == "registered"
        assert player.refused("drop", domain=name) == "wrong_state"
    assert domain(wire, "second.com")["status"] == "suspended"
    player.advance(by="P35D")
    for name in ("elsewhere.com", "second.com"):
        assert availability(wire, name)["status"] == "available"


def test_a_name_dropped_in_its_add_grace_is_free_and_refunded(player: Player, wire: Api) -> None:
    """As when its holder deletes it through an interface."""
    asked = {"domain": {"domainName": "wanted.com"}}
    paid = wire.post("/v3/domains/createDomain", asked).json["totalPaid"]
    [done] = player.act("drop", domain="wanted.com")["fired"]
    assert done["charged"] == f"-{paid}"
    assert availability(wire, "wanted.com")["status"] == "available"


def test_a_holder_cannot_drop_what_may_not_be_deleted(player: Player, served: Sandbox) -> None:
    """A flag, a transfer, a host in use, or nobody who holds it."""
    edit_name(served, "second.com", flags=["client_delete_prohibited"])
    assert player.refused("drop", domain="second.com") == "locked"
    assert player.refused("drop", domain="leaving.com") == "transfer_pending"
    assert player.refused("drop", domain="free.com") == "not_held"
    assert player.refused("drop", domain="wanted.nowhere") == "zone_not_supported"


def test_the_registry_releases_a_name_at_once(player: Player, wire: Api) -> None:
    """At any stage, whoever holds it, and whoever has asked for it: anybody can register it now."""
    for name in ("elsewhere.com", "second.com", "redemption.com", "leaving.com"):
        player.act("release", domain=name)
        assert availability(wire, name)["status"] == "available"
        assert wire.post("/v3/domains/createDomain", {"domain": {"domainName": name}}).status == 200
    assert player.refused("release", domain="free.com") == "not_held"


def test_whoever_asked_for_a_released_name_is_refunded(player: Player, wire: Api, served: Sandbox) -> None:
    """The transfer cannot come about any more."""
    before = balance(served)
    asked = {"domain": {"domainName": "elsewhere.com"}, "authCode": "let-me-in"}
    assert wire.post("/v3/domains/requestTransfer", asked).status == 200
    player.act("release", domain="elsewhere.com")
    assert balance(served) == before
    assert domain(wire, "elsewhere.com") == "domain_not_found"


def test_the_registry_completes_a_transfer_early(player: Player, wire: Api, served: Sandbox) -> None:
    """In and out, and v2.0 says that it was the registry; the other side need not answer."""
    [came] = player.act("complete_transfer", domain="arriving.com")["fired"]
    assert (came["event"], came["account"]) == ("complete_transfer", "main")
    assert domain(wire, "arriving.com")["status"] == "active"
    assert served.transfers["arriving.com"].status == "serverApproved"
    player.act("request_transfer", domain="second.com")
    [went] = player.act("complete_transfer", domain="second.com")["fired"]
    assert (went["event"], went["account"]) == ("complete_transfer", "main")
    assert domain(wire, "second.com") == "domain_not_found"
    assert player.refused("complete_transfer", domain="second.com") == "no_transfer_pending"
    assert player.refused("complete_transfer", domain="free.com") == "no_transfer_pending"


def test_prices_change(player: Player, wire: Api) -> None:
    """Those given change, and those left out stay; amounts are exact."""
    player.act("set_prices", zone="com", registration=11.5, renewal="13.25")
    found = availability(wire, "wanted.com")
    assert (found["purchaseCost"], found["renewalCost"]) == ("11.50", "13.25")
    asked = {"domain": {"domainName": "wanted.com", "privacyEnabled": True}}
    assert wire.post("/v3/domains/createDomain", asked).json["totalPaid"] == "14.50"
    assert player.refused("set_prices", zone="com") == "invalid_parameter"
    assert player.refused("set_prices", zone="nowhere", renewal=1) == "unknown_zone"
    wrong: Any
    for wrong in (-1, "free", True, 10**9, "0.0000001", [], {}):
        assert player.refused("set_prices", zone="com", renewal=wrong) == "invalid_parameter"


def test_a_promotion_begins_and_ends(player: Player, wire: Api) -> None:
    """A lower price until an instant, which may be given as a length of time, or until it is called off."""
    player.act("set_promotion", zone="com", of="registration", price=1, until="P10D")
    assert availability(wire, "wanted.com")["purchaseCost"] == "1.00"
    ended = [one for one in player.advance(by="P10D")["fired"] if one["subject"] == "com"]
    assert [(one["at"], one["event"]) for one in ended] == [
        ("2026-03-11T12:00:00Z", "registration promotion ends")
    ]
    assert availability(wire, "wanted.com")["purchaseCost"] == "10.00"
    player.act("set_promotion", zone="com", of="renewal", price=1, until="2027-01-01")
    assert availability(wire, "wanted.com")["renewalCost"] == "1.00"
    player.act("set_promotion", zone="com", of="renewal")
    assert availability(wire, "wanted.com")["renewalCost"] == "12.00"
    assert player.refused("set_promotion", zone="com", of="renewal", price=1) == "invalid_parameter"
    assert (
        player.refused("set_promotion", zone="com", of="renewal", price=1, until="2020-01-01")
        == "invalid_parameter"
    )
    assert player.refused("set_promotion", zone="com", of="everything") == "invalid_parameter"


def test_a_name_becomes_premium_and_ordinary_again(player: Player, wire: Api) -> None:
    """The registry asks what it likes for one name."""
    player.act("set_premium", domain="wanted.com", registration=77, renewal=7)
    found = availability(wire, "wanted.com")
    assert (found["premium"], found["purchaseCost"], found["renewalCost"]) == (True, "77.00", "7.00")
    assert availability(wire, "gold.com")["premium"] is True
    player.act("set_premium", domain="wanted.com")
    assert availability(wire, "wanted.com")["premium"] is False
    assert player.refused("set_premium", domain="wanted.com", renewal=7) == "invalid_parameter"


def test_a_zone_goes_out_of_service_and_comes_back(player: Player, wire: Api) -> None:
    """What needs the registry is refused for as long."""
    player.act("set_service", zone="com", in_service=False)
    asked = {"domain": {"domainName": "wanted.com"}}
    assert wire.post("/v3/domains/createDomain", asked).error == "zone_out_of_service"
    assert wire.post("/v3/domains/renewDomain/second.com").error == "zone_out_of_service"
    player.act("set_service", zone="com", in_service=True)
    assert wire.post("/v3/domains/createDomain", asked).status == 200
    assert player.refused("set_service", zone="com") == "invalid_parameter"


def test_a_balance_is_topped_up_and_drained(player: Player, wire: Api, served: Sandbox) -> None:
    """By an amount or to one, below zero if need be, each with an entry that says why."""
    [done] = player.act("adjust_balance", account="main", by=-9999)["fired"]
    assert (done["subject"], done["charged"], done["balance"]) == ("main", "9999.00", "1.00")
    asked = {"domain": {"domainName": "wanted.com"}}
    assert wire.post("/v3/domains/createDomain", asked).error == "insufficient_funds"
    player.act("adjust_balance", account="main", to="12.34")
    assert wire.get("/v3/balance").json[0]["balance"] == "12.34"
    assert wire.post("/v3/domains/createDomain", asked).status == 200
    entries = served.ledger.find(purpose="adjustment").entries
    adjustments = [(str(entry.amount), entry.cause) for entry in entries]
    assert adjustments == [("-9999.00", "outside.adjust_balance"), ("11.34", "outside.adjust_balance")]


def test_an_adjustment_must_make_sense(player: Player, served: Sandbox) -> None:
    """Both or neither of by and to, an account that is not there, no number."""
    before = served.export()
    assert player.refused("adjust_balance", account="main") == "invalid_parameter"
    assert player.refused("adjust_balance", account="main", by=1, to=1) == "invalid_parameter"
    assert player.refused("adjust_balance", account="nobody", by=1) == "unknown_account"
    assert player.refused("adjust_balance", account="outside", by=1) == "unknown_account"
    assert player.refused("adjust_balance", account="main", by="NaN") == "invalid_parameter"
    assert player.refused("adjust_balance", by=1) == "invalid_parameter"
    assert served.export() == before


def test_an_account_goes_by_its_number_as_well(player: Player, served: Sandbox) -> None:
    """The client id will do for the name."""
    [done] = player.act("adjust_balance", account=str(served.account("other").client_id), by=1)["fired"]
    assert done["account"] == "other"


def token_status(api: Api, token: str) -> int:
    """The HTTP status of a v2.0 request with a token."""
    return api.send("GET", "/V2.0/domain/free.com/check", [("X-Auth-Token", token)]).status


def test_credentials_are_revoked_and_restored(player: Player, wire: Api, served: Sandbox) -> None:
    """A revoked credential is as good as unknown; another account's are not touched."""
    token = served.account("main").token
    for which, key_works, token_works in (
        ("key", False, True),
        ("token", True, False),
        ("both", False, False),
    ):
        player.act("revoke_credentials", account="main", which=which)
        assert wire.get("/v3/balance").error == (None if key_works else "unknown_key")
        assert token_status(wire, token) == (200 if token_works else 403)
        assert token_status(wire, served.account("other").token) == 200
        player.act("restore_credentials", account="main", which=which)
        assert wire.get("/v3/balance").status == 200
        assert token_status(wire, token) == 200


def test_a_mistake_in_an_action_is_refused_and_changes_nothing(player: Player, served: Sandbox) -> None:
    """Wrong types, unknown keys, what is missing, and times that are none."""
    before, name = served.export(), {"domain": "wanted.com"}
    mistakes: tuple[dict[str, Any], ...] = (
        {},
        {"domain": 7},
        {**name, "year": 1},
        {**name, "years": "1"},
        {**name, "years": 11},
        {**name, "locked": "yes"},
        {**name, "at": "soon"},
        {**name, "at": "2020-01-01"},
        {**name, "at": True},
        {**name, "at": "P1D", "after": "v3.*"},
        {**name, "after": {"since": "r1"}},
        {**name, "after": 7},
        {**name, "after": {"operation": "v3.*", "nth": 2}},
        {**name, "after": {"operation": "v3.*", "outcome": "late"}},
        {**name, "at": "P3000Y"},
    )
    for mistake in mistakes:
        assert player.refused("register", **mistake) == "invalid_parameter", mistake
    assert served.export() == before


def test_an_unknown_action_is_refused_with_the_nearest(player: Player) -> None:
    answer = player.call("POST", "/outside/registr", {"domain": "wanted.com"})
    assert (answer.status, answer.error) == (404, "unknown_path")
    assert "/_sandbox/outside/register" in answer.message
