"""Transfers, from both sides: who may ask, who may answer, what the clock decides, and what it costs."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.clock import days, wire
from reseller_sandbox.core.model import Flag, Purpose, Stage, TransferStatus
from tests.clients import Answer, Api, person
from tests.registry import Make, arrange, arrange_balance, arrange_zone, balance, connect, order_of
from tests.soundness import assert_sound

D = "/v3/domains"


def ask(api: Api, name: str = "theirs.com", code: object = "let-me-in", **more: object) -> Answer:
    """Ask for another registrar's name."""
    domain = {"domainName": name, **more.pop("domain", {})}  # type: ignore[dict-item]
    return api.post(f"{D}/requestTransfer", {"domain": domain, "authCode": code, **more})


def names(api: Api) -> list[str]:
    """The account's list."""
    return [one["domainName"] for one in api.get(D).json["domains"]]


def transfer_status(sandbox: Sandbox, name: str = "theirs.com") -> TransferStatus:
    """How the latest transfer of a name stands."""
    return sandbox.world.state.transfers[name].status


def test_a_request_is_an_order_that_waits(sandbox: Sandbox, api: Api, other: Api) -> None:
    """It is paid at once and listed as pending; the holder keeps the name meanwhile."""
    before = balance(sandbox)
    answer = ask(api).json
    assert (answer["domainName"], answer["totalPaid"], answer["status"]) == ("theirs.com", "9.00", "pending")
    assert balance(sandbox) == before - 9
    mine = api.get(f"{D}/getDomain/theirs.com").json
    assert (mine["order-id"], mine["status"]) == (answer["order-id"], "pending")
    assert "theirs.com" in names(api)
    assert other.get(f"{D}/getDomain/theirs.com").json["status"] == "active"
    assert transfer_status(sandbox) is TransferStatus.PENDING


def test_what_the_request_says_of_the_name_is_so_in_the_end(sandbox: Sandbox, api: Api, other: Api) -> None:
    """Protection, lock, renewal and delegation, as in a registration."""
    servers = ["ns1.elsewhere.net", "ns2.elsewhere.net"]
    switches = {"privacyEnabled": True, "lockedEnabled": True, "autorenewEnabled": True}
    ask(api, domain={**switches, "nameservers": servers})
    other.post(f"{D}/approveTransfer/theirs.com", {})
    got = api.get(f"{D}/getDomain/theirs.com").json["domain"]
    assert {key: got[key] for key in switches} == switches
    assert got["nameservers"] == servers


def test_a_request_that_says_nothing_keeps_the_delegation(sandbox: Sandbox, api: Api, other: Api) -> None:
    """Also one that its holder changes while the transfer is pending."""
    ask(api)
    servers = ["ns1.moved.net"]
    other.post(f"{D}/setNameservers/theirs.com", {"nameservers": servers})
    other.post(f"{D}/approveTransfer/theirs.com", {})
    assert api.get(f"{D}/getDomain/theirs.com").json["domain"]["nameservers"] == servers


def test_approval_moves_the_name(sandbox: Sandbox, api: Api, other: Api) -> None:
    """With a year more, another code, its delegation and hosts, and without its former holder's settings."""
    glue = f"{D}/glueRecords/theirs.com"
    other.post(glue, {"hostname": "ns1", "ips": ["192.0.2.50"]})
    other.post(f"{D}/setNameservers/theirs.com", {"nameservers": ["ns1.theirs.com", "ns.else.net"]})
    arrange(sandbox, "theirs.com", "other", flags=frozenset({Flag.HOLD}), privacy=True, autorenew=True)
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
    assert balance(sandbox, "other") == 500
    assert transfer_status(sandbox) is TransferStatus.CLIENT_APPROVED
    assert_sound(sandbox.world.state)


@pytest.mark.parametrize(
    ("who", "operation", "ended", "word"),
    [
        ("holder", "rejectTransfer", TransferStatus.CLIENT_REJECTED, "rejected"),
        ("asker", "cancelTransfer", TransferStatus.CLIENT_CANCELLED, "cancelled"),
    ],
)
def test_rejection_and_cancellation_leave_the_name(
    sandbox: Sandbox, api: Api, other: Api, who: str, operation: str, ended: TransferStatus, word: str
) -> None:
    """Whoever asked is refunded to the cent, and the name stays as it was."""
    held = order_of(sandbox, "theirs.com", "other")
    before = balance(sandbox)
    ask(api)
    answer = (other if who == "holder" else api).post(f"{D}/{operation}/theirs.com")
    assert answer.json == {"domainName": "theirs.com", "message": f"The transfer of theirs.com is {word}."}
    assert balance(sandbox) == before
    assert order_of(sandbox, "theirs.com", "other") == held
    assert api.get(f"{D}/getDomain/theirs.com").error == "domain_not_found"
    assert transfer_status(sandbox) is ended
    charge, refund = sorted(sandbox.world.state.ledger.values(), key=lambda entry: entry.id)[-2:]
    assert (charge.amount, refund.amount, refund.refunds) == (-9, 9, charge.id)
    assert {charge.purpose, refund.purpose} == {Purpose.TRANSFER}
    assert ask(api).json["status"] == "pending", "it can be asked for again"
    assert_sound(sandbox.world.state)


