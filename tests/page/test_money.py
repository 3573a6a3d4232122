"""The view of money: balances over time, the ledger and advice."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.page.conftest import Open

pytestmark = pytest.mark.slow


def test_every_movement_leads_to_its_cause(open_page: Open, served: Sandbox, wire: Api) -> None:
    page = open_page("/#/money")
    wire.post("/v3/domains/renewDomain/active.com")
    row = page.get_by_role("row").filter(has_text="v3.renewDomain").first
    expect(row).to_contain_text("active.com")
    row.get_by_role("link", name="r1").click()
    expect(page).to_have_url(re.compile(r"#/journal/r1$"))


def test_balances_are_drawn_in_steps(open_page: Open, served: Sandbox, wire: Api) -> None:
    served.clock.advance("P2D")
    wire.post("/v3/domains/renewDomain/active.com")
    page = open_page("/#/money?account=main")
    balance = served.accounts["main"].balance
    picture = page.get_by_role("img", name=re.compile(f"main: {balance} USD now"))
    expect(picture).to_be_visible()
    points = picture.locator("polyline").get_attribute("points")
    assert points is not None
    heights = [float(point.split(",")[1]) for point in points.split()]
    assert heights[-1] == max(heights) > heights[0]
    expect(page.get_by_role("img")).to_have_count(1)


def test_advice_names_its_requests(open_page: Open, served: Sandbox, wire: Api) -> None:
    for _ in range(2):
        wire.post("/v3/domains/renewDomain/active.com")
    page = open_page("/#/money")
    finding = page.locator("[data-row=renewed_twice]")
    expect(finding).to_contain_text("renewed twice")
    expect(finding.get_by_role("link")).to_have_text(["r1", "r2"])


def test_the_ledger_is_narrowed(open_page: Open, served: Sandbox, wire: Api) -> None:
    wire.post("/v3/domains/renewDomain/active.com")
    page = open_page("/#/money")
    page.get_by_label("Search movements by name").fill("nothing.com")
    page.get_by_label("Search movements by name").press("Enter")
    expect(page.get_by_text("No money has moved.")).to_be_visible()
    expect(page).to_have_url(re.compile("domain=nothing.com"))
    page.goto("/#/money?domain=active.com")
    expect(page.get_by_role("table").get_by_text("v3.renewDomain").first).to_be_visible()
