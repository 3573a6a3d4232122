"""A rewind to before a request restores the counts of faults, so the same requests get the same answers."""

from __future__ import annotations

from http.client import HTTPException
from itertools import cycle, product
from typing import Any

from reseller_sandbox import Sandbox

PARAMETERS: dict[str, dict[str, Any]] = {
    "error": {"status": 503},
    "latency": {"min": 0, "max": 0.001},
    "drip": {"size": 1000, "pause": 0.0001},
    "bandwidth": {"rate": 10**9},
    "hang": {"seconds": 0.001},
    "mutate": {"path": "status", "value": "changed"},
    "rate_limit": {"limit": 1, "window": "1d"},
    "time_passes": {"by": "P1D"},
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


def test_requests_repeated_after_a_rewind_get_the_same_faults_and_bytes(sandbox: Sandbox, subtests) -> None:
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
