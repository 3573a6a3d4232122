"""The order of the checks of each v3 operation, as a climb.

A climb begins with a request that is wrong in every way that its operation can refuse. Each rung asserts
the refusal, its status and the distinctive part of its message, and then corrects that one thing. At the
top the request is accepted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from reseller_sandbox import Sandbox
from tests.clients import Answer, Api, Headers, encoded, person, signature
from tests.registry import connect, contents, edit, edit_name, edit_zone

#: The HTTP status of each refusal.
STATUS = {
    code: status
    for status, codes in {
        400: "invalid_host malformed_body invalid_parameter too_many_names invalid_name zone_not_supported"
        " premium_cost_required period_too_long period_too_short invalid_nameserver invalid_ip"
        " invalid_hostname contacts_required invalid_contact license_required invalid_license"
        " invalid_auth_code",
        401: "credentials_missing unknown_key signature_mismatch",
        402: "insufficient_funds",
        403: "wrong_auth_code",
        404: "unknown_world domain_not_found host_not_found not_registered",
        409: "name_taken name_reserved wrong_state switched_already transfer_pending no_transfer locked"
        " held_by_registry price_mismatch privacy_not_offered hosts_not_supported host_exists host_in_use"
        " transfers_not_supported already_yours too_young",
        413: "body_too_large",
        415: "unsupported_media_type",
        503: "zone_out_of_service",
    }.items()
    for code in codes.split()
}

#: Under these every rule of v3 can be met.
ASSUME = {
    "v3.request.content_type": "json",
    "v3.contacts.required": "all",
    "v3.switches.repeated": "refused",
    "v3.transfer.years": "as_sent",
    "v3.purchase_cost": "whenever_given",
    "v3.privacy.not_offered": "refused",
}

GOOD_JSON = "application/json"
#: Every flag that a registrant sets.
FLAGS = ["client_hold"] + [
    f"client_{action}_prohibited" for action in ("transfer", "update", "delete", "renew")
]


class Climb:
    """A request that is corrected step by step, and the refusals that it has met."""

    def __init__(self, sandbox: Sandbox, method: str, path: str, *, takes_body: bool) -> None:
        self.sandbox = sandbox
        self.api: Api = connect(sandbox)
        self.method = method
        self.path = path
        self.name = "not a name"
        self.host = "ns1"
        self.body: Any = None
        self.query = ""
        self.takes_body = takes_body
        self.prefix = "/_worlds/nowhere"
        self.content_type = "text/plain" if takes_body else GOOD_JSON
        self.raw: bytes | None = b"x" * ((1 << 20) + 1)
        self.sign: Callable[[str, bytes], Headers] = lambda target, raw: [("Host", "no host")]
        self.visited: list[str] = []

    def send(self) -> Answer:
        """Send the request as it now is."""
        path = self.path.format(domainName=quote(self.name), hostname=quote(self.host))
        target = self.prefix + path + self.query
        raw = self.raw if self.raw is not None else encoded(self.body)
        return self.api.send(
            self.method, target, [*self.sign(target, raw), ("Content-Type", self.content_type)], raw
        )

    def refused(self, code: str, *parts: str) -> None:
        """Assert a refusal whose message contains ``parts``, and that nothing changed."""
        before = contents(self.sandbox)
        answer = self.send()
        assert answer.error == code, f"after {self.visited}: {answer.raw!r}, not {code}"
        assert answer.status == STATUS[code]
        assert set(answer.json) == {"error", "message"}
        for part in parts:
            assert part in answer.message, answer.message
        assert contents(self.sandbox) == before
        self.visited.append(code)

    def accepted(self) -> None:
        """Assert that the request succeeds."""
        answer = self.send()
        assert (answer.status, answer.error) == (200, None), answer.raw

    def transport(self) -> None:
        """The rungs that every operation has: host, size, world, key and signature."""
        self.refused("invalid_host", "'no host'")
        self.sign = lambda target, raw: []
        self.refused("body_too_large", "1048576")
        self.raw = b"{" if self.takes_body else (b"" if self.method != "GET" else None)
        self.refused("unknown_world", "'nowhere'")
        self.prefix = ""
        self.refused("credentials_missing", "X-SVC-APIKEY", "X-SVC-SIGNATURE")
        self.sign = lambda target, raw: [("X-SVC-APIKEY", "nobody"), ("X-SVC-SIGNATURE", "0" * 64)]
        self.refused("unknown_key", "'***'")
        self.sign = lambda target, raw: [("X-SVC-APIKEY", self.api.key), ("X-SVC-SIGNATURE", "0" * 64)]
        self.refused("signature_mismatch", self.api.key, self.path.partition("{")[0])
        self.sign = self._signed

    def _signed(self, target: str, raw: bytes) -> Headers:
        signed = signature(self.api.secret, self.api.key, self.api.base + target, raw)
        return [("X-SVC-APIKEY", self.api.key), ("X-SVC-SIGNATURE", signed)]

    def unreadable(self) -> None:
        """The rungs of a body's form: its type and its JSON."""
        self.refused("unsupported_media_type", "text/plain")
        self.content_type = GOOD_JSON
        self.refused("malformed_body", "column")
        self.raw = None

    def contradicted(self) -> None:
        """The rung of a body that names another domain than the path."""
        self.body = {"domainName": "other.com"}
        self.refused("invalid_parameter", "domainName", "other.com")
        self.body = None

    def found(self, name: str) -> None:
        """The rungs of a name in the path."""
        self.refused("invalid_name", "'not a name'")
        self.name = "nobodys.com"
        self.refused("domain_not_found", "nobodys.com")
        self.name = name

    def arrange(self, name: str, **changes: Any) -> None:
        """Change keys of a name's fixture entry."""
        edit_name(self.sandbox, name, **changes)

    def arrange_transfer(self, name: str, entry: dict[str, str] | None) -> None:
        """Have a transfer of a name pending, or with None remove it."""
        edit(self.sandbox, {"transfers": {name: entry}})

    def forbid_all(self, stage: str) -> None:
        """Permit only renewal at a stage, as ``lifecycle:`` in a fixture can."""
        edit(self.sandbox, {"lifecycle": {stage: [] if stage == "arriving" else ["renew"]}})

    def permit_all(self) -> None:
        """Permit the default actions at each stage."""
        edit(self.sandbox, {"lifecycle": None})

    def give(self, balance: str) -> None:
        """Set the account's balance."""
        self.sandbox.outside.adjust_balance("main", to=balance)

    def serve(self, zone: str) -> None:
        """Put a zone into service."""
        self.sandbox.outside.set_service(zone, in_service=True)


