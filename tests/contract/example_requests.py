"""The requests that the examples of the OpenAPI documents are recorded from, by operation.

Those of each document work one after another on a fresh server with the packaged fixture. Before those of the
control interface a client has sent one request, ``BEFORE_CONTROL``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.powers.examples import CAPSULE, SMALL


@dataclass(frozen=True)
class Asked:
    """What an operation is asked: ``parameters`` of its path and its query, and the body."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None


def _of(name: str, body: Any = None, **more: Any) -> Asked:
    return Asked({"domainName": name, **more}, body)


def _sent(**body: Any) -> Asked:
    return Asked(body=body)


NAME, GLUE = "active-example.com", "glue-example.com"
NEW = {
    "domainName": "new-example.com",
    "nameservers": ["ns1.example.net", "ns2.example.net"],
    "privacyEnabled": True,
}
PERSON = {
    **{"name": "Ann Holder", "company-name": "Holder Ltd", "address1": "1 Main Street", "city": "Leeds"},
    **{"state": "West Yorkshire", "zipcode": "LS1 1UR", "country": "GB", "phone": "44.1131234567"},
    **{"fax": "", "email": "ann@example.com"},
}
CONTACTS = {"contacts": {"reg-contact": PERSON, "tech-contact": PERSON}}

V3 = {
    "balance": Asked(),
    "checkAvailability": _sent(domainNames=["new-example.com", "gold.com", NAME]),
    "createDomain": _sent(domain=NEW, years=2),
    "listDomains": Asked({"perPage": 2, "page": 1}),
    "listDomainsByPerPageAndPage": Asked({"perPage": 2, "page": 1}),
    "getDomain": _of(NAME),
    "renewDomain": _sent(domain={"domainName": NAME}, years=1, purchaseCost="12.99"),
    "renewDomainByDomainName": _of(NAME, {"years": 1}),
    "setNameservers": _of(NAME, {"nameservers": ["ns1.glue-example.com", "ns2.glue-example.com"]}),
    "lockTransfer": _of(NAME),
    "unlockTransfer": _of(NAME),
    "lock": _of(NAME),
    "unlock": _of(NAME),
    "lockUpdate": _of(NAME),
    "unlockUpdate": _of(NAME),
    "enableAutorenew": _of(NAME),
    "disableAutorenew": _of(NAME),
    "createGlueRecord": _of(GLUE, {"hostname": "ns3", "ips": ["192.0.2.4", "2001:db8::4"]}),
    "updateGlueRecord": _of(GLUE, {"ips": ["192.0.2.9"]}, hostname="ns3"),
    "deleteGlueRecord": _of(GLUE, hostname="ns3"),
    "listGlueRecords": _of(GLUE),
    "getGlueRecord": _of(GLUE, hostname="ns1"),
    "requestTransfer": _sent(domain={"domainName": "taken-example.com"}, authCode="Taken-Code-1"),
    "rejectTransfer": _of("leaving-example.net"),
    "cancelTransfer": _of("arriving-example.com"),
    "approveTransfer": _of("leaving-example.com"),
    "setAuthcode": _of(NAME, {"authcode": "Secret-Code-1"}),
    "getAuthcode": _of(NAME),
    "setContacts": _of(NAME, CONTACTS),
    "setContactsAlso": _of(NAME, CONTACTS),
}


def _v2(body: Any = None, **parameters: Any) -> Asked:
    return Asked({"version": "V2.0", **parameters}, body)


def _name(name: str, body: Any = None, **more: Any) -> Asked:
    return _v2(body, domain_name=name, **more)


CARD = {
    **{"address": "9 New Street", "city": "Odesa", "company": "New Works", "country": "UA", "fax": ""},
    **{"mail": "nora@example.com", "name": "Nora New", "phone": "+380.481234568", "region": "Odesa"},
}
CUSTOMER = {**CARD, "zip": 65000, "lang": "uk", "password": "secret", "post_adress": "PO box 9"}
CONTACT = {**CARD, "zip": "65000"}
SERVERS = ["ns1.example.net", "ns2.example.net"]
ORDER = {
    **{"contact_admin": "MAIN-TECH", "contact_billing": "MAIN-TECH", "contact_registrant": "MAIN-OWNER"},
    **{"contact_tech": "MAIN-TECH", "customer_id": 501, "ns": {"array": SERVERS}, "period": 2},
}
EDIT = {
    **{"client_hold": 0, "client_transfer_prohibited": 1, "contact_tech": "MAIN-SPARE"},
    "ns": {"add": ["ns1.glue-example.com"], "del": ["ns2.example.net"]},
}

