"""The order of the checks of each v2.0 operation: each rung shows one error and corrects its cause.

A climb begins with a request that is wrong in every way that its operation can refuse, and ends with one
that succeeds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import JSON, Headers, InProcess
from tests.documented import ID, document
from tests.registry import contents, edit, edit_name, edit_zone
from tests.v2.client import FORM, REGISTRY, Client, connect, done, refusal
from tests.v2.works import CARD, CUSTOMER, NAME, WORKS

BIG = b"x" * ((1 << 20) + 1)
PREMIUM = {"registration": "500.00", "renewal": "300.00", "transfer": "200.00"}
LEAVING = {"to": "other", "requested": "-1d"}
STATUS = "The status of the order does not allow to perform the operation"


def documented(operation: str) -> set[str]:
    """Return the rules by which the document says that an operation may refuse under default assumptions."""
    methods = (one for path in document("v2").content["paths"].values() for one in path.values())
    answers = next(one["responses"] for one in methods if one[ID] == operation).values()
    rules = {rule for one in answers for rule in re.findall(r"` \((\w+)\)", one["description"])}
    return rules - {"internal_error", "unknown_keys", "unknown_path"}


class Climb:
    """A request being mended, and the refusals it has met on the way."""

    def __init__(self, operation: str) -> None:
        self.sandbox = Sandbox(REGISTRY)
        self.method = WORKS[operation].method
        self.path = WORKS[operation].path
        self.takes_body = WORKS[operation].body is not None
        self.body: Any = {}
        self.prefix, self.version, self.token = "/_worlds/nowhere", "V9.9", ""
        self.raw: bytes | None = BIG
        self.content_type = FORM
        self.host = "no host"
        self.visited: list[str] = []

    def send(self) -> Any:
        """The request as it now is."""
        headers: Headers = [self.content_type] + ([("X-Auth-Token", self.token)] if self.token else [])
        headers += [("Host", self.host)] if self.host else []
        client = Client(InProcess(self.sandbox.app), "", self.version, self.prefix)
        body = self.raw if self.raw is not None else deepcopy(self.body)
        return client.call(self.method, self.path, body, headers)

    def refused(self, rule: str, code: int, said: str) -> None:
        """Assert that ``rule`` refuses it in these words, and that nothing changes."""
        before = contents(self.sandbox)
        got = refusal(self.send())
        assert got == (code, said, rule), f"after {self.visited}: {got}"
        assert contents(self.sandbox) == before
        if rule not in self.visited:
            self.visited.append(rule)

    def transport(self) -> None:
        """The rungs of every operation: host, size, world, version, token, and how a body is written."""
        told = "it has to name one host, and perhaps a port"
        self.refused("invalid_host", 400, f"The request has the Host header 'no host'; {told}.")
        self.host = ""
        self.refused(
            "body_too_large", 413, "The body is larger than the 1048576 bytes taken here (--max-body)."
        )
        self.raw = b"[" if self.method != "GET" else None
        self.refused("unknown_world", 404, "There is no world 'nowhere'.")
        self.prefix = ""
        self.refused("version_not_served", 501, "no implementation for this version")
        self.version = "V2.0"
        self.refused("token_missing", 403, "Token not found")
        self.token = "nobody"
        self.refused("unknown_token", 403, "Authorization failed")
        self.token = "main-token"
        if self.takes_body:
            self.raw = b"a=1"
            setting = "v2.request_format=json_or_form"
            told = f"The content type application/x-www-form-urlencoded is not JSON; {setting} would take it."
            self.refused("unsupported_media_type", 415, told)
            self.content_type = JSON
            self.raw = b"[1]"
            self.refused("malformed_body", 400, "The body is not usable: it must be a JSON object.")
            self.raw = None

    def contradicted(self) -> None:
        """The rung of a body that names another domain than the path, where nothing else reads it."""
        raw, self.raw = self.raw, b'{"domain": "other.com"}'
        self.refused("invalid_parameter", 400, "Not the correct domain name")
        self.raw = raw

    def arrange(self, name: str, **changes: Any) -> None:
        """Change keys of a name's fixture entry."""
        edit_name(self.sandbox, name, **changes)

    def arrange_transfer(self, name: str, entry: dict[str, str] | None) -> None:
        """Have a transfer of a name pending, or with None remove it."""
        edit(self.sandbox, {"transfers": {name: entry}})

    def permit(self, stage: str, actions: list[str] | None) -> None:
        """Permit only these actions at a stage, as ``lifecycle:`` in a fixture can; None for the default."""
        edit(self.sandbox, {"lifecycle": {stage: actions}} if actions is not None else {"lifecycle": None})

    def give(self, balance: str) -> None:
        """Set the account's balance."""
        self.sandbox.outside.adjust_balance("main", to=balance)

    def at(self, name: str) -> None:
        """Ask about another name."""
        _, place, _, *rest = self.path.split("/")
        self.path = "/".join(["", place, name, *rest])

    def found(self, name: str, *, code: int = 400, lost: str = "Invalid id", malformed: str = "") -> None:
        """The rungs of a name in the path."""
        self.at("-name-.com")
        self.refused("invalid_name", 400, malformed or "Not the correct domain name")
        self.at("name.nowhere")
        self.refused("zone_not_supported", 400, "Domain zone not support")
        self.at("nobodys.com")
        self.refused("domain_not_found", code, lost)
        self.at("theirs.com")
        self.refused("domain_not_found", code, lost.replace("nobodys", "theirs"))
        self.at(name)


