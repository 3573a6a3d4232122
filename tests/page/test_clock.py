"""The clock in the head of the page."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from reseller_sandbox import Sandbox
from tests.page.conftest import Open, assert_accessible, press

pytestmark = pytest.mark.slow


def test_the_clock_shows_now_and_the_next_due_event_frozen_or_running(
    served: Sandbox, open_page: Open
) -> None:
    clock = open_page("/").locator("page-clock")
    expect(clock).to_contain_text("2026-03-01 12:00:00")
    expect(clock).to_contain_text("frozen")
    expect(clock).to_contain_text(served.clock.due(limit=1).due[0].subject)
    served.clock.advance("P1D")
    expect(clock).to_contain_text("2026-03-02 12:00:00")
    press(clock, "Run")
    expect(clock).to_contain_text("running")
    assert not served.clock.frozen
    expect(clock.locator(".now time")).not_to_have_text("2026-03-02 12:00:00")
    press(clock, "Freeze")
    expect(clock).to_contain_text("frozen")
    assert served.clock.frozen


def test_an_advance_shows_its_events_first(served: Sandbox, open_page: Open) -> None:
    page = open_page("/")
    page.get_by_role("button", name="Move time").click()
    forecast = served.clock.advance("P30D", dry_run=True)
    expect(page.locator(".happenings li")).to_have_count(len(forecast.fired))
    assert_accessible(page)
    press(page, "Advance")
    expect(page.locator("page-clock .now")).to_contain_text(f"{forecast.now:%Y-%m-%d %H:%M:%S}")
    assert served.clock.now == forecast.now


def test_an_advance_leads_to_a_stage_of_a_name(served: Sandbox, open_page: Open) -> None:
    page = open_page("/")
    page.get_by_role("button", name="Move time").click()
    page.get_by_label("How", exact=True).select_option("stage")
    page.get_by_label("The name", exact=True).fill("none.com")
    expect(page.locator("page-clock .refusal")).to_contain_text("none.com")
    page.get_by_label("The name", exact=True).fill("second.com")
    expect(page.locator(".happenings")).to_contain_text("second.com")
    press(page, "Advance")
    expect(page.locator("page-notices")).to_contain_text("happened on the way")
    assert served.names["second.com"].stage == "overdue"


def test_a_button_shows_the_command_and_the_calls(open_page: Open) -> None:
    page = open_page("/")
    page.get_by_role("button", name="Move time").click()
    press(page, "Advance: form, command and calls")
    sheet = page.get_by_role("dialog")
    expect(sheet).to_contain_text("reseller-sandbox clock advance P30D")
    sheet.get_by_label("by", exact=False).first.fill("P3D")
    sheet.get_by_label("dry_run").check()
    expect(sheet).to_contain_text("reseller-sandbox clock advance P3D --dry-run")
    expect(sheet).to_contain_text('sandbox.clock.advance("P3D", dry_run=True)')
    assert_accessible(page)
    page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)