def test_time_completes_a_transfer(sandbox: Sandbox, api: Api, other: Api) -> None:
    """After the zone's five days, to the second."""
    ask(api)
    sandbox.clock.set("2026-03-06T11:59:59Z")
    assert other.get(f"{D}/getDomain/theirs.com").status == 200
    fired = sandbox.clock.advance(1).fired
    assert [(event.event, event.subject) for event in fired] == [("transfer completion", "theirs.com")]
    assert api.get(f"{D}/getDomain/theirs.com").json["status"] == "active"
    assert other.get(f"{D}/getDomain/theirs.com").error == "domain_not_found"
    assert transfer_status(sandbox) is TransferStatus.SERVER_APPROVED


def test_a_name_of_another_registrar_arrives_in_time(sandbox: Sandbox, api: Api) -> None:
    """Names outside the accounts of the world are transferred in the same way."""
    assert ask(api, "elsewhere.com").json["status"] == "pending"
    sandbox.clock.advance("5d")
    assert api.get(f"{D}/getDomain/elsewhere.com").json["domain"]["expireDate"] == "2027-06-09 12:00:00"


def test_an_overdue_name_can_leave(sandbox: Sandbox, api: Api, other: Api) -> None:
    """It arrives live, with its year."""
    ask(api, "lapsed.com")
    assert other.post(f"{D}/approveTransfer/lapsed.com").status == 200
    assert order_of(sandbox, "lapsed.com").stage is Stage.ACTIVE


def test_ten_years_is_the_longest_term(sandbox: Sandbox, api: Api, other: Api) -> None:
    """A name paid for far ahead arrives with no more than ten years."""
    ask(api, "far.com")
    other.post(f"{D}/approveTransfer/far.com")
    assert api.get(f"{D}/getDomain/far.com").json["domain"]["expireDate"] == "2036-03-01 12:00:00"


def test_a_premium_name_costs_its_own_price(sandbox: Sandbox, api: Api) -> None:
    """Which need not be sent, and must be right where it is."""
    assert ask(api, "silver.com", purchaseCost=29.99).error == "price_mismatch"
    assert ask(api, "silver.com", purchaseCost=30).json["totalPaid"] == "30.00"
    assert balance(sandbox) == 9970


def test_settings_of_a_request_are_kept(api: Api, other: Api) -> None:
    """Contacts and auto-renewal that were sent hold from the completion on."""
    contacts = {"reg-contact": person("Ann")}
    ask(api, domain={"contacts": contacts, "autorenewEnabled": True})
    other.post(f"{D}/approveTransfer/theirs.com")
    shown = api.get(f"{D}/getDomain/theirs.com").json["domain"]
    assert shown["contacts"]["reg-contact"]["name"] == "Ann"
    assert shown["contacts"]["tech-contact"]["name"] == "Main Holder"
    assert shown["autorenewEnabled"] is True


@pytest.mark.parametrize("code", ["", "LET-ME-IN", "let-me-in ", "let-me-i", 0, "λ"])
def test_the_code_must_be_the_very_one(sandbox: Sandbox, api: Api, code: object) -> None:
    """Nothing near it will do, and it is not told."""
    answer = ask(api, code=code)
    assert (answer.status, answer.error) == (403, "wrong_auth_code")
    assert b"let-me-in" not in answer.raw
    assert balance(sandbox) == 10_000


