"""The names in a browser: searched, filtered, sorted and paged; and a name's own view."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.page.conftest import Open, assert_accessible

pytestmark = pytest.mark.slow


def test_names_are_found_by_the_server(served: Sandbox, open_page: Open) -> None:
    page = open_page("/#/names")
    rows = page.get_by_role("list", name="Names").get_by_role("listitem")
    every = served.names.list(limit=1000).names
    expect(rows).to_have_count(min(50, len(every)))
    page.keyboard.press("/")
    page.keyboard.type("active")
    page.keyboard.press("Enter")
    expect(rows).to_have_count(len([one for one in every if "active" in one.name]))
    page.goto("/#/names?stage=overdue")
    expect(rows).to_have_count(len([one for one in every if one.stage == "overdue"]))
    page.get_by_label("Account").select_option("other")
    held = [one for one in every if one.stage == "overdue" and one.account == "other"]
    expect(rows).to_have_count(len(held))
    expect(page).to_have_url(re.compile("account=other"))
    page.goto("/#/names?sort=expires")
    soonest = min(every, key=lambda one: (one.expires, one.order))
    expect(rows.first).to_contain_text(soonest.name)


def test_pages_follow_each_other(served: Sandbox, open_page: Open) -> None:
    for number in range(60):
        served.names.add(f"many{number}.com", account="main")
    page = open_page("/#/names?like=many")
    rows = page.get_by_role("list", name="Names").get_by_role("listitem")
    expect(rows).to_have_count(50)
    page.get_by_role("link", name="further").click()
    expect(rows).to_have_count(10)
    page.get_by_role("link", name="before").click()
    expect(rows).to_have_count(50)


def test_a_name_is_shown_with_its_life(served: Sandbox, wire: Api, open_page: Open) -> None:
    wire.post("/v3/domains/createDomain", {"domain": {"domainName": "new.com"}})
    page = open_page("/#/names/new.com")
    expect(page.get_by_role("img", name="The name is active")).to_be_visible()
    story = page.locator(".timeline li")
    expect(story.first).to_contain_text("v3.createDomain")
    expect(story.last).to_contain_text("expiry")
    expect(page.locator(".spent")).to_contain_text("registration")
    told = {
        "GET /v3/domains/getDomain/new.com": '"domainName": "new.com"',
        "GET /V2.0/domain/new.com": "date_end",
    }
    for asked, answer in told.items():
        shown = page.locator(".pair > div").filter(has_text=asked)
        expect(shown.locator(".ok")).to_have_text("200")
        expect(shown.locator("pre")).to_contain_text(answer)
    assert served.journal.find().matching == 1
    assert_accessible(page)
    served.clock.advance(until={"domain": "new.com", "stage": "overdue"})
    expect(page.get_by_role("img", name="The name is overdue")).to_be_visible()
    phone = open_page("/#/names/new.com", viewport={"width": 390, "height": 800})
    expect(phone.locator(".box.lit")).to_be_in_viewport(ratio=1)


def test_third_parties_act_on_a_name(served: Sandbox, open_page: Open) -> None:
    page = open_page("/#/names/free.com")
    expect(page.get_by_text("nobody holds it")).to_be_visible()
    page.get_by_role("button", name="A stranger registers it", exact=True).click()
    expect(page.get_by_role("button", name="The registry releases it", exact=True)).to_be_visible()
    assert served.names["free.com"].account == "outside"


def test_a_name_at_a_moment_has_an_address(served: Sandbox, wire: Api, open_page: Open) -> None:
    wire.post("/v3/domains/createDomain", {"domain": {"domainName": "new.com"}})
    served.clock.advance("P800D")
    page = open_page("/#/names/new.com?at=after:r1")
    expect(page.get_by_role("img", name="The name is active")).to_be_visible()
    expect(page.locator(".timeline .here")).to_contain_text("then")
    page.goto("/#/names/new.com")
    expect(page.get_by_role("img", name="The name is released")).to_be_visible()
