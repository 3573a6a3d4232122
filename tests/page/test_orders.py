"""Whichever order things come in: late answers, early news, somebody who does not wait."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import APIResponse, Browser, Page, Route, expect

from reseller_sandbox import Sandbox
from reseller_sandbox.page.views import VIEWS
from tests.clients import Api
from tests.page.conftest import Open, show
from tests.registry import REGISTRY

#: It takes a browser, and its time.
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


def test_what_an_address_still_waits_for_is_not_shown_at_the_next(side: Sandbox, open_page: Open) -> None:
    """Neither in any view, nor in the head."""
    page = open_page()
    everything = page.locator("body")
    for view in VIEWS:
        show(page, f"/#/{view.name}")
        before = everything.inner_text()
        with held(page, ASIDE):
            with page.expect_request(ASIDE):
                page.goto(f"/#/{view.name}?world=side")
            show(page, f"/#/{view.name}")
        assert everything.inner_text() == before, view.name


def test_an_address_that_is_left_is_not_shown_while_the_next_is_on_its_way(
    side: Sandbox, open_page: Open
) -> None:
    """Its answers come before the page has begun to listen to the next world."""
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


def test_what_happens_while_the_page_begins_to_listen_is_shown(side: Sandbox, open_page: Open) -> None:
    """Though somebody has gone on to another address of that world before it did."""
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


def test_who_is_asked_by_many_for_the_token_begins_once(browser: Browser) -> None:
    """The server that has forgotten a cookie refuses all that a view asks for; then one stream is opened."""
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


def test_a_filter_keeps_out_what_comes_while_its_list_is_asked_for(
    served: Sandbox, wire: Api, open_page: Open
) -> None:
    """And what is to be shown with the list waits for it."""
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


def test_a_journal_that_is_rewound_while_it_is_asked_for_is_asked_for_again(
    served: Sandbox, wire: Api, open_page: Open
) -> None:
    """What has been forgotten meanwhile does not stay in the list."""
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


def test_what_is_filled_in_stays_while_another_operation_is_searched(
    served: Sandbox, open_page: Open
) -> None:
    """It is what is sent then, and its answer is shown; also where another account is to send it."""
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


def test_each_request_that_is_looked_at_tells_its_own_commands(wire: Api, open_page: Open) -> None:
    """However many have been opened before."""
    wire.get("/v3/domains/getDomain/one.com")
    wire.get("/v3/domains/getDomain/two.com")
    page = open_page()
    for request, name in (("r1", "one.com"), ("r2", "two.com"), ("r1", "one.com")):
        show(page, f"/#/journal/{request}")
        page.get_by_text("Send it again from elsewhere").click()
        expect(page.locator(".copied").first).to_contain_text(name)


def test_the_slider_moves_on_while_things_happen(wire: Api, open_page: Open) -> None:
    """Whoever stands in the past is not held up by the present."""
    wire.get("/v3/balance")
    wire.get("/v3/balance")
    page = open_page()
    show(page, "/#/names?at=after:r2")
    told(page, "page-past")
    page.get_by_role("slider", name="Travel in the history").focus()
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile("at=after:r1"))


def test_what_is_pressed_at_once_follows_what_was_chosen(served: Sandbox, open_page: Open) -> None:
    """Before the view has been drawn for it: nothing happens now that was to be planned."""
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


def test_a_filter_is_added_to_the_address_that_is_still_asked_for(open_page: Open) -> None:
    """Not to the one that is still shown."""
    page = open_page()
    show(page, "/#/names?like=active")
    with held(page, "**/_sandbox/names?*"):
        page.goto("/#/names?stage=overdue")
        page.get_by_label("Account").select_option("other")
        expect(page).to_have_url(re.compile(r"#/names\?stage=overdue&account=other$"))


def test_what_would_happen_is_told_of_the_last_choice_alone(open_page: Open) -> None:
    """What was asked for another one is not shown, not even for a moment."""
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


@pytest.mark.parametrize(("address", "label", "operation"), LEADING)
def test_nobody_is_led_on_who_has_gone_elsewhere(
    served: Sandbox, wire: Api, open_page: Open, address: str, label: str, operation: str
) -> None:
    """The answer that comes late is told where they are."""
    wire.get("/v3/domains/getDomain/active.com")
    served.snapshots.add("kept")
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
    assert page.evaluate("location.hash") == "#/money"


def test_nobody_is_led_into_a_file_who_has_gone_elsewhere(served: Sandbox, open_page: Open) -> None:
    """A world is made of the fixture all the same, and that is told."""
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


def test_an_advance_that_ends_after_its_world_was_left_moves_no_other_clock(
    served: Sandbox, side: Sandbox, open_page: Open
) -> None:
    """The head shows the time of the world that is looked at."""
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


def test_a_switch_stays_where_it_was_put_until_that_is_done(served: Sandbox, open_page: Open) -> None:
    """Whatever is drawn anew meanwhile; and goes back where that is refused."""
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
    """However often it is asked for before it is there."""
    page = open_page()
    show(page, "/#/faults")
    with held(page, "**/powers/faults.add.json"):
        for _ in range(2):
            page.get_by_role("button", name="hang", exact=True).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    settle(page)
    expect(page.get_by_role("dialog")).to_have_count(1)


def test_what_could_not_be_fetched_is_fetched_again(browser: Browser, url: str) -> None:
    """A server that is away for a moment leaves no view broken for good."""
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
