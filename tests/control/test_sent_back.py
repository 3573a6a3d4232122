"""An answer of the control interface can be sent back to it: rules of faults, worlds, recordings."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from tests.registry import REGISTRY
from tests.thorough import tries

FAULTS = "/_sandbox/faults"


class Control:
    """Sends control requests to a sandbox."""

    def __init__(self) -> None:
        self.sandbox = Sandbox(REGISTRY)
        self._client = self.sandbox.app.test_client()

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request. Return the JSON of its answer, which has to be a success."""
        answer = self._client.open(path, method=method, json=body)
        assert answer.status_code in (200, 201), answer.text
        return answer.json


@pytest.fixture(scope="module")
def control() -> Control:
    return Control()


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


@settings(max_examples=tries(15))
@given(rules=RULES, requests=st.integers(0, 3), days=st.integers(0, 400))
def test_faults_and_exports_can_be_sent_back(
    control: Control, rules: list[dict[str, Any]], requests: int, days: int
) -> None:
    """Rules with their counts, all together and each alone. A loaded export exports the same again."""
    control.sandbox.reset(original=True)
    control.send("PUT", FAULTS, {"faults": rules})
    for rule in control.send("GET", FAULTS)["faults"]:
        changes = {"matched": requests, "struck": requests}
        control.send("PATCH", f"{FAULTS}/{rule['name']}", {"changes": changes})
    listed = control.send("GET", FAULTS)
    control.send("DELETE", FAULTS)
    assert control.send("PUT", FAULTS, listed) == listed
    control.send("DELETE", FAULTS)
    for rule in listed["faults"]:
        control.send("POST", FAULTS, rule)
    assert control.send("GET", FAULTS) == listed
    control.send("POST", "/_sandbox/clock/advance", {"by": f"P{days}D"})
    exported = control.send("GET", "/_sandbox/history/export")
    control.send("POST", "/_sandbox/history/load", exported)
    assert control.send("GET", "/_sandbox/history/export") == exported


def test_the_rules_of_presets_can_be_put(control: Control) -> None:
    for preset in control.send("GET", f"{FAULTS}/presets")["presets"]:
        placed = control.send("PUT", FAULTS, {"faults": preset["rules"]})
        assert [rule["kind"] for rule in placed["faults"]] == [rule["kind"] for rule in preset["rules"]]


def test_a_recording_can_be_opened_as_another_world(control: Control) -> None:
    control.sandbox.reset(original=True)
    control.send("POST", "/_sandbox/clock/advance", {"by": "P40D"})
    recording = control.send("GET", "/_sandbox/capsule")
    opened = control.send("POST", "/_sandbox/worlds/open", {"capsule": recording["base64"]})
    clock = control.send("GET", f"/_worlds/{opened['name']}/_sandbox/clock")
    assert clock["now"] == control.send("GET", "/_sandbox/clock")["now"]
