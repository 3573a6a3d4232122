"""Every documented refusal of each v3 operation in the order of the checks, and the stages of an order."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Answer, encoded, person, signature
from tests.documented import Operation, operations
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
    transfer,
    zone,
)
from tests.registry import BASE, Make, connect

#: Under these every rule of v3 can be met.
ASSUME = {
    "v3.request.content_type": "json",
    "v3.contacts.required": "all",
    "v3.switches.repeated": "refused",
    "v3.transfer.years": "as_sent",
    "v3.purchase_cost": "whenever_given",
    "v3.privacy.not_offered": "refused",
}
#: Every flag that a registrant sets.
FLAGS = ["client_hold", *(f"client_{word}_prohibited" for word in ("transfer", "update", "delete", "renew"))]


class ClimbV3(Climb):
    expects = 1
    before_name = r"/v3/domains/\w+/"

    def __init__(self, sandbox: Sandbox, operation: Operation) -> None:
        path = operation.paths[0].format(domainName="not a name", hostname="ns1")
        super().__init__(sandbox, operation.method, path, has_body=operation.method in ("POST", "PUT"))
        self.errors = operation.errors
        self.body, self.query, self.key, self.secret = None, "", "", ""
        self.content_type = "text/plain" if self.has_body else "application/json"

    def send(self) -> Answer:
        raw = self.raw if self.raw is not None else encoded(self.body)
        target = self.prefix + quote(self.path) + self.query
        signed = signature(self.secret, self.key, BASE + target, raw)
        headers = [("Content-Type", self.content_type)]
        headers += [("X-SVC-APIKEY", self.key), ("X-SVC-SIGNATURE", signed)] if self.key else []
        headers += [("Content-Encoding", self.encoding)] if self.encoding else []
        return self.wire(self.method, target, [*headers, ("Host", self.host)], raw)

    def met(self, answer: Answer) -> tuple[str, ...]:
        assert answer.error is not None, f"accepted after {self.visited}"
        assert answer.status == self.errors[answer.error]
        assert set(answer.json) == {"error", "message"}
        return (answer.error,)

    def transport(self) -> list[Any]:
        """The rungs of every operation: host, size, world, key, signature, and the form of a body."""
        rungs: list[Any] = [
            ("invalid_host", request(host="sandbox.test")),
            ("body_too_large", request(raw=b"{")),
            ("unknown_world", request(prefix="")),
            ("unsupported_encoding", request(encoding="", raw=b"{" if self.has_body else None)),
            ("credentials_missing", request(key="nobody")),
            ("unknown_key", request(key="main-key")),
            ("signature_mismatch", request(secret="main-secret")),
        ]
        if self.has_body:
            rungs.append(("unsupported_media_type", request(content_type="application/json")))
            rungs.append(("malformed_body", request(raw=None)))
        return rungs


def whole(**content: Any) -> Correction:
    """Send another body."""
    return request(body=content)


def overdue(domain: str) -> Correction:
    """Have a name at a stage where updates are not possible, with a flag that forbids updates."""
    return name(domain, stage="overdue", flags=["client_update_prohibited"])


def found(domain: str) -> list[Any]:
    return [("invalid_name", "nobodys.com"), ("domain_not_found", domain)]


def updatable(domain: str) -> list[Any]:
    return [("wrong_state", name(domain, stage="active")), ("locked", name(domain, flags=[]))]


ROLES = ("reg-contact", "admin-contact", "tech-contact", "billing-contact")
SICK = {"reg-contact": person(email="nobody")}
UNREADABLE: Correction = {"lifecycle": {"active": ["renew"]}}
READABLE: Correction = {"lifecycle": None}
WITHOUT_HOSTS = [
    {
        "zones": {"com": {"hosts": False}},
        "domains": {"active.com": {"hosts": None}, "leaving.com": {"hosts": None}},
    },
    overdue("active.com"),
]
WITH_HOSTS = [
    *found("active.com"),
    (
        "hosts_not_supported",
        {"zones": {"com": {"hosts": None}}, "domains": {"active.com": {"hosts": {"ns1": ["192.0.2.1"]}}}},
    ),
    *updatable("active.com"),
]
NAMED_HOST = [("invalid_hostname", host("ns9")), ("host_not_found", host("ns1"))]
LISTED_HOSTS = [UNREADABLE, *found("active.com"), ("wrong_state", READABLE)]


def switch(opposite: str, *more: Any, on: bool) -> list[Any]:
    """The ladder of a switch, which the opposite operation switches back."""
    changes = {"flags": FLAGS if on else [], "autorenew": on}

    def switch_back(climb: Climb) -> None:
        answer = connect(climb.sandbox).post(f"/v3/domains/{opposite}/active.com")
        assert answer.status == 200, f"v3.{opposite} refuses: {answer.raw!r}"

    return [
        name("active.com", stage="overdue", **changes),
        whole(domainName="other.com"),
        ("invalid_parameter", request(body=None)),
        *found("active.com"),
        ("wrong_state", name("active.com", stage="active", **changes)),
        *more,
        ("switched_already", switch_back),
    ]


def decision(domain: str, permitted: dict[str, list[str]]) -> list[Any]:
    return [
        whole(domainName="other.com"),
        ("invalid_parameter", request(body=None)),
        *found("active.com"),
        ("no_transfer", domain),
        {"lifecycle": permitted},
        ("wrong_state", READABLE),
    ]


def update(code: str, key: str, untyped: Any, wrong: Any, right: Any) -> list[Any]:
    return [
        overdue("active.com"),
        whole(**{key: untyped}),
        ("invalid_parameter", body(**{key: wrong})),
        *found("active.com"),
        *updatable("active.com"),
        (code, body(**{key: right})),
    ]


LADDERS: dict[str, list[Any]] = {
    "v3.balance": [],
    "v3.getDomain": found("active.com"),
    "v3.checkAvailability": [
        whole(domainNames="a.com"),
        ("invalid_parameter", body(domainNames=["a.com"] * 51)),
        ("too_many_names", body(domainNames=["a.com"] * 50)),
    ],
    "v3.createDomain": [
        zone("com.ua", in_service=False, reserved=["gold"], premium={"gold": PREMIUM}),
        balance("502.99"),
        whole(
            domain={
                **{"domainName": "gold..com", "contacts": SICK},
                **{"nameservers": ["-"], "privacyEnabled": True},
            },
            years="0",
        ),
        ("invalid_parameter", body(years=0)),
        ("invalid_name", body(domainName="gold.zone")),
        ("zone_not_supported", body(domainName="held.com.ua")),
        ("zone_out_of_service", zone("com.ua", in_service=None)),
        ("period_too_short", body(years=11)),
        ("period_too_long", body(years=1)),
        ("privacy_not_offered", zone("com.ua", prices={"privacy": "3.00"})),
        ("contacts_required", body(contacts=dict.fromkeys(ROLES, person()) | SICK)),
        ("invalid_contact", body(contacts=dict.fromkeys(ROLES, person()))),
        ("invalid_nameserver", body(nameservers=["ns1.example.net"])),
        ("license_required", body(tldRequirements={"license": "12"})),
        ("invalid_license", body(tldRequirements={"license": "123456"})),
        ("name_taken", body(domainName="gold.com.ua")),
        ("name_reserved", zone("com.ua", reserved=None)),
        ("premium_cost_required", body(purchaseCost=499.99)),
        ("price_mismatch", body(purchaseCost=500)),
        ("insufficient_funds", balance("503.00")),
    ],
    "v3.listDomains": [
        request(query="?perPage=0&page=x"),
        ("invalid_parameter", request(query="?perPage=1&page=1")),
    ],
    "v3.renewDomain": [
        assume("v3.purchase_cost", "premium_everywhere"),
        name("gold.com", stage="redemption", flags=["client_renew_prohibited"]),
        zone("com", in_service=False),
        balance("299.99"),
        request(query="?years=x"),
        whole(domain={"domainName": "not a name"}, years="0"),
        ("invalid_parameter", body(years=0), request(query="")),
        ("invalid_name", body(domainName="nobodys.com")),
        ("domain_not_found", body(domainName="gold.com")),
        ("wrong_state", name("gold.com", stage="active"), transfer("gold.com", LEAVING)),
        ("transfer_pending", transfer("gold.com")),
        ("locked", name("gold.com", flags=[])),
        ("zone_out_of_service", zone("com", in_service=None)),
        ("period_too_short", body(years=10)),
        ("period_too_long", body(years=1)),
        ("premium_cost_required", body(purchaseCost="300.01")),
        ("price_mismatch", body(purchaseCost="300")),
        ("insufficient_funds", balance("300.00")),
    ],
    "v3.lockTransfer": switch(
        "unlockTransfer",
        transfer("active.com", LEAVING),
        ("transfer_pending", transfer("active.com")),
        on=True,
    ),
    "v3.unlockTransfer": switch("lockTransfer", on=False),
    "v3.lock": switch("unlock", on=True),
    "v3.unlock": switch(
        "lock",
        name("active.com", flags=["server_hold"]),
        ("held_by_registry", name("active.com", flags=[])),
        on=False,
    ),
    "v3.lockUpdate": switch("unlockUpdate", on=True),
    "v3.unlockUpdate": switch("lockUpdate", on=False),
    "v3.enableAutorenew": switch("disableAutorenew", on=True),
    "v3.disableAutorenew": switch("enableAutorenew", on=False),
    "v3.createGlueRecord": [
        *WITHOUT_HOSTS,
        whole(hostname=1, ips=["192.0.2"]),
        ("invalid_parameter", body(hostname="-")),
        *WITH_HOSTS,
        ("invalid_hostname", body(hostname="ns1")),
        ("invalid_ip", body(ips=["192.0.2.1"])),
        ("host_exists", body(hostname="ns2")),
    ],
    "v3.updateGlueRecord": [
        *WITHOUT_HOSTS,
        host("-"),
        whole(ips=[1]),
        ("invalid_parameter", body(ips=["::g"])),
        *WITH_HOSTS,
        *NAMED_HOST,
        ("invalid_ip", body(ips=["2001:db8::1"])),
    ],
    "v3.deleteGlueRecord": [
        *WITHOUT_HOSTS,
        name("second.com", nameservers=["ns1.active.com"]),
        host("-"),
        *WITH_HOSTS,
        *NAMED_HOST,
        ("host_in_use", name("second.com", nameservers=["ns1.example.net"])),
    ],
    "v3.listGlueRecords": LISTED_HOSTS,
    "v3.getGlueRecord": [host("-"), *LISTED_HOSTS, *NAMED_HOST],
    "v3.requestTransfer": [
        assume("v3.purchase_cost", "premium_everywhere"),
        zone("com", in_service=False, transfers=False, prices={"privacy": None}),
        zone("com", policy={"registrant_change_lock": 60}),
        name(
            "silver.com", stage="redemption", flags=["client_transfer_prohibited"], registrant_changed="-59d"
        ),
        balance("32.99"),
        whole(
            domain={
                **{"domainName": "not a name", "contacts": {"tech-contact": person(phone="none")}},
                **{"nameservers": ["no server"], "privacyEnabled": True},
            },
            authCode=True,
            years=0,
        ),
        ("invalid_parameter", body(authCode="no-code")),
        ("invalid_name", body(domainName="silver.zone")),
        ("zone_not_supported", body(domainName="nobodys.com")),
        ("transfers_not_supported", zone("com", transfers=True)),
        ("zone_out_of_service", zone("com", in_service=None)),
        ("privacy_not_offered", zone("com", prices={"privacy": "3.00"})),
        ("invalid_contact", body(contacts={})),
        ("invalid_nameserver", body(nameservers=[])),
        ("not_registered", body(domainName="active.com")),
        ("already_yours", body(domainName="silver.com")),
        ("wrong_state", name("silver.com", stage="active", created="-0d")),
        transfer("silver.com", {"to": "poor", "requested": "-0d"}),
        ("transfer_pending", transfer("silver.com")),
        ("locked", name("silver.com", flags=[])),
        ("too_young", name("silver.com", created="-100d", since=None)),
        ("registrant_changed", name("silver.com", registrant_changed="-60d")),
        ("wrong_auth_code", body(authCode="let-me-in")),
        ("period_too_short", body(years=11)),
        ("period_too_long", body(years=1)),
        ("premium_cost_required", body(purchaseCost=31)),
        ("price_mismatch", body(purchaseCost=30)),
        ("insufficient_funds", balance("33.00")),
    ],
    "v3.rejectTransfer": decision("leaving.com", {"active": ["renew"]}),
    "v3.approveTransfer": decision("leaving.com", {"active": ["renew"]}),
    "v3.cancelTransfer": decision("arriving.com", {"arriving": []}),
    "v3.setAuthcode": update("invalid_auth_code", "authcode", [], "abc", "abcd"),
    "v3.setNameservers": update("invalid_nameserver", "nameservers", [5], ["nothing"], ["ns1.example.net"]),
    "v3.getAuthcode": [*found("redemption.com"), ("wrong_state", "active.com")],
    "v3.setContacts": [
        overdue("held.com.ua"),
        balance("2.49"),
        whole(contacts={"reg-contact": "Ann"}),
        ("invalid_parameter", body(contacts={"reg-contact": person(country="Britain")})),
        *found("held.com.ua"),
        *updatable("held.com.ua"),
        ("invalid_contact", body(contacts={"reg-contact": person(country="GB")})),
        ("insufficient_funds", balance("2.50")),
    ],
}


@pytest.mark.parametrize("operation", operations())
def test_refusals_occur_in_the_documented_order(make: Make, operation: str) -> None:
    climb = ClimbV3(make(assume=ASSUME), operations()[operation])
    assert operation in LADDERS, f"write the ladder of {operation}, in the order of its checks, into LADDERS"
    climb.climb([*climb.transport(), *LADDERS[operation]])
    answer = climb.send()
    assert (answer.status, answer.error) == (200, None), answer.raw
    assert set(climb.visited) == set(climb.errors)
    in_declared_order(climb.visited, operation)
