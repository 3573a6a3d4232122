"""A long script of requests; prints every byte of every answer. It is run in processes that differ."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from reseller_sandbox import Sandbox
from tests.clients import Answer
from tests.registry import REGISTRY, connect

D = "/v3/domains"
CARD = {"name": "Ann", "email": "ann@example.com", "country": "gb"}
SCRIPT: list[tuple[str, str, str, Any]] = [
    ("main", "GET", "/v3/balance", None),
    ("main", "GET", D, None),
    ("main", "GET", f"{D}?perPage=5&page=2", None),
    ("main", "POST", f"{D}/checkAvailability", {"domainNames": ["a.com", "active.com", "x.zone", "é.com"]}),
    *(
        ("main", "POST", f"{D}/createDomain", {"domain": {"domainName": f"n{number}.com", "contacts": {}}})
        for number in range(12)
    ),
    ("main", "POST", f"{D}/createDomain", {"domain": {"domainName": "n1.com"}}),
    ("main", "POST", f"{D}/setContacts/n1.com", {"contacts": {"reg-contact": CARD, "tech-contact": CARD}}),
    ("main", "POST", f"{D}/setNameservers/n1.com", {"nameservers": ["ns1.n1.com", "ns.b.net"]}),
    ("main", "POST", f"{D}/glueRecords/n1.com", {"hostname": "ns1", "ips": ["192.0.2.1", "2001:db8::1"]}),
    ("main", "GET", f"{D}/glueRecords/n1.com", None),
    ("main", "GET", f"{D}/getAuthcode/n1.com", None),
    (
        "main",
        "POST",
        f"{D}/requestTransfer",
        {"domain": {"domainName": "theirs.com"}, "authCode": "let-me-in"},
    ),
    ("other", "POST", f"{D}/approveTransfer/theirs.com", None),
    ("main", "GET", f"{D}/getAuthcode/theirs.com", None),
    ("poor", "POST", f"{D}/createDomain", {"domain": {"domainName": "dear.com"}}),
    ("main", "POST", f"{D}/enableAutorenew/n2.com", None),
    ("main", "POST", f"{D}/createDomain", {"domain": 1, "years": "x", "purchaseCost": []}),
    ("main", "GET", "/v3/nothing", None),
    ("main", "POST", "/v3/balance", None),
    ("main", "GET", f"{D}/getDomain/nobodys.com", None),
    ("main", "POST", f"{D}/lock/redemption.com", None),
]


def run() -> None:
    """Send the script, move a year and a half on, and send it again."""
    sandbox = Sandbox(REGISTRY)
    apis = {name: connect(sandbox, name) for name in ("main", "other", "poor")}
    for _ in range(2):
        for who, method, target, body in SCRIPT:
            show(apis[who].call(method, target, body))
        for event in sandbox.clock.advance("550d").fired:
            print(event)
    for record in sorted(sandbox.world.state.ledger.values(), key=lambda entry: entry.id):
        print(record)


def show(answer: Answer) -> None:
    """Print an answer whole."""
    print(answer.status, dict(answer.headers))
    sys.stdout.flush()
    sys.stdout.buffer.write(answer.raw + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    run()
