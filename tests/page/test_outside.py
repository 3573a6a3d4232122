"""The view of the other side: what others do, at once, at an instant and after a request."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.page.conftest import Open

pytestmark = pytest.mark.slow


def test_a_name_that_was_asked_about_is_sniped(open_page: Open, served: Sandbox, wire: Api) -> None:
    page = open_page("/#/outside")
    wire.post("/v3/domains/checkAvailability", {"domainNames": ["free.com"]})
    page.locator("[data-row='free.com']").get_by_role("button", name="Snipe", exact=True).click()
    expect(page.get_by_text("free.com is active, held by outside.")).to_have_count(0)
    expect(page.locator("page-notices")).to_contain_text("free.com")
    answer = wire.post("/v3/domains/checkAvailability", {"domainNames": ["free.com"]})
    assert answer.json["results"][0]["status"] == "registered"


def test_a_transfer_is_answered(open_page: Open, served: Sandbox) -> None:
    waiting = [one for one in served.transfers.list(status="pending").transfers if one.losing == "outside"]
    name = waiting[0].domain
    page = open_page("/#/outside")
    row = page.locator(f"[data-row='{name}']")
    row.get_by_role("button", name="Reject", exact=True).click()
    expect(row).to_have_count(0)
    assert name not in [one.domain for one in served.transfers.list(status="pending").transfers]


def test_a_button_with_a_time_makes_a_plan(open_page: Open, served: Sandbox) -> None:
    page = open_page("/#/outside/free.com?when=at&on=P3D")
    page.get_by_role("button", name="Register", exact=True).click()
    plan = page.get_by_role("listitem").filter(has_text="#1")
    expect(plan).to_contain_text("free.com")
    (made,) = served.plans.list().plans
    assert (made.action, str(made.given["domain"])) == ("register", "free.com")
    plan.get_by_role("button", name="Cancel", exact=True).click()
    expect(plan).to_have_count(0)
    page.get_by_label("When").select_option("after")
    page.get_by_label("Operation of the request").fill("v3.balance")
    page.get_by_label("Operation of the request").press("Enter")
    page.get_by_role("button", name="Hold", exact=True).click()
    expect(page.locator("page-notices")).to_contain_text("Planned: Hold.")
    (made,) = served.plans.list().plans
    assert (made.action, str(made.given["domain"])) == ("hold", "free.com")
    assert made.after is not None


def test_money_is_changed(open_page: Open, served: Sandbox) -> None:
    page = open_page("/#/outside")
    account = page.get_by_role("listitem").filter(has=page.get_by_text("main", exact=True))
    account.get_by_role("button", name="Adjust balance", exact=True).click()
    sheet = page.get_by_role("dialog")
    sheet.locator("[data-path='[\"to\"]']").fill("12.34")
    sheet.get_by_role("button", name="Adjust balance", exact=True).click()
    expect(account).to_contain_text("12.34")
    assert str(served.accounts["main"].balance) == "12.34"
