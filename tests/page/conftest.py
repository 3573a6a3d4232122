"""Chromium, driven by Playwright. A page that logs an error or leaves the server fails its test."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Request, expect, sync_playwright

from reseller_sandbox import Sandbox
from tests.command import program

#: Chromium cannot sandbox itself as root, as in a container.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")

#: Playwright drives the Firefox of the machine with WebDriver BiDi.
FIREFOX = ("firefox-esr", "firefox")

#: A mark for tests that run in both browsers.
BOTH = pytest.mark.parametrize("browser", ["chromium", "firefox"], indirect=True)

#: Milliseconds until a page must show something, on a busy machine.
PATIENCE = 90_000

#: Windows of phones, tablets, laptops and desks.
WIDTHS = (390, 768, 1024, 1200, 1440)


def views() -> list[str]:
    """Return the names of the views in the menu of the page."""
    page = Sandbox("empty").app.test_client().get("/", headers={"Accept": "text/html"})
    return list(dict.fromkeys(re.findall(r'href="#/(\w+)"', page.text)))


#: Opens pages, with parameters of ``Browser.new_context``.
Open = Callable[..., Page]


@dataclass
class Watched:
    """Errors, violations of the policy, and requests to another address."""

    origin: str
    wrong: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("request", self._check)
        page.on("crash", lambda _: self.wrong.append("the page crashed"))

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not self._is_refusal(message):
            self.wrong.append(f"{message.type}: {message.text} ({message.location['url']})")

    def _is_refusal(self, message: ConsoleMessage) -> bool:
        """Whether the message is about a refusal of the sandbox, or an answer that a fault has cut."""
        path = urlsplit(message.location["url"]).path
        if path.lower().startswith(("/v3/", "/v2.0/")):
            return message.text.startswith("Failed to load resource: ")
        own = path.startswith("/_sandbox/page") or path == "/"
        return "the server responded with a status of 4" in message.text and not own

    def _check(self, request: Request) -> None:
        if not request.url.startswith((self.origin, "data:", "blob:")):
            self.wrong.append(f"asked another address: {request.url}")


@pytest.fixture(scope="package")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """One browser for this package, because its event loop would disturb other tests."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        if getattr(request, "param", "chromium") == "firefox":
            browser = playwright.firefox.launch(executable_path=program(*FIREFOX), channel="moz-firefox")
        else:
            browser = playwright.chromium.launch(executable_path=program(*CHROMIUM), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser, url: str) -> Iterator[Open]:
    """Opens pages of ``served``, each for a new visitor."""
    watched, contexts = Watched(url), []

    def opened(path: str = "/", **visitor: Any) -> Page:
        context = browser.new_context(base_url=url, **visitor)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        watched.watch(page)
        page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not watched.wrong


def show(page: Page, address: str) -> None:
    """Go to an address of the page, and wait until the page shows it."""
    page.goto(address)
    expect(page.locator("main")).to_have_attribute("data-shown", page.evaluate("location.hash"))


def assert_accessible(page: Page, part: str | None = None) -> None:
    """Assert that axe finds no violation, in the whole page or in the element that ``part`` selects."""
    options = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
    found = Axe().run(page, context=part, options={**options, "resultTypes": ["violations"]})
    assert not found.violations_count, found.generate_report()


#: Returns the texts of the elements that cover the one before them.
COVERING = """(all) => all.filter((one, number) => {
  const box = one.getBoundingClientRect(), before = all[number - 1]?.getBoundingClientRect();
  const isBeside = box.top < before?.bottom - 1 && before.top < box.bottom - 1;
  return box.width && before?.width && isBeside && box.left < before.right - 1;
}).map((one) => one.innerText)"""


def assert_fits(page: Page) -> None:
    """Assert that no element exceeds the right edge of the window, and none in the head covers another."""
    head = page.locator(".head :is(.mark, a, summary, select, button, time, .state)")
    covering = head.evaluate_all(COVERING)
    assert not covering, f"{page.url}: {covering} cover their neighbours"
    widths = "(all) => all.map((one) => one.scrollWidth - one.clientWidth)"
    beyond = max(page.locator("html, main, .scroller").evaluate_all(widths))
    assert beyond <= 0, f"{page.url} is {beyond} px too wide"


def enter(field: Locator, text: str) -> None:
    """Type a text in place of the old one, and press Enter, which Firefox ignores after ``fill`` alone."""
    field.fill("")
    field.press_sequentially(text)
    field.press("Enter")


def press(scope: Page | Locator, name: str) -> None:
    """Click the button with exactly this name."""
    scope.get_by_role("button", name=name, exact=True).click()


def journal_rows(page: Page) -> Locator:
    return page.get_by_role("list", name="Events").get_by_role("listitem")


def name_rows(page: Page) -> Locator:
    return page.get_by_role("list", name="Names").get_by_role("listitem")


def data_field(scope: Page | Locator, *path: str) -> Locator:
    return scope.locator(f"[data-path='{json.dumps(path, separators=(',', ':'))}']")
