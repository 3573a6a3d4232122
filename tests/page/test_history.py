"""Travel in a browser: the slider, rewinds, forks, branches and comparisons."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.page.conftest import Open, assert_accessible, name_rows, press
from tests.worlds.control import whole

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _past(wire: Api) -> None:
    """Send three requests; the second registers new.com."""
    wire.get("/v3/balance")
    wire.post("/v3/domains/createDomain", {"domain": {"domainName": "new.com"}})
    wire.get("/v3/balance")


def test_the_history_slider_shows_every_view_at_the_chosen_snapshot(served: Sandbox, open_page: Open) -> None:
    before = whole(served)
    page = open_page("/#/history")
    slider = page.get_by_role("slider", name="Position in the history")
    expect(slider).to_have_value("4")
    for _ in range(2):
        page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile("at=after:r2"))
    page.get_by_role("link", name="Names").click()
    expect(page).to_have_url(re.compile("/names"))
    page.goto(f"{page.url}&like=new")
    rows = name_rows(page)
    expect(rows).to_have_count(1)
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(rows).to_have_count(0)
    expect(page.locator("page-past")).to_contain_text("r1 v3.balance")
    assert_accessible(page)
    page.evaluate("location.hash = location.hash.replace('r1', 'r3')")
    expect(slider).to_have_value("3")
    press(page, "Back to the present")
    expect(rows).to_have_count(1)
    expect(page.locator("page-past")).to_be_hidden()
    assert whole(served) == before


def test_a_world_is_rewound_and_switched_to_a_branch(served: Sandbox, open_page: Open) -> None:
    page = open_page("/#/history?at=after:r1")
    press(page, "Fork from here")
    expect(page.get_by_label("World", exact=True)).not_to_have_value("default")
    page.goto("/#/history?at=after:r1")
    press(page, "Go back here")
    expect(page.get_by_role("link", name="b1", exact=True)).to_be_visible()
    assert "new.com" not in served.names
    press(page, "Switch to this branch")
    expect(page.locator("page-notices")).to_contain_text("The previous state is branch b2.")
    assert "new.com" in served.names


def test_each_branch_is_drawn_from_its_first_different_request(
    served: Sandbox, wire: Api, open_page: Open
) -> None:
    served.rewind("r2", side="after")
    wire.get("/v3/domains/getDomain/none.com")
    page = open_page("/#/history")
    lines = page.locator(".branches g")
    expect(lines).to_have_count(2)
    expect(lines.first.get_by_role("link")).to_have_count(3)
    expect(lines.last.get_by_role("link")).to_have_count(1)
    lines.first.get_by_role("link").first.click()
    expect(page).to_have_url(re.compile("at=after:r1"))
    page.goto("/#/history?at=branch:b1")
    expect(page.locator("page-past")).to_contain_text("branch b1")


def test_the_history_view_compares_two_snapshots(open_page: Open) -> None:
    page = open_page("/#/history?from=before:r2&to=after:r2")
    changes = page.locator(".changes").last
    expect(changes).to_contain_text("new.com")
    expect(changes).to_contain_text("balance")
    page.get_by_label("To", exact=True).select_option("start")
    expect(page.get_by_text("No differences.")).to_be_visible()
