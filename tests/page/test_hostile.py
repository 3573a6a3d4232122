"""Names, bodies and headers are shown as text and run nothing."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from reseller_sandbox import Sandbox
from tests.clients import Api, person
from tests.page.conftest import Open, show, views

pytestmark = pytest.mark.slow

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
        sandbox.outside.when(after={"body": {"x": text}}).register("free.com", auth_code=shown)


def assert_nothing_ran(page: Page) -> None:
    assert page.evaluate("typeof hacked") == "undefined"
    assert page.evaluate("({}).polluted") is None
    assert page.locator("main").locator(MARKUP).count() == 0


def test_no_view_runs_its_contents(open_page: Open, served: Sandbox, wire: Api) -> None:
    fill(served, wire)
    requests = [f"journal/{entry.id}" for entry in served.journal.find().requests]
    names = [f"names/one-{number}.com" for number in range(len(CORPUS))]
    page = open_page("/")
    for address in (*views(), *requests, *names):
        show(page, f"/#/{address}")
        assert_nothing_ran(page)
    wire.post("/v3/domains/createDomain", {"domain": {"domainName": CORPUS[1]}})
    page.goto(f"/#/journal/r{3 * len(CORPUS) + 1}")
    expect(page.locator("main pre").filter(has_text=CORPUS[1]).first).to_be_visible()


def test_no_view_runs_its_address(open_page: Open) -> None:
    page = open_page("/")
    for text in (quote(text, safe="") for text in CORPUS):
        for view in ("names", "outside", "console", "assumptions", "journal"):
            show(page, f"/#/{view}/{text}?q={text}&domain={text}")
            assert_nothing_ran(page)
