"""Every event of the lifecycle fires at its instant, and is reported with what it charged."""

from __future__ import annotations

from typing import Any

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.outside.player import Player
from tests.registry import edit, edit_name


def of(fired: list[Any], *subjects: str) -> list[tuple[str, str, str, str, str | None]]:
    """When what happened to whom, and what it cost and left."""
    return [
        (one["at"][:10], one["event"], one["account"], one["charged"], one["balance"])
        for one in fired
        if one["subject"] in subjects
    ]


def test_a_name_renews_itself(player: Player, served: Sandbox) -> None:
    """At the renewal price; the balance is what the charge left."""
    assert of(player.advance(to="2026-12-01")["fired"], "active.com") == [
        ("2026-11-21", "automatic renewal", "main", "15.00", "9985.00")
    ]
    cause = f"event:order:{served.names['active.com'].order}"
    renewal, privacy = served.ledger.find(limit=2).entries
    assert (renewal.cause, str(renewal.amount)) == (cause, "-12.00")
    assert (privacy.cause, str(privacy.amount)) == (cause, "-3.00")


def test_a_name_expires_for_want_of_money(player: Player) -> None:
    """The report says what was wanting; nothing is charged."""
    fired = player.advance(to="2026-12-01")["fired"]
    assert of(fired, "meagre.com") == [("2026-11-21", "expiry", "poor", "0.00", "1.00")]
    [note] = [one["note"] for one in fired if one["subject"] == "meagre.com"]
    assert note == "no automatic renewal: 12.00 USD are needed and the balance is 1.00 USD"


def test_an_expiry_says_why_the_name_was_not_renewed(player: Player, served: Sandbox) -> None:
    for action, parameters, note in (
        ("set_service", {"zone": "com", "in_service": False}, "the zone com is out of service"),
        ("request_transfer", {"domain": "active.com", "at": "2026-11-20"}, "it is being transferred"),
    ):
        served.reset(original=True)
        player.act(action, **parameters)
        fired = player.advance(to="2026-11-22")["fired"]
        [expiry] = [one for one in fired if one["subject"] == "active.com" and one["event"] == "expiry"]
        assert expiry["note"] == f"no automatic renewal: {note}"


def test_a_name_dies(player: Player) -> None:
    """Expiry, redemption, pending delete, release: each after its days."""
    assert of(player.advance(to="2027-01-01")["fired"], "second.com") == [
        ("2026-08-13", "expiry", "main", "0.00", "10000.00"),
        ("2026-09-12", "redemption", "main", "0.00", "10000.00"),
        ("2026-10-12", "pending delete", "main", "0.00", "10000.00"),
        ("2026-10-17", "release", "main", "0.00", "10000.00"),
    ]


def test_an_order_is_processed(player: Player) -> None:
    """Status 0, then 1, then 2."""
    fired = player.advance(by="P2D")["fired"]
    assert [one[:2] for one in of(fired, "requested.com")] == [
        ("2026-03-02", "processing"),
        ("2026-03-02", "activation"),
    ]
    assert [one[:2] for one in of(fired, "processing.com")] == [("2026-03-02", "activation")]


def test_transfers_complete_in_and_out(player: Player, wire: Api) -> None:
    """In: for the account that gains it. Out to a stranger: for the account that loses it."""
    player.act("request_transfer", domain="second.com")
    fired = player.advance(by="P5D")["fired"]
    assert of(fired, "arriving.com", "leaving.com", "second.com") == [
        ("2026-03-04", "transfer completion", "main", "0.00", "10000.00"),
        ("2026-03-05", "transfer completion", "other", "0.00", "500.00"),
        ("2026-03-06", "transfer completion", "main", "0.00", "10000.00"),
    ]
    assert wire.get("/v3/domains/getDomain/arriving.com").json["status"] == "active"
    assert wire.get("/v3/domains/getDomain/second.com").error == "domain_not_found"


def test_a_transfer_that_redemption_overtakes_is_refunded(player: Player, served: Sandbox, wire: Api) -> None:
    """The refund is reported before the redemption."""
    edit_name(served, "lapsed.com", due="+2d")
    asked = {"domain": {"domainName": "lapsed.com"}, "authCode": "let-me-in"}
    assert wire.post("/v3/domains/requestTransfer", asked).status == 200
    assert of(player.advance(by="P2D")["fired"], "lapsed.com") == [
        ("2026-03-03", "transfer cancelled", "main", "-9.00", "10000.00"),
        ("2026-03-03", "redemption", "other", "0.00", "500.00"),
    ]


def test_promotions_end(player: Player) -> None:
    """For registration and for renewal, each at its own instant."""
    fired = player.advance(by="P30D")["fired"]
    assert of(fired, "net") == [
        ("2026-03-11", "registration promotion ends", None, "0.00", None),
        ("2026-03-21", "renewal promotion ends", None, "0.00", None),
    ]


def test_money_runs_out_on_the_way(player: Player, served: Sandbox) -> None:
    """Renewals are paid in the order in which they are due, as long as the money lasts."""
    names = ("active.com", "second.com", "gold.com")
    edit(served, {"domains": {name: {"autorenew": True, "privacy": None} for name in names}})
    served.outside.adjust_balance("main", to=24)
    fired = player.advance(to="2026-12-01")["fired"]
    assert of(fired, "active.com", "second.com", "gold.com")[:3] == [
        ("2026-08-13", "automatic renewal", "main", "12.00", "12.00"),
        ("2026-11-21", "automatic renewal", "main", "12.00", "0.00"),
        ("2026-11-21", "expiry", "main", "0.00", "0.00"),
    ]
