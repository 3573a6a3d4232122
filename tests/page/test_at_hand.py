"""Actions where a user looks for them, and elements that close and fit."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from reseller_sandbox import Sandbox
from tests.page.conftest import PATIENCE, Open, assert_accessible, data_field, journal_rows, press, show
from tests.registry import REGISTRY

pytestmark = pytest.mark.slow


def box(of: Locator) -> dict[str, float]:
    found = of.bounding_box()
    assert found is not None
    return dict(found)


def test_a_search_begins_while_the_user_types(served: Sandbox, open_page: Open) -> None:
    for _ in range(2):
        served.client().get("/v3/balance")
    served.client().get("/v3/domains/getDomain/active.com")
    page = open_page("/")
    expect(journal_rows(page)).to_have_count(3)
    page.get_by_label("Search", exact=True).press_sequentially("active")
    expect(journal_rows(page)).to_have_count(1)
    page.keyboard.press("Backspace")
    expect(journal_rows(page)).to_have_count(1)
    expect(page.get_by_label("Search", exact=True)).to_have_value("activ")
    show(page, "/#/names")
    page.get_by_label("Search names").press_sequentially("nobodys")
    expect(page.locator("main")).to_contain_text("No name matches.")


def test_the_form_of_the_clock_closes_and_covers_nothing(open_page: Open) -> None:
    """Esc closes the form, but not the past. So do a click elsewhere and another view."""
    page = open_page("/")
    panel = page.locator(".panel")

    def opened() -> None:
        page.get_by_role("button", name="Move time").click()
        expect(panel).to_contain_text("Preview:")

    opened()
    form = box(panel)
    assert box(page.locator("main"))["y"] >= form["y"] + form["height"]
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    opened()
    page.locator("h1").click()
    expect(panel).to_have_count(0)
    opened()
    page.get_by_role("link", name="Names").click()
    expect(panel).to_have_count(0)
    menu = page.locator("details.more")
    menu.locator("summary").click()
    expect(menu).to_have_attribute("open", "")
    page.keyboard.press("Escape")
    expect(menu).not_to_have_attribute("open", "")


def test_a_notice_leads_to_the_events_of_an_advance_and_ends_with_its_view(open_page: Open) -> None:
    page = open_page("/#/names")
    page.get_by_role("button", name="Next event").click()
    notices = page.locator("page-notices")
    expect(notices).to_contain_text("The clock is at")
    page.get_by_role("link", name="Faults").click()
    expect(notices.locator(".notice")).to_have_count(0)
    page.get_by_role("button", name="Next event").click()
    press(page, "Show the events")
    expect(journal_rows(page).first).to_contain_text("time")
    assert "kind=time" in page.url


def test_the_next_request_of_an_operation_can_be_made_to_fail(served: Sandbox, open_page: Open) -> None:
    """From a request and from the console. The longer form has the values of the short one."""
    served.client().get("/v3/balance")
    page = open_page("/#/journal/r1")
    press(page, "Fail the next…")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    assert_accessible(page, "dialog")
    data_field(dialog, "error").select_option("insufficient_funds")
    press(dialog, "Fail the next v3.balance")
    expect(page.locator("page-notices")).to_contain_text("The fault error is added.")
    answers = [served.client().get("/v3/balance").status_code for _ in range(2)]
    assert answers == [402, 200]
    show(page, "/#/console/v3.getDomain")
    press(page, "Fail the next…")
    data_field(dialog, "kind").select_option("hang")
    press(dialog, "More…")
    expect(data_field(dialog, "kind")).to_have_value("hang")
    expect(data_field(dialog, "match", "operation")).to_have_value("v3.getDomain")
    expect(data_field(dialog, "match", "domain")).to_have_value("")
    data_field(dialog, "match", "account").fill("main")
    press(dialog, "Add a fault")
    expect(dialog).to_have_count(0)
    (_, rule) = served.faults.list().faults
    assert (rule.kind, rule.match, rule.when) == (
        "hang",
        {"operation": "v3.getDomain", "account": "main"},
        {"phase": "after", "times": 1},
    )


def test_the_response_is_in_sight_after_a_request_of_the_console(open_page: Open) -> None:
    page = open_page("/#/console/v3.createDomain", viewport={"width": 1280, "height": 800})
    press(page, "Send")
    response = page.get_by_role("heading", name="Response")
    expect(response).to_be_visible()
    assert 0 < box(response)["y"] < 400


def test_narrow_and_wide_windows_show_the_important_columns(served: Sandbox, open_page: Open) -> None:
    client = served.client()
    client.post("/v3/domains/createDomain", json={"domain": {"domainName": "bought.com"}})
    client.post("/v3/domains/renewDomain", json={"domain": {"domainName": "bought.com"}, "years": 40})
    page = open_page("/#/money", viewport={"width": 375, "height": 800})
    row = page.get_by_role("row").filter(has_text="bought.com")
    for shown in ("bought.com", "r1"):
        cell = box(row.get_by_role("link", name=shown, exact=True))
        assert cell["x"] >= 0, shown
        assert cell["x"] + cell["width"] <= 375, shown
    page.set_viewport_size({"width": 1280, "height": 800})
    show(page, "/#/journal")
    expect(page.get_by_text("years is 40; the maximum for bought.com is 9")).to_be_visible()
    reason = journal_rows(page).first.locator(".about")
    assert box(reason)["width"] > 300
    expect(page.locator(".heads .fault")).to_be_hidden()
    show(page, "/#/names")
    for label in page.locator(".rows .stage").all()[:30]:
        assert label.evaluate("(one) => one.scrollWidth <= one.clientWidth + 1"), label.text_content()


def test_a_lost_connection_is_reported_at_once_on_every_view(browser: Browser) -> None:
    sandbox = Sandbox(REGISTRY)
    for view in ("journal", "money", "console"):
        with sandbox.serve() as serving, browser.new_context(base_url=serving.url) as context:
            server: Any = serving
            page: Page = context.new_page()
            page.set_default_timeout(PATIENCE)
            with page.expect_response("**/events/follow*"):
                page.goto(f"/#/{view}")
            server.stop()
            banner = page.locator("page-connection")
            expect(banner).to_contain_text("The server does not answer", timeout=30_000)


def test_a_refused_request_is_corrected_where_its_remedy_names_a_value(
    served: Sandbox, open_page: Open
) -> None:
    """In the body, below the domain, and in the query. Without a value, the request is only sent again."""
    client = served.client()
    premium = {"domain": {"domainName": "tin.com"}}
    renewed = {"domain": {"domainName": "active.com", "years": 40}}
    for method, path, body in (
        ("POST", "/v3/domains/createDomain", premium),
        ("POST", "/v3/domains/renewDomain", renewed),
        ("POST", "/v3/domains/renewDomain/second.com?years=40", None),
    ):
        refused = client.open(path, method=method, json=body)
        assert refused.status_code in (400, 409), refused.text
        page = open_page(f"/#/journal/{served.journal.list().requests[-1].id}")
        page.get_by_role("link", name="Fix and send again").click()
        press(page, "Send")
        expect(page.locator(".answer .status")).to_have_text(re.compile("^200"))
    client.post("/v3/domains/createDomain", json=premium)
    page = open_page(f"/#/journal/{served.journal.list().requests[-1].id}")
    expect(page.get_by_role("link", name="Send again", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Fix and send again")).to_have_count(0)
