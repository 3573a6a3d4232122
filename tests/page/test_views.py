"""Every view, the manual and the reader of OpenAPI documents: accessible, in every window, and safe."""

from __future__ import annotations

import re
import sys
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from reseller_sandbox import Sandbox
from tests.clients import Api, person
from tests.command import printed
from tests.page.conftest import WIDTHS, Open, assert_accessible, assert_fits, show, views

#: Further addresses at which a view shows the most.
MORE = (
    "/#/console/v3.createDomain",
    "/#/journal/r2",
    "/#/third-parties/active.com?when=at&on=P3D",
    "/#/worlds?from=default&to=default",
)
PAGES = ("/_sandbox/manual", "/_sandbox/manual/tutorial", "/_sandbox/manual/reference/control-simulate")


#: Texts that would run, or leave their place, in a page that took text for markup.
CORPUS = (
    "<script>hacked = 1</script>",
    "<img src=x onerror='hacked = 1'>",
    "\"><svg onload='hacked = 1'>",
    "'-hacked=1-'",
    "</pre></textarea></style></title><img src=x onerror=hacked=1>",
    "javascript:hacked=1",
    "{{constructor.constructor('hacked=1')()}}${hacked=1}",
    "<a href='javascript:hacked=1' data-view='' autofocus onfocus='hacked=1'>x</a>",
    "&lt;img src=x onerror=hacked=1&gt;",
    "__proto__",
    "\u202egnp.exe\u0000\u2028<iframe srcdoc='<script>parent.hacked=1</script>'>",
)
MARKUP = "img, iframe, script[src=''], [onload], [onerror], [onfocus], a[href^='javascript:']"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_view_is_accessible_and_fits_every_window(
    open_page: Open, served: Sandbox, wire: Api, subtests: pytest.Subtests, scheme: Any
) -> None:
    for _ in range(2):
        wire.post("/v3/domains/createDomain", {"domain": {"domainName": "one.com"}})
        wire.post("/v3/domains/renewDomain/active.com")
    served.faults.preset("flaky")
    served.accounts.when("P3D").set_balance("main", 0)
    served.assumptions.set({"v3.switches.repeated": "refused"})
    page = open_page(color_scheme=scheme)
    for address in (*(f"/#/{view}" for view in views()), *MORE):
        with subtests.test(address=address):
            show(page, address)
            assert_accessible(page)
            assert "`" not in page.locator("body").inner_text()
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 800})
                assert_fits(page)
                expect(page.locator("nav [aria-current]")).to_be_in_viewport(ratio=1)
    for path in PAGES:
        with subtests.test(path=path):
            page.goto(path)
            expect(page.locator("h1")).to_be_visible()
            assert_accessible(page)
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 800})
                assert_fits(page)


@pytest.mark.slow
def test_the_search_box_of_the_manual_lists_what_the_command_lists(open_page: Open) -> None:
    page = open_page("/_sandbox/manual/how-to/faults")
    for words in ("lost response", "trustme", "fork world"):
        lines = [line for line in printed("manual", "--search", words).splitlines() if line[0] not in " …"]
        page.get_by_label("Search the manual").fill(words)
        links = page.locator("#search-results a")
        expect(links.first).to_have_text(lines[0].partition("  ")[2])
        texts = links.all_text_contents()
        assert texts[: len(lines)] == [line.partition("  ")[2] for line in lines]
    links.first.click()
    expect(page.locator("h1")).to_be_visible()
    page.get_by_label("Search the manual").fill("no-such-word")
    expect(page.locator("#search-results")).to_have_text("Nothing found.")


