"""The contract's v3 operations, one after another, over a real socket with a signature.

Each case is one request and the shape of its answer, field by field. The walk is complete: every
operation, under every path that the contract gives it, has a case.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.shapes import (
    DIGITS,
    DOMAIN_IN_FULL,
    DOMAIN_WITH_PREMIUM,
    DOMAIN_WITH_UPDATE_LOCK,
    MONEY,
    REGISTERED,
    RENEWED,
    SIX_DIGITS,
    SPACED,
    SUMMARY,
    envelope,
    fits,
)
from tests.v3.operations import operations

OPERATIONS = yaml.safe_load((Path(__file__).parent / "v3_operations.yaml").read_text("utf-8"))
BY_ID = {operation["id"]: operation for operation in OPERATIONS}

AVAILABLE = {
    "domainName": str,
    "sdn": str,
    "tld": str,
    "status": "available",
    "purchaseCost": MONEY,
    "renewalCost": MONEY,
    "premium": bool,
    "periodMin": DIGITS,
    "periodMax": DIGITS,
}
CARD = {
    "name": "Ann Holder",
    "company-name": "Holder Ltd",
    "address1": "1 Main Street",
    "city": "Leeds",
    "state": "West Yorkshire",
    "zipcode": 12345,
    "country": "GB",
    "phone": "44.1131234567",
    "fax": "44.1131234568",
    "email": "ann@example.com",
}
ROLES = ("reg-contact", "admin-contact", "tech-contact", "billing-contact")
WHOLE_DOMAIN = {
    "domainName": "new.com",
    "nameservers": ["ns1.new.com", "ns2.elsewhere.net"],
    "contacts": dict.fromkeys(ROLES, CARD),
    "privacyEnabled": True,
    "lockedEnabled": True,
    "autorenewEnabled": True,
}
GLUE = "/v3/domains/glueRecords/active.com"


@dataclass(frozen=True)
class Case:
    """One request of an operation, and what its answer looks like."""

    operation: str
    target: str
    shape: Any
    body: Any = None
    path: int = 0


def on(name: str, domain: str, shape: Any, body: Any = None, **more: Any) -> Case:
    """A case of an operation whose path ends with the name."""
    return Case(f"v3.{name}", f"/v3/domains/{name}/{domain}", shape, body, **more)


MESSAGE = {"domainName": str, "message": str}
CASES = (
    Case(
        "v3.balance",
        "/v3/balance",
        [{"client-id": DIGITS, "serverTime": SPACED, "balance": MONEY, "currency": "USD"}],
    ),
    Case(
        "v3.checkAvailability",
        "/v3/domains/checkAvailability",
        {"results": [AVAILABLE]},
        {"domainNames": ["free.com", "free.com.ua"]},
    ),
    Case("v3.createDomain", "/v3/domains/createDomain", REGISTERED, {"domain": {"domainName": "new.com"}}),
    Case(
        "v3.createDomain",
        "/v3/domains/createDomain",
        REGISTERED,
        {"domain": WHOLE_DOMAIN, "years": 2, "purchaseCost": 20.0, "tldRequirements": {"license": "123456"}},
    ),
    Case(
        "v3.listDomains",
        "/v3/domains?perPage=5&page=1",
        {"domains": [SUMMARY], "nextPage": 2, "lastPage": int},
    ),
    Case("v3.listDomains", "/v3/domains?perPage=100&page=1", {"domains": [SUMMARY]}),
    on("getDomain", "active.com", envelope(DOMAIN_IN_FULL)),
    Case(
        "v3.renewDomain",
        "/v3/domains/renewDomain",
        RENEWED,
        {"domain": {"domainName": "active.com"}, "years": 1, "purchaseCost": 12.0},
    ),
    Case("v3.renewDomain", "/v3/domains/renewDomain/active.com", RENEWED, {"years": 1}, path=1),
    Case("v3.renewDomain", "/v3/domains/renewDomain/active.com?years=2", RENEWED, path=1),
    on("setNameservers", "active.com", envelope(), {"nameservers": ["ns1.example.net", "ns2.example.net"]}),
    on("lockTransfer", "active.com", envelope({**DOMAIN_WITH_PREMIUM, "lockedEnabled": True})),
    on("unlockTransfer", "active.com", envelope({**DOMAIN_WITH_PREMIUM, "lockedEnabled": False})),
    on("lock", "active.com", {**envelope(DOMAIN_WITH_PREMIUM), "status": "suspended"}),
    on("unlock", "active.com", {**envelope(DOMAIN_WITH_PREMIUM), "status": "active"}),
    on("lockUpdate", "active.com", envelope({**DOMAIN_WITH_UPDATE_LOCK, "updateProhibited": True})),
    on("unlockUpdate", "active.com", envelope({**DOMAIN_WITH_UPDATE_LOCK, "updateProhibited": False})),
    on("enableAutorenew", "second.com", envelope()),
    on("disableAutorenew", "active.com", envelope()),
    Case(
        "v3.createGlueRecord",
        GLUE,
        {"domainName": "active.com", "hostname": "ns2.active.com", "ips": [str]},
        {"hostname": "ns2", "ips": ["192.0.2.2", "2001:db8::2"]},
    ),
    Case(
        "v3.updateGlueRecord",
        f"{GLUE}/ns1",
        {"domainName": "active.com", "hostname": "ns1.active.com", "ips": [str]},
        {"ips": ["192.0.2.9"]},
    ),
    Case("v3.deleteGlueRecord", f"{GLUE}/ns1", {"domainName": "active.com", "hostname": "ns1.active.com"}),
    Case(
        "v3.listGlueRecords",
        GLUE,
        {"glueRecords": [{"domainName": "active.com", "hostname": "ns1.active.com"}]},
    ),
    Case(
        "v3.getGlueRecord",
        f"{GLUE}/ns1",
        {"domainName": "active.com", "hostname": "ns1.active.com", "ips": [str]},
    ),
    Case(
        "v3.requestTransfer",
        "/v3/domains/requestTransfer",
        {"domainName": "elsewhere.com", "order-id": DIGITS, "totalPaid": MONEY, "status": "pending"},
        {"domain": {"domainName": "elsewhere.com"}, "authCode": "let-me-in"},
    ),
    on("rejectTransfer", "leaving.com", MESSAGE),
    on("cancelTransfer", "arriving.com", MESSAGE),
    on("approveTransfer", "leaving.com", MESSAGE),
    on(
        "setAuthcode",
        "active.com",
        {"domainName": "active.com", "authCode": "Secret-1"},
        {"authcode": "Secret-1"},
    ),
    on("getAuthcode", "active.com", {"domainName": "active.com", "authCode": str}),
    on("setContacts", "active.com", envelope(), {"contacts": dict.fromkeys(ROLES, CARD)}),
    Case(
        "v3.setContacts",
        "/v3/setContacts/active.com",
        envelope(),
        {"contacts": dict.fromkeys(ROLES, CARD)},
        path=1,
    ),
)


def test_an_operation_answers_as_the_contract_says(
    wire: Api, served: Sandbox, subtests: pytest.Subtests
) -> None:
    for case in CASES:
        with subtests.test(target=case.target):
            served.reset()
            row = BY_ID[case.operation]
            documented = [row["path"], *row.get("also", ())][case.path]
            template = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(documented))
            assert re.fullmatch(template, case.target.partition("?")[0]), "the case is of another path"
            answer = wire.call(row["method"], case.target, case.body)
            assert answer.status == 200, answer.raw
            fits(answer.json, case.shape)


def test_every_operation_of_the_contract_has_a_case_and_is_served_under_each_path() -> None:
    walked = {(case.operation, case.path) for case in CASES}
    contract = {(row["id"], number) for row in OPERATIONS for number in range(1 + len(row.get("also", ())))}
    assert len(OPERATIONS) == 27
    assert walked == contract
    assert set(operations()) == set(BY_ID)
    for row in OPERATIONS:
        paths = [row["path"], *row.get("also", ())]
        if row["id"] == "v3.listDomains":
            paths.append("/v3/domains/{perPage}/{page}")  # the form that some callers use
        assert operations()[row["id"]].method == row["method"]
        assert list(operations()[row["id"]].paths) == paths


def test_a_name_comes_back_as_it_was_registered(wire: Api) -> None:
    """What createDomain is given, createDomain and getDomain show."""
    wanted = {"domain": WHOLE_DOMAIN, "years": 3, "purchaseCost": 30}
    made = wire.post("/v3/domains/createDomain", wanted).json
    read = wire.get("/v3/domains/getDomain/new.com").json
    card = {**CARD, "zipcode": "12345"}

    assert made["domain"] == {
        **WHOLE_DOMAIN,
        "contacts": dict.fromkeys(ROLES, card),
        "createDate": "2026-03-01T12:00:00Z",
        "expireDate": "2029-03-01T12:00:00Z",
        "renewalCost": "12.000000",
    }
    assert made["status"] == "active"
    assert made["totalPaid"] == "39.00"  # three years at 10.00, whois protection at 3.00 for each
    assert read["order-id"] == made["order-id"]
    assert read["domain"] == {
        **made["domain"],
        "createDate": "2026-03-01 12:00:00",
        "expireDate": "2029-03-01 12:00:00",
        "premium": False,
    }


def test_the_defaults_of_a_name_are_the_accounts(wire: Api) -> None:
    """Contacts and name servers that are not sent are the account's own; the term is a year."""
    made = wire.post("/v3/domains/createDomain", {"domain": {"domainName": "plain.com"}}).json["domain"]
    assert made["nameservers"] == ["ns1.home.net", "ns2.home.net"]
    assert {card["name"] for card in made["contacts"].values()} == {"Main Holder"}
    assert made["expireDate"] == "2027-03-01T12:00:00Z"
    assert (made["privacyEnabled"], made["lockedEnabled"], made["autorenewEnabled"]) == (False, False, False)