LADDERS: dict[str, Callable[[Climb], None]] = {}


def ladder(operation: str) -> Callable[[Callable[[Climb], None]], Callable[[Climb], None]]:
    """Register the climb of an operation."""

    def register(climb: Callable[[Climb], None]) -> Callable[[Climb], None]:
        LADDERS[f"v2.{operation}"] = climb
        return climb

    return register


@ladder("customer.create")
def customer_create(climb: Climb) -> None:
    climb.body = {"name": "", "zip": "1", "country": "Ukraine"}
    climb.refused("missing_parameter", 400, "Invalid mail")
    climb.body["mail"] = "seven@example.com"
    climb.refused("missing_parameter", 400, "Invalid name")
    climb.body["name"] = "Nora"
    climb.refused("invalid_parameter", 400, "Invalid zip")
    climb.body["zip"] = 1
    climb.refused("invalid_contact", 400, "Invalid country")
    climb.body["country"] = "UA"
    climb.refused("mail_taken", 403, "Mail already registered")
    climb.body = CUSTOMER


@ladder("customer.edit")
def customer_edit(climb: Climb) -> None:
    climb.body = {"country": "Ukraine", "zip": -1}
    climb.refused("invalid_parameter", 400, "Invalid zip")
    climb.body["zip"] = 1
    climb.refused("missing_parameter", 400, "Invalid mail")
    climb.body["mail"] = "seven@example.com"
    climb.path = "/customer/seven"
    climb.refused("invalid_customer_id", 400, "Invalid customer_id")
    climb.path = "/customer/9"
    climb.refused("customer_not_found", 404, "ID not found")
    climb.path = "/customer/8"
    climb.refused("invalid_contact", 400, "Invalid country")
    climb.body["country"] = "UA"
    climb.refused("mail_taken", 400, "Invalid mail")
    climb.body["mail"] = "free@example.com"


@ladder("customer.info")
def customer_info(climb: Climb) -> None:
    climb.path = "/customer/seven"
    climb.refused("invalid_customer_id", 400, "Invalid customer_id")
    climb.path = "/customer/9"
    climb.refused("customer_not_found", 404, "ID not found")
    climb.path = "/customer/7"


@ladder("customer.delete")
def customer_delete(climb: Climb) -> None:
    climb.path = "/customer/seven"
    climb.refused("invalid_customer_id", 404, "ID not found")
    climb.path = "/customer/9"
    climb.refused("customer_not_found", 404, "ID not found")
    climb.path = "/customer/7"
    climb.refused("customer_has_orders", 403, "You can not delete the contact has active orders")
    climb.arrange("active.com", customer=None)


