"""Every view is accessible and fits every window."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.page.conftest import WIDTHS, Open, assert_accessible, assert_fits, show, views

pytestmark = pytest.mark.slow

#: Addresses at which a view shows the most; each view's bare one comes first.
MORE = {
    "console": ("/#/console/v3.createDomain",),
    "journal": ("/#/journal/r2",),
    "outside": ("/#/outside/active.com?when=at&on=P3D",),
    "worlds": ("/#/worlds?from=default&to=default",),
}


def addresses() -> list[str]:
    return [address for view in views() for address in (f"/#/{view}", *MORE.get(view, ()))]


@pytest.fixture
def _eventful(served: Sandbox, wire: Api) -> None:
    """A world in which there is something to show in every view."""
    wire.post("/v3/domains/createDomain", {"domain": {"domainName": "one.com"}})
    wire.post("/v3/domains/createDomain", {"domain": {"domainName": "one.com"}})
    for _ in range(2):
        wire.post("/v3/domains/renewDomain/active.com")
    served.faults.preset("flaky")
    served.outside.when("P3D").adjust_balance("main", to=0)
    served.assumptions.set({"v3.switches.repeated": "refused"})


@pytest.mark.usefixtures("_eventful")
def test_each_view_fits_every_window(open_page: Open, subtests: pytest.Subtests) -> None:
    page = open_page()
    for address in addresses():
        with subtests.test(address=address):
            show(page, address)
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 800})
                assert_fits(page)
                expect(page.locator("nav [aria-current]")).to_be_in_viewport(ratio=1)


@pytest.mark.usefixtures("_eventful")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_view_is_accessible(open_page: Open, subtests: pytest.Subtests, scheme: Any) -> None:
    page = open_page(color_scheme=scheme)
    for address in addresses():
        with subtests.test(address=address):
            show(page, address)
            assert_accessible(page)
            assert "`" not in page.locator("body").inner_text()