LADDERS: dict[str, Callable[[Climb], None]] = {"v3.balance": lambda climb: None}


def ladder(operation: str) -> Callable[[Callable[[Climb], None]], Callable[[Climb], None]]:
    """Register the climb of an operation."""

    def register(climb: Callable[[Climb], None]) -> Callable[[Climb], None]:
        LADDERS[f"v3.{operation}"] = climb
        return climb

    return register


@ladder("checkAvailability")
def check_availability(climb: Climb) -> None:
    climb.unreadable()
    climb.body = {"domainNames": "a.com"}
    climb.refused("invalid_parameter", "domainNames must be an array")
    climb.body = {"domainNames": ["a.com"] * 51}
    climb.refused("too_many_names", "51", "50")
    climb.body = {"domainNames": ["a.com"] * 50}


@ladder("createDomain")
def create_domain(climb: Climb) -> None:
    premium = {"gold": {"registration": "500.00", "renewal": "300.00", "transfer": "200.00"}}
    edit_zone(climb.sandbox, "com.ua", in_service=False, reserved=["gold"], premium=premium)
    climb.give("502.99")
    climb.unreadable()
    domain: dict[str, Any] = {
        "domainName": "gold..com",
        "contacts": {"reg-contact": person(email="nobody")},
        "nameservers": ["-"],
        "privacyEnabled": True,
    }
    climb.body = {"domain": domain, "years": "0"}
    climb.refused("invalid_parameter", "years must be a whole number")
    climb.body["years"] = 0
    climb.refused("invalid_name", "'gold..com'")
    domain["domainName"] = "gold.zone"
    climb.refused("zone_not_supported", "gold.zone")
    domain["domainName"] = "held.com.ua"
    climb.refused("zone_out_of_service", "com.ua")
    climb.serve("com.ua")
    climb.refused("period_too_short", "years is 0", "at least 1")
    climb.body["years"] = 11
    climb.refused("period_too_long", "years is 11", "at most 10")
    climb.body["years"] = 1
    climb.refused("privacy_not_offered", "com.ua")
    climb.sandbox.outside.set_prices("com.ua", privacy=3)
    climb.refused(
        "contacts_required",
        "domain.contacts.admin-contact, domain.contacts.tech-contact",
        "billing-contact must be given",
    )
    card = person()
    domain["contacts"] |= {"admin-contact": card, "tech-contact": card, "billing-contact": card}
    climb.refused("invalid_contact", "domain.contacts.reg-contact.email", "'nobody'")
    domain["contacts"]["reg-contact"] = card
    climb.refused("invalid_nameserver", "'-'")
    domain["nameservers"] = ["ns1.example.net"]
    climb.refused("license_required", "com.ua", "tldRequirements.license")
    climb.body["tldRequirements"] = {"license": "12"}
    climb.refused("invalid_license", "'12'", "[0-9]{6}")
    climb.body["tldRequirements"] = {"license": "123456"}
    climb.refused("name_taken", "held.com.ua")
    domain["domainName"] = "gold.com.ua"
    climb.refused("name_reserved", "gold.com.ua")
    edit_zone(climb.sandbox, "com.ua", reserved=None)
    climb.refused("premium_cost_required", "gold.com.ua", "500.00")
    climb.body["purchaseCost"] = 499.99
    climb.refused("price_mismatch", "499.99", "500.00")
    climb.body["purchaseCost"] = 500
    climb.refused("insufficient_funds", "503.00 USD", "502.99 USD")
    climb.give("503.00")


