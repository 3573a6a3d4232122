"""The page all day: restarts, lost connections, places in lists, long values, Back, and several tabs."""

from __future__ import annotations

import json
from contextlib import ExitStack
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import Browser, expect

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.page.conftest import (
    BOTH,
    PATIENCE,
    Open,
    assert_accessible,
    assert_fits,
    enter,
    journal_rows,
    show,
)
from tests.registry import REGISTRY
from tests.waiting import wait_until

pytestmark = [pytest.mark.slow, BOTH]

MANY = 250
#: Reverses the direction of the text that follows.
OVERRIDE = "\u202e"


def test_a_stopped_server_is_reported_and_a_new_server_starts_an_empty_journal(browser: Browser) -> None:
    first, second = Sandbox(REGISTRY), Sandbox(REGISTRY)
    with ExitStack() as serving, ExitStack() as visiting:
        url = serving.enter_context(first.serve()).url
        page = visiting.enter_context(browser.new_context(base_url=url)).new_page()
        page.set_default_timeout(PATIENCE)
        first.client().get("/v3/balance")
        page.goto("/")
        expect(journal_rows(page)).to_have_count(1)
        page.evaluate("import('/_sandbox/page/views/names.js').then(() => 1)")  # a view that the browser has
        serving.close()
        expect(page.locator("body")).to_contain_text("The server does not answer")
        page.get_by_role("link", name="Names").click()
        expect(page.locator("main")).to_contain_text("The server does not answer")
        expect(page.locator("page-clock")).to_contain_text("not connected")
        page.get_by_role("link", name="Journal").click()
        with second.serve(port=urlsplit(url).port or 0):
            expect(page.locator("body")).not_to_contain_text("The server does not answer")
            expect(page.locator("page-notices")).to_contain_text("restarted")
            expect(journal_rows(page)).to_have_count(0)
            second.client().get("/v3/domains/getDomain/nobodys.com")
            expect(journal_rows(page)).to_have_count(1)


def test_a_list_keeps_its_scroll_position_and_shows_the_open_request(
    served: Sandbox, open_page: Open
) -> None:
    client = served.client()
    for _ in range(MANY):
        client.get("/v3/balance")
    page = open_page("/", viewport={"width": 1280, "height": 700})
    row = page.get_by_role("link").filter(has=page.get_by_text("r100", exact=True))

    def is_loaded() -> int:
        page.locator(".scroller").evaluate("(list) => list.scrollTo(0, list.scrollHeight)")
        return row.count()

    wait_until(is_loaded)
    row.scroll_into_view_if_needed()
    top = page.locator(".scroller").evaluate("(list) => list.scrollTop")
    assert top > 1000
    row.click()
    expect(page.get_by_role("region", name="Request r100")).to_be_in_viewport()
    expect(row).to_be_in_viewport()
    page.go_back()
    expect(page.get_by_role("region", name="Request r100")).to_have_count(0)
    expect(row).to_be_in_viewport()
    page.goto("/#/journal/r100")
    page.reload()
    expect(row).to_be_in_viewport()


def test_every_notice_has_enough_contrast(open_page: Open) -> None:
    for scheme in ("light", "dark"):
        page = open_page("/", color_scheme=scheme)
        show(page, "/#/names")
        page.evaluate(
            "import('/_sandbox/page/parts/notices.js').then(({ notice }) => "
            "['', 'bad'].forEach((tone) => notice('It is done.', 'more', tone)))"
        )
        expect(page.locator(".notice")).to_have_count(2)
        assert_accessible(page)


def test_long_values_do_not_make_table_rows_high_or_the_page_wide(
    served: Sandbox, wire: Api, open_page: Open
) -> None:
    names = [f"name-{number}.com" for number in range(50)]
    wire.post("/v3/domains/checkAvailability", {"domainNames": names})
    wire.get(f"/v3/{'long' * 375}")
    wire.get(f"/v3/{quote(OVERRIDE)}reversed")
    page = open_page("/", viewport={"width": 1280, "height": 700})
    rows = journal_rows(page)
    expect(rows).to_have_count(3)
    heights = rows.evaluate_all("(all) => all.map((row) => row.getBoundingClientRect().height)")
    assert max(heights) < 60, heights
    for number in (1, 2, 3):
        show(page, f"/#/journal/r{number}")
        expect(page.get_by_role("region", name=f"Request r{number}")).to_be_visible()
        assert_fits(page)


def test_the_back_button_undoes_a_filter_and_clears_its_text_field(
    served: Sandbox, wire: Api, open_page: Open
) -> None:
    wire.get("/v3/balance")
    wire.get("/v3/domains/getDomain/nobodys.com")
    page = open_page("/")
    expect(journal_rows(page)).to_have_count(2)
    search = page.get_by_label("Search", exact=True)
    enter(search, "NOBODYS")
    expect(journal_rows(page)).to_have_count(1)
    page.evaluate("history.back()")  # go_back waits for a load, which a new hash does not cause in Firefox
    expect(journal_rows(page)).to_have_count(2)
    expect(search).to_have_value("")


def test_a_typed_body_survives_a_change_of_account_and_the_back_button(
    served: Sandbox, open_page: Open
) -> None:
    page = open_page("/")
    show(page, "/#/console/v3.createDomain")
    typed = json.dumps({"domain": {"domainName": "typed.com"}})
    body = page.get_by_label("Body", exact=True)
    body.fill(typed)
    page.locator(".bar select").select_option("other")
    expect(body).to_have_value(typed)
    show(page, "/#/names")
    page.go_back()
    expect(body).to_have_value(typed)


def test_two_tabs_share_one_stream(served: Sandbox, open_page: Open, wire: Api) -> None:
    first = open_page("/")
    requests: list[str] = []
    first.context.on("request", lambda request: requests.append(request.url))
    show(first, "/#/journal")
    second = first.context.new_page()
    show(second, "/#/journal")
    wire.get("/v3/balance")
    for page in (first, second):
        expect(journal_rows(page)).to_have_count(1)
    assert sum("/follow" in request for request in requests) <= 1
