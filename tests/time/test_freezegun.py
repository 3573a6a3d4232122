"""freezegun in a user's own test: a running sandbox goes with freezegun, and a helper moves both."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from urllib.request import urlopen

import freezegun
import pytest

from reseller_sandbox import Refused, Sandbox
from reseller_sandbox.testing import freeze_time
from tests.registry import REGISTRY, Make, connect

MAY = datetime(2026, 5, 1, tzinfo=UTC)


def server_time(sandbox: Sandbox) -> str:
    return str(connect(sandbox).get("/v3/balance").json[0]["serverTime"])


def test_running_sandbox_follows_freezegun_and_a_frozen_sandbox_does_not() -> None:
    with freezegun.freeze_time(MAY) as frozen:
        real = Sandbox(REGISTRY, now="real", frozen=False)
        other, still = Sandbox(REGISTRY, frozen=False), Sandbox(REGISTRY)
        assert (real.clock.now, server_time(real)) == (MAY, "2026-05-01 00:00:00")
        frozen.tick(timedelta(hours=1))
        times = [server_time(sandbox) for sandbox in (real, other, still)]
        assert times == ["2026-05-01 01:00:00", "2026-03-01 13:00:00", "2026-03-01 12:00:00"]
        frozen.move_to("2026-05-03")
        assert server_time(real) == "2026-05-03 00:00:00"
        assert connect(real).get("/v3/domains/getDomain/requested.com").json["status"] == "active"


@pytest.mark.parametrize("path", ["clock", "health", "worlds", "clock/due", "balance", "nowhere"])
def test_running_clock_never_shows_an_earlier_time_than_a_previous_response(path: str) -> None:
    """The machine's time goes back. The clock stands still, and then continues from there."""

    def shown() -> str:
        if path == "balance":
            return server_time(sandbox).replace(" ", "T") + "Z"
        if path == "nowhere":  # a request that is not authenticated
            date = str(sandbox.app.test_client().get("/v3/nowhere").headers["Date"])
            return f"{datetime.strptime(date, '%a, %d %b %Y %H:%M:%S GMT'):%Y-%m-%dT%H:%M:%SZ}"
        body = sandbox.client().get(f"/_sandbox/{path}").json
        return str((body["worlds"][0] if path == "worlds" else body)["now"])

    with freezegun.freeze_time(MAY) as frozen:
        sandbox = Sandbox(REGISTRY, now="real", frozen=False)
        frozen.move_to("2026-06-01")
        assert shown() == "2026-06-01T00:00:00Z"
        frozen.move_to("2026-01-01")
        assert shown() == "2026-06-01T00:00:00Z"
        frozen.tick(timedelta(hours=1))
        assert shown() == "2026-06-01T01:00:00Z"


def test_world_created_under_freezegun_can_be_exported() -> None:
    prices = {"registration": 1, "renewal": 1, "transfer": 1, "restore": 1}
    promotion = {"price": 0.5, "until": "2026-03-01"}
    with freezegun.freeze_time(MAY):
        sandbox = Sandbox()
        sandbox.load(
            {"now": "2026-01-01", "zones": {"com": {"prices": prices, "renewal_promotion": promotion}}}
        )
        exported = sandbox.export()
        sandbox.load(exported)
        assert sandbox.export() == exported


def test_the_function_freeze_time_moves_the_clocks_of_python_and_the_sandbox_together(
    sandbox: Sandbox,
) -> None:
    with freeze_time(sandbox, MAY) as clocks:
        assert datetime.now(UTC) == sandbox.clock.now == clocks.now == MAY
        events = clocks.advance(until={"domain": "second.com", "stage": "overdue"}).events
        assert events[-1].subject == "second.com"
        assert datetime.now(UTC) == sandbox.clock.now == datetime(2026, 8, 13, 12, tzinfo=UTC)
        clocks.set("2027-01-01")
        assert datetime.now(UTC) == sandbox.clock.now == datetime(2027, 1, 1, tzinfo=UTC)
        assert server_time(sandbox) == "2027-01-01 00:00:00"
    assert datetime.now(UTC) != sandbox.clock.now == datetime(2027, 1, 1, tzinfo=UTC)


def test_the_function_freeze_time_starts_at_the_time_of_the_sandbox_or_later(
    sandbox: Sandbox, make: Make
) -> None:
    with freeze_time(sandbox):
        assert datetime.now(UTC) == datetime(2026, 3, 1, 12, tzinfo=UTC)
    with pytest.raises(Refused, match="set_back"), freeze_time(sandbox, "2020-01-01"):
        pass
    assert datetime.now(UTC) != sandbox.clock.now
    running = make(frozen=False)
    with freeze_time(running, MAY) as clocks:
        assert running.clock.frozen
        clocks.advance(1)
    assert not running.clock.frozen
    assert running.clock.now >= MAY + timedelta(seconds=1)


def test_the_function_freeze_time_moves_the_clock_of_a_served_sandbox(served: Sandbox, url: str) -> None:
    with freeze_time(served, MAY) as clocks:
        clocks.advance("P1D")
        with urlopen(f"{url}/_sandbox/clock") as answer:
            assert json.load(answer) == {"now": "2026-05-02T00:00:00Z", "frozen": True}
