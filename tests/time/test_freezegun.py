"""freezegun in a user's own test: a running sandbox goes with it, and a helper moves both."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.request import urlopen

import freezegun
import pytest

from reseller_sandbox import Refused, Sandbox
from reseller_sandbox.testing import freeze_time
from tests.registry import REGISTRY, connect

MAY = datetime(2026, 5, 1, tzinfo=UTC)


def server_time(sandbox: Sandbox) -> str:
    """What the service says the time is."""
    return str(connect(sandbox).get("/v3/balance").json[0]["serverTime"])


def test_a_running_sandbox_begins_at_freezeguns_time() -> None:
    """``now="real"`` is what the test takes for the present."""
    with freezegun.freeze_time(MAY):
        sandbox = Sandbox(now="real", frozen=False)
        assert sandbox.clock.now == MAY
        assert server_time(sandbox) == "2026-05-01 00:00:00"


def test_a_running_sandbox_ticks_and_moves_with_freezegun() -> None:
    """And what comes due on the way happens."""
    with freezegun.freeze_time(MAY) as frozen:
        sandbox = Sandbox(REGISTRY, now="real", frozen=False)
        frozen.tick(timedelta(hours=1))
        assert server_time(sandbox) == "2026-05-01 01:00:00"
        frozen.move_to("2026-05-03")
        assert server_time(sandbox) == "2026-05-03 00:00:00"
        assert connect(sandbox).get("/v3/domains/getDomain/requested.com").json["status"] == "active"


def test_a_sandbox_at_another_time_moves_by_as_much() -> None:
    """Its clock runs from where the fixture put it."""
    with freezegun.freeze_time(MAY) as frozen:
        sandbox = Sandbox(REGISTRY, frozen=False)
        frozen.tick(90)
        assert server_time(sandbox) == "2026-03-01 12:01:30"


def test_a_standing_sandbox_stands() -> None:
    """Time moves only when it is told."""
    with freezegun.freeze_time(MAY) as frozen:
        sandbox = Sandbox(REGISTRY)
        frozen.tick(timedelta(days=400))
        assert server_time(sandbox) == "2026-03-01 12:00:00"


def test_a_running_sandbox_does_not_go_back() -> None:
    """When the machine's time is put back, the clock stands for that moment and goes on from there."""
    with freezegun.freeze_time(MAY) as frozen:
        sandbox = Sandbox(now="real", frozen=False)
        frozen.move_to("2026-06-01")
        assert server_time(sandbox) == "2026-06-01 00:00:00"
        frozen.move_to("2026-01-01")
        assert server_time(sandbox) == "2026-06-01 00:00:00"
        frozen.tick(timedelta(days=1))
        assert server_time(sandbox) == "2026-06-02 00:00:00"


def test_the_clock_never_goes_back_behind_a_time_that_control_has_shown() -> None:
    """Nobody else has asked since the machine's time moved on; it goes back, and the clock does not."""

    def shown(sandbox: Sandbox, path: str) -> str:
        found = sandbox.client().get(f"/_sandbox/{path}").json
        return str((found["worlds"][0] if path == "worlds" else found)["now"])

    for path in ("clock", "health", "worlds", "clock/due"):
        with freezegun.freeze_time(MAY) as frozen:
            sandbox = Sandbox(now="real", frozen=False)
            frozen.move_to("2026-06-01")
            assert shown(sandbox, path) == "2026-06-01T00:00:00Z", path
            frozen.move_to("2026-01-01")
            assert shown(sandbox, path) == "2026-06-01T00:00:00Z", path
            frozen.tick(timedelta(hours=1))
            assert shown(sandbox, path) == "2026-06-01T01:00:00Z", path


def test_an_answer_never_bears_an_earlier_date_than_the_one_before_it() -> None:
    """Not even the answer to a request that was not let in."""
    with freezegun.freeze_time(MAY) as frozen:
        sandbox = Sandbox(now="real", frozen=False)

        def date() -> str:
            return str(sandbox.app.test_client().get("/v3/nowhere").headers["Date"])

        frozen.move_to("2026-06-01")
        assert date() == "Mon, 01 Jun 2026 00:00:00 GMT"
        frozen.move_to("2026-01-01")
        assert date() == "Mon, 01 Jun 2026 00:00:00 GMT"


def test_a_world_made_under_freezegun_can_be_exported() -> None:
    """freezegun's own kind of datetime does not get in the way."""
    text = "now: 2026-01-01\nzones:\n  com: {prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}, "
    text += "renewal_promotion: {price: 0.5, until: 2026-03-01}}\n"
    with freezegun.freeze_time(MAY):
        sandbox = Sandbox()
        sandbox.load(text)
        exported = sandbox.export()
        sandbox.load(exported)
        assert sandbox.export() == exported


def test_both_clocks_move_as_one(sandbox: Sandbox) -> None:
    """By a length, to an instant, until something happens; what fired is told."""
    with freeze_time(sandbox, MAY) as clocks:
        assert datetime.now(UTC) == sandbox.clock.now == clocks.now == MAY
        fired = clocks.advance(until={"domain": "second.com", "stage": "overdue"}).fired
        assert fired[-1].subject == "second.com"
        assert datetime.now(UTC) == sandbox.clock.now == datetime(2026, 8, 13, 12, tzinfo=UTC)
        clocks.set("2027-01-01")
        assert datetime.now(UTC) == sandbox.clock.now == datetime(2027, 1, 1, tzinfo=UTC)
        assert server_time(sandbox) == "2027-01-01 00:00:00"
    assert datetime.now(UTC) != sandbox.clock.now == datetime(2027, 1, 1, tzinfo=UTC)


def test_both_clocks_begin_at_the_sandboxs(sandbox: Sandbox) -> None:
    """Unless told otherwise; and never before it."""
    with freeze_time(sandbox):
        assert datetime.now(UTC) == datetime(2026, 3, 1, 12, tzinfo=UTC)
    with pytest.raises(Refused, match="set_back"), freeze_time(sandbox, "2020-01-01"):
        pass
    assert datetime.now(UTC) != sandbox.clock.now


def test_a_running_sandbox_runs_on_afterwards(make: Any) -> None:
    """It stands only for as long as both do."""
    sandbox = make(frozen=False)
    with freeze_time(sandbox, MAY) as clocks:
        assert sandbox.clock.frozen
        clocks.advance(1)
    assert not sandbox.clock.frozen
    assert sandbox.clock.now >= MAY + timedelta(seconds=1)


def test_both_clocks_move_a_served_sandbox(sandbox: Sandbox) -> None:
    """The server in its own thread goes on serving while the test's time stands."""
    with sandbox.serve() as server, freeze_time(sandbox, MAY) as clocks:
        clocks.advance("P1D")
        with urlopen(f"{server.url}/_sandbox/clock") as answer:
            assert json.load(answer) == {"now": "2026-05-02T00:00:00Z", "frozen": True}