@pytest.mark.slow
def test_the_api_reader_shows_each_document_and_is_accessible(open_page: Open) -> None:
    for document, scheme in (("v2", "light"), ("v2", "dark"), ("v3", "light"), ("control", "light")):
        page = open_page(f"/_sandbox/reader?document={document}", color_scheme=scheme)
        expect(page.locator(".opblock").first).to_be_visible()
        expect(page.locator("nav [aria-current]")).to_have_count(1)
        if document == "v2":
            for method in ("get", "post", "put", "delete"):
                operation = page.locator(f".opblock-{method}").first
                operation.locator(".opblock-summary-control").click()
                expect(operation.locator(".responses-table").first).to_be_visible()
            page.locator(".opblock-post .responses-table .tablinks").get_by_text("Schema").first.click()
            assert_accessible(page)


@pytest.mark.slow
def test_each_operation_in_the_api_reader_has_its_own_address(open_page: Open) -> None:
    page = open_page("/_sandbox/reader?document=v3")
    page.locator("#operations-balance-balance .opblock-summary-control").click()
    expect(page).to_have_url(re.compile("#/balance/balance$"))
    other = open_page(page.url.replace(page.evaluate("location.origin"), ""))
    expect(other.locator("#operations-balance-balance .responses-table").first).to_be_visible()


def test_without_swagger_ui_the_api_reader_shows_the_extra_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = Sandbox("empty").app.test_client()
    for name in ("page.html", "index.html", "%2e%2e%2freader.py", "swagger-ui.js"):
        assert client.get(f"/_sandbox/reader/{name}").status_code == 404
    monkeypatch.setitem(sys.modules, "flask_swagger_ui", None)
    refused = client.get("/_sandbox/reader/swagger-ui.css")
    assert (refused.status_code, refused.json["error"]) == (404, "unknown_page")
    assert "pip install 'flask-swagger-ui" in refused.json["message"]


def fill(sandbox: Sandbox, api: Api) -> None:
    """Put the texts wherever a caller can put something."""
    for number, text in enumerate(CORPUS):
        shown = "".join(character for character in text if character.isprintable())
        contacts = {"reg-contact": person(text, city=text)}
        create = {"domain": {"domainName": f"one-{number}.com", "contacts": contacts}}
        api.post("/v3/domains/createDomain", create)
        api.post("/v3/domains/createDomain", {text: text, "domain": text})
        api.send("GET", f"/v3/{quote(text, safe='')}?{quote(text, safe='')}=1", [("X-Evil", quote(text))])
        match = {"path": f"/v3/balance/{number}", "body": {text: text}}
        sandbox.faults.add("error", name=f"hostile-{number}", status=418, body=text, match=match)
        credentials = {"key": f"k{number}", "secret": f"s{number}", "token": f"t{number}"}
        sandbox.accounts.add(f"account {shown}", contact={"name": shown}, **credentials)
        sandbox.simulate.when(after={"body": {"x": text}}).register("free.com", auth_code=shown)


def assert_nothing_ran(page: Page) -> None:
    assert page.evaluate("typeof hacked") == "undefined"
    assert page.evaluate("({}).polluted") is None
    assert page.locator("main").locator(MARKUP).count() == 0


@pytest.mark.slow
def test_no_view_runs_scripts_that_its_data_contains(open_page: Open, served: Sandbox, wire: Api) -> None:
    fill(served, wire)
    requests = [f"journal/{entry.id}" for entry in served.journal.list().requests]
    names = [f"names/one-{number}.com" for number in range(len(CORPUS))]
    page = open_page("/")
    for address in (*views(), *requests, *names):
        show(page, f"/#/{address}")
        assert_nothing_ran(page)
    wire.post("/v3/domains/createDomain", {"domain": {"domainName": CORPUS[1]}})
    page.goto(f"/#/journal/r{3 * len(CORPUS) + 1}?tab=request")
    expect(page.locator("main pre").filter(has_text=CORPUS[1]).first).to_be_visible()


@pytest.mark.slow
def test_no_view_runs_scripts_that_its_address_contains(open_page: Open) -> None:
    page = open_page("/")
    for text in (quote(text, safe="") for text in CORPUS):
        for view in ("names", "third-parties", "console", "assumptions", "journal"):
            show(page, f"/#/{view}/{text}?q={text}&domain={text}")
            assert_nothing_ran(page)
