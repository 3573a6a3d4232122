"""A long script of requests; prints every byte of every answer. It is run in processes that differ.

What a machine measures is left out, and nothing else: how long a request took (``duration_ms``) and for how
long nobody has used a world (``idle_seconds``).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from reseller_sandbox import Sandbox
from tests.clients import JSON, Answer, encoded, person
from tests.registry import REGISTRY, connect

D = "/v3/domains"
CARD = person(country="gb")
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

#: Requests with the token of ``main``.
SCRIPT_V2: list[tuple[str, str, Any]] = [
    ("POST", "customer", {"mail": "nora@example.com", "name": "Nora", "city": "Kyiv", "country": "UA"}),
    ("GET", "zones", None),
    ("GET", "domains", None),
    ("GET", "domain/active.com", None),
    ("GET", "domain/free.com/check", None),
    ("PUT", "domain/n3.com/renew", {"current_expiry_date": "2020-01-01", "period": 1}),
    ("PUT", "domain/n3.com", {"ns": {"add": ["ns9.example.net"]}}),
    ("POST", "domain/n4.com/host/ns1", {"ip": [{"ip": "192.0.2.1", "type": "v4"}]}),
    ("DELETE", "nothing", None),
]
#: Half of the requests for codes fail: which half is chance, and that comes from the seed.
FAULTS = {"faults": [{"kind": "error", "error": "internal_error", "when": {"chance": 0.5}}]}

MEASURED = re.compile(rb'"(duration_ms|idle_seconds)":[0-9.e-]+')


def run() -> None:
    """Send the script, move a year and a half on, send it again, and look at all that can be seen."""
    sandbox = Sandbox(REGISTRY)
    apis = {name: connect(sandbox, name) for name in ("main", "other", "poor")}
    main, token = apis["main"], ("X-Auth-Token", sandbox.accounts["main"].token)
    for _ in range(2):
        for who, method, target, body in SCRIPT:
            show(apis[who].call(method, target, body))
        for method, target, body in SCRIPT_V2:
            show(main.send(method, f"/V2.0/{target}", [token, JSON], encoded(body)))
        for event in sandbox.clock.advance("550d").events:
            print(event)
    show(main.put("/_sandbox/faults", FAULTS))
    for number in range(12):
        show(main.get(f"{D}/getAuthcode/n{number}.com"))
    documents = [f"/_sandbox/openapi/{name}.json" for name in ("v3", "v2", "control")]
    rows = main.get(documents[-1]).json["paths"].items()
    looks = [path for path, row in rows if "get" in row and "event-stream" not in str(row["get"])]
    for target in [*documents, *(path for path in looks if "{" not in path)]:
        show(main.get(target))
    for record in sorted(sandbox.world.state.ledger.values(), key=lambda entry: entry.id):
        print(record)


def show(answer: Answer) -> None:
    body, measured = MEASURED.subn(rb'"\1":0', answer.raw)
    length = {"content-length"} if measured else set()
    print(answer.status, {name: value for name, value in answer.headers.items() if name not in length})
    sys.stdout.flush()
    sys.stdout.buffer.write(body + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    run()
