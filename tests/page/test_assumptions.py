"""The view of assumptions: changed with a click, narrowed, and with what rested on each."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.page.conftest import Open

pytestmark = pytest.mark.slow


def test_a_click_changes_an_assumption(open_page: Open, served: Sandbox, wire: Api) -> None:
    page = open_page("/#/assumptions?q=switches.repeated")
    page.get_by_label("refused", exact=True).check()
    expect(page.get_by_text("by default accepted")).to_be_visible()
    assert served.assumptions["v3.switches.repeated"] == "refused"
    page.get_by_label("Which").select_option("other")
    expect(page.get_by_role("listitem")).to_have_count(1)


def test_a_text_assumption_is_written(open_page: Open, served: Sandbox) -> None:
    page = open_page("/#/assumptions?q=availability.taken")
    field = page.get_by_label("v3.availability.taken", exact=True)
    field.fill("not a word!")
    field.press("Enter")
    expect(page.locator("page-notices")).to_contain_text("v3.availability.taken")
    assert served.assumptions["v3.availability.taken"] == "registered"
    field.fill("gone")
    field.press("Enter")
    expect(page.get_by_text("by default registered")).to_be_visible()
    assert served.assumptions["v3.availability.taken"] == "gone"
    page.get_by_role("button", name="v3.availability.taken: form, command and calls").click()
    command = "reseller-sandbox assumptions set v3.availability.taken=gone"
    expect(page.get_by_role("dialog").locator("code").first).to_have_text(command)


def test_an_assumption_names_the_requests_that_rested_on_it(
    open_page: Open, served: Sandbox, wire: Api
) -> None:
    wire.get("/v3/balance")
    page = open_page("/#/assumptions?show=used")
    row = page.locator("[data-row='v3.signature.endpoint']")
    expect(row.get_by_role("link", name="r1")).to_have_attribute("href", "#/journal/r1")


def test_a_profile_sets_all(open_page: Open, served: Sandbox) -> None:
    page = open_page("/#/assumptions")
    page.get_by_role("button", name="As observed", exact=True).click()
    expect(page.get_by_text("by default")).not_to_have_count(0)
    assert served.assumptions["v3.signature.endpoint"] == "url"
