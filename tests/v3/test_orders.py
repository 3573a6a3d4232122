"""Orders: each charge is a ledger entry with its cause, and a transferred name arrives with its settings."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from reseller_sandbox import Sandbox
from tests.clients import Answer, Api, person
from tests.registry import Make, balance, connect, edit_name
from tests.soundness import assert_books_balance

D = "/v3/domains"


def create(api: Api, name: str = "new.com", years: int = 1, cost: object = None, **domain: object) -> Answer:
    body = {"domain": {"domainName": name, **domain}, "years": years, "purchaseCost": cost}
    return api.post(f"{D}/createDomain", body)


def ask(api: Api, name: str = "theirs.com", code: object = "let-me-in", **more: Any) -> Answer:
    """Request the transfer of another registrar's name."""
    domain = {"domainName": name, **more.pop("domain", {})}
    return api.post(f"{D}/requestTransfer", {"domain": domain, "authCode": code, **more})


def test_an_agreed_price_is_compared_by_amount_in_any_spelling(sandbox: Sandbox, api: Api) -> None:
    sandbox.simulate.set_premium("rare.com", registration=500, renewal=300, transfer=200)
    for wrong in ("500.001", 499.99, "500.000001", 5, 10**12, "9" * 60):
        assert create(api, "rare.com", 1, wrong).error == "price_mismatch", wrong
    for number, cost in enumerate([500, 500.0, "500", "500.00", "5e2", "500.000000"]):
        name = f"rare{number}.com"
        sandbox.simulate.set_premium(name, registration=500, renewal=300, transfer=200)
        paid = create(api, name, 1, cost, privacyEnabled=True).json["totalPaid"]
        assert paid == "503.00", "the agreed price leaves privacy out"


def test_a_transferred_domain_has_the_settings_of_its_request(api: Api, other: Api) -> None:
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


def test_a_transferred_domain_keeps_its_hosts_and_name_servers_and_no_other_settings(
    sandbox: Sandbox,
) -> None:
    edit_name(sandbox, "theirs.com", flags=["client_hold"], privacy=True, autorenew=True)
    api, other = connect(sandbox), connect(sandbox, "other")
    ask(api)
    other.post(f"{D}/glueRecords/theirs.com", {"hostname": "ns1", "ips": ["192.0.2.50"]})
    other.post(f"{D}/setNameservers/theirs.com", {"nameservers": ["ns1.theirs.com", "ns.else.net"]})
    assert other.post(f"{D}/approveTransfer/theirs.com").status == 200
    shown = api.get(f"{D}/getDomain/theirs.com").json["domain"]
    assert (shown["createDate"], shown["expireDate"]) == ("2025-11-21 12:00:00", "2027-11-21 12:00:00")
    assert (shown["privacyEnabled"], shown["lockedEnabled"], shown["autorenewEnabled"]) == (False,) * 3
    assert shown["nameservers"] == ["ns1.theirs.com", "ns.else.net"]
    assert shown["contacts"]["reg-contact"]["name"] == "Main Holder"
    assert api.get(f"{D}/glueRecords/theirs.com/ns1").json["ips"] == ["192.0.2.50"]
    assert api.get(f"{D}/getAuthcode/theirs.com").json["authCode"] != "let-me-in"


def test_only_the_exact_auth_code_is_accepted_and_it_is_never_shown(sandbox: Sandbox, api: Api) -> None:
    for code in ("", "LET-ME-IN", "let-me-in ", "let-me-i", 0, "λ"):
        answer = ask(api, code=code)
        assert (answer.status, answer.error) == (403, "wrong_auth_code"), code
        assert b"let-me-in" not in answer.raw
    assert balance(sandbox) == 10_000


def test_the_price_and_the_privacy_are_charged_and_refunded_in_entries_of_each(
    sandbox: Sandbox, api: Api, other: Api
) -> None:
    for party, operation, ended in [
        (other, "rejectTransfer", "clientRejected"),
        (api, "cancelTransfer", "clientCancelled"),
    ]:
        sandbox.reset()
        assert ask(api, domain={"privacyEnabled": True}).json["totalPaid"] == "12.00"
        assert party.post(f"{D}/{operation}/theirs.com").status == 200
        assert sandbox.transfers["theirs.com"].status == ended
        paid, private, *refunds = sandbox.ledger.find(domain="theirs.com").entries
        assert [(row.purpose, row.amount) for row in (paid, private)] == [("transfer", -9), ("privacy", -3)]
        assert {(row.purpose, row.amount, row.refunds) for row in refunds} == {
            ("transfer", 9, paid.id),
            ("privacy", 3, private.id),
        }
        assert_books_balance(sandbox)
    sandbox.simulate.set_prices("com", transfer=0)
    before = sandbox.ledger.find().matching
    assert ask(api).json["totalPaid"] == "0.00"
    other.post(f"{D}/rejectTransfer/theirs.com")
    assert sandbox.ledger.find().matching == before, "a free transfer makes no entry"


def test_the_sixty_days_count_from_the_creation_or_also_from_a_transfer(make: Make) -> None:
    for value in ("creation_or_transfer", "creation"):
        sandbox = make(assume={"lifecycle.transfer_lock.from": value})
        api, other = (connect(sandbox, account, checked=False) for account in ("main", "other"))
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
