"""A world's past is written into a capsule, and done again from that comes out the same to the byte."""

from __future__ import annotations

from dataclasses import replace
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