def test_availability_is_told_in_the_order_asked(wire: Api) -> None:
    """One result for each name: its parts, its status, its prices and periods."""
    asked = ["free.com", "active.com", "gold.com", "nic.com", "free.com.ua", "free.shop", "x.zone", "-.com"]
    results = wire.post("/v3/domains/checkAvailability", {"domainNames": asked}).json["results"]
    told = [(one["domainName"], one["sdn"], one["tld"], one["status"]) for one in results]
    assert told == [
        ("free.com", "free", "com", "available"),
        ("active.com", "active", "com", "registered"),
        ("gold.com", "gold", "com", "registered"),
        ("nic.com", "nic", "com", "reserved"),
        ("free.com.ua", "free", "com.ua", "available"),
        ("free.shop", "free", "shop", "available"),
        ("x.zone", "x", "zone", "unsupported"),
        ("-.com", "-", "com", "invalid"),
    ]
    gold, shop, unknown = results[2], results[5], results[6]
    assert (gold["premium"], gold["purchaseCost"], gold["renewalCost"]) == (True, "500.00", "300.00")
    assert (shop["periodMin"], shop["periodMax"], shop["premium"]) == ("2", "5", False)
    assert unknown == results[7] | {key: unknown[key] for key in ("domainName", "sdn", "tld", "status")}
    assert (unknown["purchaseCost"], unknown["renewalCost"], unknown["premium"]) == ("0.00", "0.00", False)
    assert (unknown["periodMin"], unknown["periodMax"]) == ("0", "0")