@ladder("contact.check")
def contact_check(climb: Climb) -> None:
    climb.path = "/contact/-/check"
    climb.refused("invalid_handle", 400, "Invalid contact_id")
    climb.path = "/contact/OWNER/check"


@ladder("contact.create")
def contact_create(climb: Climb) -> None:
    climb.path = "/contact/-"
    climb.body = {**CARD, "zip": 650.5, "mail": "nobody", "size": 1, "tax_number": "1", "customer_id": 9}
    del climb.body["address"]
    climb.refused("missing_parameter", 400, "Not enough parameter: address")
    climb.body["address"] = "9 New Street"
    climb.refused("invalid_parameter", 400, "Invalid value for extra param zip")
    climb.body["zip"] = "65000"
    climb.refused("invalid_handle", 400, "Invalid value for extra param contact_id")
    climb.path = "/contact/THEIRS"
    climb.refused("unknown_extra", 400, "Extra param size unknown")
    del climb.body["size"]
    climb.refused("invalid_extra", 400, "Invalid value for extra param tax_number")
    climb.body["tax_number"] = "12345678"
    climb.refused("invalid_contact", 400, "Invalid value for extra param mail")
    climb.body["mail"] = "nora@example.com"
    climb.refused("customer_not_found", 400, "Invalid value for extra param customer_id")
    climb.body["customer_id"] = 7
    climb.refused("handle_taken", 400, "Invalid value for extra param contact_id")
    climb.path = "/contact/NEW"


@ladder("contact.edit")
def contact_edit(climb: Climb) -> None:
    climb.path = "/contact/-"
    climb.body = {**CARD, "name": None, "city": 5, "mail": "nobody", "tax_number": "1", "size": 1}
    climb.refused("missing_parameter", 400, "Not enough parameter: name")
    climb.body["name"] = "Nora"
    climb.refused("invalid_parameter", 400, "Invalid Param")
    climb.body["city"] = "Odesa"
    climb.refused("invalid_handle", 400, "Invalid Param")
    climb.path = "/contact/THEIRS"
    climb.refused("contact_not_found", 404, "ID not found")
    climb.path = "/contact/OWNER"
    climb.refused("invalid_extra", 400, "Invalid Param")
    climb.body["tax_number"] = "12345678"
    climb.refused("invalid_contact", 400, "Invalid Param")
    climb.body["mail"] = "nora@example.com"


@ladder("contact.info")
def contact_info(climb: Climb) -> None:
    climb.path = "/contact/-"
    climb.refused("contact_not_found", 404, "ID not found")
    climb.path = "/contact/THEIRS"
    climb.refused("contact_not_found", 404, "ID not found")
    climb.path = "/contact/OWNER"


@ladder("contact.delete")
def contact_delete(climb: Climb) -> None:
    climb.path = "/contact/-"
    climb.refused("contact_not_found", 404, "ID not found")
    climb.path = "/contact/THEIRS"
    climb.refused("contact_not_found", 404, "ID not found")
    climb.path = "/contact/ADMIN"
    climb.refused("contact_linked", 403, "This object linked")
    climb.path = "/contact/SPARE"


@ladder("domain.check")
def domain_check(climb: Climb) -> None:
    climb.at("-name-.com")
    climb.refused("invalid_name", 400, "Not the correct domain name")
    climb.at("name.nowhere")
    climb.refused("zone_not_supported", 400, "Domain zone not support")
    climb.at("new.com")


