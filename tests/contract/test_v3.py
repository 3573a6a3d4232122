"""The contract's v3 operations, one after another, over a real socket with a signature.

Each case is one request and the shape of its answer, field by field. Every operation has a case under every
path that the contract gives it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.documented import ID, document
from tests.shapes import (
    AVAILABILITY,
    DIGITS,
    DOMAIN,
    DOMAIN_IN_FULL,
    DOMAIN_WITH_PREMIUM,
    DOMAIN_WITH_UPDATE_LOCK,
    MONEY,
    REGISTERED,
    RENEWED,
    SPACED,
    SUMMARY,
    envelope,
    fits,
)
from tests.shapes import CARD as ANY_CARD
from tests.v3.operations import operations

OPERATIONS = yaml.safe_load((Path(__file__).parent / "v3_operations.yaml").read_text("utf-8"))
BY_ID = {operation["id"]: operation for operation in OPERATIONS}

ROLES = ("reg-contact", "admin-contact", "tech-contact", "billing-contact")
CARD = {
    **{"name": "Ann Holder", "company-name": "Holder Ltd", "address1": "1 Main Street", "city": "Leeds"},
    **{"state": "West Yorkshire", "zipcode": "12345", "country": "GB", "phone": "44.1131234567"},
    **{"fax": "44.1131234568", "email": "ann@example.com"},
}
CONTACTS = dict.fromkeys(ROLES, CARD)
WHOLE = {
    **{"domainName": "new.com", "contacts": CONTACTS, "nameservers": ["ns1.new.com", "ns2.elsewhere.net"]},
    **dict.fromkeys(("privacyEnabled", "lockedEnabled", "autorenewEnabled"), True),
}
WHOLE_SENT = {**WHOLE, "contacts": {role: {**CARD, "zipcode": 12345} for role in ROLES}}
WHOLE_SHOWN = {
    **WHOLE,
    **{"nameservers": [str], "renewalCost": "12.000000"},
    **{"createDate": "2026-03-01T12:00:00Z", "expireDate": "2029-03-01T12:00:00Z"},
}
PAGE = {"domains": [SUMMARY], "nextPage": 2, "lastPage": int}
DEFAULTS = {
    **DOMAIN,
    **dict.fromkeys(("privacyEnabled", "lockedEnabled", "autorenewEnabled"), False),
    "contacts": {role: {**ANY_CARD, "name": "Main Holder"} for role in ROLES},
    "expireDate": "2027-03-01T12:00:00Z",
}
LOCKED, OPEN = ({**DOMAIN_WITH_PREMIUM, "lockedEnabled": value} for value in (True, False))
FIXED, FREE = ({**DOMAIN_WITH_UPDATE_LOCK, "updateProhibited": value} for value in (True, False))
HELD, RELEASED = ({**envelope(DOMAIN_WITH_PREMIUM), "status": status} for status in ("suspended", "active"))
AVAILABLE = {**AVAILABILITY, "status": "available"}
BALANCE = {"client-id": DIGITS, "serverTime": SPACED, "balance": MONEY, "currency": "USD"}
GLUE = {"domainName": "active.com", "hostname": "ns1.active.com"}
NEW_GLUE = {"domainName": "active.com", "hostname": "ns2.active.com", "ips": [str]}
MESSAGE = {"domainName": str, "message": str}
REQUESTED = {"domainName": "elsewhere.com", "order-id": DIGITS, "totalPaid": MONEY, "status": "pending"}
CODE = {"domainName": "active.com", "authCode": str}
LICENSED = {"domain": WHOLE_SENT, "years": 3, "purchaseCost": 30.0, "tldRequirements": {"license": "123456"}}
BY_NAME = {"domain": {"domainName": "active.com"}, "years": 1, "purchaseCost": 12.0}
TRANSFER = {"domain": {"domainName": "elsewhere.com"}, "authCode": "let-me-in"}
SERVERS = {"nameservers": ["ns1.example.net", "ns2.example.net"]}

#: Operations, the rest of their targets, the shapes of the answers, and bodies.
CASES: list[tuple[str, str, Any, Any]] = [
    ("balance", "/v3/balance", [BALANCE], None),
    ("checkAvailability", "", {"results": [AVAILABLE]}, {"domainNames": ["a.com"]}),
    ("createDomain", "", {**REGISTERED, "domain": DEFAULTS}, {"domain": {"domainName": "new.com"}}),
    ("createDomain", "", {**REGISTERED, "domain": WHOLE_SHOWN, "totalPaid": "39.00"}, LICENSED),
    ("listDomains", "/v3/domains?perPage=5&page=1", PAGE, None),
    ("listDomains", "/v3/domains?perPage=100&page=1", {"domains": [SUMMARY]}, None),
    ("getDomain", "active.com", envelope(DOMAIN_IN_FULL), None),
    ("renewDomain", "", RENEWED, BY_NAME),
    ("renewDomain", "active.com", RENEWED, {"years": 1}),
    ("renewDomain", "active.com?years=2", RENEWED, None),
    ("setNameservers", "active.com", envelope(), SERVERS),
    ("lockTransfer", "active.com", envelope(LOCKED), None),
    ("unlockTransfer", "active.com", envelope(OPEN), None),
    ("lock", "active.com", HELD, None),
    ("unlock", "active.com", RELEASED, None),
    ("lockUpdate", "active.com", envelope(FIXED), None),
    ("unlockUpdate", "active.com", envelope(FREE), None),
    ("enableAutorenew", "second.com", envelope(), None),
    ("disableAutorenew", "active.com", envelope(), None),
    ("createGlueRecord", "active.com", NEW_GLUE, {"hostname": "ns2", "ips": ["192.0.2.2", "2001:db8::2"]}),
    ("updateGlueRecord", "active.com/ns1", {**GLUE, "ips": [str]}, {"ips": ["192.0.2.9"]}),
    ("deleteGlueRecord", "active.com/ns1", GLUE, None),
    ("listGlueRecords", "active.com", {"glueRecords": [GLUE]}, None),
    ("getGlueRecord", "active.com/ns1", {**GLUE, "ips": [str]}, None),
    ("requestTransfer", "", REQUESTED, TRANSFER),
    ("rejectTransfer", "leaving.com", MESSAGE, None),
    ("cancelTransfer", "arriving.com", MESSAGE, None),
    ("approveTransfer", "leaving.com", MESSAGE, None),
    ("setAuthcode", "active.com", {**CODE, "authCode": "Secret-1"}, {"authcode": "Secret-1"}),
    ("getAuthcode", "active.com", CODE, None),
    ("setContacts", "active.com", envelope(), {"contacts": CONTACTS}),
    ("setContacts", "/v3/setContacts/active.com", envelope(), {"contacts": CONTACTS}),
]  # fmt: skip


def test_an_operation_answers_as_the_contract_says(
    wire: Api, served: Sandbox, subtests: pytest.Subtests
) -> None:
    """The operation is served under each of its paths, and its document describes the request."""
    walked = set()
    for name, rest, shape, body in CASES:
        row = BY_ID[f"v3.{name}"]
        stem = row["path"].partition("/{")[0]
        target = rest if rest.startswith("/") else f"{stem}/{rest}".rstrip("/")
        with subtests.test(target=target):
            served.reset()
            answer = wire.call(row["method"], target, body)
            assert answer.status == 200, answer.raw
            fits(answer.json, shape)
            described = document("v3").operation(row["method"], target.partition("?")[0])
            assert described is not None
            assert described[ID] == row["id"]
            if body is not None:
                document("v3").requests(described["requestBody"]).validate(body)
            walked.add((row["id"], described["operationId"]))
    assert {id_ for id_, _ in walked} == set(BY_ID)
    assert len(walked) == sum(1 + len(row.get("also", ())) for row in OPERATIONS)


def test_the_operations_of_the_contract_are_served_under_each_path() -> None:
    assert len(OPERATIONS) == 27
    assert set(operations()) == set(BY_ID)
    for row in OPERATIONS:
        paths = [row["path"], *row.get("also", ())]
        if row["id"] == "v3.listDomains":
            paths.append("/v3/domains/{perPage}/{page}")  # the form that some callers use
        assert (operations()[row["id"]].method, list(operations()[row["id"]].paths)) == (row["method"], paths)
