"""Whichever order things come in: late answers, early news, somebody who does not wait."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import APIResponse, Browser, Page, Route, expect

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.page.conftest import Open, show, views
from tests.registry import REGISTRY

pytestmark = pytest.mark.slow

#: What is asked of the world ``side``, but for where its streams begin, and what they tell.
ASIDE = re.compile(r"/_worlds/side[^/]*/_sandbox/(?!events\?limit=1$|(events|journal)/follow)")


@contextmanager
def held(page: Page, pattern: str | re.Pattern[str], *, unasked: bool = False) -> Iterator[None]:
    """Hold back what is answered to such requests to the end; with ``unasked``, the requests themselves."""
    waiting: list[tuple[Route, APIResponse | None]] = []

    def take(route: Route) -> None:
        waiting.append((route, None if unasked else route.fetch()))

    page.route(pattern, take)
    yield
    for route, answer in waiting:
        route.continue_() if answer is None else route.fulfill(response=answer)
    page.unroute(pattern, take)
    settle(page)


def settle(page: Page) -> None:
    """Wait until the server has answered all that the page asks by now, and that is drawn."""
    page.evaluate("fetch('/_sandbox/health').then(() => new Promise(requestAnimationFrame))")


def told(page: Page, element: str) -> None:
    """Tell a part of the page that something has happened, as its stream does."""
    page.locator(element).evaluate("(one) => one.news([{kind: 'control', name: 'something', effect: {}}])")


@pytest.fixture
def side(served: Sandbox) -> Iterator[Sandbox]:
    """Another world, at another time."""
    with served.fork(name="side") as side:
        side.clock.advance("P40D")
        side.client().post("/v3/domains/createDomain", json={"domain": {"domainName": "aside.com"}})
        side.faults.preset("flaky")
        yield side


def test_a_late_answer_of_another_world_is_not_shown(side: Sandbox, open_page: Open) -> None:
    page = open_page()
    everything = page.locator("body")
    for view in views():
        show(page, f"/#/{view}")
        before = everything.inner_text()
        with held(page, ASIDE):
            with page.expect_request(ASIDE):
                page.goto(f"/#/{view}?world=side")
            show(page, f"/#/{view}")
        assert everything.inner_text() == before, view


def test_an_abandoned_address_is_not_shown_before_the_next(side: Sandbox, open_page: Open) -> None:
    page = open_page()
    show(page, "/#/names")
    before = page.locator("body").inner_text()
    beginning = re.compile(r"[0-9]/_sandbox/events\?limit=1$")
    with held(page, beginning, unasked=True):
        with held(page, ASIDE):
            with page.expect_request(re.compile("side/_sandbox/clock/due")):
                page.goto("/#/names?world=side")
            with page.expect_request(beginning):
                page.goto("/#/names")
            settle(page)
        assert page.locator("body").inner_text() == before


def test_an_event_before_the_stream_begins_is_shown(side: Sandbox, open_page: Open) -> None:
    page = open_page()
    show(page, "/#/names")
    beginning = re.compile(r"/_worlds/side/_sandbox/events\?limit=1$")
    with held(page, beginning, unasked=True):
        with page.expect_request(beginning):
            page.goto("/#/names?world=side")
        page.goto("/#/names?world=side&like=late")
        settle(page)
        side.names.add("late.com", account="main")
    expect(page.get_by_role("link").filter(has_text="late.com")).to_be_visible()


def test_a_token_entered_once_opens_a_single_stream(browser: Browser) -> None:
    sandbox = Sandbox(REGISTRY, control_token="open-sesame")
    with sandbox.serve() as server, browser.new_context(base_url=server.url) as context:
        page = context.new_page()
        asked: list[str] = []
        page.on("request", lambda one: asked.append(one.url))
        page.goto("/#/names")
        for _ in range(2):
            context.clear_cookies()
            page.goto("/#/faults")
            asked.clear()
            page.get_by_label("Token", exact=True).fill("open-sesame")
            page.get_by_role("button", name="Come in").click()
            expect(page.get_by_role("switch", name="outage")).to_be_visible()
            settle(page)
            assert len([one for one in asked if "events/follow" in one]) == 1
            page.goto("/#/names")
            expect(page.get_by_role("list", name="Names")).to_be_visible()


def test_a_filter_applies_to_events_during_its_request(served: Sandbox, wire: Api, open_page: Open) -> None:
    page = open_page()
    show(page, "/#/journal")
    with held(page, "**/_sandbox/journal?outcome=refused*"):
        page.get_by_label("Outcome").select_option("refused")
        wire.get("/v3/balance")
        served.clock.advance("P1D")
        expect(page.locator("page-clock")).to_contain_text("2026-03-02")
    expect(page.get_by_text("Nothing is here yet")).to_be_visible()
    with held(page, re.compile(r"/_sandbox/journal\?limit=")):
        page.get_by_label("Outcome").select_option("all outcomes")
        served.clock.advance("P1D")
        expect(page.locator("page-clock")).to_contain_text("2026-03-03")
        expect(page.locator("main")).not_to_contain_text("undefined")
    rows = page.get_by_role("list", name="What happened").get_by_role("listitem")
    expect(rows).to_have_count(len(served.events.find(limit=500).events))


def test_a_journal_rewound_during_its_request_is_requested_again(
    served: Sandbox, wire: Api, open_page: Open
) -> None:
    for _ in range(3):
        wire.get("/v3/balance")
    page = open_page()
    show(page, "/#/journal")
    found = re.compile(r"/_sandbox/journal\?limit=")
    with held(page, found):
        with page.expect_request(found):
            served.rewind("r3")
        settle(page)
        served.rewind("r2")
        served.clock.advance("P1D")
        expect(page.locator("page-clock")).to_contain_text("2026-03-02")
    rows = page.get_by_role("list", name="What happened").get_by_role("listitem")
    expect(rows).to_have_count(len(served.events.find(limit=500).events))
    expect(page.get_by_role("link", name="r2")).to_have_count(0)


def test_a_filled_body_stays_during_a_search(served: Sandbox, open_page: Open) -> None:
    page = open_page("/#/console/v3.createDomain")
    page.get_by_label("Body", exact=True).fill('{"domain": {"domainName": "mine.com"}}')
    page.get_by_label("Search operations").fill("create")
    expect(page.locator(".operations li")).not_to_have_count(0)
    show(page, page.url)
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.locator(".answer .status")).to_contain_text("200")
    assert served.names["mine.com"].account == "main"
    page.locator(".bar select").select_option("other")
    expect(page.locator(".answer .status")).to_have_count(0)
    page.get_by_label("Body", exact=True).fill('{"domain": {"domainName": "others.com"}}')
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.locator(".answer .status")).to_contain_text("200")
    assert served.names["others.com"].account == "other"


def test_each_request_shows_its_own_commands(wire: Api, open_page: Open) -> None:
    wire.get("/v3/domains/getDomain/one.com")
    wire.get("/v3/domains/getDomain/two.com")
    page = open_page()
    for request, name in (("r1", "one.com"), ("r2", "two.com"), ("r1", "one.com")):
        show(page, f"/#/journal/{request}")
        page.get_by_text("Send it again from elsewhere").click()
        expect(page.locator(".copied").first).to_contain_text(name)


def test_the_slider_moves_during_events(wire: Api, open_page: Open) -> None:
    wire.get("/v3/balance")
    wire.get("/v3/balance")
    page = open_page()
    show(page, "/#/names?at=after:r2")
    told(page, "page-past")
    page.get_by_role("slider", name="Travel in the history").focus()
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile("at=after:r1"))


def test_a_button_follows_a_choice_that_is_not_drawn_yet(served: Sandbox, open_page: Open) -> None:
    page = open_page()
    show(page, "/#/outside/free.com?when=after")
    with held(page, "**/_sandbox/plans"):
        page.get_by_label("Operation of the request").fill("v3.balance")
        page.get_by_label("Operation of the request").press("Enter")
        page.get_by_role("button", name="Register", exact=True).click()
        expect(page.locator("page-notices")).to_contain_text("Planned: Register.")
    (made,) = served.plans.list().plans
    assert made.after is not None
    assert "free.com" not in served.names


def test_a_filter_is_added_to_the_requested_address(open_page: Open) -> None:
    page = open_page()
    show(page, "/#/names?like=active")
    with held(page, "**/_sandbox/names?*"):
        page.goto("/#/names?stage=overdue")
        page.get_by_label("Account").select_option("other")
        expect(page).to_have_url(re.compile(r"#/names\?stage=overdue&account=other$"))


def test_only_the_last_choice_of_an_advance_is_forecast(open_page: Open) -> None:
    page = open_page()
    show(page, "/#/names")
    page.locator("page-clock").evaluate(
        "(one) => (window.seen = []) && new MutationObserver(() => seen.push(one.innerText))"
        ".observe(one, {childList: true, subtree: true, characterData: true})"
    )
    foreseen = "**/_sandbox/clock/advance"
    with held(page, foreseen):
        with page.expect_request(foreseen):
            page.get_by_role("button", name="Move time").click()
        page.get_by_role("button", name="1 day", exact=True).click()
    expect(page.locator("page-clock")).to_contain_text("It would be 2026-03-02")
    assert not [one for one in page.evaluate("seen") if "It would be 2026-03-31" in one]


#: Every button that leads elsewhere: where it stands, what it says, and what it asks for.
LEADING = (
    ("travel?at=after:r1", "Fork from here", "worlds/fork"),
    ("travel?at=after:r1", "Go back here", "history/rewind"),
    ("travel?at=after:r1", "Go back", "snapshots/*/restore"),
    ("journal/r1", "Go back and try again", "history/rewind"),
    ("journal/r1", "Rewind to before", "history/rewind"),
    ("journal/r1", "Fork from before", "worlds/fork"),
    ("worlds", "Fork this world", "worlds/fork"),
    ("worlds", "New from a fixture", "worlds/fork"),
)


def test_a_late_answer_does_not_change_the_view(served: Sandbox, wire: Api, open_page: Open) -> None:
    wire.get("/v3/domains/getDomain/active.com")
    served.snapshots.add("kept")
    for address, label, operation in LEADING:
        page = open_page()
        show(page, f"/#/{address}")
        asked = f"**/_sandbox/{operation}"
        with held(page, asked):
            with page.expect_request(asked):
                page.get_by_role("button", name=label, exact=True).click()
                if address == "worlds":
                    page.get_by_role("dialog").get_by_role("button", name=label, exact=True).click()
            show(page, "/#/money")
        expect(page.locator("page-notices .notice")).to_have_count(1)
        settle(page)
        assert page.evaluate("location.hash") == "#/money", label
        page.close()
        served.restore("kept")


def test_a_late_fixture_does_not_change_the_view(served: Sandbox, open_page: Open) -> None:
    page = open_page()
    show(page, "/#/worlds")
    asked = "**/_sandbox/worlds/fork"
    with held(page, asked):
        with page.expect_request(asked):
            page.get_by_label("Drop a fixture").set_input_files(
                {"name": "mine.yaml", "mimeType": "text/yaml", "buffer": served.export().encode()}
            )
        show(page, "/#/money")
    expect(page.locator("page-notices")).to_contain_text("mine.yaml is open")
    settle(page)
    assert page.evaluate("location.hash") == "#/money"


def test_a_late_advance_moves_no_clock_of_another_world(
    served: Sandbox, side: Sandbox, open_page: Open
) -> None:
    page = open_page()
    show(page, "/#/names")
    page.get_by_role("button", name="Move time").click()
    expect(page.locator("page-clock")).to_contain_text("It would be")
    advanced = re.compile(r":\d+/_sandbox/clock/advance$")
    with held(page, advanced):
        with page.expect_request(advanced):
            page.get_by_role("button", name="Advance", exact=True).click()
        show(page, "/#/names?world=side")
    expect(page.locator("page-notices")).to_contain_text("on the way")
    settle(page)
    expect(page.locator("page-clock .now time")).to_have_text(f"{side.clock.now:%Y-%m-%d %H:%M:%S}")


def test_a_switch_stays_until_its_request_is_answered(served: Sandbox, open_page: Open) -> None:
    page = open_page()
    show(page, "/#/faults")
    switch = page.get_by_role("switch", name="outage")
    added = re.compile("/_sandbox/faults$")

    def refuse(route: Route) -> None:
        if route.request.method == "GET":
            route.fallback()
        else:
            settle_with(route)

    def settle_with(route: Route) -> None:
        with page.expect_response(lambda one: one.url.endswith("/faults") and one.request.method == "GET"):
            told(page, "view-faults")
        settle(page)
        expect(switch).to_be_checked()
        expect(switch).to_be_disabled()
        route.fulfill(status=409, json={"error": "name_taken", "message": "It is taken."})

    page.route(added, refuse)
    switch.click()
    expect(page.locator("page-notices")).to_contain_text("It is taken.")
    expect(switch).not_to_be_checked()
    expect(switch).to_be_enabled()
    assert not list(served.faults.list())


def test_a_form_opens_once(open_page: Open) -> None:
    page = open_page()
    show(page, "/#/faults")
    with held(page, "**/powers/faults.add.json"):
        for _ in range(2):
            page.get_by_role("button", name="hang", exact=True).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    settle(page)
    expect(page.get_by_role("dialog")).to_have_count(1)


def test_a_failed_request_of_the_page_is_repeated(browser: Browser, url: str) -> None:
    with browser.new_context(base_url=url) as context:
        for pattern, address in (
            ("**/lifecycle.json", "/#/names/active.com"),
            ("**/requests.json", "/#/console/v3.balance"),
            ("**/events?limit=500", "/#/travel"),
        ):
            page = context.new_page()
            page.route(pattern, lambda route: route.abort(), times=1)
            page.goto(address)
            expect(page.get_by_role("alert").first).to_be_visible()
            show(page, f"{address}?like=x")
            expect(page.get_by_role("alert")).to_have_count(0)
            page.close()
