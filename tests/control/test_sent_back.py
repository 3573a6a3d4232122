"""An answer of the control interface can be sent back to it: rules of faults, worlds, recordings."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from tests.registry import REGISTRY
from tests.thorough import tries

SANDBOX = Sandbox(REGISTRY)
FAULTS = "/_sandbox/faults"

#: A rule of each kind.
KINDS: tuple[dict[str, Any], ...] = (
    {"kind": "error", "error": "internal_error"},
    {"kind": "latency", "median": 0.001, "max": 0.002},
    {"kind": "hang", "seconds": 1.5},
    {"kind": "rate_limit", "limit": 2, "window": "PT1M"},
    *({"kind": kind} for kind in ("close", "reset", "drip", "truncate")),
)
RULES = st.lists(
    st.builds(
        lambda kind, every, match, paused: {**kind, "when": every, "match": match, "paused": paused},
        st.sampled_from(KINDS),
        st.sampled_from([{}, {"every": 2}, {"times": 3}]),
        st.sampled_from([{}, {"operation": "v3.*"}, {"domain": "*.com", "method": "POST"}]),
        st.booleans(),
    ),
    max_size=4,
)


def send(method: str, path: str, body: Any = None) -> Any:
    """Send a request. Return the JSON of its answer, which has to be a success."""
    answer = SANDBOX.app.test_client().open(path, method=method, json=body)
    assert answer.status_code in (200, 201), answer.text
    return answer.json


@settings(max_examples=tries(8))
@given(rules=RULES, requests=st.integers(0, 3), days=st.integers(0, 400))
def test_faults_and_exports_can_be_sent_back(rules: list[dict[str, Any]], requests: int, days: int) -> None:
    """Rules with their counts, all together and each alone. A loaded export exports the same again."""
    SANDBOX.reset(original=True)
    send("PUT", FAULTS, {"faults": rules})
    for rule in send("GET", FAULTS)["faults"]:
        send("PATCH", f"{FAULTS}/{rule['name']}", {"changes": {"matched": requests, "struck": requests}})
    listed = send("GET", FAULTS)
    send("DELETE", FAULTS)
    assert send("PUT", FAULTS, listed) == listed
    send("DELETE", FAULTS)
    for rule in listed["faults"]:
        send("POST", FAULTS, rule)
    assert send("GET", FAULTS) == listed
    send("POST", "/_sandbox/clock/advance", {"by": f"P{days}D"})
    exported = send("GET", "/_sandbox/history/export")
    send("POST", "/_sandbox/history/load", exported)
    assert send("GET", "/_sandbox/history/export") == exported


def test_presets_and_recordings_can_be_sent_back() -> None:
    for preset in send("GET", f"{FAULTS}/presets")["presets"]:
        placed = send("PUT", FAULTS, {"faults": preset["rules"]})
        assert [rule["kind"] for rule in placed["faults"]] == [rule["kind"] for rule in preset["rules"]]
    SANDBOX.reset(original=True)
    send("POST", "/_sandbox/clock/advance", {"by": "P40D"})
    opened = send("POST", "/_sandbox/worlds/open", {"capsule": send("GET", "/_sandbox/capsule")["base64"]})
    assert opened["now"] == send("GET", "/_sandbox/clock")["now"]