@ladder("listDomains")
def list_domains(climb: Climb) -> None:
    climb.query = "?perPage=0&page=x"
    climb.refused("invalid_parameter", "perPage must be at least 1", "page must be a whole number")
    climb.query = "?perPage=1&page=1"


@ladder("getDomain")
def get_domain(climb: Climb) -> None:
    climb.found("active.com")


@ladder("renewDomain")
def renew_domain(climb: Climb) -> None:
    climb.sandbox.assumptions.set({"v3.purchase_cost": "premium_everywhere"})
    climb.arrange("gold.com", stage="redemption", flags=["client_renew_prohibited"])
    climb.sandbox.outside.set_service("com", in_service=False)
    climb.give("299.99")
    climb.query = "?years=x"
    climb.unreadable()
    climb.body = {"domain": {"domainName": "not a name"}, "years": "0"}
    climb.refused("invalid_parameter", "years must be a whole number")
    climb.query = ""
    climb.body["years"] = 0
    climb.refused("invalid_name", "'not a name'")
    climb.body["domain"]["domainName"] = "nobodys.com"
    climb.refused("domain_not_found", "nobodys.com")
    climb.body["domain"]["domainName"] = "gold.com"
    climb.refused("wrong_state", "gold.com is at the stage redemption", "possible there: only reading glue")
    climb.arrange("gold.com", stage="active")
    climb.arrange_transfer("gold.com", {"to": "other", "requested": "-1d"})
    climb.refused("transfer_pending", "gold.com", "renewal")
    climb.arrange_transfer("gold.com", None)
    climb.refused("locked", "client_renew_prohibited", "renewal")
    climb.arrange("gold.com", flags=[])
    climb.refused("zone_out_of_service", "com")
    climb.serve("com")
    climb.refused("period_too_short", "years is 0", "at least 1")
    climb.body["years"] = 10
    climb.refused("period_too_long", "years is 10", "at most 9", "10 years ahead")
    climb.body["years"] = 1
    climb.refused("premium_cost_required", "gold.com", "300.00")
    climb.body["purchaseCost"] = "300.01"
    climb.refused("price_mismatch", "300.01", "300.00")
    climb.body["purchaseCost"] = "300"
    climb.refused("insufficient_funds", "300.00 USD", "299.99 USD")
    climb.give("300.00")


@ladder("setNameservers")
def set_nameservers(climb: Climb) -> None:
    _unready(climb, "active.com")
    climb.unreadable()
    climb.body = {"nameservers": ["a.com", 5]}
    climb.refused("invalid_parameter", "nameservers[1] must be a string")
    climb.body = {"nameservers": ["nothing"]}
    climb.found("active.com")
    _made_ready(climb, "active.com", "changing name servers")
    climb.refused("invalid_nameserver", "'nothing'", "no zone")
    climb.body = {"nameservers": ["ns1.example.net"]}


def _unready(climb: Climb, name: str) -> None:
    climb.arrange(name, stage="overdue", flags=["client_update_prohibited"])


def _made_ready(climb: Climb, name: str, action: str) -> None:
    climb.refused("wrong_state", f"{name} is at the stage overdue, where {action} is not possible", "renewal")
    climb.arrange(name, stage="active")
    climb.refused("locked", name, "client_update_prohibited", action, "unlockUpdate")
    climb.arrange(name, flags=[])


