"""The journal in a browser: live, one request in full, and what can be done about it."""

from __future__ import annotations

import re
import subprocess
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.outfit import program
from tests.page.conftest import WIDTHS, Open, assert_accessible, assert_fits, show
from tests.registry import connect

pytestmark = pytest.mark.slow


def rows_of(page: Page) -> Locator:
    """Return the rows of the journal."""
    return page.get_by_role("list", name="What happened").get_by_role("listitem")


CREATE = {"domain": {"domainName": "new.com"}}


def test_requests_appear_when_they_come(wire: Api, open_page: Open) -> None:
    wire.get("/v3/balance")
    page = open_page("/")
    rows = rows_of(page)
    expect(rows).to_have_count(1)
    wire.post("/v3/domains/createDomain", CREATE)
    wire.post("/v3/domains/createDomain", CREATE)
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("name_taken")
    expect(rows.first).to_contain_text("is registered already")
    expect(rows.nth(1)).to_contain_text("−10")


def test_a_request_before_the_stream_is_open_is_shown(wire: Api, open_page: Open) -> None:
    for count in (1, 3):
        page = open_page()
        show(page, "/#/names")
        page.route("**/journal/follow*", lambda route: (wire.get("/v3/balance"), route.continue_()))
        page.goto("/#/journal")
        expect(rows_of(page)).to_have_count(count)
        expect(page.locator(".bar")).to_contain_text(re.compile(rf"{count} requests?$"))
        wire.get("/v3/balance")
        page.close()


def test_an_empty_journal_shows_address_credentials_and_a_request(served: Sandbox, open_page: Open) -> None:
    with served.fork(name="fresh") as fork:
        page = open_page("/#/journal?world=fresh", viewport={"width": 390, "height": 800})
        view, own = page.locator("#view"), fork.accounts["main"]
        expect(view).to_contain_text(f"{urlsplit(page.url).netloc}/_worlds/fresh, with the credentials")
        for told in (own.key, own.secret, own.token):
            expect(view.get_by_text(told, exact=True)).to_be_attached()
        assert_accessible(page)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            assert_fits(page)
        page.get_by_text("Send one from elsewhere").click()
        fork.clock.advance("P1D")  # which is no request
        command = view.locator(".copied", has_text="curl").first.locator("code")
        expect(command).to_contain_text(f"{own.key}")
        page.get_by_role("link", name="Send a first request").click()
        page.get_by_role("button", name="Send", exact=True).click()
        expect(page.get_by_text("200 OK")).to_be_visible()
        assert [one.operation for one in fork.journal.find().requests] == ["v3.balance"]
        show(page, "/#/journal?world=fresh")
        expect(page.get_by_text("Your program finds this sandbox")).to_have_count(0)
        fork.journal.clear()
        expect(page.get_by_text("Your program finds this sandbox")).to_be_visible()
        fork.client().get("/v3/balance")
        expect(page.get_by_text("Your program finds this sandbox")).to_have_count(0)
        show(page, "/#/journal?world=fresh&outcome=refused")
        expect(page.get_by_text("Nothing is here yet")).to_be_visible()
        expect(page.get_by_text("Your program finds this sandbox")).to_have_count(0)


def test_many_requests_are_drawn_in_bundles(served: Sandbox, open_page: Open) -> None:
    """The latest rows are complete, however fast requests come."""
    page = open_page("/")
    expect(page.get_by_text("Nothing is here yet")).to_be_visible()
    page.evaluate(
        "window.drawn = 0; new MutationObserver(() => window.drawn++)"
        ".observe(document.querySelector('main'), {childList: true, subtree: true})"
    )
    api = connect(served)  # not over a socket: they have to come faster than pictures are drawn
    for _ in range(350):
        api.get("/v3/balance")
    rows = rows_of(page)
    expect(rows.first).to_contain_text("r350")
    expect(rows).to_have_count(300)
    expect(rows.last).to_contain_text("r51")
    expect(page.locator(".bar")).to_contain_text(re.compile(r"350 requests$"))
    assert page.evaluate("window.drawn") < 350


def test_a_request_is_shown_whole(wire: Api, open_page: Open) -> None:
    wire.post("/v3/domains/createDomain", CREATE)
    wire.post("/v3/domains/createDomain", CREATE)
    page = open_page("/")
    page.get_by_role("link", name="r2").click()
    detail = page.get_by_role("region", name="Request r2")
    expect(detail).to_contain_text("Refused: name_taken")
    expect(detail).to_contain_text("POST /v3/domains/createDomain")
    expect(detail).to_contain_text("It changed nothing")
    expect(detail).to_contain_text("v3.errors.http_status")
    assert_accessible(page)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    first = page.get_by_role("region", name="Request r1")
    expect(first).to_contain_text("orders")
    expect(first).to_contain_text("-10.00 charge: registration")


