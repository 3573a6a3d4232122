"""The manual as it is served, in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.page.conftest import WIDTHS, Open, assert_accessible, assert_fits

pytestmark = pytest.mark.slow

PAGES = ("/_sandbox/manual", "/_sandbox/manual/tutorial", "/_sandbox/manual/reference/powers")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_manual_is_accessible(open_page: Open, scheme: str) -> None:
    page = open_page(color_scheme=scheme)
    for path in PAGES[:2]:
        page.goto(path)
        expect(page.locator("h1")).to_be_visible()
        assert page.locator("script").count() == 0
        assert_accessible(page)


def test_the_manual_fits_every_window(open_page: Open) -> None:
    page = open_page(PAGES[0])
    for path in PAGES:
        page.goto(path)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            assert_fits(page)
