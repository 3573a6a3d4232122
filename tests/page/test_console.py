"""The console fills in, signs and sends operations, and shows each response beside its request."""

from __future__ import annotations

import hashlib
import hmac
import re

import pytest
from playwright.sync_api import Page, expect

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.documented import document
from tests.page.conftest import Open, data_field, show

pytestmark = pytest.mark.slow


def send(page: Page, text: str = "x-sandbox-request") -> None:
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".answer")).to_contain_text(text)


def test_the_console_fills_in_and_signs_an_example_request(open_page: Open, served: Sandbox) -> None:
    page = open_page("/#/console/v3.createDomain")
    send(page, "200 OK")
    assert served.names["new-example.com"].account == "main"
    sent = page.locator(".answer section").filter(has_text="Request, as sent").locator("pre").inner_text()
    signed = page.locator(".answer .string").inner_text()
    secret = served.accounts["main"].secret
    assert secret not in page.content()
    assert hmac.new(secret.encode(), signed.encode(), hashlib.sha256).hexdigest() in sent
    page.get_by_text("Copy as…").click()
    expect(page.locator(".copied").first).to_contain_text("reseller-sandbox request POST")
    page.locator(".answer").get_by_role("link", name="r1").click()
    expect(page).to_have_url(re.compile(r"#/journal/r1"))


def test_form_fields_of_the_console_fill_the_body_and_the_path(open_page: Open, served: Sandbox) -> None:
    page = open_page("/#/console/v3.createDomain")
    page.get_by_text("Body, field by field").click()
    data_field(page, "domain", "domainName").fill("other-new-example.com")
    data_field(page, "years").fill("3")
    send(page)
    assert served.names["other-new-example.com"].expires.year == served.clock.now.year + 3
    show(page, "/#/console/v3.getDomain")
    data_field(page, "domainName").fill("nobody.com")
    send(page)
    expect(page.locator(".answer .status")).to_contain_text("404")


def test_a_v2_request_carries_the_token_of_the_chosen_account(open_page: Open, served: Sandbox) -> None:
    page = open_page("/#/console?q=domain_name}/check")
    page.get_by_label("as").select_option("other")
    page.locator("main a[href*='account=other']").filter(has_text="{domain_name}/check").click()
    send(page)
    expect(page.locator(".answer")).to_contain_text("other-token")
    assert [entry.account for entry in served.journal.list().requests] == ["other"]


def test_the_console_reports_a_broken_connection(open_page: Open, served: Sandbox) -> None:
    served.faults.add("close", match={"operation": "v3.balance"})
    send(open_page("/#/console/v3.balance"), "The response is incomplete")


@pytest.mark.parametrize("interface", ["v3", "v2"])
def test_the_console_can_send_every_operation(open_page: Open, served: Sandbox, interface: str) -> None:
    page = open_page("/#/console")
    rows = document(interface).content["paths"].values()
    for name in [operation["operationId"] for row in rows for operation in row.values()]:
        page.goto(f"/#/console/{interface}.{name}")
        expect(page.locator(f"section[aria-label='{interface}.{name}']")).to_be_visible()
        send(page)
        last = served.journal.list(limit=1).requests[-1]
        assert (last.account, last.operation != "unmatched") == ("main", True), name


def test_the_console_opens_a_request_of_the_journal(open_page: Open, wire: Api) -> None:
    page = open_page()
    requests = {
        "v2.domainCheck": "/V2.0/domain/active.com/check",
        "v3.getDomain": "/v3/domains/getDomain/active.com",
    }
    for number, (operation, path) in enumerate(requests.items(), 1):
        wire.get(path)
        show(page, f"/#/journal/r{number}")
        page.get_by_role("link", name="Send again").click()
        section = page.locator(f"section[aria-label='{operation}']")
        expect(section.locator("[data-path*=omain]").first).to_have_value("active.com")
        expect(page.locator(".operations [aria-current=true]")).to_have_count(1)
