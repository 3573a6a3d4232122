"""The view of faults: each thing that it does, by clicking, and what has come of it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.page.conftest import Open

pytestmark = pytest.mark.slow


def test_presets_are_switches(open_page: Open, served: Sandbox) -> None:
    page = open_page("/#/faults")
    switch = page.get_by_role("switch", name="flaky")
    switch.check()
    expect(page.get_by_role("row", name="flaky.reset")).to_be_visible()
    assert len(served.faults.list()) == 5
    switch.uncheck()
    expect(page.get_by_text("flaky is off.")).to_be_visible()
    expect(page.get_by_role("row")).to_have_count(0)
    assert not list(served.faults.list())


def test_a_kind_has_a_form_from_its_declaration(open_page: Open, served: Sandbox, wire: Api) -> None:
    page = open_page("/#/faults")
    page.get_by_role("button", name="error", exact=True).click()
    sheet = page.get_by_role("dialog")
    expect(sheet.locator("[data-path]").first).to_have_attribute("data-path", '["error"]')
    sheet.locator("[data-path='[\"error\"]']").fill("internal_error")
    sheet.locator('[data-path=\'["match","operation"]\']').fill("v3.balance")
    expect(sheet.get_by_text("reseller-sandbox faults add error")).to_be_visible()
    sheet.get_by_role("button", name="Add error").click()
    expect(page.get_by_role("row", name="error=internal_error")).to_contain_text("operation=v3.balance")
    assert wire.get("/v3/balance").error == "internal_error"
    expect(page.get_by_role("row", name="error=internal_error")).to_contain_text("1 of 1")


def test_a_rule_can_be_paused_changed_and_removed(open_page: Open, served: Sandbox) -> None:
    served.faults.add("reset", name="lost")
    page = open_page("/#/faults")
    row = page.locator("tr[data-row=lost]")
    row.get_by_role("button", name="Pause", exact=True).click()
    expect(row).to_contain_text("paused")
    assert served.faults["lost"].paused
    row.get_by_role("button", name="Resume", exact=True).click()
    expect(row).not_to_contain_text("paused")
    row.get_by_role("button", name="Change", exact=True).click()
    changes = page.get_by_role("dialog").locator("textarea")
    changes.fill('{"when": {"chance": 7}}')
    page.get_by_role("dialog").get_by_role("button", name="Change", exact=True).click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("when.chance")
    changes.fill('{"when": {"times": 3}}')
    page.get_by_role("dialog").get_by_role("button", name="Change", exact=True).click()
    expect(row).to_contain_text("times=3")
    assert served.faults["lost"].when["times"] == 3
    row.get_by_role("button", name="Remove", exact=True).click()
    expect(row).to_have_count(0)
    assert not list(served.faults.list())
