"""The walk of somebody who has never seen the page: from a refusal to its cause, back, on, and ahead."""

from __future__ import annotations

import json
from collections.abc import Callable

from playwright.sync_api import Page, expect

from reseller_sandbox import Sandbox
from tests.registry import connect

CREATE = {"domain": {"domainName": "new.com"}}


def prepare(sandbox: Sandbox) -> None:
    """A program has been refused, and a name is about to expire."""
    sandbox.names.add("soon.com", account="main", expires="2026-03-20")
    connect(sandbox, "poor").post("/v3/domains/createDomain", CREATE)


def walk(sandbox: Sandbox, page: Page, stop: Callable[[str], object] = lambda name: None) -> None:
    """Take the walk; ``stop`` is called where there is something to see, with what that is called."""
    _find_why(page)
    stop("refused")
    _go_back(page)
    assert sandbox.journal.find().requests == ()
    _mend(page)
    _try_again(page)
    stop("sent-again")
    assert sandbox.names["new.com"].account == "poor"
    _move_on(page)
    stop("expired")


def _find_why(page: Page) -> None:
    """The refused request is red in the list; it says why, and what would do."""
    page.get_by_role("link").filter(has_text="insufficient_funds").click()
    entry = page.get_by_role("region", name="Request r1")
    expect(entry).to_contain_text("10.00 USD are needed and the balance is 1.00 USD")
    expect(entry).to_contain_text("What to do: top up the balance by 9.00 USD or more")


def _go_back(page: Page) -> None:
    """One click: the request has not been made, and stands there to be sent."""
    page.get_by_role("button", name="Go back and try again", exact=True).click()
    body = page.get_by_label("Body", exact=True)
    expect(body).not_to_be_empty()
    assert json.loads(body.input_value()) == CREATE


def _mend(page: Page) -> None:
    """The other side has money to give."""
    page.get_by_role("link", name="Other side").click()
    account = page.get_by_role("listitem").filter(has=page.get_by_text("poor", exact=True))
    account.get_by_role("button", name="Adjust balance", exact=True).click()
    sheet = page.get_by_role("dialog", name="Adjust balance")
    sheet.get_by_label("to", exact=False).first.fill("100")
    sheet.get_by_role("button", name="Adjust balance", exact=True).click()
    expect(account).to_contain_text("100.00")
    page.go_back()


def _try_again(page: Page) -> None:
    """The request is still there."""
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.locator(".answer")).to_contain_text("200 OK")


def _move_on(page: Page) -> None:
    """Thirty days: what will happen is told first; then the name has expired."""
    page.get_by_role("button", name="Move time").click()
    page.get_by_role("button", name="30 days").click()
    expiry = page.locator(".happenings li").filter(has_text="soon.com")
    expect(expiry).to_contain_text("expiry")
    expiry.get_by_role("link").click()
    expect(page.get_by_role("img", name="The name is active")).to_be_visible()
    page.get_by_role("button", name="Advance", exact=True).click()
    expect(page.get_by_role("img", name="The name is overdue")).to_be_visible()
