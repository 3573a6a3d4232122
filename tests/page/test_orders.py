"""Late answers, early events and impatient users do not confuse the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import APIResponse, Browser, Page, Route, expect

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.page.conftest import Open, journal_rows, press, show, views

pytestmark = pytest.mark.slow

#: Requests to the world ``side``, but for its streams and their beginning.
ASIDE = re.compile(r"/_worlds/side[^/]*/_sandbox/(?!events\?limit=1$|(events|journal)/follow)")


@contextmanager
def delayed(page: Page, pattern: str | re.Pattern[str], *, unsent: bool = False) -> Iterator[None]:
    """Delay the responses to matching requests until the end, or with ``unsent`` the requests."""
    waiting: list[tuple[Route, APIResponse | None]] = []
    taken, over = 0, False

    def take(route: Route) -> None:
        nonlocal taken
        if over:
            route.fallback()
            return
        taken += 1
        waiting.append((route, None if unsent else route.fetch()))

    # It stays routed: Playwright itself continues what is held when its route is removed.
    page.route(pattern, take)
    yield
    over = True
    while len(waiting) < taken:  # the server is answering
        page.wait_for_timeout(10)
    for route, answer in waiting:
        route.continue_() if answer is None else route.fulfill(response=answer)
    settle(page)


def settle(page: Page) -> None:
    """Wait until the server has answered the requests of the page, and the answers are drawn."""
    page.evaluate("fetch('/_sandbox/health').then(() => new Promise(requestAnimationFrame))")


@pytest.fixture
def side(served: Sandbox) -> Iterator[Sandbox]:
    """Another world, at another time."""
    with served.fork(name="side") as side:
        side.clock.advance("P40D")
        side.client().post("/v3/domains/createDomain", json={"domain": {"domainName": "aside.com"}})
        side.faults.preset("flaky")
        yield side


def test_a_late_response_for_another_world_is_not_shown(side: Sandbox, open_page: Open) -> None:
    page = open_page()
    everything = page.locator("body")
    for view in views():
        show(page, f"/#/{view}")
        before = everything.inner_text()
        with delayed(page, ASIDE):
            with page.expect_request(ASIDE):
                page.goto(f"/#/{view}?world=side")
            show(page, f"/#/{view}")
        assert everything.inner_text() == before, view


def test_an_event_during_the_start_of_the_event_stream_is_shown(side: Sandbox, open_page: Open) -> None:
    page = open_page()
    show(page, "/#/names")
    beginning = re.compile(r"/_worlds/side/_sandbox/events\?limit=1$")
    with delayed(page, beginning, unsent=True):
        with page.expect_request(beginning):
            page.goto("/#/names?world=side")
        page.goto("/#/names?world=side&like=late")
        settle(page)
        side.names.add("late.com", account="main")
    expect(page.get_by_role("link").filter(has_text="late.com")).to_be_visible()


def test_events_and_rewinds_during_a_journal_request_are_shown(
    served: Sandbox, wire: Api, open_page: Open
) -> None:
    page, lines = open_page(), "**/_sandbox/journal/lines"
    rows = journal_rows(page)
    show(page, "/#/journal")
    with delayed(page, lines):
        page.get_by_label("Outcome").select_option("refused")
        for _ in range(3):
            wire.get("/v3/balance")
        served.clock.advance("P1D")
        expect(page.locator("page-clock")).to_contain_text("2026-03-02")
    expect(page.get_by_text("No events yet")).to_be_visible()
    with delayed(page, lines):
        page.get_by_label("Outcome").select_option("all outcomes")
        served.clock.advance("P1D")
        expect(page.locator("page-clock")).to_contain_text("2026-03-03")
        expect(page.locator("main")).not_to_contain_text("undefined")
    expect(rows).to_have_count(len(served.events.list(limit=500).events))
    with delayed(page, lines):
        with page.expect_request(lines):
            served.rewind("r3")
        settle(page)
        served.rewind("r2")
        served.clock.advance("P4D")
        expect(page.locator("page-clock")).to_contain_text("2026-03-05")
    expect(rows).to_have_count(len(served.events.list(limit=500).events))
    expect(page.get_by_role("link", name="r2")).to_have_count(0)


#: Buttons that lead to another view: the address of the button, its label, and the path of its request.
LEADING = (
    ("history?at=after:r1", "Fork from here", "worlds/fork"),
    ("history?at=after:r1", "Go back here", "history/rewind"),
    ("history?at=after:r1", "Go back", "snapshots/*/restore"),
    ("journal/r1", "Rewind and edit", "history/rewind"),
    ("journal/r1", "Rewind to before", "history/rewind"),
    ("journal/r1", "Fork from before", "worlds/fork"),
    ("worlds", "Fork this world", "worlds/fork"),
    ("worlds", "New from a fixture", "worlds/fork"),
    ("worlds", "Drop a fixture", "worlds/fork"),
)


def test_a_late_response_does_not_lead_to_another_view(served: Sandbox, wire: Api, open_page: Open) -> None:
    wire.get("/v3/domains/getDomain/active.com")
    served.snapshots.add("kept")
    fixture = {"name": "mine.yaml", "mimeType": "text/yaml", "buffer": served.export().encode()}
    for address, label, operation in LEADING:
        page = open_page()
        show(page, f"/#/{address}")
        path = f"**/_sandbox/{operation}"
        with delayed(page, path):
            with page.expect_request(path):
                if label == "Drop a fixture":
                    page.get_by_label(label).set_input_files(fixture)
                else:
                    if address == "journal/r1" and label != "Rewind and edit":
                        page.get_by_text("More actions").click()
                    press(page, label)
                    if address == "worlds":
                        press(page.get_by_role("dialog"), label)
            show(page, "/#/money")
        expect(page.locator("page-notices .notice")).to_have_count(1)
        settle(page)
        assert page.evaluate("location.hash") == "#/money", label
        page.close()
        served.restore("kept")


def test_a_late_clock_advance_is_not_shown_in_another_world(side: Sandbox, open_page: Open) -> None:
    page = open_page()
    show(page, "/#/names")
    page.get_by_role("button", name="Move time").click()
    expect(page.locator("page-move")).to_contain_text("Preview:")
    advance = re.compile(r":\d+/_sandbox/clock/advance$")
    with delayed(page, advance):
        with page.expect_request(advance):
            press(page, "Advance")
        show(page, "/#/names?world=side")
    expect(page.locator("page-notices")).to_contain_text("The clock is at")
    settle(page)
    expect(page.locator("page-clock .now time")).to_have_text(f"{side.clock.now:%Y-%m-%d %H:%M:%S}")


def test_a_switch_keeps_its_position_until_its_request_is_answered(served: Sandbox, open_page: Open) -> None:
    page = open_page()
    show(page, "/#/faults")
    switch = page.get_by_role("switch", name="outage")

    def refuse_late(route: Route) -> None:
        if route.request.method == "GET":
            route.fallback()
            return
        with page.expect_response(lambda one: one.url.endswith("/faults") and one.request.method == "GET"):
            served.snapshots.add("event")
        settle(page)
        expect(switch).to_be_checked()
        expect(switch).to_be_disabled()
        route.fulfill(status=409, json={"error": "name_taken", "message": "It is taken."})

    page.route(re.compile("/_sandbox/faults$"), refuse_late)
    switch.click()
    expect(page.locator("page-notices")).to_contain_text("It is taken.")
    expect(switch).not_to_be_checked()
    expect(switch).to_be_enabled()


def test_the_page_repeats_its_failed_request(browser: Browser, url: str) -> None:
    with browser.new_context(base_url=url) as context:
        for pattern, address in (
            ("**/lifecycle.json", "/#/names/active.com"),
            ("**/forms", "/#/console/v3.balance"),
            ("**/snapshots", "/#/history"),
        ):
            page = context.new_page()
            page.route(pattern, lambda route: route.abort(), times=1)
            page.goto(address)
            expect(page.get_by_role("alert").first).to_be_visible()
            show(page, f"{address}?like=x")
            expect(page.get_by_role("alert")).to_have_count(0)
            page.close()