def test_sixty_days_to_the_second(sandbox: Sandbox, api: Api) -> None:
    """fresh.com was registered on 2026-02-19 at noon."""
    sandbox.clock.set("2026-04-20T11:59:59Z")
    refused = ask(api, "fresh.com")
    assert refused.error == "too_young"
    assert "2026-04-20T12:00:00Z" in refused.message
    sandbox.clock.advance(1)
    assert ask(api, "fresh.com").json["status"] == "pending"


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("locked.com", "locked"),
        ("gone.com", "wrong_state"),
        ("active.com", "already_yours"),
        ("nobodys.com", "not_registered"),
        ("their.shop", "transfers_not_supported"),
        ("their.quiet", "zone_out_of_service"),
        ("leaving.com", "already_yours"),
        ("arriving.com", "transfer_pending"),
        ("elsewhere.zone", "zone_not_supported"),
    ],
)
def test_names_that_cannot_be_asked_for(sandbox: Sandbox, api: Api, name: str, error: str) -> None:
    """Each for its own reason, and nothing is charged."""
    before = sandbox.world.state
    assert ask(api, name).error == error
    assert sandbox.world.state is before


def test_two_askers(api: Api, poor: Api, sandbox: Sandbox) -> None:
    """The first has it; the second is told to wait."""
    from tests.registry import arrange_balance

    arrange_balance(sandbox, "100", "poor")
    assert ask(api).status == 200
    assert ask(poor).error == "transfer_pending"
    api.post(f"{D}/cancelTransfer/theirs.com")
    assert ask(poor).status == 200


@pytest.mark.parametrize(
    ("operation", "who", "error"),
    [
        ("approveTransfer", "api", "no_transfer"),
        ("rejectTransfer", "api", "no_transfer"),
        ("cancelTransfer", "other", "no_transfer"),
        ("approveTransfer", "poor", "domain_not_found"),
        ("rejectTransfer", "poor", "domain_not_found"),
        ("cancelTransfer", "poor", "domain_not_found"),
    ],
)
def test_only_the_right_side_decides(
    request: pytest.FixtureRequest, api: Api, operation: str, who: str, error: str
) -> None:
    """The holder approves and rejects, the asker cancels, others have no part in it."""
    ask(api)
    assert request.getfixturevalue(who).post(f"{D}/{operation}/theirs.com").error == error


@pytest.mark.parametrize("first", ["approveTransfer", "rejectTransfer"])
@pytest.mark.parametrize("second", ["approveTransfer", "rejectTransfer"])
def test_a_transfer_is_decided_once(api: Api, other: Api, first: str, second: str) -> None:
    """After that there is none."""
    ask(api)
    assert other.post(f"{D}/{first}/theirs.com").status == 200
    expected = "domain_not_found" if first == "approveTransfer" else "no_transfer"
    assert other.post(f"{D}/{second}/theirs.com").error == expected


def test_what_arrives_cannot_be_used_yet(api: Api) -> None:
    """A name that is on its way is neither renewed nor delegated nor registered again."""
    ask(api)
    assert api.post(f"{D}/renewDomain/theirs.com").error == "wrong_state"
    assert api.post(f"{D}/setNameservers/theirs.com", {"nameservers": ["a.b.net"]}).error == "wrong_state"
    assert api.get(f"{D}/getAuthcode/theirs.com").error == "wrong_state"
    assert api.post(f"{D}/createDomain", {"domain": {"domainName": "theirs.com"}}).error == "name_taken"


def test_the_holder_cannot_lock_a_name_that_is_leaving(api: Api, other: Api) -> None:
    """Nor renew it; to reject is the way to keep it."""
    ask(api)
    assert other.post(f"{D}/lockTransfer/theirs.com").error == "transfer_pending"
    assert other.post(f"{D}/renewDomain/theirs.com").error == "transfer_pending"
    other.post(f"{D}/rejectTransfer/theirs.com")
    assert other.post(f"{D}/lockTransfer/theirs.com").status == 200
    assert ask(api).error == "locked"


def test_a_name_can_come_back(sandbox: Sandbox, api: Api, other: Api) -> None:
    """There and back again, with a new code each time."""
    ask(api)
    other.post(f"{D}/approveTransfer/theirs.com")
    code = api.get(f"{D}/getAuthcode/theirs.com").json["authCode"]
    assert ask(other, code=code).error == "too_young"
    sandbox.clock.advance("60d")
    assert ask(other, code=code).json["status"] == "pending"
    assert api.post(f"{D}/approveTransfer/theirs.com").status == 200
    assert other.get(f"{D}/getAuthcode/theirs.com").json["authCode"] not in (code, "let-me-in")
    assert other.get(f"{D}/getDomain/theirs.com").json["domain"]["expireDate"] == "2028-11-21 12:00:00"
    assert_sound(sandbox.world.state)


def test_a_free_transfer_leaves_no_entry(sandbox: Sandbox, api: Api, other: Api) -> None:
    """And there is nothing to refund when it fails."""
    free = replace(sandbox.world.state.zones["com"].prices, transfer=Decimal(0))
    arrange_zone(sandbox, "com", prices=free)
    before = len(sandbox.world.state.ledger)
    assert ask(api).json["totalPaid"] == "0.00"
    other.post(f"{D}/rejectTransfer/theirs.com")
    assert len(sandbox.world.state.ledger) == before


