"""A rewind to before a request restores the counts of faults, so the same requests get the same answers."""

from __future__ import annotations

from http.client import HTTPException
from itertools import cycle, product
from time import sleep
from typing import Any

from reseller_sandbox import Sandbox
from tests.faults.conftest import Connection, Dialler

PARAMETERS: dict[str, dict[str, Any]] = {
    "error": {"status": 503},
    "latency": {"min": 0, "max": 0.001},
    "drip": {"size": 1000, "pause": 0.0001},
    "bandwidth": {"rate": 10**9},
    "hang": {"seconds": 0.001},
    "mutate": {"path": "status", "value": "changed"},
    "rate_limit": {"limit": 1, "window": "1d"},
}

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


def test_requests_after_a_rewind_get_the_same_bytes(sandbox: Sandbox, subtests) -> None:
    """For every kind and phase, alone or after a delay."""
    conditions = cycle(({"every": 2}, {"times": 2}, {"chance": 0.5}))
    rules = [(kind.kind, phase) for kind in sandbox.faults.kinds().kinds for phase in kind.phases]
    for (kind, phase), before in product(rules, ([], [DELAY])):
        rule = {"kind": kind, **PARAMETERS.get(kind, {}), "when": {"phase": phase, **next(conditions)}}
        with subtests.test(rule=rule, before=before):
            sandbox.reset()
            sandbox.faults.replace([*before, rule])
            lived = live(sandbox)
            for first in reversed(range(len(REQUESTS))):
                sandbox.rewind(f"r{first + 1}")
                assert live(sandbox, first) == lived[first:]


def counts(sandbox: Any) -> list[tuple[int, int]]:
    return [(one.matched, one.struck) for one in sandbox.faults.list()]


def send_delayed(served: Sandbox, dial: Dialler) -> Connection:
    """Send a request to which the delay applies, and wait until the server has it."""
    struck = served.faults["latency"].struck
    connection = dial.send("GET", "/v3/balance")
    while served.faults["latency"].struck == struck:
        sleep(0.001)
    return connection


def test_a_rewind_keeps_the_counts_of_requests_that_overtook_a_delayed_request(
    served: Sandbox, dial: Dialler
) -> None:
    served.faults.add("latency", seconds=0.2, when={"times": 1})
    served.faults.add("rate_limit", limit=9)
    late = send_delayed(served, dial)
    dial.get("/v3/balance")
    assert late.answer().headers["x-sandbox-request"] == "r2"
    assert counts(served) == [(1, 1), (2, 0)]
    served.rewind("r2")
    assert counts(served) == [(0, 0), (1, 0)]
