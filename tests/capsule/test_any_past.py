"""Any past of any world replays to the byte, or the replay says which requests it left out."""

from __future__ import annotations

from contextlib import suppress
from http.client import HTTPException
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from reseller_sandbox import Refused, Sandbox, replay
from reseller_sandbox.testing import EndlessWait
from tests.registry import REGISTRY
from tests.script import SCRIPT, SCRIPT_V2
from tests.thorough import tries

FAULTS: list[dict[str, Any]] = [
    {"kind": "latency", "seconds": 0.001, "when": {"phase": "before", "chance": 0.5}},
    {"kind": "latency", "min": 0.001, "max": 0.002, "when": {"phase": "after", "chance": 0.5}},
    {"kind": "hang", "seconds": 0.001, "when": {"phase": "after", "chance": 0.3}},
    {"kind": "garbage", "when": {"chance": 0.3}},
    {"kind": "rate_limit", "limit": 2, "window": 0.5, "time": "real"},
    {"kind": "error", "status": 599, "body": {"a": 1}, "when": {"chance": 0.2}},
    {"kind": "reset", "when": {"phase": "after", "every": 4}},
    {"kind": "bandwidth", "rate": 10_000, "when": {"chance": 0.3}},
    {"kind": "error", "status": 598, "match": {"query": {"api_token": "somebodys-*"}}},
    {"kind": "duplicate", "when": {"times": 1}},
]
THEIRS = {"domainName": "theirs.com"}
REQUESTS: list[tuple[str, str, str, Any]] = [
    *SCRIPT,
    *(("main", method, f"/V2.0/{target}", body) for method, target, body in SCRIPT_V2),
    ("main", "POST", "/v3/domains/requestTransfer", {"domain": THEIRS, "authCode": "no"}),
    ("main", "GET", "/v3/balance?X-SVC-SIGNATURE=abc&api_token=somebodys-secret", None),
]
CALLS: list[Any] = [
    lambda world: world.accounts.add("extra", key="k", token="other-token", contact={"name": "X"}),
    lambda world: world.clock.run(),
    lambda world: world.clock.freeze(),
    lambda world: world.clock.advance(until="next"),
    lambda world: world.clock.advance("40d"),
    lambda world: world.outside.when("9d").register("wanted.com", auth_code="let-me-in"),
    lambda world: world.snapshot("here"),
    lambda world: world.restore("here"),
    lambda world: world.rewind("r1"),
    lambda world: world.reset(),
    lambda world: world.load(world.export()),
]
STEPS = st.one_of(
    st.sampled_from(FAULTS).map(lambda rule: lambda world: world.faults.add(**rule)),
    st.sampled_from(REQUESTS).map(
        lambda one: lambda world: world.client(one[0]).open(one[2], method=one[1], json=one[3])
    ),
    st.sampled_from(CALLS),
    st.just("fork"),
)


@settings(max_examples=tries(5), phases=[Phase.generate])
@given(st.lists(st.tuples(st.integers(0, 3), STEPS), max_size=40))
def test_any_past_replays_to_the_byte(steps: list[tuple[int, Any]]) -> None:
    worlds = [Sandbox(REGISTRY)]
    for number, step in steps:
        world = worlds[number % len(worlds)]
        with suppress(Refused, OSError, HTTPException, EndlessWait):
            worlds.append(world.fork()) if step == "fork" else step(world)
    for world in worlds:
        recorded = world.capsule.get()
        found = replay(recorded.content)
        assert found.difference is None, found.difference
        assert found.sandbox.journal.find().kept + len(found.beyond) == recorded.requests
