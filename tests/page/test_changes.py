"""Controls that change a world: the clock, and the views of faults, assumptions and third parties."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.page.conftest import Open, assert_accessible, data_field, enter, press

pytestmark = pytest.mark.slow


def test_a_frozen_or_running_clock_shows_the_time_and_the_next_due_event(
    served: Sandbox, open_page: Open
) -> None:
    clock = open_page("/").locator("page-clock")
    expect(clock).to_contain_text("2026-03-01 12:00:00")
    expect(clock).to_contain_text("frozen")
    expect(clock).to_contain_text(served.clock.due(limit=1).due[0].subject)
    served.clock.advance("P1D")
    expect(clock).to_contain_text("2026-03-02 12:00:00")
    press(clock, "Run")
    expect(clock).to_contain_text("running")
    assert not served.clock.frozen
    expect(clock.locator(".now time")).not_to_have_text("2026-03-02 12:00:00")
    press(clock, "Freeze")
    expect(clock).to_contain_text("frozen")
    assert served.clock.frozen


def test_a_clock_advance_is_previewed_with_its_events(served: Sandbox, open_page: Open) -> None:
    page = open_page("/")
    page.get_by_role("button", name="Move time").click()
    forecast = served.clock.advance("P30D", dry_run=True)
    expect(page.locator(".events li")).to_have_count(len(forecast.events))
    assert_accessible(page, ".panel")
    press(page, "Advance")
    expect(page.locator("page-clock .now")).to_contain_text(f"{forecast.now:%Y-%m-%d %H:%M:%S}")
    assert served.clock.now == forecast.now


def test_each_button_shows_the_equivalent_command_and_calls(open_page: Open) -> None:
    page = open_page("/")
    page.get_by_role("button", name="Move time").click()
    press(page, "Do this with…")
    commands = page.get_by_role("dialog", name="Do this with…")
    commands.get_by_text("reseller-sandbox clock advance P30D").first.click()
    press(commands, "Open the form")
    sheet = page.get_by_role("dialog", name="Advance")
    sheet.get_by_label("by", exact=False).first.fill("P3D")
    sheet.get_by_label("dry_run").check()
    expect(sheet).to_contain_text("reseller-sandbox clock advance P3D --dry-run")
    expect(sheet).to_contain_text("sandbox.clock.advance('P3D', dry_run=True)")
    assert_accessible(page)
    page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)


def test_each_fault_kind_has_a_form(open_page: Open, wire: Api) -> None:
    page = open_page("/#/faults")
    press(page, "error")
    sheet = page.get_by_role("dialog")
    data_field(sheet, "error").fill("internal_error")
    data_field(sheet, "match", "operation").fill("v3.balance")
    expect(sheet.get_by_text("reseller-sandbox faults add error")).to_be_visible()
    press(sheet, "Add error")
    row = page.get_by_role("row", name="error=internal_error")
    expect(row).to_contain_text("operation=v3.balance")
    assert wire.get("/v3/balance").error == "internal_error"
    expect(row).to_contain_text("1 of 1")


def test_a_fault_rule_can_be_paused_and_changed_and_removed(open_page: Open, served: Sandbox) -> None:
    served.faults.add("reset", name="lost", match={"operation": "v3.balance"})
    page = open_page("/#/faults")
    row, dialog = page.locator("tr[data-row=lost]"), page.get_by_role("dialog")
    press(row, "Pause")
    expect(row).to_contain_text("paused")
    assert served.faults["lost"].paused
    press(row, "Resume")
    expect(row).not_to_contain_text("paused")
    press(row, "Change")
    data_field(dialog, "match", "operation").fill("")
    for key, value in (("chance", "7"), ("chance", ""), ("times", "3")):
        data_field(dialog, "when", key).fill(value)
        if value:
            press(dialog, "Change lost")
        if value == "7":
            expect(dialog.get_by_role("alert")).to_contain_text("when.chance")
    expect(row).to_contain_text("times=3")
    assert (served.faults["lost"].when["times"], served.faults["lost"].match) == (3, {})
    press(row, "Remove")
    expect(row).to_have_count(0)
    assert not list(served.faults.list())


def test_an_assumption_is_set_by_a_choice_or_a_text_or_a_profile(open_page: Open, served: Sandbox) -> None:
    page = open_page("/#/assumptions?q=switches.repeated")
    page.get_by_label("refused", exact=True).check()
    expect(page.get_by_text("by default accepted")).to_be_visible()
    assert served.assumptions["v3.switches.repeated"] == "refused"
    page.get_by_label("Which").select_option("other")
    expect(page.get_by_role("listitem")).to_have_count(1)
    page.goto("/#/assumptions?q=availability.taken")
    field = page.get_by_label("v3.availability.taken", exact=True)
    for text, shown in (("not a word!", "v3.availability.taken"), ("gone", "by default registered")):
        enter(field, text)
        expect(page.locator("body")).to_contain_text(shown)
    assert served.assumptions["v3.availability.taken"] == "gone"
    press(page, "Do this with…")
    command = "reseller-sandbox assumptions set v3.availability.taken=gone"
    expect(page.get_by_role("dialog").get_by_text(command).first).to_be_visible()
    page.keyboard.press("Escape")
    page.goto("/#/assumptions")
    press(page, "As observed")
    expect(page.get_by_text("by default")).not_to_have_count(0)
    assert served.assumptions["v3.signature.endpoint"] == "url"


def test_each_assumption_lists_the_requests_that_used_the_assumption(open_page: Open, wire: Api) -> None:
    wire.get("/v3/balance")
    row = open_page("/#/assumptions?show=used").locator("[data-row='v3.signature.endpoint']")
    expect(row.get_by_role("link", name="r1")).to_have_attribute("href", "#/journal/r1")


def test_a_third_party_snipes_a_checked_name_and_rejects_a_transfer(
    open_page: Open, served: Sandbox, wire: Api
) -> None:
    page = open_page("/#/third-parties")
    wire.post("/v3/domains/checkAvailability", {"domainNames": ["free.com"]})
    press(page.locator("[data-row='free.com']"), "Snipe")
    expect(page.locator("page-notices")).to_contain_text("free.com")
    assert served.names["free.com"].account == "outside"
    page.goto("/#/third-parties/free.com")
    expect(page.get_by_text("free.com is active, held by outside.")).to_be_visible()
    page.goto("/#/third-parties")
    row = page.locator("[data-row='arriving.com']")
    press(row, "Its holder rejects the transfer")
    expect(row).to_have_count(0)
    assert served.transfers["arriving.com"].status != "pending"


def test_an_action_is_scheduled_at_a_time_or_after_a_request(open_page: Open, served: Sandbox) -> None:
    page = open_page("/#/third-parties/free.com?when=at&on=P3D")
    press(page, "A stranger registers it")
    scheduled = page.get_by_role("listitem").filter(has_text="#1")
    expect(scheduled).to_contain_text("free.com")
    (made,) = served.scheduled.list().scheduled
    assert (made.action, str(made.parameters["domain"])) == ("register", "free.com")
    press(scheduled, "Cancel")
    expect(scheduled).to_have_count(0)
    page.get_by_label("When").select_option("after")
    enter(page.get_by_label("Operation of the request"), "v3.balance")
    press(page, "The registry puts it on hold")
    expect(page.locator("page-notices")).to_contain_text("Scheduled: Hold.")
    (made,) = served.scheduled.list().scheduled
    assert (made.action, made.after is not None) == ("hold", True)


def test_funds_are_added_in_the_head_and_taken_in_the_money_view(open_page: Open, served: Sandbox) -> None:
    page = open_page("/#/money")
    head, dialog = page.locator("page-balance"), page.get_by_role("dialog")
    expect(head).to_contain_text("10000.00 USD")
    press(head, "Add funds")
    data_field(dialog, "amount").fill("50")
    press(dialog, "Add funds")
    expect(head).to_contain_text("10050.00 USD")
    poor = page.locator("figure").filter(has_text="poor")
    press(poor, "Take funds")
    data_field(dialog, "amount").fill("0.25")
    press(dialog, "Take funds")
    expect(poor).to_contain_text("0.75 USD")
    balances = {account.name: str(account.balance) for account in served.accounts}
    assert (balances["main"], balances["poor"]) == ("10050.00", "0.75")


def test_the_staff_changes_a_name_on_its_page(open_page: Open, served: Sandbox) -> None:
    """A switch that is left out stays as it is, and a switch that is on by default can be off."""
    page = open_page("/#/names/active.com")
    dialog = page.get_by_role("dialog")
    press(page, "The staff changes it")
    data_field(dialog, "expires").fill("-1d")
    data_field(dialog, "privacy").select_option("false")
    press(dialog, "The staff changes it")
    expect(page.get_by_role("img", name="The name is overdue")).to_be_visible()
    expect(page.locator(".timeline")).to_contain_text("active → overdue")
    name = served.names["active.com"]
    assert (name.privacy, name.autorenew) == (False, True)
    press(page, "The staff renews it")
    data_field(dialog, "charge").select_option("false")
    press(dialog, "The staff renews it")
    expect(page.get_by_role("img", name="The name is active")).to_be_visible()
    assert served.ledger.list(domain="active.com").entries == ()


def test_a_canned_answer_is_added_and_changed_and_removed(
    open_page: Open, served: Sandbox, wire: Api
) -> None:
    page = open_page("/#/faults")
    dialog = page.get_by_role("dialog")
    press(page, "Add a canned answer")
    for key, value in (("path", "/dns/{zone}"), ("name", "zone"), ("body", '{"zone": "{zone}"}')):
        data_field(dialog, key).fill(value)
    press(dialog, "Add a canned answer")
    row = page.locator("tr[data-row=zone]")
    expect(row).to_contain_text("GET /dns/{zone}")
    assert wire.call("GET", "/dns/a.com").json == {"zone": "a.com"}
    expect(row.get_by_role("link", name="1")).to_have_attribute("href", "#/journal?operation=canned.zone")
    press(row, "Change")
    for key, value in (("status", "404"), ("body", "gone")):
        data_field(dialog, key).fill(value)
    press(dialog, "Change zone")
    expect(row).to_contain_text("status=404")
    answer = wire.call("GET", "/dns/a.com")
    assert (answer.status, answer.raw, served.answers["zone"].matched) == (404, b"gone", 2)
    press(row, "Remove")
    expect(row).to_have_count(0)
    assert not list(served.answers)