V2 = {
    "customerCreate": _v2(CUSTOMER),
    "customerEdit": _v2({**CUSTOMER, "mail": "clara@example.com"}),
    "customerEditByCustomerId": _v2({"city": "Lviv"}, customer_id=501),
    "customerInfo": _v2(customer_id=501),
    "customerDelete": _v2(customer_id=502),
    "contactCheck": _v2(contact_id="NORA"),
    "contactCreate": _v2({**CONTACT, "customer_id": 501, "tax_number": "12345678"}, contact_id="NORA"),
    "contactEdit": _v2(CONTACT, contact_id="MAIN-TECH"),
    "contactInfo": _v2(contact_id="MAIN-OWNER"),
    "contactDelete": _v2(contact_id="NORA"),
    "domainCheck": _name("new-example.com"),
    "domainRegister": _name("new-example.com", ORDER),
    "domainInfo": _name(NAME),
    "domainEdit": _name(NAME, EDIT),
    "domainDelete": _name("private-example.com"),
    "domainZones": _v2(type="popular", limit=2, start=0),
    "domainZonesByTypeAndLimit": _v2(type="popular", limit=2),
    "domainZonesByTypeAndStart": _v2(type="ukrainian", start=4),
    "domainZonesByType": _v2(type="new"),
    "domainZonesByLimitAndStart": _v2(limit=2, start=2),
    "domainZonesByLimit": _v2(limit=2),
    "domainZonesByStart": _v2(start=20),
    "domainZonesAll": _v2(),
    "domainRenew": _name(NAME, {"current_expiry_date": "2026-10-07", "period": 1}),
    "domainRestore": _name("redemption-example.com"),
    "transferRequest": _name("taken-example.com", {"customer_id": 501, "transfer_code": "Taken-Code-1"}),
    "transferStatus": _name("arriving-example.com"),
    "transferCancel": _name("arriving-example.com"),
    "transferApprove": _name("leaving-example.com"),
    "transferReject": _name("leaving-example.net"),
    "hostCheck": _name(GLUE, host_name="ns3"),
    "hostCreate": _name(GLUE, {"ip": [{"ip": "192.0.2.4", "type": "v4"}]}, host_name="ns3"),
    "hostEdit": _name(
        GLUE,
        {"ip": {"add": ["type=>v4,ip=>192.0.2.9"], "del": ["type=>v6,ip=>2001:db8::1"]}},
        host_name="ns1",
    ),
    "hostInfo": _name(GLUE, host_name="ns1"),
    "hostDelete": _name(GLUE, host_name="ns3"),
}

BEFORE_CONTROL = "balance"
SAME: dict[str, Any] = {
    **{"name": "Ann Example", "company": "Ann & Co", "address": "1 Street", "city": "Kyiv", "zip": "01001"},
    **{"country": "UA", "phone": "+380.441234567", "mail": "ann@example.org", "account": "main"},
}
SLOW = Asked({"name": "slow"})
DOMAIN = {"domain": NAME}