def _switch(operation: str, *, on: bool, pending: bool = False, held: bool = False) -> None:
    def climbing(climb: Climb) -> None:
        already = {"flags": FLAGS if on else [], "autorenew": on}
        climb.arrange("active.com", stage="overdue", **already)
        if pending:
            climb.arrange_transfer("active.com", {"to": "other", "requested": "-1d"})
        climb.unreadable()
        climb.contradicted()
        climb.found("active.com")
        climb.refused("wrong_state", "active.com is at the stage overdue", "is not possible")
        climb.arrange("active.com", stage="active")
        if pending:
            climb.refused("transfer_pending", "active.com", "lockTransfer has to wait")
            climb.arrange_transfer("active.com", None)
        if held:
            climb.arrange("active.com", flags=[*FLAGS, "server_hold"])
            climb.refused("held_by_registry", "active.com stays suspended", "server_hold")
            climb.arrange("active.com", flags=[])
        climb.refused("switched_already", "active.com")
        climb.arrange("active.com", flags=[] if on else FLAGS, autorenew=not on)

    LADDERS[f"v3.{operation}"] = climbing


for switched_on, switched_off in {
    "lockTransfer": "unlockTransfer",
    "lock": "unlock",
    "lockUpdate": "unlockUpdate",
    "enableAutorenew": "disableAutorenew",
}.items():
    _switch(switched_on, on=True, pending=switched_on == "lockTransfer")
    _switch(switched_off, on=False, held=switched_off == "unlock")


def _hostless(climb: Climb) -> None:
    hosts = {name: {"hosts": None} for name in ("active.com", "leaving.com")}
    edit(climb.sandbox, {"zones": {"com": {"hosts": False}}, "domains": hosts})
    _unready(climb, "active.com")


def _hosted(climb: Climb) -> None:
    climb.found("active.com")
    climb.refused("hosts_not_supported", "com")
    edit_zone(climb.sandbox, "com", hosts=None)
    edit(climb.sandbox, {"domains": {"active.com": {"hosts": {"ns1": ["192.0.2.1"]}}}})
    _made_ready(climb, "active.com", "changing glue records")


@ladder("createGlueRecord")
def create_glue_record(climb: Climb) -> None:
    _hostless(climb)
    climb.unreadable()
    climb.body = {"hostname": 1, "ips": "192.0.2.1"}
    climb.refused("invalid_parameter", "hostname must be a string", "ips must be an array")
    climb.body = {"hostname": "-", "ips": ["192.0.2"]}
    _hosted(climb)
    climb.refused("invalid_hostname", "'-'")
    climb.body["hostname"] = "ns1"
    climb.refused("invalid_ip", "'192.0.2'")
    climb.body["ips"] = ["192.0.2.1"]
    climb.refused("host_exists", "ns1.active.com")
    climb.body["hostname"] = "ns2"


@ladder("updateGlueRecord")
def update_glue_record(climb: Climb) -> None:
    _hostless(climb)
    climb.host = "-"
    climb.unreadable()
    climb.body = {"ips": [1]}
    climb.refused("invalid_parameter", "ips[0] must be a string")
    climb.body = {"ips": ["::g"]}
    _hosted(climb)
    _named_host(climb)
    climb.refused("invalid_ip", "'::g'")
    climb.body = {"ips": ["2001:db8::1"]}


def _named_host(climb: Climb) -> None:
    climb.refused("invalid_hostname", "'-'")
    climb.host = "ns9"
    climb.refused("host_not_found", "ns9.active.com")
    climb.host = "ns1"


@ladder("deleteGlueRecord")
def delete_glue_record(climb: Climb) -> None:
    _hostless(climb)
    climb.arrange("second.com", nameservers=["ns1.active.com"])
    climb.host = "-"
    _hosted(climb)
    _named_host(climb)
    climb.refused("host_in_use", "ns1.active.com", "second.com")
    climb.arrange("second.com", nameservers=["ns1.example.net"])


@ladder("listGlueRecords")
def list_glue_records(climb: Climb) -> None:
    climb.forbid_all("active")
    climb.found("active.com")
    climb.refused("wrong_state", "at the stage active, where reading glue records is not possible")
    climb.permit_all()


@ladder("getGlueRecord")
def get_glue_record(climb: Climb) -> None:
    climb.host = "-"
    list_glue_records(climb)
    _named_host(climb)


