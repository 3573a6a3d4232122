"""The journal in a browser: live, one request in full, and actions on a request."""

from __future__ import annotations

import re
import subprocess
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Route, expect

from reseller_sandbox import Sandbox
from tests.clients import Answer, Api
from tests.command import program
from tests.page.conftest import WIDTHS, Open, assert_accessible, assert_fits, journal_rows, press, show

pytestmark = pytest.mark.slow

CREATE = {"domain": {"domainName": "new.com"}}
GUIDE = "Your program finds this sandbox"


def test_the_journal_shows_each_request_on_arrival(wire: Api, open_page: Open) -> None:
    wire.get("/v3/balance")
    page = open_page()
    show(page, "/#/names")
    meanwhile: list[Answer] = []

    def take(route: Route) -> None:
        route.continue_()
        if not meanwhile:
            meanwhile.append(wire.get("/v3/balance"))

    page.route("**/journal/lines", take)
    page.goto("/#/journal")
    rows = journal_rows(page)
    expect(rows).to_have_count(2)
    expect(page.locator(".bar")).to_contain_text("2 requests")
    page.unroute_all(behavior="wait")
    for _ in range(2):
        wire.post("/v3/domains/createDomain", CREATE)
    expect(rows).to_have_count(4)
    expect(rows.first).to_contain_text("name_taken")
    expect(rows.first).to_contain_text("is already registered")
    expect(rows.nth(1)).to_contain_text("−10")


def test_an_empty_journal_shows_an_example_request_and_the_credentials(
    served: Sandbox, open_page: Open
) -> None:
    with served.fork(name="fresh") as fork:
        page = open_page("/#/journal?world=fresh", viewport={"width": 390, "height": 800})
        view, account = page.locator("#view"), fork.accounts["main"]
        expect(view).to_contain_text(f"{urlsplit(page.url).netloc}/_worlds/fresh, with the credentials")
        for credential in (account.key, account.secret, account.token):
            expect(view.get_by_text(credential, exact=True)).to_be_attached()
        assert_accessible(page)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            assert_fits(page)
        page.get_by_text("Copy as…").click()
        fork.clock.advance("P1D")  # an event that is no request
        command = view.locator(".copied", has_text="curl").first.locator("code")
        expect(command).to_contain_text(f"{account.key}")
        page.get_by_role("link", name="Send a first request").click()
        press(page, "Send")
        expect(page.get_by_text("200 OK")).to_be_visible()
        show(page, "/#/journal?world=fresh")
        expect(page.get_by_text(GUIDE)).to_have_count(0)
        fork.journal.clear()
        expect(page.get_by_text(GUIDE)).to_be_visible()
        show(page, "/#/journal?world=fresh&outcome=refused")
        expect(page.get_by_text("No events yet")).to_be_visible()
        expect(page.get_by_text(GUIDE)).to_have_count(0)


def test_a_journal_entry_shows_the_whole_request_in_aligned_columns(wire: Api, open_page: Open) -> None:
    for _ in range(2):
        wire.post("/v3/domains/createDomain", CREATE)
    page = open_page("/")
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        expect(page.get_by_text("name_taken")).to_be_visible()
        for column in ("id", "status", "operation", "who"):
            lefts = page.locator(f"ol.journal .{column}").evaluate_all(
                "all => all.map((one) => Math.round(one.getBoundingClientRect().left))"
            )
            assert (len(lefts) > 1, len(set(lefts))) == (True, 1), column
    page.get_by_role("link", name="r2").click()
    detail = page.get_by_role("region", name="Request r2")
    expect(detail).to_contain_text("Refused: name_taken")
    for tab, text in (("Request", "domainName"), ("Response", "is already"), ("Changes", "No changes.")):
        detail.get_by_role("tab", name=tab).click()
        expect(detail).to_contain_text(text)
        assert_accessible(page)
    page.keyboard.press("j")
    page.get_by_role("tab", name="Request").click()
    assert "\n," not in page.locator(".json").inner_text()
    page.get_by_role("tab", name="Changes").click()
    expect(page.get_by_role("region", name="Request r1")).to_contain_text("-10.00 charge: registration")
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile("#/journal$"))


