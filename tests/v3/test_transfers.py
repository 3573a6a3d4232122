"""Transfers, from both sides: who may request and decide, what time completes, and what they cost."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Answer, Api, person
from tests.registry import Make, connect, contents, edit_name, edit_zone
from tests.soundness import assert_books_balance

D = "/v3/domains"


def ask(api: Api, name: str = "theirs.com", code: object = "let-me-in", **more: Any) -> Answer:
    """Request the transfer of another registrar's name."""
    domain = {"domainName": name, **more.pop("domain", {})}
    return api.post(f"{D}/requestTransfer", {"domain": domain, "authCode": code, **more})


def names(api: Api) -> list[str]:
    """Return the account's list."""
    return [one["domainName"] for one in api.get(D).json["domains"]]


def transfer_status(sandbox: Sandbox, name: str = "theirs.com") -> str:
    """Return the status of the latest transfer of a name."""
    return sandbox.transfers[name].status


def test_a_requested_transfer_is_paid_and_pending_and_the_holder_keeps_the_name(
    sandbox: Sandbox, api: Api, other: Api
) -> None:
    answer = ask(api).json
    assert (answer["domainName"], answer["totalPaid"], answer["status"]) == ("theirs.com", "9.00", "pending")
    assert sandbox.accounts["main"].balance == 9991
    mine = api.get(f"{D}/getDomain/theirs.com").json
    assert (mine["order-id"], mine["status"]) == (answer["order-id"], "pending")
    assert "theirs.com" in names(api)
    assert other.get(f"{D}/getDomain/theirs.com").json["status"] == "active"
    assert transfer_status(sandbox) == "pending"


def test_the_settings_of_a_request_apply_when_it_completes(api: Api, other: Api) -> None:
    servers = ["ns1.elsewhere.net", "ns2.elsewhere.net"]
    switches = {"privacyEnabled": True, "lockedEnabled": True, "autorenewEnabled": True}
    contacts = {"reg-contact": person("Ann")}
    ask(api, domain={**switches, "nameservers": servers, "contacts": contacts})
    other.post(f"{D}/approveTransfer/theirs.com", {})
    got = api.get(f"{D}/getDomain/theirs.com").json["domain"]
    assert {key: got[key] for key in switches} == switches
    assert got["nameservers"] == servers
    assert got["contacts"]["reg-contact"]["name"] == "Ann"
    assert got["contacts"]["tech-contact"]["name"] == "Main Holder"


def test_a_request_without_name_servers_keeps_those_of_the_completion(api: Api, other: Api) -> None:
    ask(api)
    servers = ["ns1.moved.net"]
    other.post(f"{D}/setNameservers/theirs.com", {"nameservers": servers})
    other.post(f"{D}/approveTransfer/theirs.com", {})
    assert api.get(f"{D}/getDomain/theirs.com").json["domain"]["nameservers"] == servers


def test_approval_moves_the_name_with_its_hosts_and_without_its_former_settings(sandbox: Sandbox) -> None:
    glue = f"{D}/glueRecords/theirs.com"
    edit_name(sandbox, "theirs.com", flags=["client_hold"], privacy=True, autorenew=True)
    api, other = connect(sandbox), connect(sandbox, "other")
    other.post(glue, {"hostname": "ns1", "ips": ["192.0.2.50"]})
    other.post(f"{D}/setNameservers/theirs.com", {"nameservers": ["ns1.theirs.com", "ns.else.net"]})
    order = ask(api).json["order-id"]
    assert other.post(f"{D}/approveTransfer/theirs.com").json == {
        "domainName": "theirs.com",
        "message": "The transfer of theirs.com is approved.",
    }
    mine = api.get(f"{D}/getDomain/theirs.com").json
    assert (mine["order-id"], mine["status"]) == (order, "active")
    shown = mine["domain"]
    assert (shown["createDate"], shown["expireDate"]) == ("2025-11-21 12:00:00", "2027-11-21 12:00:00")
    assert (shown["privacyEnabled"], shown["lockedEnabled"], shown["autorenewEnabled"]) == (False,) * 3
    assert shown["nameservers"] == ["ns1.theirs.com", "ns.else.net"]
    assert shown["contacts"]["reg-contact"]["name"] == "Main Holder"
    assert api.get(f"{glue}/ns1").json["ips"] == ["192.0.2.50"]
    assert api.get(f"{D}/getAuthcode/theirs.com").json["authCode"] != "let-me-in"
    assert other.get(f"{D}/getDomain/theirs.com").error == "domain_not_found"
    assert "theirs.com" not in names(other)
    assert sandbox.accounts["other"].balance == 500
    assert transfer_status(sandbox) == "clientApproved"
    assert_books_balance(sandbox)


