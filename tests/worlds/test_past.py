"""A world as it was: looked at by every door, without going back there."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox, connect
from reseller_sandbox.core.refusals import Refused
from tests.registry import REGISTRY
from tests.registry import connect as api_of

CREATE = {"domain": {"domainName": "new.com"}}


@pytest.fixture
def sandbox() -> Sandbox:
    """A world with a past: ``r1`` registers new.com, ``r2`` reads it, and then two years pass."""
    made = Sandbox(REGISTRY)
    api = api_of(made)
    api.post("/v3/domains/createDomain", CREATE)
    api.get("/v3/domains/getDomain/new.com")
    made.snapshot("early")
    made.clock.advance("P800D")
    return made


@pytest.mark.parametrize(
    ("point", "holds", "requests"),
    [
        ("start", False, 0),
        ("before:r1", False, 0),
        ("after:r1", True, 1),
        ("before:r2", True, 1),
        ("snapshot:early", True, 2),
        ("now", False, 2),
    ],
)
def test_every_power_tells_what_was(sandbox: Sandbox, point: str, holds: bool, requests: int) -> None:
    """Names, clock, journal; and the present is as it was."""
    moment = sandbox.world.moment
    past = sandbox.at(point)
    assert ("new.com" in past.names) is holds
    assert past.journal.find().matching == requests
    assert past.clock.now == sandbox.diff("start", point).to.now
    assert past.clock.frozen
    assert sandbox.world.moment is moment


def test_what_was_left_behind_can_be_looked_at(sandbox: Sandbox) -> None:
    """A branch has its own requests, whatever has come since."""
    branch = sandbox.rewind("r1").branch.name
    api_of(sandbox).get("/v3/balance")
    past = sandbox.at(f"branch:{branch}")
    assert [one.operation for one in past.journal.find().requests] == ["v3.createDomain", "v3.getDomain"]
    assert [one.operation for one in sandbox.journal.find().requests] == ["v3.balance"]


def test_clients_may_read_what_was(sandbox: Sandbox) -> None:
    """By the world's prefix; such a request is no request of the present."""
    api = api_of(sandbox)
    told = {
        point: api.get(f"/_worlds/default@{point}/v3/domains/getDomain/new.com").status
        for point in ("before:r1", "after:r1")
    }
    assert told == {"before:r1": 404, "after:r1": 200}
    assert sandbox.journal.find().matching == 2


@pytest.mark.parametrize("kind", ["latency", "reset", "error", "hang", "rate_limit"])
def test_no_fault_strikes_who_looks_at_the_past(sandbox: Sandbox, kind: str) -> None:
    """Not even a rule that was there already; it counts for clients alone."""
    needs: dict[str, dict[str, Any]] = {
        "latency": {"seconds": 60},
        "error": {"error": "internal_error"},
        "rate_limit": {"limit": 1, "window": "PT1H"},
    }
    sandbox.faults.add(kind, **needs.get(kind, {}))
    api = api_of(sandbox)
    for point in ("now", "after:r1", "now"):
        assert api.get(f"/_worlds/default@{point}/v3/balance").status == 200
    (rule,) = sandbox.faults.list().faults
    assert (rule.matched, rule.struck) == (0, 0)


def test_nothing_that_is_past_is_changed(sandbox: Sandbox) -> None:
    """Not by a power, not by a client, not by its end; a dry run changes nothing, and may be."""
    past, api = sandbox.at("after:r1"), api_of(sandbox)
    moment = sandbox.world.moment
    for act in (
        lambda: past.clock.advance("P1D"),
        lambda: past.worlds.fork(),
        lambda: past.rewind("r1"),
        lambda: sandbox.worlds.remove("default@after:r1"),
    ):
        with pytest.raises(Refused, match="can be looked at and not changed"):
            act()
    refused = api.post(
        "/_worlds/default@after:r1/v3/domains/createDomain", {"domain": {"domainName": "b.com"}}
    )
    assert (refused.status, refused.error) == (404, "unknown_world")
    assert api.post("/_worlds/default@after:r1/_sandbox/clock/freeze").error == "unknown_world"
    assert past.clock.advance("P1D", dry_run=True).dry_run
    assert sandbox.world.moment.state is moment.state
    assert [world.name for world in sandbox.worlds] == ["default"]


@pytest.mark.parametrize("point", ["", "yesterday", "before:r9", "snapshot:none", "start@start"])
def test_a_point_that_is_none_is_no_world(sandbox: Sandbox, point: str) -> None:
    """Nor is a point of a world that there is not."""
    with pytest.raises(Refused, match="There is no world"):
        sandbox.at(point).clock.show()
    with pytest.raises(Refused, match="There is no world"):
        sandbox.worlds.get(f"none@{point}")


def test_a_server_shows_what_was(sandbox: Sandbox) -> None:
    """The same, from elsewhere."""
    with sandbox.serve() as server, connect(server.url) as there:
        past = there.at("before:r1")
        assert "new.com" not in past.names
        assert past.names.list() == sandbox.at("before:r1").names.list()
