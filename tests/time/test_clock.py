"""The clock over the control interface: by, to, until, what is due, and looking ahead."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.outside.player import Player
from tests.registry import Make

NOW = "2026-03-01T12:00:00Z"


def test_the_next_due_event(player: Player) -> None:
    """The clock goes there and no further; with nothing but it fired."""
    moved = player.advance(until="next")
    assert moved["now"] == "2026-03-02T12:00:00Z"
    assert {one["at"] for one in moved["fired"]} == {"2026-03-02T12:00:00Z"}
    assert player.advance(until="next")["now"] == "2026-03-03T12:00:00Z"


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


def test_the_clock_advances_until_a_name_reaches_a_stage(player: Player, served: Sandbox) -> None:
    """Or it stays, and the refusal says that time alone does not lead there."""
    for goal, instant in GOALS:
        served.reset(original=True)
        answer = player.call("POST", "/clock/advance", {"until": goal})
        if instant is not None:
            assert answer.json["now"] == instant, goal
            continue
        assert (answer.status, answer.error) == (409, "nothing_due")
        assert f"time alone does not bring {goal['domain'].lower()} to {goal['stage']}" in answer.message
        assert player.get("/clock")["now"] == NOW


REFUSED: tuple[tuple[dict[str, Any], str, str], ...] = (
    ({}, "invalid_parameter", "exactly one"),
    ({"dry_run": True}, "invalid_parameter", "exactly one"),
    ({"by": "P1D", "to": "2027-01-01"}, "invalid_parameter", "exactly one"),
    ({"by": "P1D", "until": "next"}, "invalid_parameter", "exactly one"),
    ({"by": "tomorrow"}, "invalid_parameter", "length of time"),
    ({"by": "P1D", "dry": True}, "invalid_parameter", "dry"),
    ({"by": "P1D", "dry_run": "yes"}, "invalid_parameter", "true or false"),
    ({"to": "tomorrow"}, "invalid_parameter", "tomorrow"),
    ({"to": "2020-01-01"}, "set_back", "rewind to an earlier request"),
    ({"by": "P2000Y"}, "invalid_parameter", "no further"),
    ({"until": "tomorrow"}, "invalid_parameter", "next"),
    ({"until": 7}, "invalid_parameter", "next"),
    ({"until": {"domain": "second.com"}}, "invalid_parameter", "stage"),
    ({"until": {"domain": "second.com", "stage": "dead"}}, "invalid_parameter", "overdue"),
    ({"until": {"domain": "second.com", "stage": "active", "by": "x"}}, "invalid_parameter", "account"),
    ({"until": {"domain": "second.com", "stage": 3}}, "invalid_parameter", "stage"),
    ({"until": {"domain": "leaving.com", "stage": "active"}}, "invalid_parameter", "main, other"),
    ({"until": {"event": "expirey"}}, "invalid_parameter", "nearest is expiry"),
    (
        {"until": {"event": "expiry", "stage": "active"}},
        "invalid_parameter",
        "known are event, domain, account",
    ),
    ({"until": {"event": 7}}, "invalid_parameter", "event"),
    ({"until": {"event": "expiry", "domain": "-"}}, "invalid_name", "'-'"),
    ({"until": {"event": "expiry", "account": "nobody"}}, "unknown_account", "main, other, poor"),
    ({"until": {"event": "expiry", "domain": "free.com"}}, "nothing_due", "expiry of free.com"),
    ({"until": {"domain": "-", "stage": "active"}}, "invalid_name", "'-'"),
    ({"until": {"domain": "free.com", "stage": "active"}}, "not_held", "free.com"),
    (
        {"until": {"domain": "second.com", "stage": "active", "account": "nobody"}},
        "unknown_account",
        "main, other, poor",
    ),
    ({"until": {"domain": "second.com", "stage": "active", "account": "other"}}, "not_held", "second.com"),
)


def test_an_impossible_move_of_the_clock_is_refused_and_moves_nothing(
    player: Player, served: Sandbox, subtests: pytest.Subtests
) -> None:
    before = served.export()
    for how, error, word in REFUSED:
        answer = player.call("POST", "/clock/advance", how)
        with subtests.test(how=how):
            assert 400 <= answer.status < 500
            assert answer.error == error
            assert word in answer.message
    assert served.export() == before


def test_the_clock_advances_until_an_event_of_each_kind(make: Make, subtests: pytest.Subtests) -> None:
    """It stops at the first of that name, and nothing due later has happened."""
    sandbox = make(assume={"lifecycle.autorenew.tries": "daily"})
    sandbox.outside.set_promotion("com", of="registration", price=1, until="P3D")
    sandbox.outside.set_promotion("com", of="renewal", price=1, until="P4D")
    sandbox.outside.when("P5D").register("wanted.com")
    sandbox.outside.when("P6D").register("wanted.com")
    to_come = {event.event for event in sandbox.clock.advance("P800D", dry_run=True).fired}
    assert len(to_come) >= 12, to_come
    for event in sorted(to_come):
        with sandbox.fork() as fork, subtests.test(event=event):
            fired = fork.clock.advance(until={"event": event}).fired
            first, *_ = [one for one in fired if one.event == event]
            assert first.at == fork.clock.now == fired[-1].at


def test_until_an_event_of_a_name_or_an_account(sandbox: Sandbox) -> None:
    """Those of others are passed on the way."""
    fired = sandbox.clock.advance(until={"event": "release", "domain": "second.com"}).fired
    released = [one.subject for one in fired if one.event == "release"]
    assert released[0] != "second.com"
    assert released[-1] == "second.com"
    fired = sandbox.clock.advance(until={"event": "automatic renewal", "account": "main"}).fired
    assert "main" in {one.account for one in fired if one.at == sandbox.clock.now}


def test_nothing_is_due_in_an_empty_world(tmp_path: Path) -> None:
    """And that is said."""
    fixture = tmp_path / "none.yaml"
    fixture.write_text("accounts: {main: {contact: {name: Main}}}\n")
    sandbox = Sandbox(fixture)
    with pytest.raises(Refused, match="nothing_due"):
        sandbox.clock.advance(until="next")
    assert sandbox.clock.due().due == ()


def test_the_clock_stays_where_the_next_event_lies_behind_its_end(tmp_path: Path) -> None:
    fixture = tmp_path / "late.yaml"
    fixture.write_text(
        "now: 2899-12-31\n"
        "zones: {com: {prices: {registration: 10, renewal: 12, transfer: 10, restore: 80}}}\n"
        "accounts: {main: {contact: {name: Main}}}\n"
        "domains: {late.com: {created: -1d}}\n"
    )
    sandbox = Sandbox(fixture)
    now = sandbox.clock.now
    for until in ("next", {"domain": "late.com", "stage": "overdue"}):
        with pytest.raises(Refused, match="nothing_due"):
            sandbox.clock.advance(until=until)
        assert sandbox.clock.now == now


@pytest.mark.parametrize("how", [{"by": "P800D"}, {"to": "2028-05-01"}, {"until": "next"}])
def test_a_dry_run_tells_and_changes_nothing(player: Player, served: Sandbox, how: dict[str, Any]) -> None:
    """It says exactly what the move itself then does."""
    before = served.export()
    foreseen = player.advance(**how, dry_run=True)
    assert foreseen["dry_run"] is True
    assert served.export() == before
    done = player.advance(**how)
    assert done == {**foreseen, "dry_run": False}
    assert done["fired"]


def test_a_leap_equals_many_steps(make: Any) -> None:
    """800 days at once, 800 times a day, or from event to event."""
    leap, days, events = make(), make(), make()
    at_once = leap.clock.advance("P800D").fired
    daily = tuple(fired for _ in range(800) for fired in days.clock.advance("P1D").fired)
    by_event: tuple[Any, ...] = ()
    end = leap.clock.now
    while events.clock.advance(until="next", dry_run=True).now <= end:
        by_event += events.clock.advance(until="next").fired
    events.clock.set(end)
    assert at_once == daily == by_event
    assert leap.export() == days.export() == events.export()


def test_what_is_due(player: Player) -> None:
    """The soonest first, each as it would be if it came next; the list is as long as it is asked to be."""
    found = player.get("/clock/due?limit=4")
    assert found["now"] == NOW
    assert found["total"] > 10
    assert [(one["at"][:10], one["event"], one["subject"]) for one in found["due"]] == [
        ("2026-03-02", "processing", "requested.com"),
        ("2026-03-02", "activation", "processing.com"),
        ("2026-03-03", "release", "pending.com"),
        ("2026-03-04", "transfer completion", "arriving.com"),
    ]


def test_what_is_due_has_its_price(player: Player) -> None:
    """A renewal that is to come says what it will cost as things stand, or why it will not come."""
    [renewal] = player.get("/clock/due?domain=active.com")["due"]
    assert (renewal["event"], renewal["charged"], renewal["balance"]) == (
        "automatic renewal",
        "15.00",
        "9985.00",
    )
    player.act("adjust_balance", account="main", to=1)
    [expiry] = player.get("/clock/due?domain=active.com")["due"]
    assert (expiry["event"], expiry["charged"]) == ("expiry", "0.00")
    assert "15.00 USD are needed" in expiry["note"]


def test_what_is_due_for_one_name(player: Player) -> None:
    """Its orders, its transfer and the plans about it, those of no other name."""
    player.act("hold", domain="leaving.com", at="P1D")
    player.act("hold", domain="second.com", at="P1D")
    player.act("hold", domain="leaving.com", after="v3.*")
    due = player.get("/clock/due?domain=leaving.com")["due"]
    assert [(one["at"][:10], one["event"]) for one in due] == [
        ("2026-03-02", "hold"),
        ("2026-03-05", "transfer completion"),
        ("2026-05-05", "expiry"),
    ]
    assert player.get("/clock/due?domain=free.com")["due"] == []


def test_a_wrong_query_for_what_is_due_is_refused(player: Player) -> None:
    for query in ("limit=0", "limit=1001", "limit=many", "limt=5"):
        answer = player.call("GET", f"/clock/due?{query}")
        assert (answer.status, answer.error) == (400, "invalid_parameter"), query
    assert player.call("GET", "/clock/due?domain=-").error == "invalid_name"


def test_setting_back_names_the_way_back(player: Player, served: Sandbox) -> None:
    """Time goes forward; to go back is to rewind."""
    before = served.export()
    answer = player.call("POST", "/clock/set", {"to": "2026-03-01T11:59:59Z"})
    assert (answer.status, answer.error) == (409, "set_back")
    assert "rewind to an earlier request" in answer.message
    assert served.export() == before


def test_a_running_clock_is_advanced_and_runs_on(player: Player) -> None:
    """As before, from where it has come to."""
    assert player.call("POST", "/clock/run").json["frozen"] is False
    moved = player.advance(by="P1D")
    assert moved["frozen"] is False
    assert moved["now"] >= "2026-03-02T12:00:00Z"
    assert player.call("POST", "/clock/freeze").json["frozen"] is True


def test_python_takes_the_same_names(sandbox: Sandbox) -> None:
    """By the same names."""
    foreseen = sandbox.clock.advance("P30D", dry_run=True)
    assert foreseen.now == sandbox.clock.now + timedelta(days=30)
    assert sandbox.clock.advance(timedelta(days=30)).fired == foreseen.fired
    assert [one.event for one in sandbox.clock.due(domain="second.com").due] == ["expiry"]
    fired = sandbox.clock.advance(until={"domain": "second.com", "stage": "overdue"}).fired
    assert (fired[-1].subject, fired[-1].event) == ("second.com", "expiry")
    with pytest.raises(Refused, match="set_back"):
        sandbox.clock.set("2026-01-01")
    with pytest.raises(Refused, match="exactly one"):
        sandbox.clock.advance()
    with pytest.raises(Refused, match=r"until\.stage"):
        sandbox.clock.advance(until={"domain": "second.com", "stage": "dead"})
    with pytest.raises(Refused) as unknown:
        sandbox.clock.due(domain="-")
    assert unknown.value.rule.code == "invalid_name"
