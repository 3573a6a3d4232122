"""A rewind to before a request restores the counts of the faults that struck it, and so the same answers."""

from __future__ import annotations

from http.client import HTTPException
from itertools import product
from typing import Any

from reseller_sandbox import Sandbox, connect, replay
from reseller_sandbox.faults import KINDS
from tests.faults.conftest import Dialler, Held

PARAMETERS: dict[str, dict[str, Any]] = {
    "error": {"status": 503},
    "latency": {"min": 0, "max": 0.001},
    "drip": {"size": 1000, "pause": 0.0001},
    "bandwidth": {"rate": 10**9},
    "hang": {"seconds": 0.001},
    "mutate": {"path": "status", "value": "changed"},
    "rate_limit": {"limit": 1, "window": "1d"},
}

RULES = [
    {"kind": name, **PARAMETERS.get(name, {}), "when": {"phase": phase, **when}}
    for name, kind in KINDS.items()
    for phase in kind.phases
    for when in ({"every": 2}, {"times": 2}, {"chance": 0.5})
]

DELAY = {"kind": "latency", "name": "delay", "seconds": 0.0001, "when": {"phase": "before", "every": 2}}

REQUESTS: list[tuple[str, str, Any]] = [
    ("GET", "/v3/balance", None),
    ("POST", "/v3/domains/createDomain", {"domain": {"domainName": "again.com"}}),
    ("GET", "/V2.0/domain/again.com", None),
    ("POST", "/v3/domains/renewDomain", {"domain": {"domainName": "active.com"}}),
]


def live(sandbox: Sandbox, first: int = 0) -> list[Any]:
    """Send the requests from ``first`` on. Return the counts before each, and what the client gets."""
    client, found = sandbox.client(), []
    for method, path, body in REQUESTS[first:]:
        counts = sandbox.faults.list()
        try:
            answer = client.open(path, method=method, json=body)
            found.append((counts, answer.status, list(answer.headers), answer.data))
        except (OSError, HTTPException) as error:
            found.append((counts, type(error), str(error), b""))
    return found


def test_requests_after_a_rewind_get_the_same_bytes(sandbox: Sandbox) -> None:
    """For every kind and phase, alone and behind a delay, from before any request."""
    failures = []
    for rule, before in product(RULES, ([], [DELAY])):
        sandbox.reset()
        sandbox.faults.replace([*before, rule])
        lived = live(sandbox)
        for first in reversed(range(len(REQUESTS))):
            sandbox.rewind(f"r{first + 1}")
            if live(sandbox, first) != lived[first:]:
                failures.append((rule, bool(before), REQUESTS[first]))
    assert not failures


def counts(sandbox: Any) -> list[tuple[int, int]]:
    """Return how often each rule has matched and struck."""
    return [(one.matched, one.struck) for one in sandbox.faults.list()]


def test_a_fork_before_a_delayed_request_has_the_counts_of_then(served: Sandbox, url: str) -> None:
    """In process and over HTTP; the difference is one match and one strike."""
    for sandbox in (served, connect(url)):
        sandbox.reset()
        sandbox.faults.add("latency", seconds=0.001, name="slow", when={"every": 2})
        for _ in range(2):
            served.client().get("/v3/balance")
        with sandbox.fork(point="before:r2") as fork:
            assert counts(fork) == [(1, 0)]
        (slow,) = sandbox.diff("before:r2", "after:r2").settings
        assert (slow.before["matched"], slow.after["matched"], slow.after["struck"]) == (1, 2, 1)
        sandbox.rewind("r2")
        assert counts(sandbox) == [(1, 0)]


def test_a_rewind_keeps_the_counts_of_requests_that_overtook_a_delayed_one(
    served: Sandbox, dial: Dialler, held: Held
) -> None:
    served.faults.add("latency", seconds=60, when={"times": 1})
    served.faults.add("rate_limit", limit=9)
    late = dial.send("GET", "/v3/balance")
    held.begun()
    dial.get("/v3/balance")
    held.over(60)
    assert late.answer().headers["x-sandbox-request"] == "r2"
    assert counts(served) == [(1, 1), (2, 0)]
    served.rewind("r2")
    assert counts(served) == [(0, 0), (1, 0)]
    assert not served.world.moment.faults.waiting


def test_a_capsule_whose_stand_falls_before_a_delayed_request_keeps_the_counts(
    served: Sandbox, dial: Dialler, held: Held
) -> None:
    """A change past every interface makes the capsule write a stand between arrival and effect."""
    served.faults.add("latency", seconds=60, when={"nth": 2})
    served.faults.add("error", status=503, when={"nth": 3})
    dial.get("/v3/balance")
    late = dial.send("GET", "/v3/balance")
    held.begun()
    served.world.assume(served.world.assumptions.with_values({"v3.errors.http_status": "always_200"}))
    held.over(60)
    assert [late.answer().status, dial.get("/v3/balance").status] == [200, 503]
    found = replay(served.capsule.get().content)
    assert found.identical, found.difference
    assert counts(found.sandbox) == counts(served)