def test_a_journal_entry_has_buttons_for_a_fork_and_a_rewind(
    served: Sandbox, wire: Api, open_page: Open
) -> None:
    wire.get("/v3/balance")
    wire.post("/v3/domains/createDomain", CREATE)
    page = open_page("/#/journal/r2")
    page.get_by_text("More actions").click()
    press(page, "Fork from before")
    world = page.get_by_label("World", exact=True)
    expect(world).not_to_have_value("default")
    assert page.request.get(f"/_worlds/{world.input_value()}/_sandbox/names/new.com").status == 404
    page.goto("/#/journal/r2")
    page.get_by_text("More actions").click()
    press(page, "Rewind to before")
    expect(journal_rows(page).first).to_contain_text("history.rewind")
    expect(page.get_by_role("link", name="r2")).to_have_count(0)
    assert "new.com" not in served.names
    assert [branch.name for branch in served.branches] == ["b1"]
    press(page, "Undo")
    expect(page.get_by_role("link", name="r2")).to_be_visible()
    assert "new.com" in served.names


def test_the_journal_filter_is_in_the_address_of_the_page(
    served: Sandbox, wire: Api, open_page: Open
) -> None:
    served.simulate.when(after="v3.balance").register("planned.com")
    wire.get("/v3/balance")
    served.clock.advance("P30D")
    wire.get("/v3/domains/getDomain/none.com")
    page = open_page("/")
    rows = journal_rows(page)
    log = served.events.list(limit=500).events
    expect(rows).to_have_count(len(log))
    expect(rows.first).to_contain_text("none.com")
    page.get_by_label("Kind").select_option("scheduled")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("planned.com")
    page.get_by_label("Kind").select_option("time")
    expect(rows).to_have_count(len([event for event in log if event.kind == "time"]))
    page.goto("/#/journal")
    page.get_by_label("Outcome").select_option("refused")
    expect(rows).to_have_count(1)
    other = open_page("/" + page.evaluate("location.hash"))
    expect(journal_rows(other)).to_have_count(1)
    wire.get("/v3/balance")
    wire.get("/v3/domains/getDomain/none.net")
    expect(journal_rows(other)).to_have_count(2)
    other.keyboard.press("/")
    other.keyboard.type("none.com")
    other.keyboard.press("Enter")
    expect(journal_rows(other)).to_have_count(1)
    for status, count in (("5xx", 0), ("4xx", 2), ("404", 2)):
        page.get_by_label("Status").fill(status)
        page.keyboard.press("Enter")
        expect(journal_rows(page)).to_have_count(count)


def test_a_request_is_copied_as_code(served: Sandbox, wire: Api, open_page: Open) -> None:
    wire.post("/v3/domains/createDomain", CREATE)
    wire.send("GET", "/V2.0/domain/new.com/check", [("X-Auth-Token", served.accounts["main"].token)])
    for number, answer in ((1, "name_taken"), (2, '"code":200')):
        page = open_page(f"/#/journal/r{number}")
        page.get_by_text("Copy as…").click()
        shell, curl, python, php, node = (
            page.locator(".copied").filter(has_text=re.compile(f"^{name}")).locator("code").inner_text()
            for name in ("Shell", "curl", "httpx", "PHP", "Node")
        )
        assert re.fullmatch(r"reseller-sandbox request .* --account main", shell, re.DOTALL)
        assert answer in eval(python, {"httpx": httpx}).text.replace('": ', '":')
        for command in (
            ["sh", "-c", curl],
            [program("php"), "-r", php],
            [program("node"), "--input-type=module", "-e", node],
        ):
            assert answer in subprocess.run(command, capture_output=True, text=True, check=True).stdout
