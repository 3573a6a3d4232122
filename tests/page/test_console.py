"""The console: operations are filled in, signed and sent; the answer stands beside the request."""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.documented import document
from tests.page.conftest import Open, show

pytestmark = pytest.mark.slow


def _send(page: Page) -> None:
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".answer")).to_contain_text("x-sandbox-request")


def test_an_example_is_filled_in_and_signed(open_page: Open, served: Sandbox) -> None:
    page = open_page("/#/console/v3.createDomain")
    _send(page)
    expect(page.locator(".answer")).to_contain_text("200 OK")
    assert served.names["new-example.com"].account == "main"
    sent = page.locator(".answer pre").first.inner_text()
    signed = page.locator(".answer .string").inner_text()
    secret = served.account("main").secret
    assert secret not in page.content()
    assert hmac.new(secret.encode(), signed.encode(), hashlib.sha256).hexdigest() in sent
    page.get_by_text("Send it again from elsewhere").click()
    expect(page.locator(".copied").first).to_contain_text("reseller-sandbox request POST")
    page.locator(".answer").get_by_role("link", name="r1").click()
    expect(page).to_have_url(re.compile(r"#/journal/r1"))


def test_fields_make_the_body(open_page: Open, served: Sandbox) -> None:
    page = open_page("/#/console/v3.createDomain")
    page.get_by_text("Body, field by field").click()
    page.locator('[data-path=\'["domain","domainName"]\']').fill("other-new-example.com")
    page.locator("[data-path='[\"years\"]']").fill("3")
    _send(page)
    assert served.names["other-new-example.com"].expires.year == served.clock.now.year + 3


def test_the_other_generation_carries_the_token(open_page: Open, served: Sandbox) -> None:
    page = open_page("/#/console?q=domain_name}/check")
    page.get_by_label("as").select_option("other")
    page.locator("main a[href*='account=other']").filter(has_text="{domain_name}/check").click()
    _send(page)
    expect(page.locator(".answer")).to_contain_text("other-token")
    assert [one.account for one in served.journal.find().requests] == ["other"]


def test_a_refusal_is_an_answer(open_page: Open, served: Sandbox) -> None:
    page = open_page("/#/console/v3.getDomain")
    page.locator("[data-path='[\"domainName\"]']").fill("nobody.com")
    _send(page)
    expect(page.locator(".answer .status")).to_contain_text("404")


def test_a_broken_connection_is_reported(open_page: Open, served: Sandbox) -> None:
    served.faults.add("close", match={"operation": "v3.balance"})
    page = open_page("/#/console/v3.balance")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".answer")).to_contain_text("No whole answer came")


def test_a_fork_has_its_own_accounts(open_page: Open, served: Sandbox) -> None:
    with served.fork(name="for-the-console") as fork:
        page = open_page("/#/console/v3.createDomain?world=for-the-console")
        _send(page)
        expect(page.locator(".answer")).to_contain_text("200 OK")
        assert fork.names["new-example.com"].account == "main"
        assert not served.journal.find().requests


@pytest.mark.parametrize("interface", ["v3", "v2"])
def test_every_operation_can_be_sent(open_page: Open, served: Sandbox, interface: str) -> None:
    page = open_page("/#/console")
    rows: Any = document(interface).content["paths"].values()
    names = [told["operationId"] for row in rows for told in row.values()]
    for name in names:
        page.goto(f"/#/console/{interface}.{name}")
        expect(page.locator(f"section[aria-label='{interface}.{name}']")).to_be_visible()
        _send(page)
        last = served.journal.find(limit=1).requests[-1]
        assert last.account == "main", name
        assert last.operation != "unmatched", name


def test_the_console_opens_a_request_of_the_journal(open_page: Open, wire: Api) -> None:
    page = open_page()
    for number, (path, operation) in enumerate(
        (
            ("/V2.0/domain/active.com/check", "v2.domainCheck"),
            ("/v3/domains/getDomain/active.com", "v3.getDomain"),
        ),
        1,
    ):
        wire.get(path)
        show(page, f"/#/journal/r{number}")
        page.get_by_role("link", name="Send again").click()
        section = page.locator(f"section[aria-label='{operation}']")
        expect(section.locator("[data-path*=omain]").first).to_have_value("active.com")
        expect(page.locator(".operations [aria-current=true]")).to_have_count(1)