@ladder("domain.register")
def domain_register(climb: Climb) -> None:
    terms = {"in_service": False, "min_years": 2, "max_years": 3, "reserved": ["gold"]}
    edit_zone(climb.sandbox, "com.ua", premium={"gold": PREMIUM}, **terms)
    climb.sandbox.assumptions.set({"v2.premium_names": "refused"})
    climb.give("5.00")
    climb.at("-")
    climb.body = {
        **NAME,
        "contact_tech": 5,
        "period": 1,
        "contact_admin": "THEIRS",
        "customer_id": 9,
        "ns": [],
    }
    climb.refused("missing_parameter", 400, "Not enough parameter: ns")
    climb.body["ns"] = ["-"]
    climb.refused("invalid_parameter", 400, "Invalid id")
    climb.body["contact_tech"] = "MAIN"
    climb.refused("invalid_name", 400, "Not the correct domain name")
    climb.at("gold.nowhere")
    climb.refused("zone_not_supported", 400, "Domain zone not support")
    climb.at("held.com.ua")
    climb.refused("zone_out_of_service", 400, "Domain zone not support")
    climb.sandbox.outside.set_service("com.ua", in_service=True)
    climb.refused("period_too_short", 400, "minimum value period: 2")
    climb.body["period"] = 4
    climb.refused("period_too_long", 400, "maximum value period: 3")
    climb.body["period"] = 2
    climb.refused("contact_not_found", 400, "Invalid id")
    climb.body["contact_admin"] = "ADMIN"
    climb.refused("customer_not_found", 400, "Invalid id")
    climb.body["customer_id"] = 7
    climb.refused("invalid_nameserver", 400, "Not the correct ns: -")
    climb.body["ns"] = ["ns1.home.net"]
    climb.refused("license_required", 400, "Not the correct license")
    climb.body["license"] = "12"
    climb.refused("invalid_license", 400, "Not the correct license")
    climb.body["license"] = "123456"
    climb.refused("name_taken", 403, "Domain is already registered")
    climb.at("gold.com.ua")
    climb.refused("name_reserved", 403, "Domain is already registered")
    edit_zone(climb.sandbox, "com.ua", reserved=None)
    climb.refused("premium_not_taken", 403, "Domain is already registered")
    climb.at("new.com.ua")
    climb.refused("insufficient_funds", 403, "Not enough funds on the balance sheet")
    climb.give("12.00")


@ladder("domain.info")
def domain_info(climb: Climb) -> None:
    climb.found("active.com", code=404, lost="Object not found nobodys.com")


@ladder("domain.edit")
def domain_edit(climb: Climb) -> None:
    climb.give("2.49")
    climb.arrange("held.com.ua", stage="overdue", flags=["client_update_prohibited"])
    climb.arrange_transfer("held.com.ua", LEAVING)
    climb.refused("missing_parameter", 400, "Not enough parameter: client_*, contact_* or ns")
    climb.body = {
        "client_hold": True,
        "client_transfer_prohibited": 1,
        "contact_registrant": "THEIRS",
        "ns": {"add": ["-"]},
    }
    climb.refused("invalid_parameter", 400, "Not the correct client_hold")
    climb.body["client_hold"] = 0
    climb.found("held.com.ua")
    climb.refused("wrong_state", 400, "Not the correct status")
    climb.arrange("held.com.ua", stage="active")
    climb.refused("locked", 400, "Not the correct client_update_prohibited")
    climb.arrange("held.com.ua", flags=["server_hold"])
    climb.refused("held_by_registry", 400, "Not the correct client_hold")
    climb.arrange("held.com.ua", flags=[])
    climb.refused("transfer_pending", 400, "Not the correct client_transfer_prohibited")
    del climb.body["client_transfer_prohibited"]
    climb.refused("invalid_nameserver", 400, "Not the correct ns: -")
    climb.body["ns"] = {"add": ["ns1.home.net"], "del": ["ns1.home.net"]}
    climb.refused("contact_not_found", 400, "Invalid id")
    climb.body["contact_registrant"] = "OWNER"
    climb.refused("insufficient_funds", 403, "Not enough funds on the balance sheet")
    climb.give("2.50")


@ladder("domain.delete")
def domain_delete(climb: Climb) -> None:
    climb.arrange("active.com", stage="redemption", flags=["client_delete_prohibited"])
    climb.found("active.com")
    climb.refused("wrong_state", 403, STATUS)
    climb.arrange("active.com", stage="active")
    climb.arrange_transfer("active.com", LEAVING)
    climb.refused("transfer_pending", 403, STATUS)
    climb.arrange_transfer("active.com", None)
    climb.refused("locked", 403, STATUS)
    climb.arrange("active.com", flags=[])
    climb.refused("host_in_use", 403, STATUS)
    climb.arrange("served.com", nameservers=["ns1.home.net"])