def test_rejection_and_cancellation_refund_and_leave_the_name(
    sandbox: Sandbox, api: Api, other: Api, subtests: pytest.Subtests
) -> None:
    for who, operation, ended, word in [
        (other, "rejectTransfer", "clientRejected", "rejected"),
        (api, "cancelTransfer", "clientCancelled", "cancelled"),
    ]:
        with subtests.test(operation=operation):
            sandbox.reset()
            held = other.get(f"{D}/getDomain/theirs.com").json
            ask(api)
            answer = who.post(f"{D}/{operation}/theirs.com")
            assert answer.json == {
                "domainName": "theirs.com",
                "message": f"The transfer of theirs.com is {word}.",
            }
            assert sandbox.accounts["main"].balance == 10_000
            assert other.get(f"{D}/getDomain/theirs.com").json == held
            assert api.get(f"{D}/getDomain/theirs.com").error == "domain_not_found"
            assert transfer_status(sandbox) == ended
            charge, refund = sandbox.ledger.find(domain="theirs.com").entries
            assert (charge.amount, refund.amount, refund.refunds) == (-9, 9, charge.id)
            assert {charge.purpose, refund.purpose} == {"transfer"}
            assert ask(api).json["status"] == "pending", "it can be requested again"
            assert_books_balance(sandbox)


def test_time_completes_a_transfer_after_five_days_to_the_second(
    sandbox: Sandbox, api: Api, other: Api
) -> None:
    ask(api)
    assert ask(api, "elsewhere.com").json["status"] == "pending", "held by no account of the world"
    sandbox.clock.set("2026-03-06T11:59:59Z")
    assert other.get(f"{D}/getDomain/theirs.com").status == 200
    fired = sandbox.clock.advance(1).fired
    assert [(event.event, event.subject) for event in fired] == [
        ("transfer completion", "elsewhere.com"),
        ("transfer completion", "theirs.com"),
    ]
    assert api.get(f"{D}/getDomain/theirs.com").json["status"] == "active"
    assert other.get(f"{D}/getDomain/theirs.com").error == "domain_not_found"
    assert transfer_status(sandbox) == "serverApproved"
    assert api.get(f"{D}/getDomain/elsewhere.com").json["domain"]["expireDate"] == "2027-06-09 12:00:00"


def test_an_overdue_name_arrives_active_and_no_name_arrives_with_more_than_ten_years(
    sandbox: Sandbox, api: Api, other: Api
) -> None:
    for name in ("lapsed.com", "far.com"):
        ask(api, name)
        assert other.post(f"{D}/approveTransfer/{name}").status == 200
    assert sandbox.names["lapsed.com"].stage == "active"
    assert api.get(f"{D}/getDomain/far.com").json["domain"]["expireDate"] == "2036-03-01 12:00:00"


def test_only_the_very_code_is_accepted_and_it_is_not_shown(sandbox: Sandbox, api: Api) -> None:
    for code in ("", "LET-ME-IN", "let-me-in ", "let-me-i", 0, "λ"):
        answer = ask(api, code=code)
        assert (answer.status, answer.error) == (403, "wrong_auth_code"), code
        assert b"let-me-in" not in answer.raw
    assert sandbox.accounts["main"].balance == 10_000