@ladder("requestTransfer")
def request_transfer(climb: Climb) -> None:
    climb.sandbox.assumptions.set({"v3.purchase_cost": "premium_everywhere"})
    edit_zone(climb.sandbox, "com", in_service=False, transfers=False, prices={"privacy": None})
    climb.arrange("silver.com", stage="redemption", flags=["client_transfer_prohibited"])
    climb.give("32.99")
    climb.unreadable()
    domain: dict[str, Any] = {
        "domainName": "not a name",
        "contacts": {"tech-contact": person(phone="none")},
        "nameservers": ["no server"],
        "privacyEnabled": True,
    }
    climb.body = {"domain": domain, "authCode": True, "years": 0}
    climb.refused("invalid_parameter", "authCode must be a string")
    climb.body["authCode"] = "no-code"
    climb.refused("invalid_name", "'not a name'")
    domain["domainName"] = "silver.zone"
    climb.refused("zone_not_supported", "silver.zone")
    domain["domainName"] = "nobodys.com"
    climb.refused("transfers_not_supported", "com")
    edit_zone(climb.sandbox, "com", transfers=True)
    climb.refused("zone_out_of_service", "com")
    climb.serve("com")
    climb.refused("privacy_not_offered", "com")
    climb.sandbox.outside.set_prices("com", privacy=3)
    climb.refused("invalid_contact", "domain.contacts.tech-contact.phone", "'none'")
    domain["contacts"] = {}
    climb.refused("invalid_nameserver", "'no server'")
    domain["nameservers"] = []
    climb.refused("not_registered", "nobodys.com")
    domain["domainName"] = "active.com"
    climb.refused("already_yours", "active.com")
    domain["domainName"] = "silver.com"
    climb.refused("wrong_state", "silver.com is at the stage redemption", "transfer to another registrar")
    climb.arrange("silver.com", stage="active", created="-0d")
    climb.arrange_transfer("silver.com", {"to": "poor", "requested": "-0d"})
    climb.refused("transfer_pending", "silver.com")
    climb.arrange_transfer("silver.com", None)
    climb.refused("locked", "silver.com", "client_transfer_prohibited", "unlockTransfer")
    climb.arrange("silver.com", flags=[])
    climb.refused("too_young", "2026-03-01T12:00:00Z", "2026-04-30T12:00:00Z")
    climb.arrange("silver.com", created="-100d", since=None)
    climb.refused("wrong_auth_code", "silver.com")
    climb.body["authCode"] = "let-me-in"
    climb.refused("period_too_short", "years is 0")
    climb.body["years"] = 11
    climb.refused("period_too_long", "years is 11", "at most 9", "10 years ahead")
    climb.body["years"] = 1
    climb.refused("premium_cost_required", "silver.com", "30.00")
    climb.body["purchaseCost"] = 31
    climb.refused("price_mismatch", "31.00", "30.00")
    climb.body["purchaseCost"] = 30
    climb.refused("insufficient_funds", "33.00 USD", "32.99 USD")
    climb.give("33.00")


def _decision(operation: str, stage: str, name: str, word: str) -> None:
    def climbing(climb: Climb) -> None:
        climb.unreadable()
        climb.contradicted()
        climb.found("active.com")
        climb.refused("no_transfer", "active.com", operation.removesuffix("Transfer"))
        climb.name = name
        climb.forbid_all(stage)
        climb.refused("wrong_state", f"{name} is at the stage {stage}", f"{word} a transfer is not possible")
        climb.permit_all()

    LADDERS[f"v3.{operation}"] = climbing


_decision("rejectTransfer", "active", "leaving.com", "rejecting")
_decision("approveTransfer", "active", "leaving.com", "approving")
_decision("cancelTransfer", "arriving", "arriving.com", "cancelling")


@ladder("setAuthcode")
def set_authcode(climb: Climb) -> None:
    _unready(climb, "active.com")
    climb.unreadable()
    climb.body = {"authcode": []}
    climb.refused("invalid_parameter", "authcode must be a string")
    climb.body = {"authcode": "abc"}
    climb.found("active.com")
    _made_ready(climb, "active.com", "setting the code")
    climb.refused("invalid_auth_code", "4 to 64")
    climb.body = {"authcode": "abcd"}


@ladder("getAuthcode")
def get_authcode(climb: Climb) -> None:
    climb.found("redemption.com")
    climb.refused("wrong_state", "redemption.com is at the stage redemption", "reading the code")
    climb.name = "active.com"


@ladder("setContacts")
def set_contacts(climb: Climb) -> None:
    _unready(climb, "held.com.ua")
    climb.give("2.49")
    climb.unreadable()
    climb.body = {"contacts": {"reg-contact": "Ann"}}
    climb.refused("invalid_parameter", "contacts.reg-contact must be an object")
    climb.body = {"contacts": {"reg-contact": person(country="Britain")}}
    climb.found("held.com.ua")
    _made_ready(climb, "held.com.ua", "changing contacts")
    climb.refused("invalid_contact", "contacts.reg-contact.country", "'Britain'")
    climb.body["contacts"]["reg-contact"]["country"] = "GB"
    climb.refused("insufficient_funds", "2.50 USD", "2.49 USD")
    climb.give("2.50")