@ladder("domain.renew")
def domain_renew(climb: Climb) -> None:
    climb.arrange("active.com", stage="redemption", flags=["client_renew_prohibited"])
    edit_zone(climb.sandbox, "com", in_service=False, premium={"active": PREMIUM})
    climb.sandbox.assumptions.set({"v2.premium_names": "refused"})
    climb.give("299.99")
    climb.body = {"current_expiry_date": "soon", "date_end": "2027-11-20"}
    climb.refused("missing_parameter", 400, "Not enough parameter: period")
    climb.body["period"] = 0
    climb.refused("invalid_parameter", 400, "Not the correct current_expiry_date")
    climb.body["current_expiry_date"] = "2026-11-20"
    climb.found("active.com")
    climb.refused("wrong_state", 403, STATUS)
    climb.arrange("active.com", stage="active", created="-100d")
    climb.arrange_transfer("active.com", LEAVING)
    climb.refused("transfer_pending", 403, STATUS)
    climb.arrange_transfer("active.com", None)
    climb.refused("locked", 403, STATUS)
    climb.arrange("active.com", flags=[], created="-100d", expires="2026-11-21T12:00:00Z", since=None)
    climb.refused("zone_out_of_service", 400, "Domain zone not support")
    climb.sandbox.outside.set_service("com", in_service=True)
    climb.refused("expiry_mismatch", 400, "Not the correct current_expiry_date")
    climb.body["current_expiry_date"] = "2026-11-21"
    climb.refused("period_too_short", 400, "minimum value period: 1")
    climb.body["period"] = 10
    climb.refused("period_too_long", 400, "maximum value period: 9")
    climb.body["period"] = 1
    climb.refused("end_mismatch", 400, "Not the correct current_expiry_date")
    climb.body["date_end"] = "2027-11-21"
    climb.refused("premium_not_taken", 403, STATUS)
    climb.sandbox.assumptions.set({"v2.premium_names": "charged"})
    climb.refused("insufficient_funds", 403, "Not enough funds on the balance sheet")
    climb.give("300.00")


@ladder("domain.restore")
def domain_restore(climb: Climb) -> None:
    climb.arrange("removed.com", stage="pending_delete")
    climb.sandbox.outside.set_service("com", in_service=False)
    climb.give("79.99")
    climb.contradicted()
    climb.found("removed.com")
    climb.refused("wrong_state", 403, STATUS)
    climb.arrange("removed.com", stage="redemption")
    climb.refused("zone_out_of_service", 400, "Domain zone not support")
    climb.sandbox.outside.set_service("com", in_service=True)
    climb.refused("insufficient_funds", 403, "Not enough funds on the balance sheet")
    climb.give("80.00")


@ladder("domain.zones")
def domain_zones(climb: Climb) -> None:
    pass


