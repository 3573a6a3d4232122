"""The views of names and of money."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.page.conftest import BOTH, Open, assert_accessible, enter, name_rows, press, show

pytestmark = [pytest.mark.slow, BOTH]


def test_the_list_of_names_has_a_search_and_filters_and_an_order_and_pages(
    served: Sandbox, open_page: Open
) -> None:
    page = open_page("/#/names")
    rows, every = name_rows(page), served.names.list(limit=1000).names
    expect(rows).to_have_count(min(50, len(every)))
    page.keyboard.press("/")
    page.keyboard.type("active")
    page.keyboard.press("Enter")
    expect(rows).to_have_count(len([name for name in every if "active" in name.name]))
    page.goto("/#/names?stage=overdue")
    overdue = [name.account for name in every if name.stage == "overdue"]
    expect(rows).to_have_count(len(overdue))
    page.get_by_label("Account", exact=True).select_option("other")
    expect(rows).to_have_count(overdue.count("other"))
    expect(page).to_have_url(re.compile("account=other"))
    page.goto("/#/names?sort=expires")
    expect(rows.first).to_contain_text(min(every, key=lambda name: (name.expires, name.order)).name)
    for number in range(60):
        served.names.add(f"many{number}.com", account="main")
    show(page, "/#/names?like=many")
    expect(rows).to_have_count(50)
    for direction, count in (("next →", 10), ("← previous", 50)):
        page.get_by_role("link", name=direction, exact=True).click()
        expect(rows).to_have_count(count)


def test_the_view_of_a_name_shows_its_lifecycle(served: Sandbox, wire: Api, open_page: Open) -> None:
    wire.post("/v3/domains/createDomain", {"domain": {"domainName": "new.com"}})
    page = open_page("/#/names/new.com")
    expect(page.get_by_role("img", name="The name is active")).to_be_visible()
    story = page.locator(".timeline li")
    expect(story.first).to_contain_text("v3.createDomain")
    expect(story.last).to_contain_text("expiry")
    expect(page.locator(".spent")).to_contain_text("registration")
    for request, text in (
        ("GET /v3/domains/getDomain/new.com", '"domainName": "new.com"'),
        ("GET /V2.0/domain/new.com", "date_end"),
    ):
        shown = page.locator(".pair > div").filter(has_text=request)
        expect(shown.locator(".ok")).to_have_text("200")
        expect(shown.locator("pre")).to_contain_text(text)
    assert served.journal.list().matching == 1
    assert_accessible(page)
    served.clock.advance(until={"domain": "new.com", "stage": "overdue"})
    expect(page.get_by_role("img", name="The name is overdue")).to_be_visible()
    phone = open_page("/#/names/new.com", viewport={"width": 390, "height": 800})
    expect(phone.locator(".box.lit")).to_be_in_viewport(ratio=1)
    served.clock.advance("P800D")
    expect(page.get_by_role("img", name="The name is released")).to_be_visible()
    page.goto("/#/names/new.com?at=after:r1")
    expect(page.get_by_role("img", name="The name is active")).to_be_visible()
    expect(page.locator(".timeline .here")).to_contain_text("then")


def test_third_parties_act_on_a_name(served: Sandbox, open_page: Open) -> None:
    page = open_page("/#/names/free.com")
    expect(page.get_by_text("not registered")).to_be_visible()
    press(page, "A stranger registers it")
    expect(page.get_by_role("button", name="The registry releases it", exact=True)).to_be_visible()
    assert served.names["free.com"].account == "outside"


def test_the_money_view_draws_balances_and_links_requests(
    open_page: Open, served: Sandbox, wire: Api
) -> None:
    served.clock.advance("P2D")
    page = open_page("/#/money?account=main")
    for _ in range(2):
        wire.post("/v3/domains/renewDomain/active.com")
    balance = served.accounts["main"].balance
    picture = page.get_by_role("img", name=re.compile(f"main: {balance} USD now"))
    expect(picture).to_be_visible()
    line = picture.locator("polyline").get_attribute("points") or ""
    points = [tuple(map(float, point.split(","))) for point in line.split()]
    heights = [height for _, height in points]
    assert heights[-1] == max(heights) > heights[0]
    assert all(one[0] == two[0] or one[1] == two[1] for one, two in pairwise(points))
    expect(page.get_by_role("img")).to_have_count(1)
    finding = page.locator("[data-row=renewed_twice]")
    expect(finding).to_contain_text("renewed twice")
    expect(finding.get_by_role("link")).to_have_text(["r1", "r2"])
    row = page.get_by_role("row").filter(has_text="v3.renewDomain").first
    expect(row).to_contain_text("active.com")
    search = page.get_by_label("Search movements by name")
    enter(search, "nothing.com")
    expect(page.get_by_text("No movements.")).to_be_visible()
    expect(page).to_have_url(re.compile("domain=nothing.com"))
    page.goto("/#/money?domain=active.com")
    row.get_by_role("link", name=re.compile("^r")).click()
    expect(page).to_have_url(re.compile(r"#/journal/r\d$"))