def test_up_to_fifty_names_are_looked_up(wire: Api) -> None:
    for count in (0, 1, 50):
        asked = [f"name{number}.com" for number in range(count)]
        results = wire.post("/v3/domains/checkAvailability", {"domainNames": asked}).json["results"]
        assert [one["domainName"] for one in results] == asked


def test_pages_follow_one_another(wire: Api) -> None:
    """nextPage and lastPage are there while another page follows; the pages are the whole list, once."""
    whole = wire.get("/v3/domains").json["domains"]
    names = []
    page, last = 1, None
    while page is not None:
        answer = wire.get(f"/v3/domains?perPage=4&page={page}").json
        names += [one["domainName"] for one in answer["domains"]]
        assert len(answer["domains"]) <= 4
        assert ("nextPage" in answer) is ("lastPage" in answer)
        assert answer.get("nextPage") in (page + 1, None)
        last = answer.get("lastPage", last)
        assert answer.get("lastPage") in (last, None)
        page = answer.get("nextPage")
    assert last == -(-len(names) // 4)
    assert names == [one["domainName"] for one in whole]
    assert len(set(names)) == len(names)


def test_a_page_past_the_last_is_empty(wire: Api) -> None:
    for query in ("perPage=3&page=99", "perPage=2147483647&page=2147483647"):
        assert wire.get(f"/v3/domains?{query}").json == {"domains": []}


def test_renewal_cost_has_six_fraction_digits(wire: Api) -> None:
    """Also where the price is premium."""
    gold = wire.get("/v3/domains/getDomain/gold.com").json["domain"]
    fits(gold["renewalCost"], SIX_DIGITS)
    assert (gold["renewalCost"], gold["premium"]) == ("300.000000", True)


def test_the_default_fixture_is_served(default_wire: Api) -> None:
    """What `serve` starts with: an account with money and names that can be read, renewed and registered."""
    balance = default_wire.get("/v3/balance").json[0]
    assert float(balance["balance"]) > 100
    listed = default_wire.get("/v3/domains").json["domains"]
    assert listed
    for one in listed:
        shown = default_wire.get(f"/v3/domains/getDomain/{quote(one['domainName'])}").json
        fits(shown, envelope(DOMAIN_IN_FULL))
    assert (
        default_wire.post("/v3/domains/createDomain", {"domain": {"domainName": "brand-new.com"}}).status
        == 200
    )