CONTROL = {
    "healthShow": Asked(),
    "journalFind": Asked({"operation": "v3.*", "limit": 10}),
    "journalGet": Asked({"request": "r1"}),
    "journalFollow": Asked({"account": "main"}),
    "journalVerify": _sent(match={"operation": "v3.balance"}, times=1),
    "capsuleGet": Asked(),
    "adviceList": Asked(),
    "coverageShow": Asked({"operation": "v3.*"}),
    "coverageItems": Asked({"area": "operations", "seen": True}),
    "coverageMissing": Asked({"area": "operations", "limit": 3}),
    "coverageClear": Asked(),
    "clockShow": Asked(),
    "clockRun": Asked(),
    "clockFreeze": Asked(),
    "clockDue": Asked({"limit": 3}),
    "clockWatch": Asked({"per_second": 10}),
    "historyRewind": _sent(request="r1"),
    "snapshotsAdd": _sent(name="here"),
    "snapshotsList": Asked(),
    "clockAdvance": _sent(by="P3D"),
    "clockSet": _sent(to="2026-02-01T00:00:00Z"),
    "historyDiff": Asked({"from": "snapshot:here", "limit": 3}),
    "eventsFind": Asked({"limit": 3}),
    "eventsFollow": Asked({"kind": "time"}),
    "snapshotsRestore": Asked({"name": "here"}),
    "snapshotsRemove": Asked({"name": "here"}),
    "branchesList": Asked(),
    "branchesSwitch": Asked({"name": "b2"}),
    "branchesRemove": Asked({"name": "b3"}),
    "historyReset": Asked(),
    "historyExport": Asked(),
    "worldsList": Asked(),
    "worldsFork": _sent(name="mine"),
    "worldsGet": Asked({"world": "mine"}),
    "worldsRemove": Asked({"world": "mine"}),
    "worldsOpen": _sent(capsule=CAPSULE, name="opened"),
    "namesList": Asked({"zone": "com", "sort": "expires", "limit": 2}),
    "namesGet": Asked({"name": NAME}),
    "namesAdd": Asked({"name": "added-example.com"}, {"account": "main", "stage": "overdue"}),
    "accountsList": Asked(),
    "accountsGet": Asked({"account": "main"}),
    "accountsAdd": Asked({"account": "shop"}, {"contact": {"name": "Shop Keeper"}, "balance": "12.50"}),
    "customersList": Asked({"account": "main", "limit": 1}),
    "customersGet": Asked({"number": 501}),
    "customersAdd": Asked({"number": 777}, {**SAME, "lang": "en", "password": "secret"}),
    "contactsList": Asked({"account": "main", "limit": 1}),
    "contactsGet": Asked({"handle": "MAIN-OWNER"}),
    "contactsAdd": Asked({"handle": "ANN-1"}, {**SAME, "customer": 501, "extra": {"tax_number": "12345678"}}),
    "hostsList": Asked({"domain": GLUE}),
    "hostsGet": Asked({"name": "ns1.glue-example.com"}),
    "hostsAdd": Asked({"name": "ns7.active-example.com"}, {"ips": ["192.0.2.7"]}),
    "transfersList": Asked({"status": "pending"}),
    "transfersGet": Asked({"domain": "arriving-example.com"}),
    "transfersAdd": Asked({"domain": "taken-example.net"}, {"to": "main", "requested": "-1d"}),
    "faultsAdd": _sent(kind="latency", name="slow", seconds=0.5, match={"operation": "v3.*"}),
    "faultsList": Asked(),
    "faultsGet": SLOW,
    "faultsChange": Asked({"name": "slow"}, {"changes": {"seconds": 2, "when": {"times": 2}}}),
    "faultsPause": SLOW,
    "faultsResume": SLOW,
    "faultsRemove": SLOW,
    "faultsReplace": _sent(faults=[{"kind": "hang"}, {"preset": "outage"}]),
    "faultsClear": Asked(),
    "faultsKinds": Asked(),
    "faultsPresets": Asked(),
    "outsideRegister": _sent(domain="wanted-example.com"),
    "outsideHold": _sent(domain="held-example.com", at="P1D"),
    "plansList": Asked(),
    "plansRemove": Asked({"plan": 1}),
    "outsideReleaseHold": _sent(domain="stopped-example.com"),
    "outsideDrop": _sent(domain="expiring-example.com"),
    "outsideRelease": _sent(domain="long-example.com"),
    "outsideRequestTransfer": _sent(**DOMAIN),
    "outsideCancelTransfer": _sent(**DOMAIN),
    "outsideApproveTransfer": _sent(domain="arriving-example.com"),
    "outsideRejectTransfer": _sent(domain="taken-example.net"),
    "outsideCompleteTransfer": _sent(domain="other-contested.com"),
    "outsideSetPrices": _sent(zone="com", renewal="13.25"),
    "outsideSetPromotion": _sent(zone="com", of="registration", price="1.50", until="P30D"),
    "outsideSetPremium": _sent(domain="wanted-example.net", registration="77.00"),
    "outsideSetService": _sent(zone="tel", in_service=True),
    "outsideAdjustBalance": _sent(account="main", by="-9.00"),
    "outsideRevokeCredentials": _sent(account="poor"),
    "outsideRestoreCredentials": _sent(account="poor"),
    "ledgerFind": Asked({"account": "main", "limit": 3}),
    "assumptionsList": Asked(),
    "assumptionsSet": _sent(assume={"v3.ids": "integer"}),
    "journalClear": Asked(),
    "openapi": Asked({"document": "v3.json"}),
    "manual": Asked(),
    "manualPage": Asked({"page": "tutorial.md"}),
    "page": Asked(),
    "pageFile": Asked({"file": "page.js"}),
    "signature": _sent(account="main", interface="v3", target="/v3/balance"),
    "reader": Asked({"document": "v3"}),
    "readerFile": Asked({"file": "swagger-ui.css"}),
    "historyLoad": _sent(fixture=SMALL),
}

REQUESTS: Mapping[str, Mapping[str, Asked]] = {"v3": V3, "v2": V2, "control": CONTROL}
