"""Who comes in with a browser, and what is done by keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.page.conftest import Open
from tests.registry import REGISTRY

pytestmark = pytest.mark.slow


@pytest.fixture
def tokened() -> Iterator[tuple[Sandbox, str]]:
    """A server that wants a control token."""
    sandbox = Sandbox(REGISTRY, control_token="open-sesame")
    with sandbox.serve() as server:
        yield sandbox, server.url


def test_the_token_is_asked_for_once(browser: Browser, tokened: tuple[Sandbox, str]) -> None:
    sandbox, url = tokened
    with browser.new_context(base_url=url) as context:
        page = context.new_page()
        page.goto("/#/faults")
        asked = page.get_by_role("dialog", name="Control token")
        asked.get_by_label("Token").fill("open-barley")
        asked.get_by_role("button", name="Come in").click()
        expect(asked.get_by_role("alert")).to_contain_text("token")
        asked.get_by_label("Token").fill("open-sesame")
        asked.get_by_role("button", name="Come in").click()
        page.get_by_role("switch", name="outage").check()
        expect(page.get_by_text("outage is on.")).to_be_visible()
        assert [one.name for one in sandbox.faults.list()] == ["outage"]
        assert page.evaluate("document.cookie") == ""
        (cookie,) = context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
        assert "sesame" not in cookie["value"]
        page.reload()
        expect(page.get_by_role("switch", name="outage")).to_be_checked()


def test_the_console_signs_behind_a_token(browser: Browser, tokened: tuple[Sandbox, str]) -> None:
    sandbox, url = tokened
    with browser.new_context(base_url=url) as context:
        page = context.new_page()
        page.goto("/#/console/v3.balance")
        page.get_by_label("Token", exact=True).fill("open-sesame")
        page.get_by_role("button", name="Come in").click()
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".answer .status")).to_contain_text("200")
        (entry,) = sandbox.journal.find().requests
        assert "Cookie" not in entry.request.headers


def test_lists_are_walked_and_searched_by_keys(open_page: Open, served: Sandbox, wire: Api) -> None:
    page = open_page("/#/console")
    page.get_by_role("list", name="Operations").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("v3/balance")
    expect(page.get_by_role("list", name="Operations").get_by_role("link")).to_have_count(1)
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    focused = page.locator(":focus")
    assert focused.evaluate("(one) => getComputedStyle(one).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("console/v3.balance"))
    send = page.get_by_role("button", name="Send")
    send.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".answer .status")).to_contain_text("200")
    assert [one.operation for one in served.journal.find().requests] == ["v3.balance"]


def test_a_switch_and_a_form_are_worked_by_keys(open_page: Open, served: Sandbox) -> None:
    page = open_page("/#/faults")
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
    assert [one.name for one in served.faults.list()] == ["slow"]
