"""What control answers can be sent back to it: every rule of faults, and whole worlds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from tests.registry import REGISTRY
from tests.thorough import tries

JSON = {"Content-Type": "application/json"}


class Control:
    """Sends requests to a served sandbox's control interface over a connection of its own."""

    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request. Return the JSON of its answer, which has to be a success."""
        raw = None if body is None else json.dumps(body).encode()
        self._connection.request(method, path, raw, JSON if raw else {})
        answer = self._connection.getresponse()
        content = answer.read()
        assert answer.status in (200, 201), content
        return json.loads(content)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


@contextmanager
def served() -> Iterator[Control]:
    """Serve a sandbox. Yield what calls its control interface."""
    with Sandbox(REGISTRY).serve() as server:
        control = Control(server.port)
        try:
            yield control
        finally:
            control.close()


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


@settings(max_examples=tries(30), deadline=None)
@given(rules=RULES, requests=st.integers(0, 3))
def test_faults_can_be_put_back(rules: list[dict[str, Any]], requests: int) -> None:
    """All at once with ``PUT``, and each on its own with ``POST``, with their counts."""
    with served() as control:
        control.send("PUT", "/_sandbox/faults", {"faults": rules})
        for rule in control.send("GET", "/_sandbox/faults")["faults"]:
            changes = {"matched": requests, "struck": requests}
            control.send("PATCH", f"/_sandbox/faults/{rule['name']}", {"changes": changes})
        listed = control.send("GET", "/_sandbox/faults")
        control.send("DELETE", "/_sandbox/faults")
        assert control.send("PUT", "/_sandbox/faults", listed) == listed
        assert control.send("GET", "/_sandbox/faults") == listed
        control.send("DELETE", "/_sandbox/faults")
        for rule in listed["faults"]:
            control.send("POST", "/_sandbox/faults", rule)
        assert control.send("GET", "/_sandbox/faults") == listed


def test_presets_can_be_put() -> None:
    """Their rules as they are shown."""
    with served() as control:
        for preset in control.send("GET", "/_sandbox/faults/presets")["presets"]:
            placed = control.send("PUT", "/_sandbox/faults", {"faults": preset["rules"]})
            assert [rule["kind"] for rule in placed["faults"]] == [rule["kind"] for rule in preset["rules"]]


@settings(max_examples=tries(10), deadline=None)
@given(rules=RULES, days=st.integers(0, 400))
def test_an_export_can_be_loaded(rules: list[dict[str, Any]], days: int) -> None:
    """In place of the world; it exports the same again."""
    with served() as control:
        control.send("PUT", "/_sandbox/faults", {"faults": rules})
        control.send("POST", "/_sandbox/clock/advance", {"by": f"P{days}D"})
        exported = control.send("GET", "/_sandbox/history/export")
        control.send("POST", "/_sandbox/history/load", exported)
        assert control.send("GET", "/_sandbox/history/export") == exported


def test_a_recording_can_be_opened() -> None:
    """As another world with the same journal."""
    with served() as control:
        control.send("POST", "/_sandbox/clock/advance", {"by": "P40D"})
        recording = control.send("GET", "/_sandbox/capsule")
        opened = control.send("POST", "/_sandbox/worlds/open", {"capsule": recording["base64"]})
        clock = control.send("GET", f"/_worlds/{opened['name']}/_sandbox/clock")
        assert clock["now"] == control.send("GET", "/_sandbox/clock")["now"]
