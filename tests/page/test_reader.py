"""The OpenAPI documents as a page to read."""

from __future__ import annotations

import importlib.util
import re

import pytest
from playwright.sync_api import expect

from reseller_sandbox import Sandbox
from tests.page.conftest import Open, assert_accessible

#: It takes a browser, and its time.
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("document", ["v3", "v2", "control"])
def test_each_document_is_shown(open_page: Open, document: str) -> None:
    """By Swagger UI, within a policy that allows no script but the page's own, and no other address."""
    page = open_page(f"/_sandbox/reader?document={document}")
    expect(page.locator(".opblock").first).to_be_visible()
    expect(page.locator("nav [aria-current]")).to_have_count(1)


@pytest.mark.parametrize(("document", "scheme"), [("v2", "light"), ("v3", "dark")])
def test_everybody_can_read_it(open_page: Open, document: str, scheme: str) -> None:
    """Axe finds nothing, closed or open: what it finds in Swagger UI itself is mended around it."""
    page = open_page(f"/_sandbox/reader?document={document}", color_scheme=scheme)
    for method in ("get", "post", "put", "delete"):
        operation = page.locator(f".opblock-{method}").first
        operation.locator(".opblock-summary-control").click()
        expect(operation.locator(".responses-table").first).to_be_visible()
    page.locator(".opblock-post .responses-table .tablinks").get_by_text("Schema").first.click()
    assert_accessible(page)


def test_an_operation_has_an_address(open_page: Open) -> None:
    """Which opening it puts into the address bar; it can be sent to a colleague, and opens it."""
    page = open_page("/_sandbox/reader?document=v3")
    page.locator("#operations-balance-balance .opblock-summary-control").click()
    expect(page).to_have_url(re.compile("#/balance/balance$"))
    other = open_page(page.url.replace(page.evaluate("location.origin"), ""))
    expect(other.locator("#operations-balance-balance .responses-table").first).to_be_visible()


def test_without_the_extra_it_says_what_to_install(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """And where the document itself is."""
    monkeypatch.setattr("reseller_sandbox.page.reader.find_spec", lambda name: None)
    client = Sandbox("empty").app.test_client()
    refused = client.get("/_sandbox/reader/swagger-ui.css")
    assert (refused.status_code, refused.json["error"]) == (404, "unknown_page")
    assert "reseller-sandbox[page]" in refused.json["message"]


@pytest.mark.parametrize("name", ["page.html", "index.html", "%2e%2e%2freader.py", "swagger-ui.js"])
def test_there_are_no_other_files(name: str) -> None:
    """Neither of its own folder nor of Swagger UI's."""
    assert importlib.util.find_spec("flask_swagger_ui") is not None
    assert Sandbox("empty").app.test_client().get(f"/_sandbox/reader/{name}").status_code == 404