def test_a_new_name_can_be_transferred_after_sixty_days_to_the_second(sandbox: Sandbox, api: Api) -> None:
    """fresh.com was registered on 2026-02-19 at noon."""
    sandbox.clock.set("2026-04-20T11:59:59Z")
    refused = ask(api, "fresh.com")
    assert refused.error == "too_young"
    assert "fresh.com was registered on" in refused.message
    assert "2026-04-20T12:00:00Z" in refused.message
    assert "lifecycle.transfer_lock.from" not in refused.assumptions
    sandbox.clock.advance(1)
    assert ask(api, "fresh.com").json["status"] == "pending"


def test_a_name_that_cannot_be_requested_is_refused_for_its_own_reason(sandbox: Sandbox, api: Api) -> None:
    before = contents(sandbox)
    reasons = {
        "locked.com": "locked",
        "gone.com": "wrong_state",
        "active.com": "already_yours",
        "nobodys.com": "not_registered",
        "their.shop": "transfers_not_supported",
        "their.quiet": "zone_out_of_service",
        "leaving.com": "already_yours",
        "arriving.com": "transfer_pending",
        "elsewhere.zone": "zone_not_supported",
    }
    assert {name: ask(api, name).error for name in reasons} == reasons
    assert contents(sandbox) == before


def test_the_second_of_two_requests_has_to_wait(api: Api, poor: Api, sandbox: Sandbox) -> None:
    sandbox.outside.adjust_balance("poor", to=100)
    assert ask(api).status == 200
    assert ask(poor).error == "transfer_pending"
    api.post(f"{D}/cancelTransfer/theirs.com")
    assert ask(poor).status == 200


def test_the_holder_approves_and_rejects_and_the_gaining_account_cancels(
    api: Api, other: Api, poor: Api
) -> None:
    ask(api)
    for operation, who, error in [
        ("approveTransfer", api, "no_transfer"),
        ("rejectTransfer", api, "no_transfer"),
        ("cancelTransfer", other, "no_transfer"),
        ("approveTransfer", poor, "domain_not_found"),
        ("rejectTransfer", poor, "domain_not_found"),
        ("cancelTransfer", poor, "domain_not_found"),
    ]:
        assert who.post(f"{D}/{operation}/theirs.com").error == error, operation


def test_a_transfer_is_decided_once(sandbox: Sandbox, api: Api, other: Api) -> None:
    for first, error in {"approveTransfer": "domain_not_found", "rejectTransfer": "no_transfer"}.items():
        for second in ("approveTransfer", "rejectTransfer"):
            sandbox.reset()
            ask(api)
            assert other.post(f"{D}/{first}/theirs.com").status == 200
            assert other.post(f"{D}/{second}/theirs.com").error == error


def test_neither_side_can_change_a_name_on_its_way(api: Api, other: Api) -> None:
    ask(api)
    assert api.post(f"{D}/renewDomain/theirs.com").error == "wrong_state"
    assert api.post(f"{D}/setNameservers/theirs.com", {"nameservers": ["a.b.net"]}).error == "wrong_state"
    assert api.get(f"{D}/getAuthcode/theirs.com").error == "wrong_state"
    assert api.post(f"{D}/createDomain", {"domain": {"domainName": "theirs.com"}}).error == "name_taken"
    assert other.post(f"{D}/lockTransfer/theirs.com").error == "transfer_pending"
    assert other.post(f"{D}/renewDomain/theirs.com").error == "transfer_pending"
    other.post(f"{D}/rejectTransfer/theirs.com")
    assert other.post(f"{D}/lockTransfer/theirs.com").status == 200
    assert ask(api).error == "locked"


def test_a_name_can_come_back_with_a_new_code(sandbox: Sandbox, api: Api, other: Api) -> None:
    ask(api)
    other.post(f"{D}/approveTransfer/theirs.com")
    code = api.get(f"{D}/getAuthcode/theirs.com").json["authCode"]
    assert ask(other, code=code).error == "too_young"
    sandbox.clock.advance("60d")
    assert ask(other, code=code).json["status"] == "pending"
    assert api.post(f"{D}/approveTransfer/theirs.com").status == 200
    assert other.get(f"{D}/getAuthcode/theirs.com").json["authCode"] not in (code, "let-me-in")
    assert other.get(f"{D}/getDomain/theirs.com").json["domain"]["expireDate"] == "2028-11-21 12:00:00"
    assert_books_balance(sandbox)


