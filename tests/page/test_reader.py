"""The OpenAPI documents as a page to read."""

from __future__ import annotations

import re
import sys

import pytest
from playwright.sync_api import expect

from reseller_sandbox import Sandbox
from tests.page.conftest import Open, assert_accessible

pytestmark = pytest.mark.slow


def test_each_document_is_shown_and_accessible(open_page: Open) -> None:
    for document, scheme in (("v2", "light"), ("v3", "dark"), ("control", "light")):
        page = open_page(f"/_sandbox/reader?document={document}", color_scheme=scheme)
        expect(page.locator(".opblock").first).to_be_visible()
        expect(page.locator("nav [aria-current]")).to_have_count(1)
        if document == "control":
            continue
        for method in ("get", "post", "put", "delete"):
            operation = page.locator(f".opblock-{method}").first
            operation.locator(".opblock-summary-control").click()
            expect(operation.locator(".responses-table").first).to_be_visible()
        page.locator(".opblock-post .responses-table .tablinks").get_by_text("Schema").first.click()
        assert_accessible(page)


def test_an_operation_has_an_address(open_page: Open) -> None:
    page = open_page("/_sandbox/reader?document=v3")
    page.locator("#operations-balance-balance .opblock-summary-control").click()
    expect(page).to_have_url(re.compile("#/balance/balance$"))
    other = open_page(page.url.replace(page.evaluate("location.origin"), ""))
    expect(other.locator("#operations-balance-balance .responses-table").first).to_be_visible()


def test_without_the_extra_the_refusal_has_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Sandbox("empty").app.test_client()
    for name in ("page.html", "index.html", "%2e%2e%2freader.py", "swagger-ui.js"):
        assert client.get(f"/_sandbox/reader/{name}").status_code == 404
    monkeypatch.setitem(sys.modules, "flask_swagger_ui", None)
    refused = client.get("/_sandbox/reader/swagger-ui.css")
    assert (refused.status_code, refused.json["error"]) == (404, "unknown_page")
    assert "reseller-sandbox[page]" in refused.json["message"]
