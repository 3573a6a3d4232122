"""What each example of the manual promises: ``python -m tests.manual.changes TITLE``.

The test runs this in a process of its own, whose package is the changed copy.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import reseller_sandbox
from reseller_sandbox import Refused
from tests.clients import Api, Socket
from tests.manual import command

NAME = "active-example.com"
DOMAINS = "/v3/domains"


class Changed:
    """A sandbox of the changed source; what it can do is known only there."""

    def __init__(self) -> None:
        self.sandbox: Any = reseller_sandbox.Sandbox()
        self.main: Any = self.sandbox.client()

    @property
    def document(self) -> Any:
        """The OpenAPI document of v3."""
        return self.main.get("/_sandbox/openapi/v3.json").json

    @contextmanager
    def served(self) -> Iterator[tuple[Api, Any]]:
        """A client over a socket, and the remote sandbox."""
        with self.sandbox.serve() as server, reseller_sandbox.connect(server.url) as there:
            socket = Socket(server.url)
            yield Api(socket, server.url, self.main.account.key, self.main.account.secret), there
            socket.close()


def an_endpoint(here: Changed) -> None:
    """It answers over a socket, refuses what it declares, and is in the document."""
    with here.served() as (api, _):
        answer = api.get(f"{DOMAINS}/daysLeft/{NAME}")
        assert answer.json == {"domainName": NAME, "days": 265}
        missing = api.get(f"{DOMAINS}/daysLeft/no-such.com")
        assert (missing.status, missing.error) == (404, "domain_not_found")
    row = here.document["paths"][f"{DOMAINS}/daysLeft/{{domainName}}"]["get"]
    assert row["operationId"] == "daysLeft"
    assert "404" in row["responses"]


def an_error(here: Changed) -> None:
    """It is raised with its status and its remedy, and is in the document."""
    code = f"{DOMAINS}/getAuthcode/{NAME}"
    with here.served() as (api, _):
        assert api.get(code).status == 200
        api.post(f"{DOMAINS}/lockTransfer/{NAME}")
        refused = api.get(code)
        assert (refused.status, refused.error) == (403, "code_withheld")
        assert f"{NAME} is locked" in refused.message
    assert here.sandbox.journal.find().requests[-1].refusal.allowed == f"unlock {NAME} for transfer first"
    row = here.document["paths"][f"{DOMAINS}/getAuthcode/{{domainName}}"]["get"]
    assert "code_withheld" in row["responses"]["403"]["description"]


def an_event(here: Changed) -> None:
    """It is foreseen, can be waited for, happens when the clock gets there, and is in the picture."""
    here.sandbox.assumptions.set({"v2.order_processing": 40 * 86400})
    here.sandbox.names.add("slow-order.com", stage="requested")
    began = here.sandbox.clock.now
    coming = here.sandbox.clock.due(domain="slow-order.com").due
    assert [one.event for one in coming] == ["order abandoned"]
    moved = here.sandbox.clock.advance(until={"event": "order abandoned", "domain": "slow-order.com"})
    assert (moved.now - began).days == 30
    assert here.main.get(f"{DOMAINS}/getDomain/slow-order.com").status_code == 404
    assert "order abandoned (30 days)" in command("lifecycle").output


def a_fault(here: Changed) -> None:
    """It strikes, in process and over a socket; its parameters are read, and it is in the list of kinds."""
    usual = here.main.get(DOMAINS).json["domains"]
    assert len(usual) > 2
    here.sandbox.faults.add(kind="reverse", path="domains", match={"operation": "v3.listDomains"})
    assert here.main.get(DOMAINS).json["domains"] == usual[::-1]
    with here.served() as (api, there):
        assert [one.kind for one in there.faults.list().faults] == ["reverse"]
        assert api.get(DOMAINS).json["domains"] == usual[::-1]
        assert "reverse" in [one.kind for one in there.faults.kinds().kinds]
    with pytest.raises(Refused, match="path is missing"):
        here.sandbox.faults.add(kind="reverse")


def an_assumption(here: Changed) -> None:
    """It has its default, is named by answers that rest on it, can be switched; bad values are refused."""
    first = here.main.get("/v3/balance")
    assert first.json[0]["currency"] == "USD"
    assert "v3.balance.currency=upper" in first.headers["X-Sandbox-Assumptions"]
    here.sandbox.assumptions.set({"v3.balance.currency": "lower"})
    assert here.main.get("/v3/balance").json[0]["currency"] == "usd"
    with pytest.raises(Refused, match="one of upper, lower"):
        here.sandbox.assumptions.set({"v3.balance.currency": "middle"})
    other = reseller_sandbox.Sandbox(assume={"v3.balance.currency": "lower"})
    assert other.client().get("/v3/balance").json[0]["currency"] == "usd"


def a_key(here: Changed) -> None:
    """It is read, kept, written back, and in the schema."""
    here.sandbox.customers.add(901, name="Nora", mail="nora@example.net", note="Pays late.")
    exported = here.sandbox.export()
    assert "note: Pays late." in exported
    here.sandbox.load(exported)
    assert here.sandbox.export() == exported
    known = json.loads(command("fixture", "schema").output)["properties"]["customers"][
        "additionalProperties"
    ]["properties"]
    assert known["note"]["description"] == "What its reseller wants to remember."


def a_rule(here: Changed) -> None:
    """It says what it has seen, and nothing any more when that is mended."""
    here.main.post(f"{DOMAINS}/unlockTransfer/{NAME}")
    (found,) = here.sandbox.advice.list().findings
    assert (found.rule, found.domains) == ("left_unlocked", (NAME,))
    assert "left_unlocked" in [one.rule for one in here.sandbox.advice.list().looked_for]
    here.main.post(f"{DOMAINS}/lockTransfer/{NAME}")
    assert not here.sandbox.advice.list().findings


def a_rename(here: Changed) -> None:
    """Requests, answers and the document have the new name, and nothing has the old one."""
    card = {"name": "Ann", "address1": "1 Main Street", "city": "Kyiv", "country": "UA", "zipcode": "01001"}
    card |= {"phone": "+380.441234567", "email": "ann@example.com", "organisation": "Ann Ltd"}
    set_ = here.main.post(f"{DOMAINS}/setContacts/{NAME}", json={"contacts": {"reg-contact": card}})
    assert set_.status_code == 200
    assert "x-sandbox-ignored" not in set_.headers
    shown = here.main.get(f"{DOMAINS}/getDomain/{NAME}")
    assert shown.json["domain"]["contacts"]["reg-contact"]["organisation"] == "Ann Ltd"
    documented = json.dumps(here.document["components"]["schemas"])  # examples are recorded by a command
    assert '"organisation": {"type": ' in documented
    assert "company-name" not in documented + shown.text


def a_method(here: Changed) -> None:
    """It works in process, over HTTP, through the remote client and as a command, with the same refusals."""
    assert here.sandbox.clock.sleep_until("2026-02-01").now.day == 1
    with here.served() as (api, there):
        assert there.clock.sleep_until(to="2026-02-02").now.day == 2
        for clock in (here.sandbox.clock, there.clock):
            with pytest.raises(Refused, match="2026-02-02"):
                clock.sleep_until("2026-02-01")
        document = api.get("/_sandbox/openapi/control.json").json
        assert "post" in document["paths"]["/_sandbox/clock/sleep_until"]
        command = [sys.executable, "-m", "reseller_sandbox", "clock", "sleep-until", "2026-02-03"]
        done = subprocess.run(
            [*command, "--json", "--url", api.base], capture_output=True, text=True, check=True
        )
        assert json.loads(done.stdout) == {"now": "2026-02-03T00:00:00Z", "frozen": True}


#: The check of each example, by its title, in the order of the page.
CHECKS: dict[str, Callable[[Changed], None]] = {
    "A v3 endpoint": an_endpoint,
    "A documented error": an_error,
    "A timed event": an_event,
    "A fault kind": a_fault,
    "An assumption": an_assumption,
    "A fixture key": a_key,
    "An advice rule": a_rule,
    "A wire rename": a_rename,
    "A power's method": a_method,
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]](Changed())
