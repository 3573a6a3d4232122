"""Whatever names, bodies and headers hold is shown as text, and runs nothing."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from reseller_sandbox import Sandbox
from tests.clients import Api, person
from tests.page.conftest import Open, show, views

pytestmark = pytest.mark.slow

#: What would run, or break out of where it stands, in a page that took text for markup.
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


@pytest.fixture
def _hostile(served: Sandbox, wire: Api) -> None:
    """A world that has them wherever a caller can put something."""
    for number, text in enumerate(CORPUS):
        shown = "".join(one for one in text if one.isprintable())
        body = {
            "domain": {
                "domainName": f"one-{number}.com",
                "contacts": {"reg-contact": person(text, city=text)},
            }
        }
        wire.post("/v3/domains/createDomain", body)
        wire.post("/v3/domains/createDomain", {text: text, "domain": text})
        wire.send("GET", f"/v3/{quote(text, safe='')}?{quote(text, safe='')}=1", [("X-Evil", quote(text))])
        served.faults.add(
            "error",
            name=f"hostile-{number}",
            status=418,
            body=text,
            match={"path": f"/v3/balance/{number}", "body": {text: text}},
        )
        served.accounts.add(
            f"account {shown}",
            contact={"name": shown},
            key=f"k{number}",
            secret=f"s{number}",
            token=f"t{number}",
        )
        served.outside.when(after={"body": {"x": text}}).register("free.com", auth_code=shown)


def _nothing_ran(page: Page) -> None:
    assert page.evaluate("typeof hacked") == "undefined"
    assert page.evaluate("({}).polluted") is None
    for made in (
        "img",
        "iframe",
        "script[src='']",
        "[onload]",
        "[onerror]",
        "[onfocus]",
        "a[href^='javascript:']",
    ):
        assert page.locator(f"main {made}").count() == 0, made


@pytest.mark.usefixtures("_hostile")
def test_no_view_runs_its_contents(open_page: Open, served: Sandbox) -> None:
    page = open_page("/")
    requests = [one.id for one in served.journal.find().requests]
    names = [f"names/one-{number}.com" for number in range(len(CORPUS))]
    for address in (*views(), *(f"journal/{one}" for one in requests), *names):
        show(page, f"/#/{address}")
        _nothing_ran(page)


def test_a_hostile_body_is_shown_unchanged(open_page: Open, served: Sandbox, wire: Api) -> None:
    wire.post("/v3/domains/createDomain", {"domain": {"domainName": CORPUS[1]}})
    page = open_page("/#/journal/r1")
    expect(page.locator("main pre").filter(has_text=CORPUS[1]).first).to_be_visible()
    _nothing_ran(page)


def test_no_view_runs_what_its_address_has(open_page: Open) -> None:
    page = open_page("/")
    for text in (quote(text, safe="") for text in CORPUS):
        for view in ("names", "outside", "console", "assumptions", "journal"):
            show(page, f"/#/{view}/{text}?q={text}&domain={text}")
            _nothing_ran(page)