def test_a_rewind_and_a_fork_take_a_click(served: Sandbox, wire: Api, open_page: Open) -> None:
    wire.get("/v3/balance")
    wire.post("/v3/domains/createDomain", CREATE)
    page = open_page("/#/journal/r2")
    page.get_by_role("button", name="Fork from before", exact=True).click()
    world = page.get_by_label("World", exact=True)
    expect(world).not_to_have_value("default")
    assert page.request.get(f"/_worlds/{world.input_value()}/_sandbox/names/new.com").status == 404
    served.worlds.remove(world.input_value())
    page.goto("/#/journal/r2")
    page.get_by_role("button", name="Rewind to before", exact=True).click()
    rows = rows_of(page)
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("history.rewind")
    expect(rows.last).to_contain_text("r1")
    assert "new.com" not in served.names
    assert [one.name for one in served.branches] == ["b1"]


def test_a_filter_is_an_address(wire: Api, open_page: Open) -> None:
    wire.get("/v3/balance")
    wire.get("/v3/domains/getDomain/none.com")
    page = open_page("/")
    page.get_by_label("Outcome").select_option("refused")
    rows = rows_of(page)
    expect(rows).to_have_count(1)
    other = open_page("/" + page.evaluate("location.hash"))
    found = rows_of(other)
    expect(found).to_have_count(1)
    wire.get("/v3/balance")
    wire.get("/v3/domains/getDomain/none.net")
    expect(found).to_have_count(2)
    expect(found.first).to_contain_text("none.net")
    other.keyboard.press("/")
    other.keyboard.type("none.com")
    other.keyboard.press("Enter")
    expect(found).to_have_count(1)


def test_events_of_all_kinds_are_listed_together(served: Sandbox, wire: Api, open_page: Open) -> None:
    page = open_page("/")
    served.outside.when(after="v3.balance").register("planned.com")
    wire.get("/v3/balance")
    served.clock.advance("P30D")
    rows = rows_of(page)
    log = served.events.find(limit=500).events
    expect(rows).to_have_count(len(log))
    expect(rows.first).to_contain_text(log[-1].name)
    page.get_by_label("Kind").select_option("plan")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("planned.com")
    page.get_by_label("Kind").select_option("time")
    expect(rows).to_have_count(len([one for one in log if one.kind == "time"]))
    served.clock.advance("P60D")
    expect(rows).to_have_count(len(served.events.find(kind="time", limit=500).events))


def test_a_button_makes_the_next_such_request_fail(served: Sandbox, wire: Api, open_page: Open) -> None:
    wire.post("/v3/domains/createDomain", CREATE)
    page = open_page("/#/journal/r1")
    page.get_by_role("button", name="Make this fail next time", exact=True).click()
    sheet = page.get_by_role("dialog", name="Make this fail next time")
    expect(sheet).to_contain_text("reseller-sandbox faults add reset")
    sheet.get_by_role("button", name="Make this fail next time", exact=True).click()
    expect(page.locator("page-notices")).to_contain_text("waits for it")
    (rule,) = served.faults.list().faults
    assert rule.match == {"operation": "v3.createDomain", "domain": "new.com"}
    assert rule.when["times"] == 1


def test_a_request_is_sent_again_from_elsewhere(served: Sandbox, wire: Api, open_page: Open) -> None:
    wire.post("/v3/domains/createDomain", CREATE)
    wire.send("GET", "/V2.0/domain/new.com/check", [("X-Auth-Token", served.account().token)])
    for number, answered in ((1, "name_taken"), (2, '"code":200')):
        page = open_page(f"/#/journal/r{number}")
        page.get_by_text("Send it again from elsewhere").click()
        told = {
            name: page.locator(".copied").filter(has_text=re.compile(f"^{name}")).locator("code").inner_text()
            for name in ("Shell", "curl", "httpx", "PHP", "Node")
        }
        assert told["Shell"].startswith("reseller-sandbox request ")
        assert told["Shell"].endswith(" --account main")
        done = subprocess.run(told["curl"], shell=True, capture_output=True, text=True, check=True)
        assert answered in done.stdout
        assert answered in eval(told["httpx"], {"httpx": httpx}).text.replace('": ', '":')
        for words in ((program("php"), "-r"), (program("node"), "--input-type=module", "-e")):
            code = told["PHP" if "-r" in words else "Node"]
            assert (
                answered in subprocess.run([*words, code], capture_output=True, text=True, check=True).stdout
            )


def test_columns_are_aligned(open_page: Open, served: Sandbox, wire: Api) -> None:
    for _ in range(2):
        wire.post("/v3/domains/createDomain", {"domain": {"domainName": "one.com"}})
    wire.get("/v3/balance")
    served.clock.advance("P400D")
    page = open_page("/#/journal", viewport={"width": 1440, "height": 800})
    expect(page.get_by_text("name_taken")).to_be_visible()
    for width in (390, 1000, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        for column in ("id", "status", "operation", "who"):
            lefts = page.locator(f".journal .{column}").evaluate_all(
                "all => all.map((one) => Math.round(one.getBoundingClientRect().left))"
            )
            assert len(lefts) > 3
            assert len(set(lefts)) == 1, column