@pytest.mark.parametrize("assumed", ["one", "as_sent"])
@pytest.mark.parametrize(
    ("years", "error"),
    [(0, "period_too_short"), (-1, "period_too_short"), (10, "period_too_long"), (11, "period_too_long")],
)
def test_the_years_of_a_transfer_are_checked(make: Make, assumed: str, years: int, error: str) -> None:
    """Also where a transfer adds one year whatever is sent."""
    sandbox = make(assume={"v3.transfer.years": assumed})
    assert ask(connect(sandbox), years=years).error == error
    assert balance(sandbox) == 10_000


def test_ten_years_are_named_where_a_transfer_would_go_past_them(sandbox: Sandbox, api: Api) -> None:
    """Not where the zone takes no more at once."""
    told = [ask(api, years=10).message]
    arrange_zone(sandbox, "com", max_years=2)
    told.append(ask(api, years=3).message)
    assert ["more than 10 years ahead" in message for message in told] == [True, False], told
    assert "at most 2" in told[1]


def test_a_transfer_charges_protection(sandbox: Sandbox, api: Api, other: Api) -> None:
    """In an entry of its own, for the year that it adds; when it fails, both come back."""
    asked = ask(api, domain={"privacyEnabled": True})
    assert asked.json["totalPaid"] == "12.00"
    ledger = sandbox.world.state.ledger
    assert [(ledger[at].purpose, ledger[at].amount) for at in sorted(ledger)[-2:]] == [
        (Purpose.TRANSFER, -9),
        (Purpose.PRIVACY, -3),
    ]
    other.post(f"{D}/rejectTransfer/theirs.com")
    assert balance(sandbox) == 10_000
    assert_sound(sandbox.world.state)


def test_protection_is_not_part_of_the_price_that_is_agreed_to(api: Api) -> None:
    """As in createDomain."""
    assert ask(api, "silver.com", domain={"privacyEnabled": True}, purchaseCost=33).error == "price_mismatch"
    paid = ask(api, "silver.com", domain={"privacyEnabled": True}, purchaseCost=30)
    assert paid.json["totalPaid"] == "33.00"


def test_protection_that_the_balance_does_not_cover(sandbox: Sandbox, api: Api) -> None:
    """Nothing is ordered."""
    arrange_balance(sandbox, "11.99")
    assert ask(api, domain={"privacyEnabled": True}).error == "insufficient_funds"
    assert balance(sandbox) == Decimal("11.99")


def test_a_zone_without_a_price_for_protection_has_none(make: Make) -> None:
    """It is refused by name, in createDomain and in requestTransfer; a price of zero is one."""
    sandbox = make(assume={"v3.privacy.not_offered": "refused"})
    api = connect(sandbox)
    prices = sandbox.world.state.zones["com"].prices
    new = {"domain": {"domainName": "new.com", "privacyEnabled": True}}
    arrange_zone(sandbox, "com", prices=replace(prices, privacy=None))
    for refused in (api.post(f"{D}/createDomain", new), ask(api, domain={"privacyEnabled": True})):
        assert (refused.status, refused.error) == (409, "privacy_not_offered")
        assert refused.message == "The zone com offers no whois protection."
    assert ask(api, domain={"privacyEnabled": False}).status == 200
    arrange_zone(sandbox, "com", prices=replace(prices, privacy=Decimal(0)))
    assert api.post(f"{D}/createDomain", new).json["totalPaid"] == "10.00"


@pytest.mark.parametrize("value", ["creation_or_transfer", "creation"])
def test_what_the_sixty_days_count_from(make: Make, value: str) -> None:
    """A name that has just come may leave again at once, or has to stay as a new one has."""
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
        return
    assert answer.error == "too_young"
    assert f"theirs.com came by a transfer on {wire(arrived)}" in answer.message
    explained = sandbox.client().get("/_sandbox/journal").get_json()["requests"][-1]["refusal"]
    assert explained["allowed_at"] == wire(arrived + days(60))
    sandbox.clock.advance("1d")
    assert ask(other, code=code).json["status"] == "pending"


def test_a_name_that_was_never_transferred_counts_from_its_creation(sandbox: Sandbox, api: Api) -> None:
    """And the answer rests on no assumption."""
    refused = ask(api, "fresh.com")
    assert "fresh.com was registered on" in refused.message
    assert "lifecycle.transfer_lock.from" not in refused.assumptions
