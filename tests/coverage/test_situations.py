"""The situations of registrar modules: in coverage, and in the page of the manual."""

from __future__ import annotations

import re
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.documents import python
from tests.manual import FOLDER
from tests.registry import REGISTRY

PAGE = (FOLDER / "how-to" / "registrar-module.md").read_text("utf-8")
SECTIONS = {section.partition("\n")[0].lower(): section for section in PAGE.split("\n## ")[1:]}
NAMES = [item.item for item in Sandbox().coverage.items(area="situations").items]


def met(sandbox: Sandbox) -> set[str]:
    return {item.item for item in sandbox.coverage.items(area="situations", seen=True).items}


def test_the_manual_and_coverage_have_the_same_situations_in_the_same_order() -> None:
    rows = re.findall(r"^\| \[([^]]+)\]\(#([\w-]+)\) \| (.+?) \| .+ \|$", PAGE, re.MULTILINE)
    assert [name for name, _, _ in rows] == NAMES
    assert [anchor for _, anchor, _ in rows] == [name.replace(" ", "-") for name in NAMES]
    gaps = Sandbox().coverage.missing(area="situations", limit=len(NAMES)).gaps
    assert [gap.how.partition("To make it: ")[2] for gap in gaps] == [
        how.replace("`", "") for *_, how in rows
    ]
    sections = [name for name in SECTIONS if name != "see what you have not tested"]
    assert sections == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_tests_in_the_manual_meet_their_situation(name: str) -> None:
    sandbox = Sandbox()
    content: dict[str, Any] = {}
    for block in python(SECTIONS[name]):
        exec(block.content, content)
    for key in [key for key in content if key.startswith("test_")]:
        with sandbox.fork() as world:
            content[key](world)
    assert name in {
        item.item for item in sandbox.coverage.items(area="situations", seen=True, everywhere=True).items
    }


def test_everyday_requests_meet_no_situation() -> None:
    sandbox = Sandbox(REGISTRY)
    client = sandbox.client()
    client.get("/v3/domains")
    client.get("/v3/domains/getDomain/active.com")
    client.post("/v3/domains/createDomain", json={"domain": {"domainName": "everyday.com"}})
    client.post("/v3/domains/renewDomain/everyday.com")
    client.post("/v3/domains/setNameservers/everyday.com", json={"nameservers": ["ns1.home.net"]})
    client.get("/V2.0/domain/active.com")
    sandbox.clock.advance(days=10)
    assert met(sandbox) == set()


def test_scheduled_actions_and_faults_meet_situations() -> None:
    sandbox = Sandbox(REGISTRY)
    sandbox.simulate.when("P1D").renew("active.com")
    sandbox.simulate.when(after="v3.balance").change("active.com", autorenew=True)
    sandbox.faults.add("latency", seconds=1, match={"operation": "v3.renewDomain"}, when={"phase": "after"})
    assert met(sandbox) == set()
    sandbox.clock.advance(days=2)
    assert met(sandbox) == {"staff renewal"}
    sandbox.client().get("/v3/balance")
    sandbox.client().post("/v3/domains/renewDomain/active.com")
    assert met(sandbox) == {"staff renewal", "paid twice"}
    seen = {item.item: item.times for item in sandbox.coverage.items(area="situations", seen=True).items}
    assert seen["staff renewal"] == 2