@ladder("transfer.request")
def transfer_request(climb: Climb) -> None:
    edit_zone(climb.sandbox, "com", in_service=False, transfers=False, premium={"theirs": PREMIUM})
    climb.arrange("theirs.com", stage="redemption", flags=["client_transfer_prohibited"])
    climb.sandbox.assumptions.set({"v2.premium_names": "refused"})
    climb.give("199.99")
    climb.body = {"customer_id": 9}
    climb.refused("missing_parameter", 400, "Not the correct transfer_code")
    climb.body["transfer_code"] = ["let-me-in"]
    climb.refused("invalid_parameter", 400, "Not the correct transfer_code")
    climb.body["transfer_code"] = "let-me-out"
    climb.at("-name-.com")
    climb.refused("invalid_name", 400, "Not the correct domain name")
    climb.at("name.nowhere")
    climb.refused("zone_not_supported", 400, "Domain zone not support")
    climb.at("nobodys.com")
    climb.refused("transfers_not_supported", 400, "Domain zone not support")
    edit_zone(climb.sandbox, "com", transfers=True)
    climb.refused("zone_out_of_service", 400, "Domain zone not support")
    climb.sandbox.outside.set_service("com", in_service=True)
    climb.refused("customer_not_found", 400, "Invalid id")
    climb.body["customer_id"] = 7
    climb.refused("not_registered", 400, "Invalid id")
    climb.at("active.com")
    climb.refused("already_yours", 400, "Invalid id")
    climb.at("theirs.com")
    climb.refused("wrong_state", 400, "Invalid id")
    climb.arrange("theirs.com", stage="active", created="-0d")
    climb.arrange_transfer("theirs.com", {"to": "poor", "requested": "-0d"})
    climb.refused("transfer_pending", 400, "Invalid id")
    climb.arrange_transfer("theirs.com", None)
    climb.refused("locked", 400, "Invalid id")
    climb.arrange("theirs.com", flags=[])
    climb.refused("too_young", 400, "Invalid id")
    climb.arrange("theirs.com", created="-100d", since=None)
    climb.refused("wrong_auth_code", 400, "Not the correct transfer_code")
    climb.body["transfer_code"] = "let-me-in"
    climb.refused("premium_not_taken", 400, "Invalid id")
    climb.sandbox.assumptions.set({"v2.premium_names": "charged"})
    climb.refused("insufficient_funds", 403, "Not enough funds on the balance sheet")
    climb.give("200.00")


def _party(climb: Climb) -> None:
    climb.at("-name-.com")
    climb.refused("invalid_name", 400, "Not the correct domain name")
    climb.at("nobodys.com")
    climb.refused("domain_not_found", 404, "Object not found nobodys.com")
    climb.at("name.nowhere")
    climb.refused("domain_not_found", 404, "Object not found name.nowhere")
    climb.at("theirs.com")
    climb.refused("domain_not_found", 400, "Invalid id")
    climb.at("active.com")
    climb.refused("no_transfer", 403, STATUS)


@ladder("transfer.status")
def transfer_status(climb: Climb) -> None:
    _party(climb)
    climb.at("leaving.com")


@ladder("transfer.cancel")
def transfer_cancel(climb: Climb) -> None:
    _party(climb)
    climb.at("leaving.com")
    climb.refused("no_transfer", 403, STATUS)
    climb.at("arriving.com")
    climb.permit("arriving", [])
    climb.refused("wrong_state", 403, STATUS)
    climb.permit("arriving", None)


def _decision(climb: Climb) -> None:
    climb.contradicted()
    _party(climb)
    climb.at("arriving.com")
    climb.refused("no_transfer", 403, STATUS)
    climb.at("leaving.com")
    climb.permit("active", ["renew"])
    climb.refused("wrong_state", 403, STATUS)
    climb.permit("active", None)


ladder("transfer.approve")(_decision)
ladder("transfer.reject")(_decision)


def _host(climb: Climb, *, support: bool, changes: bool) -> None:
    climb.arrange("active.com", flags=["client_update_prohibited"])
    climb.permit("active", ["renew"])
    lost = "Object not found nobodys.com"
    climb.found(
        "held.shop" if support else "active.com", code=404, lost=lost, malformed="Domain zone not support"
    )
    if support:
        climb.refused("hosts_not_supported", 403, "Order not support this action")
        climb.at("active.com")
    climb.refused("wrong_state", 403, STATUS)
    climb.permit("active", None)
    if changes:
        climb.refused("locked", 403, STATUS)
        climb.arrange("active.com", flags=[])
    climb.path = climb.path.replace("/host/ns1", "/host/-").replace("/host/new", "/host/-")
    climb.refused("invalid_hostname", 404, "Object not found -")


@ladder("host.check")
def host_check(climb: Climb) -> None:
    _host(climb, support=True, changes=False)
    climb.path = "/domain/active.com/host/new/check"


