"""Whatever has been done in worlds: their capsules replay to the byte, or say what cannot be done again."""

from __future__ import annotations

from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from reseller_sandbox import Sandbox, replay
from reseller_sandbox.powers.here import Here
from tests.keeping.test_round_trip import STEPS, Step, take
from tests.registry import REGISTRY
from tests.thorough import tries

#: What a request meets that comes early or late, twice, or with a secret of somebody else's.
MORE: tuple[Step, ...] = (
    *(
        ("main", "POST", "/_sandbox/faults", rule)
        for rule in (
            {"kind": "latency", "seconds": 0.001, "when": {"phase": "before", "chance": 0.5}},
            {"kind": "latency", "min": 0.001, "max": 0.002, "when": {"phase": "after", "chance": 0.5}},
            {"kind": "hang", "seconds": 0.001, "when": {"phase": "after", "chance": 0.3}},
            {"kind": "garbage", "when": {"chance": 0.3}},
            {"kind": "rate_limit", "limit": 2, "window": 0.5, "time": "real"},
            {"kind": "error", "status": 599, "body": {"a": 1}, "when": {"chance": 0.2}},
            {"kind": "reset", "when": {"phase": "after", "every": 4}},
            {"kind": "bandwidth", "rate": 10_000, "when": {"chance": 0.3}},
            {"kind": "error", "status": 598, "match": {"query": {"api_token": "somebodys-*"}}},
        )
    ),
    (
        "main",
        "POST",
        "/_sandbox/accounts/extra",
        {"key": "k", "token": "other-token", "contact": {"name": "X"}},
    ),
    ("main", "POST", "/_sandbox/clock/run", {}),
    ("main", "POST", "/_sandbox/clock/freeze", {}),
    ("main", "POST", "/_sandbox/clock/advance", {"until": "next"}),
    (
        *("main", "POST", "/v3/domains/requestTransfer"),
        {"domain": {"domainName": "theirs.com"}, "authCode": "not-the-code"},
    ),
    ("main", "GET", "/v3/balance?X-SVC-SIGNATURE=abc&api_token=somebodys-secret", None),
)
DRAWN = st.lists(st.tuples(st.integers(0, 3), st.sampled_from([*STEPS, *MORE, *MORE])), max_size=40)


@settings(max_examples=tries(5), phases=[Phase.generate])
@given(steps=DRAWN)
def test_any_past_replays_to_the_byte(steps: list[tuple[int, Any]]) -> None:
    """Requests of both interfaces, control calls, moves of the clock, rewinds, forks, faults of all kinds."""
    sandbox = Sandbox(REGISTRY)
    take(sandbox, steps)
    for world in sandbox.engine:
        told = Sandbox.through(Here(sandbox.engine, world)).capsule.get()
        found = replay(told.content)
        assert found.difference is None, found.difference
        assert len(found.sandbox.world.journal) + len(found.beyond) == told.requests