def test_a_free_transfer_makes_no_ledger_entry(sandbox: Sandbox, api: Api, other: Api) -> None:
    sandbox.outside.set_prices("com", transfer=0)
    before = sandbox.ledger.find().matching
    assert ask(api).json["totalPaid"] == "0.00"
    other.post(f"{D}/rejectTransfer/theirs.com")
    assert sandbox.ledger.find().matching == before


def test_the_years_of_a_transfer_are_checked_even_if_it_adds_one_year_always(make: Make) -> None:
    for assumed in ("one", "as_sent"):
        sandbox = make(assume={"v3.transfer.years": assumed})
        for years, error in {
            0: "period_too_short",
            -1: "period_too_short",
            10: "period_too_long",
            11: "period_too_long",
        }.items():
            assert ask(connect(sandbox), years=years).error == error, (assumed, years)
        assert sandbox.accounts["main"].balance == 10_000


def test_the_ten_year_limit_is_named_if_it_is_the_reason(sandbox: Sandbox, api: Api) -> None:
    messages = [ask(api, years=10).message]
    edit_zone(sandbox, "com", max_years=2)
    messages.append(ask(connect(sandbox), years=3).message)
    assert ["more than 10 years ahead" in message for message in messages] == [True, False], messages
    assert "at most 2" in messages[1]


def test_privacy_is_charged_and_refunded_in_its_own_entry(sandbox: Sandbox, api: Api, other: Api) -> None:
    sandbox.outside.adjust_balance("main", to="11.99")
    assert ask(api, domain={"privacyEnabled": True}).error == "insufficient_funds"
    sandbox.outside.adjust_balance("main", to=10_000)
    asked = ask(api, domain={"privacyEnabled": True})
    assert asked.json["totalPaid"] == "12.00"
    entries = sandbox.ledger.find(domain="theirs.com").entries
    assert [(one.purpose, one.amount) for one in entries] == [("transfer", -9), ("privacy", -3)]
    other.post(f"{D}/rejectTransfer/theirs.com")
    assert sandbox.accounts["main"].balance == 10_000
    assert_books_balance(sandbox)


def test_the_price_of_a_premium_name_must_be_right_if_sent_and_excludes_privacy(
    sandbox: Sandbox, api: Api
) -> None:
    assert ask(api, "silver.com", purchaseCost=29.99).error == "price_mismatch"
    assert ask(api, "silver.com", domain={"privacyEnabled": True}, purchaseCost=33).error == "price_mismatch"
    paid = ask(api, "silver.com", domain={"privacyEnabled": True}, purchaseCost=30)
    assert paid.json["totalPaid"] == "33.00"
    assert sandbox.accounts["main"].balance == Decimal(9967)


def test_the_sixty_days_count_from_the_creation_or_also_from_a_transfer(make: Make) -> None:
    for value in ("creation_or_transfer", "creation"):
        sandbox = make(assume={"lifecycle.transfer_lock.from": value})
        api, other = connect(sandbox), connect(sandbox, "other")
        ask(api)
        other.post(f"{D}/approveTransfer/theirs.com")
        arrived = sandbox.clock.now
        code = api.get(f"{D}/getAuthcode/theirs.com").json["authCode"]
        sandbox.clock.advance("59d")
        answer = ask(other, code=code)
        assert answer.assumptions["lifecycle.transfer_lock.from"] == value
        if value == "creation":
            assert answer.json["status"] == "pending"
            continue
        assert answer.error == "too_young"
        assert "theirs.com came by a transfer on 2026-03-01T12:00:00Z" in answer.message
        why = sandbox.journal.find(limit=1).requests[0].refusal
        assert why is not None
        assert why.allowed_at == arrived + timedelta(days=60)
        sandbox.clock.advance("1d")
        assert ask(other, code=code).json["status"] == "pending"