@ladder("host.create")
def host_create(climb: Climb) -> None:
    climb.refused("missing_parameter", 400, "Not enough parameter: ip")
    climb.body = {"ip": [{"type": "v5", "ip": "here"}, {"ip": "192.0.2.9"}]}
    climb.refused("missing_parameter", 400, "Not enough parameter: type")
    climb.body = {"ip": {"type": "v5", "ip": "here"}}
    climb.refused("invalid_parameter", 400, "Not enough parameter: ip")
    climb.body = {"ip": [{"type": "v5", "ip": "here"}]}
    _host(climb, support=True, changes=True)
    climb.path = "/domain/active.com/host/ns1"
    climb.refused("unknown_ip_type", 400, "Unknown ip type : v5")
    climb.body["ip"][0]["type"] = "v6"
    climb.refused("invalid_ip", 400, "Not the correct IPv6: here")
    climb.body["ip"][0]["type"] = "v4"
    climb.refused("invalid_ip", 400, "Not the correct IPv4: here")
    climb.body["ip"][0]["ip"] = "192.0.2.9"
    climb.refused("host_exists", 403, STATUS)
    climb.path = "/domain/active.com/host/new"


@ladder("host.edit")
def host_edit(climb: Climb) -> None:
    climb.refused("missing_parameter", 400, "Unknown ip type : ip")
    climb.body = {"ip": {"add": "v5"}}
    climb.refused("invalid_parameter", 400, 'Unknown ip type : {"add": "v5"}')
    climb.body = {"ip": {"add": ["type=>v5,ip=>here"]}}
    _host(climb, support=True, changes=True)
    climb.path = "/domain/active.com/host/new"
    climb.refused("host_not_found", 404, "Object not found new.active.com")
    climb.path = "/domain/active.com/host/ns1"
    climb.refused("unknown_ip_type", 400, "Unknown ip type : v5")
    climb.body = {"ip": {"add": ["type=>v6,ip=>here"]}}
    climb.refused("invalid_ip", 400, "Not the correct IPv6: here")
    climb.body = {"ip": {"del": ["type=>v4,ip=>192.0.2.77"]}}
    climb.refused("invalid_ip", 400, "Not the correct IPv4: 192.0.2.77")
    climb.body = {"ip": {"add": ["type=>v4,ip=>192.0.2.77"]}}


@ladder("host.info")
def host_info(climb: Climb) -> None:
    _host(climb, support=False, changes=False)
    climb.path = "/domain/active.com/host/new"
    climb.refused("host_not_found", 404, "Object not found new.active.com")
    climb.path = "/domain/active.com/host/ns1"


@ladder("host.delete")
def host_delete(climb: Climb) -> None:
    _host(climb, support=False, changes=True)
    climb.path = "/domain/active.com/host/new"
    climb.refused("host_not_found", 404, "Object not found new.active.com")
    climb.path = "/domain/active.com/host/ns2"
    climb.refused("host_in_use", 403, STATUS)
    climb.path = "/domain/active.com/host/ns1"


@pytest.mark.parametrize("operation", WORKS)
def test_checks_are_made_in_order_and_each_documented_refusal_occurs(operation: str) -> None:
    climb = Climb(operation)
    climb.transport()
    LADDERS[operation](climb)
    done(climb.send())
    assert set(climb.visited) == documented(operation)


def test_the_contact_of_the_account_cannot_be_deleted(sandbox: Sandbox) -> None:
    """New names fall back on it, even if no name has it."""
    roles = dict.fromkeys(("registrant", "admin", "tech", "billing"), "SPARE")
    names = sandbox.names.list(account="main").names
    edit(sandbox, {"domains": {one.name: {"contacts": roles} for one in names if one.stage != "arriving"},
                   "transfers": {"arriving.com": None, "moving.com": None}})  # fmt: skip
    main = connect(sandbox)
    for handle in ("MAIN", "SPARE"):
        assert refusal(main.delete(f"/contact/{handle}")) == (403, "This object linked", "contact_linked")
    assert done(main.delete("/contact/OWNER"))
