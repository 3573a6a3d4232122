"""Every event of the lifecycle fires at its instant, and is reported with its charge."""

from __future__ import annotations

from typing import Any

from reseller_sandbox import Sandbox
from tests.third_parties.player import Player


def rows(events: list[Any], *subjects: str) -> list[tuple[str, str, str, str, str | None]]:
    """Return the date, the event, the account, the charge and the balance of events of some subjects."""
    return [
        (event["at"][:10], event["event"], event["account"], event["charged"], event["balance"])
        for event in events
        if event["subject"] in subjects
    ]


def test_an_automatic_renewal_is_charged_with_the_event_as_its_cause(player: Player, served: Sandbox) -> None:
    assert rows(player.advance(to="2026-12-01")["events"], "active.com") == [
        ("2026-11-21", "automatic renewal", "main", "15.00", "9985.00")
    ]
    cause = f"event:order:{served.names['active.com'].order}"
    entries = served.ledger.find(limit=2).entries
    assert [(entry.purpose, str(entry.amount), entry.years, entry.cause) for entry in entries] == [
        ("renewal", "-12.00", 1, cause),
        ("privacy", "-3.00", 1, cause),
    ]


def test_an_expiry_is_reported_with_the_reason(player: Player, served: Sandbox) -> None:
    for action, parameters, note in (
        (
            "adjust_balance",
            {"account": "main", "to": "14.99"},
            "15.00 USD are needed and the balance is 14.99 USD",
        ),
        ("set_service", {"zone": "com", "in_service": False}, "the zone com is out of service"),
        ("request_transfer", {"domain": "active.com", "at": "2026-11-20"}, "it is being transferred"),
    ):
        served.reset(original=True)
        player.act(action, **parameters)
        events = player.advance(to="2026-11-22")["events"]
        balance = "14.99" if action == "adjust_balance" else "10000.00"
        expiry = ("2026-11-21", "expiry", "main", "0.00", balance)
        assert expiry in rows(events, "active.com")
        notes = [event["note"] for event in events if event["subject"] == "active.com"]
        assert f"no automatic renewal: {note}" in notes
