"""The behaviour that each example of the manual promises: ``python -m tests.manual.changes TITLE``.

The test runs this in a separate process, whose package is the changed copy.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import reseller_sandbox
from reseller_sandbox import Refused
from tests.command import printed

NAME = "active-example.com"
DOMAINS = "/v3/domains"

# Without types, because the changed source is known only here.
sandbox: Any = reseller_sandbox.Sandbox()
main: Any = sandbox.client()


def check_of(title: str) -> Callable[[], None]:
    check: Callable[[], None] = globals()[title.lower().replace("'", "").replace(" ", "_")]
    return check


def described(path: str) -> Any:
    return main.get("/_sandbox/openapi/v3.json").json["paths"][path]["get"]["responses"]


def a_v3_endpoint() -> None:
    assert main.get(f"{DOMAINS}/daysLeft/{NAME}").json == {"domainName": NAME, "days": 265}
    missing = main.get(f"{DOMAINS}/daysLeft/no-such.com")
    assert (missing.status_code, missing.json["error"]) == (404, "domain_not_found")
    assert "404" in described(f"{DOMAINS}/daysLeft/{{domainName}}")


def a_documented_error() -> None:
    main.post(f"{DOMAINS}/lockTransfer/{NAME}")
    refused = main.get(f"{DOMAINS}/getAuthcode/{NAME}")
    assert (refused.status_code, refused.json["error"]) == (403, "code_withheld")
    assert sandbox.journal.list().requests[-1].refusal.allowed == f"unlock {NAME} for transfer first"
    assert "code_withheld" in described(f"{DOMAINS}/getAuthcode/{{domainName}}")["403"]["description"]


def a_timed_event() -> None:
    sandbox.assumptions.set({"v2.order_processing": 40 * 86400})
    sandbox.names.add("slow-order.com", stage="requested")
    sandbox.clock.advance(until={"event": "order abandoned", "domain": "slow-order.com"})
    assert main.get(f"{DOMAINS}/getDomain/slow-order.com").status_code == 404
    assert "order abandoned (30 days)" in printed("lifecycle")


def a_fault_kind() -> None:
    default = main.get(DOMAINS).json["domains"]
    sandbox.faults.add(kind="reverse", path="domains", match={"operation": "v3.listDomains"})
    assert main.get(DOMAINS).json["domains"] == default[::-1]
    assert "reverse" in [row.kind for row in sandbox.faults.kinds().kinds]
    with pytest.raises(Refused, match="path is missing"):
        sandbox.faults.add(kind="reverse")


def an_assumption() -> None:
    first = main.get("/v3/balance")
    assert "v3.balance.currency=upper" in first.headers["X-Sandbox-Assumptions"]
    sandbox.assumptions.set({"v3.balance.currency": "lower"})
    assert main.get("/v3/balance").json[0]["currency"] == "usd"


def a_fixture_key() -> None:
    sandbox.customers.add(901, name="Nora", mail="nora@example.net", note="Pays late.")
    exported = sandbox.export()
    assert "note: Pays late." in exported
    sandbox.load(exported)
    assert sandbox.export() == exported
    customers = json.loads(printed("fixture", "schema"))["properties"]["customers"]
    note = customers["additionalProperties"]["properties"]["note"]
    assert note["description"] == "A note of the reseller."


def an_advice_rule() -> None:
    main.post(f"{DOMAINS}/unlockTransfer/{NAME}")
    (found,) = sandbox.advice.list().findings
    assert (found.rule, found.domains) == ("left_unlocked", (NAME,))
    main.post(f"{DOMAINS}/lockTransfer/{NAME}")
    assert not sandbox.advice.list().findings


def a_wire_rename() -> None:
    card = {"name": "Ann", "address1": "1 Main Street", "city": "Kyiv", "country": "UA", "zipcode": "01001"}
    card |= {"phone": "+380.441234567", "email": "ann@example.com", "organisation": "Ann Ltd"}
    main.post(f"{DOMAINS}/setContacts/{NAME}", json={"contacts": {"reg-contact": card}})
    shown = main.get(f"{DOMAINS}/getDomain/{NAME}")
    assert shown.json["domain"]["contacts"]["reg-contact"]["organisation"] == "Ann Ltd"
    schemas = main.get("/_sandbox/openapi/v3.json").json["components"]["schemas"]
    assert '"organisation": {"type": ' in json.dumps(schemas)  # examples are recorded by a command
    assert "company-name" not in json.dumps(schemas) + shown.text


def a_resources_method() -> None:
    assert sandbox.clock.sleep_until("2026-02-01").now.day == 1
    with sandbox.serve() as server, reseller_sandbox.connect(server.url) as there:
        remote: Any = there
        assert remote.clock.sleep_until(to="2026-02-02").now.day == 2
        for clock in (sandbox.clock, remote.clock):
            with pytest.raises(Refused, match="2026-02-02"):
                clock.sleep_until("2026-02-01")
        command = [sys.executable, "-m", "reseller_sandbox", "clock", "sleep-until", "2026-02-03", "--json"]
        done = subprocess.run([*command, "--url", server.url], capture_output=True, text=True, check=True)
        assert json.loads(done.stdout) == {"now": "2026-02-03T00:00:00Z", "frozen": True}


if __name__ == "__main__":
    check_of(sys.argv[1])()
