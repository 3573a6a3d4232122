"""The control token in a browser, and work by keyboard alone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, expect

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.page.conftest import BOTH, Open, press
from tests.registry import REGISTRY

pytestmark = [pytest.mark.slow, BOTH]


def test_the_page_asks_for_the_control_token_once_and_hides_the_token(browser: Browser) -> None:
    sandbox = Sandbox(REGISTRY, control_token="open-sesame")
    with sandbox.serve() as server, browser.new_context(base_url=server.url) as context:
        page = context.new_page()
        page.goto("/#/faults")
        dialog = page.get_by_role("dialog", name="Control token")
        for token in ("open-barley", "open-sesame"):
            dialog.get_by_label("Token").fill(token)
            press(dialog, "Sign in")
            if token == "open-barley":
                expect(dialog.get_by_role("alert")).to_contain_text("token")
        page.get_by_role("switch", name="outage").check()
        expect(page.get_by_text("outage is on.")).to_be_visible()
        assert [rule.name for rule in sandbox.faults.list()] == ["outage"]
        assert page.evaluate("document.cookie") == ""
        (cookie,) = context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
        assert "sesame" not in cookie["value"]
        page.reload()
        page.get_by_role("switch", name="outage").uncheck()
        expect(page.get_by_text("outage is off.")).to_be_visible()
        page.goto("/#/console/v3.balance")
        press(page, "Send")
        expect(page.locator(".answer .status")).to_contain_text("200")
        (entry,) = sandbox.journal.list().requests
        assert "Cookie" not in entry.request.headers


def test_the_keyboard_can_operate_forms_and_lists_and_switches(
    open_page: Open, served: Sandbox, wire: Api
) -> None:
    page = open_page("/#/console")
    operations = page.get_by_role("list", name="Operations")
    operations.wait_for()
    page.keyboard.press("/")
    page.keyboard.type("v3/balance")
    expect(operations.get_by_role("link")).to_have_count(1)
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    assert page.locator(":focus").evaluate("(one) => getComputedStyle(one).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("console/v3.balance"))
    page.get_by_role("button", name="Send").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".answer .status")).to_contain_text("200")
    assert [entry.operation for entry in served.journal.list().requests] == ["v3.balance"]
    page.goto("/#/faults")
    page.get_by_role("switch", name="slow").focus()
    page.keyboard.press("Space")
    expect(page.get_by_text("slow is on.")).to_be_visible()
    kind = page.get_by_role("button", name="hang", exact=True)
    kind.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(kind).to_be_focused()
    assert [rule.name for rule in served.faults.list()] == ["slow"]
