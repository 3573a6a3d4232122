"""The clock: by, to, until, due events, dry runs, and the events of the lifecycle."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.clients import Api
from tests.registry import Make, assert_consistent, edit_name
from tests.worlds.control import Player

NOW = "2026-03-01T12:00:00Z"

#: A name and a stage, and the instant at which time alone brings the name there, if it does.
GOALS: tuple[tuple[dict[str, str], str | None], ...] = (
    ({"domain": "second.com", "stage": "overdue"}, "2026-08-13T12:00:00Z"),
    ({"domain": "second.com", "stage": "redemption"}, "2026-09-12T12:00:00Z"),
    ({"domain": "second.com", "stage": "pending_delete"}, "2026-10-12T12:00:00Z"),
    ({"domain": "second.com", "stage": "released"}, "2026-10-17T12:00:00Z"),
    ({"domain": "second.com", "stage": "active"}, NOW),
    ({"domain": "requested.com", "stage": "active"}, "2026-03-02T12:00:00Z"),
    ({"domain": "arriving.com", "stage": "active"}, "2026-03-04T12:00:00Z"),
    ({"domain": "active.com", "stage": "overdue"}, None),
    ({"domain": "leaving.com", "stage": "active", "account": "other"}, "2026-03-05T12:00:00Z"),
    ({"domain": "leaving.com", "stage": "released", "account": "main"}, "2026-03-05T12:00:00Z"),
    ({"domain": "ESPAÑA.com", "stage": "overdue"}, "2026-11-21T12:00:00Z"),
    ({"domain": "second.com", "stage": "requested"}, None),
)


def test_clock_advances_until_a_name_reaches_a_stage_or_refuses_an_unreachable_stage(
    player: Player, served: Sandbox, subtests
) -> None:
    for goal, instant in GOALS:
        with subtests.test(goal=goal):
            served.reset(original=True)
            answer = player.call("POST", "clock/advance", {"until": goal})
            if instant is not None:
                assert answer.json["now"] == instant
            else:
                assert (answer.status, answer.error) == (409, "nothing_due")
                reason = f"time alone does not bring {goal['domain'].lower()} to {goal['stage']}"
                assert reason in answer.message
                assert player.get("clock")["now"] == NOW


def until(**goal: object) -> dict[str, Any]:
    return {"until": goal}


INVALID = "invalid_parameter"
REFUSED: tuple[tuple[dict[str, Any], str, str], ...] = (
    ({"dry_run": True}, INVALID, "exactly one"),
    ({"by": "P1D", "to": "2027-01-01"}, INVALID, "exactly one"),
    ({"by": "P2000Y"}, INVALID, "cannot go beyond"),
    ({"until": "tomorrow"}, INVALID, "next"),
    (until(domain="second.com"), INVALID, "stage"),
    (until(domain="second.com", stage="dead"), INVALID, "overdue"),
    (until(domain="second.com", stage="active", by="x"), INVALID, "account"),
    (until(domain="leaving.com", stage="active"), INVALID, "main, other"),
    (until(event="expirey"), INVALID, "did you mean expiry"),
    (until(event="expiry", stage="active"), INVALID, "known are event, domain, account"),
    (until(event="expiry", domain="free.com"), "nothing_due", "expiry of free.com"),
    (until(domain="second.com", stage="active", account="other"), "not_held", "second.com"),
)


def test_impossible_advance_of_the_clock_is_refused_and_changes_nothing(
    player: Player, served: Sandbox, subtests
) -> None:
    before = served.export()
    for body, error, word in REFUSED:
        with subtests.test(body=body):
            answer = player.call("POST", "clock/advance", body)
            assert 400 <= answer.status < 500
            assert answer.error == error
            assert word in answer.message
    answer = player.call("POST", "clock/set", {"to": "2026-03-01T11:59:59Z"})
    assert (answer.status, answer.error) == (409, "set_back")
    assert served.export() == before


def test_clock_can_advance_until_an_event_of_each_kind(make: Make, subtests) -> None:
    sandbox = make(assume={"lifecycle.autorenew.tries": "daily"})
    sandbox.simulate.set_promotion("com", of="registration", price=1, until="P3D")
    sandbox.simulate.set_promotion("com", of="renewal", price=1, until="P4D")
    sandbox.simulate.when("P5D").register("wanted.com")
    sandbox.simulate.when("P6D").register("wanted.com")
    to_come = {event.event for event in sandbox.clock.advance("P800D", dry_run=True).events}
    assert len(to_come) >= 12, to_come
    for kind in sorted(to_come):
        with sandbox.fork() as fork, subtests.test(kind=kind):
            events = fork.clock.advance(until={"event": kind}).events
            first = next(event for event in events if event.event == kind)
            assert first.at == fork.clock.now == events[-1].at


def test_clock_advances_by_units_that_add_up_and_follow_the_calendar(
    player: Player, sandbox: Sandbox
) -> None:
    for units, now in (
        ({"seconds": 90}, "2026-03-01T12:01:30Z"),
        ({"minutes": 58, "seconds": 30}, "2026-03-01T13:00:00Z"),
        ({"days": 30}, "2026-03-31T13:00:00Z"),
        ({"months": 1}, "2026-04-30T13:00:00Z"),
        ({"weeks": 1, "hours": 1}, "2026-05-07T14:00:00Z"),
        ({"years": 2}, "2028-05-07T14:00:00Z"),
    ):
        assert player.advance(**units)["now"] == now
    with pytest.raises(Refused, match="cannot go beyond"):
        [sandbox.clock.advance(years=100) for _ in range(10)]


def test_clock_advances_until_an_event_of_a_given_name_or_account(sandbox: Sandbox) -> None:
    events = sandbox.clock.advance(until={"event": "release", "domain": "second.com"}).events
    released = [event.subject for event in events if event.event == "release"]
    assert released[0] != "second.com" == released[-1]
    events = sandbox.clock.advance(until={"event": "automatic renewal", "account": "main"}).events
    assert "main" in {event.account for event in events if event.at == sandbox.clock.now}


def test_clock_does_not_move_if_no_event_is_due_before_the_last_supported_year(tmp_path: Path) -> None:
    fixture = tmp_path / "late.yaml"
    fixture.write_text(
        "now: 2899-12-31\n"
        "zones: {com: {prices: {registration: 10, renewal: 12, transfer: 10, restore: 80}}}\n"
        "accounts: {main: {contact: {name: Main}}}\n"
        "domains: {late.com: {created: -1d}}\n"
    )
    sandbox = Sandbox(fixture)
    now = sandbox.clock.now
    for goal in ("next", {"domain": "late.com", "stage": "overdue"}):
        with pytest.raises(Refused, match="nothing_due"):
            sandbox.clock.advance(until=goal)
        assert sandbox.clock.now == now
    sandbox.load({"accounts": {"main": {"contact": {"name": "Main"}}}})
    assert sandbox.clock.due().due == ()


@pytest.mark.parametrize("body", [{"by": "P800D"}, {"to": "2028-05-01"}, {"until": "next"}])
def test_dry_run_of_an_advance_reports_the_same_events_and_changes_nothing(
    player: Player, served: Sandbox, body: dict[str, Any]
) -> None:
    before = served.export()
    foreseen = player.advance(**body, dry_run=True)
    assert foreseen["dry_run"] is True
    assert served.export() == before
    done = player.advance(**body)
    assert done == {**foreseen, "dry_run": False}
    assert done["events"]
    if "until" in body:
        assert {event["at"] for event in done["events"]} == {done["now"]} == {"2026-03-02T12:00:00Z"}


@pytest.mark.parametrize("tries", ["once", "daily"])
def test_one_long_advance_of_the_clock_equals_many_short_advances(make: Make, tries: str) -> None:
    worlds = [make(assume={"lifecycle.autorenew.tries": tries}) for _ in range(3)]
    for world in worlds:
        world.simulate.when("P20D").hold("second.com")
        world.simulate.when("P30D").request_transfer("second.com", force=True)
        world.simulate.when("P40D").set_prices("com", renewal=13)
        world.simulate.when("P90D").register("wanted.com")
        world.accounts.when("P300D").set_balance("main", 20)
    leap, days, events = worlds
    end = leap.clock.now + timedelta(days=800)
    at_once = leap.clock.advance("P800D").events
    daily = tuple(events for _ in range(800) for events in days.clock.advance("P1D").events)
    by_event: tuple[Any, ...] = ()
    while events.clock.advance(until="next", dry_run=True).now <= end:
        by_event += events.clock.advance(until="next").events
    events.clock.set(end)
    assert at_once == daily == by_event
    assert leap.export() == days.export() == events.export()
    assert_consistent(leap)


def test_due_events_are_listed_with_prices_in_the_order_of_time(player: Player) -> None:
    listed = player.get("clock/due?limit=4")
    assert listed["now"] == NOW
    assert listed["total"] > 10
    assert [(event["at"][:10], event["event"], event["subject"]) for event in listed["due"]] == [
        ("2026-03-02", "processing", "requested.com"),
        ("2026-03-02", "activation", "processing.com"),
        ("2026-03-03", "release", "pending.com"),
        ("2026-03-04", "transfer completion", "arriving.com"),
    ]
    [renewal] = player.get("clock/due?domain=active.com")["due"]
    assert (renewal["event"], renewal["charged"]) == ("automatic renewal", "15.00")
    assert renewal["balance"] == "9985.00"
    player.act("set_balance", account="main", amount=1)
    [expiry] = player.get("clock/due?domain=active.com")["due"]
    assert (expiry["event"], expiry["charged"]) == ("expiry", "0.00")
    assert "15.00 USD are needed" in expiry["note"]


def test_due_events_of_a_name_include_its_transfer_and_scheduled_actions(player: Player) -> None:
    player.act("hold", domain="leaving.com", at="P1D")
    player.act("hold", domain="second.com", at="P1D")
    player.act("hold", domain="leaving.com", after="v3.*")
    due = player.get("clock/due?domain=leaving.com")["due"]
    assert [(event["at"][:10], event["event"]) for event in due] == [
        ("2026-03-02", "hold"),
        ("2026-03-05", "transfer completion"),
        ("2026-05-05", "expiry"),
    ]
    assert player.get("clock/due?domain=free.com")["due"] == []
    for query in ("limit=0", "limit=1001", "limit=many", "limt=5"):
        answer = player.call("GET", f"clock/due?{query}")
        assert (answer.status, answer.error) == (400, INVALID), query
    assert player.call("GET", "clock/due?domain=-").error == "invalid_name"


def test_a_running_clock_keeps_running_after_an_advance(player: Player) -> None:
    assert player.call("POST", "clock/run").json["frozen"] is False
    moved = player.advance(by="P1D")
    assert moved["frozen"] is False
    assert moved["now"] >= "2026-03-02T12:00:00Z"
    assert player.call("POST", "clock/freeze").json["frozen"] is True


def rows(events: list[Any], *subjects: str) -> list[tuple[str, str, str, str, str | None]]:
    """Return the date, the event, the account, the charge and the balance of events of some subjects."""
    return [
        (event["at"][:10], event["event"], event["account"], event["charged"], event["balance"])
        for event in events
        if event["subject"] in subjects
    ]


def test_ledger_shows_the_automatic_renewal_as_the_cause_of_its_charge(
    player: Player, served: Sandbox
) -> None:
    assert rows(player.advance(to="2026-12-01")["events"], "active.com") == [
        ("2026-11-21", "automatic renewal", "main", "15.00", "9985.00")
    ]
    cause = f"event:order:{served.names['active.com'].order}"
    entries = served.ledger.list(limit=2).entries
    assert [(entry.purpose, str(entry.amount), entry.years, entry.cause) for entry in entries] == [
        ("renewal", "-12.00", 1, cause),
        ("privacy", "-3.00", 1, cause),
    ]


def test_expiry_event_states_the_reason_for_the_missing_automatic_renewal(
    player: Player, served: Sandbox
) -> None:
    for action, parameters, note in (
        (
            "set_balance",
            {"account": "main", "amount": "14.99"},
            "15.00 USD are needed and the balance is 14.99 USD",
        ),
        ("set_service", {"zone": "com", "in_service": False}, "the zone com is out of service"),
        (
            "request_transfer",
            {"domain": "active.com", "at": "2026-11-20"},
            "a transfer to another registrar is pending",
        ),
    ):
        served.reset(original=True)
        player.act(action, **parameters)
        events = player.advance(to="2026-11-22")["events"]
        balance = "14.99" if action == "set_balance" else "10000.00"
        expiry = ("2026-11-21", "expiry", "main", "0.00", balance)
        assert expiry in rows(events, "active.com")
        notes = [event["note"] for event in events if event["subject"] == "active.com"]
        assert f"no automatic renewal: {note}" in notes


def test_pending_transfer_is_refunded_before_the_name_enters_redemption(
    player: Player, served: Sandbox, wire: Api
) -> None:
    edit_name(served, "lapsed.com", due="+2d")
    body = {"domain": {"domainName": "lapsed.com"}, "authCode": "let-me-in"}
    assert wire.post("/v3/domains/requestTransfer", body).status == 200
    assert rows(player.advance(by="P2D")["events"], "lapsed.com") == [
        ("2026-03-03", "transfer cancelled", "main", "-9.00", "10000.00"),
        ("2026-03-03", "redemption", "other", "0.00", "500.00"),
    ]
