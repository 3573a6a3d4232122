"""A world's past is written into a capsule, and done again from that comes out the same to the byte."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.capsule.document import from_bytes, to_bytes
from reseller_sandbox.capsule.steps import RequestStep
from reseller_sandbox.tools.replaying import replay
from tests.registry import REGISTRY


def lived(sandbox: Sandbox) -> Sandbox:
    """Ten calls of both interfaces, faults in both phases, time that moves, others who act, and a rewind."""
    client = sandbox.client()
    client.get("/v3/balance")
    sandbox.faults.add("latency", seconds=0.001, when={"phase": "before", "chance": 0.5})
    sandbox.faults.add("error", error="rate_limited", when={"phase": "after", "chance": 0.3})
    for number in range(3):
        client.post("/v3/domains/createDomain", json={"domain": {"domainName": f"new-{number}.com"}})
    sandbox.clock.advance("P400D")
    sandbox.outside.register("taken-by-others.com")
    client.get("/V2.0/domain/taken-by-others.com/check")
    client.get("/v3/balance", headers={"X-SVC-SIGNATURE": "wrong"})
    sandbox.rewind(sandbox.journal.find().requests[2].id, side="after")
    client.get("/nowhere")
    for _ in range(3):
        client.get("/v3/balance")
    return sandbox


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    """A sandbox that has been used."""
    return lived(Sandbox(REGISTRY))


def test_a_replay_comes_out_identical_to_the_byte(sandbox: Sandbox, tmp_path: Path) -> None:
    """In the default world, and the file of a ten-call test is small."""
    told = sandbox.capsule.write(tmp_path / "world.capsule")
    found = replay(tmp_path / "world.capsule")
    assert found.difference is None
    assert (found.requests, found.beyond, found.notes) == (told.requests, {}, ())
    assert found.sandbox.export() == sandbox.export()
    assert len(told.content) < 20_000


#: What leaves something due at the very instant, which comes about with the next request, or the capsule.
AT_ONCE: dict[str, Callable[[Sandbox], object]] = {
    "a name deleted where nothing is waited for": lambda sandbox: [
        sandbox.names.add("gone.de", created="-9d"),
        sandbox.client().delete("/V2.0/domain/gone.de"),
    ],
    "a name dropped by its holder": lambda sandbox: [
        sandbox.names.add("gone.de", created="-9d"),
        sandbox.outside.drop("gone.de"),
    ],
    "a name added that has expired": lambda sandbox: sandbox.names.add("late.com", expires="-3d"),
    "a name of the fixture that has expired": lambda sandbox: sandbox.load(
        sandbox.export().replace("domains:\n", "domains:\n  late.com: {expires: -3d}\n")
    ),
    "a plan for now": lambda sandbox: sandbox.outside.when("PT0S").register("wanted.com"),
}

#: What comes next, and whether that lets it come about.
NEXT: dict[str, Callable[[Sandbox], object]] = {
    "nothing": lambda sandbox: None,
    "a request": lambda sandbox: sandbox.client().get("/v3/balance"),
    "a control call, and a request": lambda sandbox: [
        sandbox.faults.add("latency", seconds=0),
        sandbox.client().get("/v3/balance"),
    ],
    "a look at the events, and a control call": lambda sandbox: [
        sandbox.events.find(),
        sandbox.faults.add("latency", seconds=0),
    ],
    "a request, and a rewind": lambda sandbox: [
        sandbox.client().get("/v3/balance"),
        sandbox.rewind(sandbox.journal.find().requests[-1].id),
    ],
    "a snapshot, and back to it": lambda sandbox: [sandbox.snapshot("here"), sandbox.restore("here")],
    "a move of the clock by nothing": lambda sandbox: sandbox.clock.advance(0),
    "a move of the clock": lambda sandbox: [sandbox.assumptions.set({}), sandbox.clock.advance("P9D")],
}


@pytest.mark.parametrize("then", NEXT)
@pytest.mark.parametrize("what", AT_ONCE)
def test_what_comes_due_at_once_is_done_again_in_its_place(what: str, then: str) -> None:
    """Before the step that let it come about, and after those that did not."""
    sandbox = Sandbox()
    AT_ONCE[what](sandbox)
    NEXT[then](sandbox)
    found = replay(sandbox.capsule.get().content)
    assert found.identical, found.difference
    assert found.sandbox.export() == sandbox.export()


@pytest.mark.parametrize("then", NEXT)
def test_what_a_running_clock_made_due_is_done_again_in_its_place(
    then: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Control calls that let nothing come about, such as stopping the clock, are no later for that."""
    machine = [datetime(2026, 1, 1, tzinfo=UTC)]
    monkeypatch.setattr("reseller_sandbox.core.clock.real_now", lambda: machine[0])
    sandbox = Sandbox(frozen=False, assume={"v2.order_processing": "60"})
    sandbox.client().post("/v3/domains/createDomain", json={"domain": {"domainName": "new.com"}})
    for act in (lambda: sandbox.faults.add("latency", seconds=0), sandbox.clock.freeze, sandbox.clock.run):
        machine[0] += timedelta(seconds=45)
        act()
    NEXT[then](sandbox)
    found = replay(sandbox.capsule.get().content)
    assert found.identical, found.difference


def test_a_fork_begins_where_it_was_forked(sandbox: Sandbox) -> None:
    """A capsule of a forked world needs none of the world that it comes from."""
    with sandbox.fork() as fork:
        found = replay(lived(fork).capsule.get().content)
        assert found.identical
        assert found.sandbox.export() == fork.export()


def test_the_first_difference_is_told_with_both_sides(sandbox: Sandbox) -> None:
    """Where an answer is not what the capsule says."""
    recording = from_bytes(sandbox.capsule.get().content)
    steps = list(recording.steps)
    at = next(
        n
        for n, one in enumerate(steps)
        if isinstance(one, RequestStep) and one.operation == "v3.createDomain"
    )
    asked = steps[at]
    assert isinstance(asked, RequestStep)
    steps[at] = replace(asked, came=replace(asked.came, body=b'{"other": "answer"}'))
    found = replay(to_bytes(replace(recording, steps=tuple(steps))))
    assert found.difference is not None
    assert (found.difference.number, found.difference.what) == (asked.number, "body")
    assert (found.difference.recorded, found.difference.replayed) == (b'{"other": "answer"}', asked.came.body)
