"""What holds of every view: it can be read by everybody, fits every window, and is worked by keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from reseller_sandbox import Sandbox
from reseller_sandbox.page.views import VIEWS
from tests.clients import Api
from tests.page.conftest import WIDTHS, Open, assert_accessible, assert_fits, show

#: It takes a browser, and its time.
pytestmark = pytest.mark.slow

#: Addresses at which a view shows the most; each view's bare one comes first.
MORE = {
    "console": ("/#/console/v3.createDomain",),
    "journal": ("/#/journal/r2",),
    "outside": ("/#/outside/active.com?when=at&on=P3D",),
    "worlds": ("/#/worlds?from=default&to=default",),
}
ADDRESSES = [address for view in VIEWS for address in (f"/#/{view.name}", *MORE.get(view.name, ()))]


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
@pytest.mark.parametrize("address", ADDRESSES)
def test_it_fits_every_window(open_page: Open, address: str) -> None:
    """From a phone to a desk; where the menu is wider, the view's own entry is what is seen of it."""
    page = open_page()
    show(page, address)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert_fits(page)
        expect(page.locator("nav [aria-current]")).to_be_in_viewport(ratio=1)


@pytest.mark.usefixtures("_eventful")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("address", ADDRESSES)
def test_everybody_can_read_it(open_page: Open, address: str, scheme: str) -> None:
    """Axe finds nothing, in either colour scheme; no markup of a declaration shows."""
    page = open_page(address, color_scheme=scheme)
    show(page, address)
    assert_accessible(page)
    assert "`" not in page.locator("body").inner_text()
