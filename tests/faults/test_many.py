"""Many rules in one world strike as each of them would alone."""

from __future__ import annotations

from typing import Any

from reseller_sandbox import Sandbox
from tests.registry import Make

D = "/v3/domains"

#: Rules that look at each part of a request, by literals and by patterns.
MATCHES: list[dict[str, Any]] = [
    {"operation": "v3.renewDomain"},
    {"operation": ["v3.lock*", "v2.domain.info"]},
    {"method": "get"},
    {"method": ["PUT", "DELETE"]},
    {"account": "main"},
    {"account": "o*"},
    {"path": "/v3/domains/*"},
    {"path": "*active.com"},
    {"domain": "active.com"},
    {"domain": ["españa.com", "second.*"]},
    {"domain": "xn--*"},
    {"domain": "*ñ*"},
    {"domain": "?ctive.c?m"},
    {"headers": {"x-run": "7"}},
    {"headers": {"X-RUN": None}},
    {"query": {"years": "2"}},
    {"body": {"years": 2}},
    {"body": {"domain.domainName": "act*"}},
    {"operation": "v3.createDomain", "domain": "new*.com", "account": "main"},
    {"outcome": "ok"},
    {"outcome": "refused"},
]


def send_requests(sandbox: Sandbox) -> None:
    """Send a request for each of the rules."""
    main, other = sandbox.client(), sandbox.client("other")
    main.get("/v3/balance", headers={"X-Run": "7"})
    other.get("/v3/balance")
    main.post(f"{D}/renewDomain/active.com?years=2")
    main.post(f"{D}/renewDomain", json={"domain": {"domainName": "active.com"}, "years": 2})
    main.post(f"{D}/lockTransfer/second.com")
    main.get(f"{D}/getDomain/espa%C3%B1a.com")
    main.get("/V2.0/domain/active.com")
    main.put("/V2.0/domain/active.com", json={"client_hold": 1})
    main.delete("/V2.0/domain/early.com")
    main.post(f"{D}/createDomain", json={"domain": {"domainName": "new-1.com"}})
    main.get(f"{D}/getDomain/nobodys.com")


def rule(number: int) -> dict[str, Any]:
    """Return the rule with this number. It matches without an effect."""
    match = MATCHES[number]
    when = {"phase": "after"} if "outcome" in match else {}
    return {"kind": "latency", "seconds": 0, "name": f"rule-{number}", "match": match, "when": when}


def test_each_rule_of_many_matches_as_alone(make: Make) -> None:
    together = make()
    together.faults.replace([rule(number) for number in range(len(MATCHES))])
    send_requests(together)
    for number in range(len(MATCHES)):
        alone = make()
        alone.faults.replace([rule(number)])
        send_requests(alone)
        expected = alone.faults[f"rule-{number}"]
        found = together.faults[f"rule-{number}"]
        assert (found.matched, found.struck) == (expected.matched, expected.struck), MATCHES[number]
        assert 0 < found.matched < 11, MATCHES[number]
