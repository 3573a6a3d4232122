"""A real browser: Debian's Chromium, driven by Playwright. Its pages see to it that all is well."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

from reseller_sandbox import Sandbox
from tests.outfit import program

#: Started by root, as in a container, it has no sandbox of its own; and it asks nobody for anything.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)

#: What the browser may be called.
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")

#: How many milliseconds something may take to show up: what a busy machine needs, not how quick a page is.
PATIENCE = 90_000

#: Phones, tablets, desks.
WIDTHS = (390, 768, 1440)


def views() -> list[str]:
    """Return the names of the views, as the menu of the page has them."""
    page = Sandbox("empty").app.test_client().get("/", headers={"Accept": "text/html"})
    return list(dict.fromkeys(re.findall(r'href="#/(\w+)"', page.text)))


#: Opens pages, with what ``Browser.new_context`` takes.
Open = Callable[..., Page]


@dataclass
class Watched:
    """What a page did that none may do: errors, violations of its policy, requests to another address."""

    origin: str
    wrong: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        """Hear what ``page`` says from now on."""
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("request", self._asked)
        page.on("crash", lambda _: self.wrong.append("the page crashed"))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not self._is_refusal(message):
            self.wrong.append(f"{message.type}: {message.text} ({message.location['url']})")

    def _is_refusal(self, message: ConsoleMessage) -> bool:
        """Whether it tells no more than that the sandbox refused something, or a fault cut its answer."""
        path = urlsplit(message.location["url"]).path
        if path.lower().startswith(("/v3/", "/v2.0/")):
            return message.text.startswith("Failed to load resource: ")
        own = path.startswith("/_sandbox/page") or path == "/"
        return "the server responded with a status of 4" in message.text and not own

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self.origin, "data:", "blob:")):
            self.wrong.append(f"asked another address: {request.url}")


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One browser for a worker's tests of this package: its event loop would be in the way of others' own."""
    path = program(*CHROMIUM)
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def served(served: Sandbox) -> Iterator[Sandbox]:
    """The sandbox that pages look at. Worlds that a test has made are gone when the next one begins."""
    yield served
    for one in served.worlds:
        if one.name != "default":
            served.worlds.remove(one.name)


@pytest.fixture
def open_page(browser: Browser, url: str) -> Iterator[Open]:
    """Opens pages of ``served``, each for a visitor of its own; fails when one did what none may do."""
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
    """Go to an address of the page, and wait until that is what it shows."""
    page.goto(address)
    expect(page.locator("main")).to_have_attribute("data-shown", page.evaluate("location.hash"))


def assert_accessible(page: Page) -> None:
    """Assert that axe finds nothing on the page as it stands."""
    options = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
    found = Axe().run(page, options={**options, "resultTypes": ["violations"]})
    assert not found.violations_count, found.generate_report()


def assert_fits(page: Page) -> None:
    """Assert that nothing of the page stands beyond the right edge of the window."""
    beyond = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert beyond <= 0, f"{page.url} is {beyond} px too wide"
