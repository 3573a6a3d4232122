"""The order of the checks of the v2.0 operations that have many.

A rung has the rule of a refusal, its code and message, and the corrections.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import JSON, Answer, Headers
from tests.documented import ID, document
from tests.ladder import (
    LEAVING,
    PREMIUM,
    Climb,
    Correction,
    assume,
    balance,
    body,
    host,
    in_declared_order,
    name,
    request,
)
from tests.registry import edit
from tests.v2.client import FORM, Client, connect, done, refusal
from tests.v2.works import CARD, CUSTOMER, NAME, WORKS

STATUS = "403 The status of the order does not allow to perform the operation"
NO_FUNDS = "403 Not enough funds on the balance sheet"
NO_ZONE = "400 Domain zone not support"
NO_NAME = "400 Not the correct domain name"
NO_ID = "400 Invalid id"
UNKNOWN_ID = "404 ID not found"
WRONG_DATE = "400 Not the correct current_expiry_date"
WRONG_CODE = "400 Not the correct transfer_code"
NOTHING = "400 Not enough parameter: client_*, contact_* or ns"
NO_ARRAY = "ip must be an array of addresses, not {'type': 'v5', 'ip': 'here'}"
LOCK = "400 Not the correct client_transfer_prohibited"
UPDATE = "400 Not the correct client_update_prohibited"


def documented_rules(operation: str) -> set[str]:
    """Return the rules by which the document says that an operation may refuse under default assumptions."""
    methods = (row for path in document("v2").content["paths"].values() for row in path.values())
    responses = next(row["responses"] for row in methods if row[ID] == operation).values()
    rules = {rule for row in responses for rule in re.findall(r"` \((\w+)\)", row["description"])}
    return rules - {"internal_error", "unknown_keys", "unknown_path", "over_spend_limit"}


class ClimbV2(Climb):
    expects = 2
    before_name = r"/\w+/"

    def __init__(self, sandbox: Sandbox, operation: str) -> None:
        ask = WORKS[operation]
        super().__init__(sandbox, ask.method, ask.path, has_body=ask.body is not None)
        self.version, self.token, self.content_type = "V9.9", "", FORM

    def send(self) -> Answer:
        headers: Headers = [self.content_type] + ([("X-Auth-Token", self.token)] if self.token else [])
        headers += [("Host", self.host)] if self.host else []
        headers += [("Content-Encoding", self.encoding)] if self.encoding else []
        client = Client(self.wire, "", self.version, self.prefix)
        return client.call(self.method, self.path, self.body if self.raw is None else self.raw, headers)

    def met(self, answer: Answer) -> tuple[str, ...]:
        code, message, rule = refusal(answer)
        return rule, f"{code} {message}"

    def transport(self) -> list[Any]:
        """The rungs of every operation: host, size, world, version, token, and the form of a body."""
        reason = "It must name one host, optionally with a port"
        most = "limit of 1048576 bytes (--max-body)"
        form = f"The content type {FORM[1]} is not JSON; v2.request_format=json_or_form would accept it."
        encoding = "The Content-Encoding of the body cannot be read: 'br' is not supported."
        raw = b"["
        rungs: list[Any] = [
            (
                "invalid_host",
                f"400 The request has the invalid Host header 'no host'. {reason}.",
                request(host=""),
            ),
            ("body_too_large", f"413 The body is larger than the {most}.", request(raw=raw)),
            ("unknown_world", "404 There is no world 'nowhere'.", request(prefix="")),
            ("unsupported_encoding", f"415 {encoding}", request(encoding="")),
            ("version_not_served", "501 no implementation for this version", request(version="V2.0")),
            ("token_missing", "403 Token not found", request(token="nobody")),
            ("unknown_token", "403 Authorization failed", request(token="main-token")),
        ]
        if self.has_body:
            rungs += [
                b"a=1",
                ("unsupported_media_type", f"415 {form}", request(content_type=JSON), b"[1]"),
                ("malformed_body", "400 The body is invalid: expected a JSON object.", request(raw=None)),
            ]
        return rungs


def premium(value: str) -> Correction:
    return assume("v2.premium_names", value)


def held(domain: str, lost: str = NO_ID, *, malformed: str = NO_NAME) -> list[Any]:
    """The rungs of a name in the path that the account has to hold."""
    return [
        "-name-.com",
        ("invalid_name", malformed, "name.nowhere"),
        ("zone_not_supported", NO_ZONE, "nobodys.com"),
        ("domain_not_found", lost, "theirs.com"),
        ("domain_not_found", lost.replace("nobodys", "theirs"), domain),
    ]


#: A body that names another domain than the path, where nothing else of it is read.
CONTRADICTED = [b'{"domain": "other.com"}', ("invalid_parameter", NO_NAME, b"")]
WRONG_ADDRESS = [{"type": "v5", "ip": "here"}]

HOSTS = [
    name("active.com", flags=["client_update_prohibited"]),
    {"lifecycle": {"active": ["renew"]}},
    *held("held.shop", "404 Object not found nobodys.com", malformed=NO_ZONE),
    ("hosts_not_supported", "403 Order not support this action", "active.com"),
    ("wrong_state", STATUS, {"lifecycle": None}),
    ("locked", STATUS, name("active.com", flags=[])),
    host("-"),
    ("invalid_hostname", "404 Object not found -", host("new")),
]

HELD_HOST = held("active.com", "404 Object not found nobodys.com", malformed=NO_ZONE)
UNREADABLE: Correction = {"lifecycle": {"active": ["renew"]}}
NO_SUCH_HOST = [
    host("-"),
    ("invalid_hostname", "404 Object not found -", host("ns9")),
    ("host_not_found", "404 Object not found ns9.active.com", host("ns1")),
]


def party(domain: str) -> list[Any]:
    """The rungs of a name in the path that has a transfer of the account."""
    return [
        "-name-.com",
        ("invalid_name", NO_NAME, "nobodys.com"),
        ("domain_not_found", "404 Object not found nobodys.com", "active.com"),
        ("no_transfer", STATUS, domain),
    ]


def forbidden(permitted: dict[str, list[str]]) -> list[Any]:
    """The rung of a stage at which an action is not permitted."""
    return [{"lifecycle": permitted}, ("wrong_state", STATUS, {"lifecycle": None})]


LADDERS: dict[str, list[Any]] = {
    "customer.create": [
        body(zip="1", country="Ukraine"),
        ("missing_parameter", "400 Invalid mail", body(mail="seven@example.com")),
        ("missing_parameter", "400 Invalid name", body(name="Nora")),
        ("invalid_parameter", "400 Invalid zip", body(zip=1)),
        ("invalid_contact", "400 Invalid country", body(country="UA")),
        ("mail_taken", "403 Mail already registered", body(**CUSTOMER)),
    ],
    "customer.edit": [
        body(country="Ukraine", zip=-1),
        ("invalid_parameter", "400 Invalid zip", body(zip=1)),
        ("missing_parameter", "400 Invalid mail", body(mail="seven@example.com"), "/customer/seven"),
        ("invalid_customer_id", "400 Invalid customer_id", "/customer/9"),
        ("customer_not_found", UNKNOWN_ID, "/customer/8"),
        ("invalid_contact", "400 Invalid country", body(country="UA")),
        ("mail_taken", "400 Invalid mail", body(mail="free@example.com")),
    ],
    "contact.create": [
        "/contact/-",
        body(**{**CARD, "address": None}, size=1, tax_number="1", customer_id=9),
        body(zip=650.5, mail="nobody"),
        ("missing_parameter", "400 Not enough parameter: address", body(address="9 New Street")),
        ("invalid_parameter", "400 Invalid value for extra param zip", body(zip="65000")),
        ("invalid_handle", "400 Invalid value for extra param contact_id", "/contact/THEIRS"),
        ("unknown_extra", "400 Extra param size unknown", body(size=None)),
        ("invalid_extra", "400 Invalid value for extra param tax_number", body(tax_number="12345678")),
        ("invalid_contact", "400 Invalid value for extra param mail", body(mail="nora@example.com")),
        ("customer_not_found", "400 Invalid value for extra param customer_id", body(customer_id=7)),
        ("handle_taken", "400 Invalid value for extra param contact_id", "/contact/NEW"),
    ],
    "contact.edit": [
        {"zones": {"com": {"prices": {"owner_change": "2.50"}}}},
        name("active.com", flags=["client_update_prohibited"]),
        balance("2.49"),
        "/contact/-",
        body(**{**CARD, "name": None}, tax_number="1", size=1),
        body(city=5, mail="nobody"),
        ("missing_parameter", "400 Not enough parameter: name", body(name="Nora")),
        ("invalid_parameter", "400 Invalid Param", body(city="Odesa")),
        ("invalid_handle", "400 Invalid Param", "/contact/THEIRS"),
        ("contact_not_found", UNKNOWN_ID, "/contact/OWNER"),
        ("invalid_extra", "400 Invalid Param", body(tax_number="12345678")),
        ("invalid_contact", "400 Invalid Param", body(mail="nora@example.com")),
        ("locked", "400 Invalid Param", name("active.com", flags=[])),
        ("insufficient_funds", "400 Invalid Param", balance("2.50")),
    ],
    "domain.register": [
        {
            "zones": {
                "com.ua": {"premium": {"gold": PREMIUM}, "in_service": False, "min_years": 2, "max_years": 3}
            }
        },
        {"zones": {"com.ua": {"reserved": ["gold"]}}},
        premium("refused"),
        balance("5.00"),
        "-",
        body(
            **{**NAME, "contact_tech": 5, "period": 1, "contact_admin": "THEIRS", "customer_id": 9, "ns": []}
        ),
        ("missing_parameter", "400 Not enough parameter: ns", body(ns=["-"])),
        ("invalid_parameter", NO_ID, body(contact_tech="MAIN")),
        ("invalid_name", NO_NAME, "gold.nowhere"),
        ("zone_not_supported", NO_ZONE, "held.com.ua"),
        ("zone_out_of_service", NO_ZONE, {"zones": {"com.ua": {"in_service": None}}}),
        ("period_too_short", "400 minimum value period: 2", body(period=4)),
        ("period_too_long", "400 maximum value period: 3", body(period=2)),
        ("contact_not_found", NO_ID, body(contact_admin="ADMIN")),
        ("customer_not_found", NO_ID, body(customer_id=7)),
        ("invalid_nameserver", "400 Not the correct ns: -", body(ns=["ns1.home.net"])),
        ("license_required", "400 Not the correct license", body(license="12")),
        ("invalid_license", "400 Not the correct license", body(license="123456")),
        ("name_taken", "403 Domain is already registered", "gold.com.ua"),
        ("name_reserved", "403 Domain is already registered", {"zones": {"com.ua": {"reserved": None}}}),
        ("premium_not_taken", "403 Domain is already registered", "new.com.ua"),
        ("insufficient_funds", NO_FUNDS, balance("12.00")),
    ],
    "domain.edit": [
        balance("2.49"),
        name("held.com.ua", stage="overdue", flags=["client_update_prohibited", "server_hold"]),
        {"transfers": {"held.com.ua": LEAVING}},
        (
            "missing_parameter",
            NOTHING,
            body(client_hold=True, client_transfer_prohibited=1),
            body(contact_registrant="THEIRS"),
        ),
        ("invalid_parameter", "400 Not the correct client_hold", body(client_hold=0)),
        *held("held.com.ua"),
        ("wrong_state", "400 Not the correct status", name("held.com.ua", stage="active")),
        ("locked", UPDATE, name("held.com.ua", flags=["server_hold"]), body(ns={"add": ["-"]})),
        ("held_by_registry", "400 Not the correct client_hold", name("held.com.ua", flags=[])),
        ("transfer_pending", LOCK, body(client_transfer_prohibited=None)),
        (
            "invalid_nameserver",
            "400 Not the correct ns: -",
            body(ns={"add": ["ns1.home.net"], "del": ["ns1.home.net"]}),
        ),
        ("contact_not_found", NO_ID, body(contact_registrant="OWNER")),
        ("insufficient_funds", NO_FUNDS, balance("2.50")),
    ],
    "domain.renew": [
        name("active.com", stage="redemption", flags=["client_renew_prohibited"]),
        {"zones": {"com": {"in_service": False, "premium": {"active": PREMIUM}}}},
        premium("refused"),
        balance("299.99"),
        body(current_expiry_date="soon", date_end="2027-11-20"),
        ("missing_parameter", "400 Not enough parameter: period", body(period=0)),
        ("invalid_parameter", WRONG_DATE, body(current_expiry_date="2026-11-20")),
        *held("active.com"),
        ("wrong_state", STATUS, name("active.com", stage="active", created="-100d")),
        {"transfers": {"active.com": LEAVING}},
        ("transfer_pending", STATUS, {"transfers": {"active.com": None}}),
        ("locked", STATUS, name("active.com", flags=[], expires="2026-11-21T12:00:00Z", since=None)),
        ("zone_out_of_service", NO_ZONE, {"zones": {"com": {"in_service": None}}}),
        ("expiry_mismatch", WRONG_DATE, body(current_expiry_date="2026-11-21")),
        ("period_too_short", "400 minimum value period: 1", body(period=10)),
        ("period_too_long", "400 maximum value period: 9", body(period=1)),
        ("end_mismatch", WRONG_DATE, body(date_end="2027-11-21")),
        ("premium_not_taken", STATUS, premium("charged")),
        ("insufficient_funds", NO_FUNDS, balance("300.00")),
    ],
    "domain.restore": [
        name("removed.com", stage="pending_delete"),
        {"zones": {"com": {"in_service": False}}},
        balance("79.99"),
        *CONTRADICTED,
        *held("removed.com"),
        ("wrong_state", STATUS, name("removed.com", stage="redemption")),
        ("zone_out_of_service", NO_ZONE, {"zones": {"com": {"in_service": None}}}),
        ("insufficient_funds", NO_FUNDS, balance("80.00")),
    ],
    "transfer.request": [
        {"zones": {"com": {"in_service": False, "transfers": False, "premium": {"theirs": PREMIUM}}}},
        {"zones": {"com": {"policy": {"registrant_change_lock": 60}}}},
        name(
            "theirs.com", stage="redemption", flags=["client_transfer_prohibited"], registrant_changed="-59d"
        ),
        premium("refused"),
        balance("199.99"),
        body(customer_id=9),
        ("missing_parameter", WRONG_CODE, body(transfer_code=["let-me-in"])),
        ("invalid_parameter", WRONG_CODE, body(transfer_code="let-me-out")),
        "-name-.com",
        ("invalid_name", NO_NAME, "name.nowhere"),
        ("zone_not_supported", NO_ZONE, "nobodys.com"),
        ("transfers_not_supported", NO_ZONE, {"zones": {"com": {"transfers": True}}}),
        ("zone_out_of_service", NO_ZONE, {"zones": {"com": {"in_service": None}}}),
        ("customer_not_found", NO_ID, body(customer_id=7)),
        ("not_registered", NO_ID, "active.com"),
        ("already_yours", NO_ID, "theirs.com"),
        ("wrong_state", NO_ID, name("theirs.com", stage="active", created="-0d")),
        {"transfers": {"theirs.com": {"to": "poor", "requested": "-0d"}}},
        ("transfer_pending", NO_ID, {"transfers": {"theirs.com": None}}),
        ("locked", NO_ID, name("theirs.com", flags=[])),
        ("too_young", NO_ID, name("theirs.com", created="-100d", since=None)),
        ("registrant_changed", NO_ID, name("theirs.com", registrant_changed="-60d")),
        ("wrong_auth_code", WRONG_CODE, body(transfer_code="let-me-in")),
        ("premium_not_taken", NO_ID, premium("charged")),
        ("insufficient_funds", NO_FUNDS, balance("200.00")),
    ],
    "customer.info": [
        "/customer/seven",
        ("invalid_customer_id", "400 Invalid customer_id", "/customer/9"),
        ("customer_not_found", UNKNOWN_ID, "/customer/7"),
    ],
    "customer.delete": [
        "/customer/seven",
        ("invalid_customer_id", UNKNOWN_ID, "/customer/9"),
        ("customer_not_found", UNKNOWN_ID, "/customer/7"),
        ("customer_has_orders", "403 You can not delete the contact has active orders", "/customer/8"),
    ],
    "contact.check": ["-", ("invalid_handle", "400 Invalid contact_id", "NEW")],
    "contact.info": ["-", ("contact_not_found", UNKNOWN_ID, "OWNER")],
    "contact.delete": [
        "-",
        ("contact_not_found", UNKNOWN_ID, "OWNER"),
        ("contact_linked", "403 This object linked", "SPARE"),
    ],
    "domain.check": [
        {"zones": {"com": {"in_service": False}}},
        "-name-.com",
        ("invalid_name", NO_NAME, "name.nowhere"),
        ("zone_not_supported", NO_ZONE, "new.com"),
        ("zone_out_of_service", NO_ZONE, {"zones": {"com": {"in_service": None}}}),
    ],
    "domain.info": held("active.com", "404 Object not found nobodys.com"),
    "domain.delete": [
        {"domains": {"gold.com": {"hosts": {"ns1": ["192.0.2.1"]}}}},
        name("active.com", nameservers=["ns1.gold.com"]),
        name("gold.com", stage="redemption", flags=["client_delete_prohibited"]),
        *held("gold.com"),
        ("wrong_state", STATUS, name("gold.com", stage="active")),
        {"transfers": {"gold.com": LEAVING}},
        ("transfer_pending", STATUS, {"transfers": {"gold.com": None}}),
        ("locked", STATUS, name("gold.com", flags=[])),
        ("host_in_use", STATUS, name("active.com", nameservers=["ns1.home.net"])),
    ],
    "domain.zones": [],
    "transfer.status": party("leaving.com"),
    "transfer.cancel": [*party("arriving.com"), *forbidden({"arriving": []})],
    "transfer.approve": [*CONTRADICTED, *party("leaving.com"), *forbidden({"active": ["renew"]})],
    "transfer.reject": [*CONTRADICTED, *party("leaving.com"), *forbidden({"active": ["renew"]})],
    "host.check": [
        UNREADABLE,
        *held("held.shop", "404 Object not found nobodys.com", malformed=NO_ZONE),
        ("hosts_not_supported", "403 Order not support this action", "active.com"),
        ("wrong_state", STATUS, {"lifecycle": None}),
        host("-"),
        ("invalid_hostname", "404 Object not found -", host("new")),
    ],
    "host.info": [UNREADABLE, *HELD_HOST, ("wrong_state", STATUS, {"lifecycle": None}), *NO_SUCH_HOST],
    "host.delete": [
        name("active.com", flags=["client_update_prohibited"]),
        name("second.com", nameservers=["ns1.active.com"]),
        UNREADABLE,
        *HELD_HOST,
        ("wrong_state", STATUS, {"lifecycle": None}),
        ("locked", STATUS, name("active.com", flags=[])),
        *NO_SUCH_HOST,
        ("host_in_use", STATUS, name("second.com", nameservers=["ns1.home.net"])),
    ],
    "host.create": [
        ("missing_parameter", "400 Not enough parameter: ip", body(ip=[*WRONG_ADDRESS, {"ip": "192.0.2.9"}])),
        ("missing_parameter", "400 Not enough parameter: type", body(ip=WRONG_ADDRESS[0])),
        ("invalid_parameter", f"400 Not enough parameter: {NO_ARRAY}", body(ip=WRONG_ADDRESS)),
        *HOSTS,
        host("ns1"),
        ("unknown_ip_type", "400 Unknown ip type : v5", body(ip=[{"type": "v6", "ip": "here"}])),
        ("invalid_ip", "400 Not the correct IPv6: here", body(ip=[{"type": "v4", "ip": "here"}])),
        ("invalid_ip", "400 Not the correct IPv4: here", body(ip=[{"type": "v4", "ip": "192.0.2.9"}])),
        ("host_exists", STATUS, host("new")),
    ],
    "host.edit": [
        ("missing_parameter", "400 Unknown ip type : ip", body(ip={"add": "v5"})),
        ("invalid_parameter", '400 Unknown ip type : {"add": "v5"}', body(ip={"add": WRONG_ADDRESS})),
        *HOSTS,
        ("host_not_found", "404 Object not found new.active.com", host("ns1")),
        ("unknown_ip_type", "400 Unknown ip type : v5", body(ip={"add": ["type=>v6,ip=>here"]})),
        ("invalid_ip", "400 Not the correct IPv6: here", body(ip={"del": ["type=>v4,ip=>192.0.2.77"]})),
        ("invalid_ip", "400 Not the correct IPv4: 192.0.2.77", body(ip={"add": ["type=>v4,ip=>192.0.2.77"]})),
    ],
}


@pytest.mark.parametrize("operation", LADDERS)
def test_refusals_occur_in_the_documented_order(sandbox: Sandbox, operation: str) -> None:
    climb = ClimbV2(sandbox, f"v2.{operation}")
    climb.climb([*climb.transport(), *LADDERS[operation]])
    done(climb.send())
    assert set(climb.visited) == documented_rules(f"v2.{operation}")
    in_declared_order(climb.visited, f"v2.{operation}")


def test_the_contact_of_the_account_is_never_deleted(sandbox: Sandbox) -> None:
    roles = dict.fromkeys(("registrant", "admin", "tech", "billing"), "SPARE")
    names = [row.name for row in sandbox.names.list(account="main").names if row.stage != "arriving"]
    edit(sandbox, {"domains": {domain: {"contacts": roles} for domain in names},
                   "transfers": {"arriving.com": None, "moving.com": None}})  # fmt: skip
    main = connect(sandbox)
    for handle in ("MAIN", "SPARE"):
        assert refusal(main.delete(f"/contact/{handle}")) == (403, "This object linked", "contact_linked")
    assert done(main.delete("/contact/OWNER"))
