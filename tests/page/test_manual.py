"""The manual as it is served, in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.page.conftest import WIDTHS, Open, assert_accessible, assert_fits

#: It takes a browser, and its time.
pytestmark = pytest.mark.slow

PAGES = ("/_sandbox/manual", "/_sandbox/manual/tutorial", "/_sandbox/manual/reference/powers")


@pytest.mark.parametrize("path", PAGES[:2])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_it(open_page: Open, path: str, scheme: str) -> None:
    """In either colour scheme axe finds nothing, and it runs no script."""
    page = open_page(path, color_scheme=scheme)
    expect(page.locator("h1")).to_be_visible()
    assert page.locator("script").count() == 0
    assert_accessible(page)


def test_it_fits_every_window(open_page: Open) -> None:
    """From a phone to a desk; what is wider scrolls in a box of its own."""
    page = open_page(PAGES[0])
    for path in PAGES:
        page.goto(path)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            assert_fits(page)
