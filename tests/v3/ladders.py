"""The order of the checks of each v3 operation, as a climb.

A climb begins with a request that is wrong in every way that its operation can refuse. Each rung asserts
which refusal shows, with which status and of what it speaks, and then mends that one thing. At the top
the request is accepted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

from reseller_sandbox import Sandbox
from reseller_sandbox.core.model import Flag, Stage
from tests.clients import Answer, Api, Headers, encoded, person, signature
from tests.registry import (
    arrange,
    arrange_balance,
    arrange_zone,
    ask_for,
    connect,
    end_transfer,
    order_of,
    write,
)

#: The HTTP status of each refusal.
STATUS = {
    "invalid_host": 400,
    "body_too_large": 413,
    "unknown_world": 404,
    "credentials_missing": 401,
    "unknown_key": 401,
    "signature_mismatch": 401,
    "unsupported_media_type": 415,
    "malformed_body": 400,
    "invalid_parameter": 400,
    "too_many_names": 400,
    "invalid_name": 400,
    "zone_not_supported": 400,
    "zone_out_of_service": 503,
    "domain_not_found": 404,
    "name_taken": 409,
    "name_reserved": 409,
    "wrong_state": 409,
    "switched_already": 409,
    "transfer_pending": 409,
    "no_transfer": 409,
    "locked": 409,
    "held_by_registry": 409,
    "insufficient_funds": 402,
    "premium_cost_required": 400,
    "price_mismatch": 409,
    "period_too_long": 400,
    "privacy_not_offered": 409,
    "period_too_short": 400,
    "invalid_nameserver": 400,
    "invalid_ip": 400,
    "hosts_not_supported": 409,
    "invalid_hostname": 400,
    "host_exists": 409,
    "host_not_found": 404,
    "host_in_use": 409,
    "contacts_required": 400,
    "invalid_contact": 400,
    "license_required": 400,
    "invalid_license": 400,
    "transfers_not_supported": 409,
    "not_registered": 404,
    "already_yours": 409,
    "too_young": 409,
    "wrong_auth_code": 403,
    "invalid_auth_code": 400,
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


class Climb:
    """A request being mended, and the refusals it has met on the way."""

    def __init__(self, sandbox: Sandbox, method: str, path: str, *, takes_body: bool) -> None:
        self.sandbox = sandbox
        self.api: Api = connect(sandbox)
        self.always_200 = sandbox.world.assumptions.v3_http_status == "always_200"
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
        """The request as it now is."""
        from urllib.parse import quote

        path = self.path.format(domainName=quote(self.name), hostname=quote(self.host))
        target = self.prefix + path + self.query
        raw = self.raw if self.raw is not None else encoded(self.body)
        return self.api.send(
            self.method, target, [*self.sign(target, raw), ("Content-Type", self.content_type)], raw
        )

    def assume(self, name: str, value: str) -> None:
        """Switch an assumption of the world."""
        world = self.sandbox.world
        world.moment = replace(world.moment, assumptions=world.assumptions.with_values({name: value}))

    def refused(self, rule: str, *told: str) -> None:
        """Assert that ``rule`` refuses it, in words that tell of ``told``, and that nothing changes."""
        before = self.sandbox.world.state
        answer = self.send()
        assert answer.error == rule, f"after {self.visited}: {answer.raw!r}, not {rule}"
        assert answer.status == (200 if self.always_200 else STATUS[rule])
        assert set(answer.json) == {"error", "message"}
        for word in told:
            assert word in answer.message, answer.message
        assert self.sandbox.world.state is before
        self.visited.append(rule)

    def accepted(self) -> None:
        """Assert that nothing is wrong with it any more."""
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
        self.refused("invalid_parameter", "domainName is said twice and differently", "other.com")
        self.body = None

    def found(self, name: str) -> None:
        """The rungs of a name in the path."""
        self.refused("invalid_name", "'not a name'")
        self.name = "nobodys.com"
        self.refused("domain_not_found", "nobodys.com")
        self.name = name

    def arrange(self, name: str, **changes: Any) -> None:
        """Change the account's order for a name."""
        arrange(self.sandbox, name, **changes)

    def end_transfer(self, name: str) -> None:
        """Take a pending transfer away."""
        end_transfer(self.sandbox, name)


LADDERS: dict[str, Callable[[Climb], None]] = {}


def ladder(operation: str) -> Callable[[Callable[[Climb], None]], Callable[[Climb], None]]:
    """Register the climb of an operation."""

    def register(climb: Callable[[Climb], None]) -> Callable[[Climb], None]:
        LADDERS[f"v3.{operation}"] = climb
        return climb

    return register


@ladder("balance")
def balance(climb: Climb) -> None:
    """Nothing can go wrong past the signature."""


@ladder("checkAvailability")
def check_availability(climb: Climb) -> None:
    """The number of names."""
    climb.unreadable()
    climb.body = {"domainNames": "a.com"}
    climb.refused("invalid_parameter", "domainNames must be an array")
    climb.body = {"domainNames": ["a.com"] * 51}
    climb.refused("too_many_names", "51", "50")
    climb.body = {"domainNames": ["a.com"] * 50}


@ladder("createDomain")
def create_domain(climb: Climb) -> None:
    """Zone, term, people, delegation, licence, name, price, funds."""
    arrange_zone(climb.sandbox, "com.ua", in_service=False, reserved=("gold",))
    premium = climb.sandbox.world.state.zones["com"].premium
    arrange_zone(climb.sandbox, "com.ua", premium=premium)
    asked_for = climb.sandbox.world.state.zones["com.ua"].prices
    arrange_balance(climb.sandbox, "502.99")
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
    arrange_zone(climb.sandbox, "com.ua", in_service=True)
    climb.refused("period_too_short", "years is 0", "at least 1")
    climb.body["years"] = 11
    climb.refused("period_too_long", "years is 11", "at most 10")
    climb.body["years"] = 1
    climb.refused("privacy_not_offered", "com.ua")
    arrange_zone(climb.sandbox, "com.ua", prices=replace(asked_for, privacy=Decimal(3)))
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
    arrange_zone(climb.sandbox, "com.ua", reserved=())
    climb.refused("premium_cost_required", "gold.com.ua", "500.00")
    climb.body["purchaseCost"] = 499.99
    climb.refused("price_mismatch", "499.99", "500.00")
    climb.body["purchaseCost"] = 500
    climb.refused("insufficient_funds", "503.00 USD", "502.99 USD")
    arrange_balance(climb.sandbox, "503.00")


@ladder("listDomains")
def list_domains(climb: Climb) -> None:
    """The two numbers."""
    climb.query = "?perPage=0&page=x"
    climb.refused("invalid_parameter", "perPage must be at least 1", "page must be a whole number")
    climb.query = "?perPage=1&page=1"


@ladder("getDomain")
def get_domain(climb: Climb) -> None:
    """The name."""
    climb.found("active.com")


@ladder("renewDomain")
def renew_domain(climb: Climb) -> None:
    """Stage, transfer, lock, zone, term, price, funds."""
    climb.assume("v3.purchase_cost", "premium_everywhere")
    ask_for(climb.sandbox, "gold.com")
    climb.arrange("gold.com", stage=Stage.REDEMPTION, flags=frozenset({Flag.RENEW_PROHIBITED}))
    arrange_zone(climb.sandbox, "com", in_service=False)
    arrange_balance(climb.sandbox, "299.99")
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
    climb.arrange("gold.com", stage=Stage.ACTIVE)
    climb.refused("transfer_pending", "gold.com", "renewal")
    climb.end_transfer("gold.com")
    climb.refused("locked", "client_renew_prohibited", "renewal")
    climb.arrange("gold.com", flags=frozenset())
    climb.refused("zone_out_of_service", "com")
    arrange_zone(climb.sandbox, "com", in_service=True)
    climb.refused("period_too_short", "years is 0", "at least 1")
    climb.body["years"] = 10
    climb.refused("period_too_long", "years is 10", "at most 9", "10 years ahead")
    climb.body["years"] = 1
    climb.refused("premium_cost_required", "gold.com", "300.00")
    climb.body["purchaseCost"] = "300.01"
    climb.refused("price_mismatch", "300.01", "300.00")
    climb.body["purchaseCost"] = "300"
    climb.refused("insufficient_funds", "300.00 USD", "299.99 USD")
    arrange_balance(climb.sandbox, "300.00")


@ladder("setNameservers")
def set_nameservers(climb: Climb) -> None:
    """Stage, lock, the servers."""
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
    climb.arrange(name, stage=Stage.OVERDUE, flags=frozenset({Flag.UPDATE_PROHIBITED}))


def _made_ready(climb: Climb, name: str, action: str) -> None:
    climb.refused("wrong_state", f"{name} is at the stage overdue, where {action} is not possible", "renewal")
    climb.arrange(name, stage=Stage.ACTIVE)
    climb.refused("locked", name, "client_update_prohibited", action, "unlockUpdate")
    climb.arrange(name, flags=frozenset())


def _switch(climb: Climb, *, pending: bool = False, held: bool = False, **already: Any) -> None:
    climb.arrange("active.com", stage=Stage.OVERDUE, **already)
    if pending:
        ask_for(climb.sandbox, "active.com")
    climb.unreadable()
    climb.contradicted()
    climb.found("active.com")
    climb.refused("wrong_state", "active.com is at the stage overdue", "is not possible")
    climb.arrange("active.com", stage=Stage.ACTIVE)
    if pending:
        climb.refused("transfer_pending", "active.com", "lockTransfer has to wait")
        climb.end_transfer("active.com")
    if held:
        climb.arrange("active.com", flags=ON)
        climb.refused("held_by_registry", "active.com stays suspended", "server_hold")
        climb.arrange("active.com", flags=OFF)
    climb.refused("switched_already", "active.com")
    order = order_of(climb.sandbox, "active.com")
    flags = frozenset(Flag) - {Flag.SERVER_HOLD} - order.flags
    climb.arrange("active.com", flags=flags, autorenew=not order.autorenew)


ON, OFF = frozenset(Flag), frozenset[Flag]()


@ladder("lockTransfer")
def lock_transfer(climb: Climb) -> None:
    """Stage, transfer, and whether it is so already."""
    _switch(climb, pending=True, flags=ON)


@ladder("unlockTransfer")
def unlock_transfer(climb: Climb) -> None:
    """Stage, and whether it is so already."""
    _switch(climb, flags=OFF)


@ladder("lock")
def lock(climb: Climb) -> None:
    """Stage, and whether it is so already."""
    _switch(climb, flags=ON)


@ladder("unlock")
def unlock(climb: Climb) -> None:
    """Stage, the registry's own hold, and whether it is so already."""
    _switch(climb, held=True, flags=OFF)


@ladder("lockUpdate")
def lock_update(climb: Climb) -> None:
    """Stage, and whether it is so already."""
    _switch(climb, flags=ON)


@ladder("unlockUpdate")
def unlock_update(climb: Climb) -> None:
    """Stage, and whether it is so already."""
    _switch(climb, flags=OFF)


@ladder("enableAutorenew")
def enable_autorenew(climb: Climb) -> None:
    """Stage, and whether it is so already."""
    _switch(climb, autorenew=True)


@ladder("disableAutorenew")
def disable_autorenew(climb: Climb) -> None:
    """Stage, and whether it is so already."""
    _switch(climb, autorenew=False)


def _hostless(climb: Climb) -> None:
    arrange_zone(climb.sandbox, "com", hosts=False)


def _hosted(climb: Climb) -> None:
    climb.refused("hosts_not_supported", "com")
    arrange_zone(climb.sandbox, "com", hosts=True)


@ladder("createGlueRecord")
def create_glue_record(climb: Climb) -> None:
    """Zone, stage, lock, host name, addresses, whether it is there."""
    _hostless(climb)
    _unready(climb, "active.com")
    climb.unreadable()
    climb.body = {"hostname": 1, "ips": "192.0.2.1"}
    climb.refused("invalid_parameter", "hostname must be a string", "ips must be an array")
    climb.body = {"hostname": "-", "ips": ["192.0.2"]}
    climb.found("active.com")
    _hosted(climb)
    _made_ready(climb, "active.com", "changing glue records")
    climb.refused("invalid_hostname", "'-'")
    climb.body["hostname"] = "ns1"
    climb.refused("invalid_ip", "'192.0.2'")
    climb.body["ips"] = ["192.0.2.1"]
    climb.refused("host_exists", "ns1.active.com")
    climb.body["hostname"] = "ns2"


@ladder("updateGlueRecord")
def update_glue_record(climb: Climb) -> None:
    """Zone, stage, lock, host name, whether it is there, addresses."""
    _hostless(climb)
    _unready(climb, "active.com")
    climb.host = "-"
    climb.unreadable()
    climb.body = {"ips": [1]}
    climb.refused("invalid_parameter", "ips[0] must be a string")
    climb.body = {"ips": ["::g"]}
    climb.found("active.com")
    _hosted(climb)
    _made_ready(climb, "active.com", "changing glue records")
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
    """Zone, stage, lock, host name, whether it is there, whether it is used."""
    _hostless(climb)
    _unready(climb, "active.com")
    climb.arrange("second.com", nameservers=("ns1.active.com",))
    climb.host = "-"
    climb.found("active.com")
    _hosted(climb)
    _made_ready(climb, "active.com", "changing glue records")
    _named_host(climb)
    climb.refused("host_in_use", "ns1.active.com", "second.com")
    climb.arrange("second.com", nameservers=())


@ladder("listGlueRecords")
def list_glue_records(climb: Climb) -> None:
    """The stage, which is one that no order stays at."""
    climb.arrange("active.com", stage=Stage.RELEASED)
    climb.found("active.com")
    climb.refused("wrong_state", "at the stage released, where reading glue records is not possible")
    climb.arrange("active.com", stage=Stage.ACTIVE)


@ladder("getGlueRecord")
def get_glue_record(climb: Climb) -> None:
    """Stage, host name, whether it is there."""
    climb.host = "-"
    list_glue_records(climb)
    _named_host(climb)


@ladder("requestTransfer")
def request_transfer(climb: Climb) -> None:
    """Zone, people, the name's holder, stage, lock and age, the code, the term, price, funds."""
    climb.assume("v3.purchase_cost", "premium_everywhere")
    world = climb.sandbox
    offered = world.world.state.zones["com"].prices
    held = order_of(world, "silver.com", "other")
    arrange_zone(world, "com", in_service=False, transfers=False, prices=replace(offered, privacy=None))
    arrange_balance(world, "32.99")
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
    arrange_zone(world, "com", transfers=True)
    climb.refused("zone_out_of_service", "com")
    arrange_zone(world, "com", in_service=True)
    climb.refused("privacy_not_offered", "com")
    arrange_zone(world, "com", prices=offered)
    climb.refused("invalid_contact", "domain.contacts.tech-contact.phone", "'none'")
    domain["contacts"] = {}
    climb.refused("invalid_nameserver", "'no server'")
    domain["nameservers"] = []
    climb.refused("not_registered", "nobodys.com")
    domain["domainName"] = "active.com"
    climb.refused("already_yours", "active.com")
    domain["domainName"] = "silver.com"
    locked = frozenset({Flag.TRANSFER_PROHIBITED})
    arrange(world, "silver.com", "other", stage=Stage.REDEMPTION, created=world.clock.now, flags=locked)
    ask_for(world, "silver.com", "poor", "other")
    climb.refused("wrong_state", "silver.com is at the stage redemption", "transfer to another registrar")
    arrange(world, "silver.com", "other", stage=Stage.ACTIVE)
    climb.refused("transfer_pending", "silver.com")
    climb.end_transfer("silver.com")
    climb.refused("locked", "silver.com", "client_transfer_prohibited", "unlockTransfer")
    arrange(world, "silver.com", "other", flags=frozenset())
    climb.refused("too_young", "2026-03-01T12:00:00Z", "2026-04-30T12:00:00Z")
    write(world, held)
    climb.refused("wrong_auth_code", "silver.com")
    climb.body["authCode"] = "let-me-in"
    climb.refused("period_too_short", "years is 0")
    climb.body["years"] = 11
    climb.refused(
        "period_too_long", "years is 11", "at most 9, since no name is paid for more than 10 years ahead"
    )
    climb.body["years"] = 1
    climb.refused("premium_cost_required", "silver.com", "30.00")
    climb.body["purchaseCost"] = 31
    climb.refused("price_mismatch", "31.00", "30.00")
    climb.body["purchaseCost"] = 30
    climb.refused("insufficient_funds", "33.00 USD", "32.99 USD")
    arrange_balance(world, "33.00")


def _decision(climb: Climb, stage: Stage, word: str) -> None:
    climb.unreadable()
    climb.contradicted()
    climb.found("active.com")
    climb.refused("no_transfer", "active.com", word)
    climb.name = "leaving.com"
    climb.arrange("leaving.com", stage=Stage.REDEMPTION)
    climb.refused("wrong_state", "leaving.com is at the stage redemption", "transfer is not possible")
    climb.arrange("leaving.com", stage=stage)


@ladder("rejectTransfer")
def reject_transfer(climb: Climb) -> None:
    """Whether there is one, and the stage."""
    _decision(climb, Stage.ACTIVE, "reject")


@ladder("approveTransfer")
def approve_transfer(climb: Climb) -> None:
    """Whether there is one, and the stage."""
    _decision(climb, Stage.ACTIVE, "approve")


@ladder("cancelTransfer")
def cancel_transfer(climb: Climb) -> None:
    """Whether there is one, and the stage."""
    climb.unreadable()
    climb.contradicted()
    climb.found("active.com")
    climb.refused("no_transfer", "active.com", "cancel")
    climb.name = "arriving.com"
    climb.arrange("arriving.com", stage=Stage.REQUESTED)
    climb.refused("wrong_state", "arriving.com is at the stage requested", "cancelling a transfer")
    climb.arrange("arriving.com", stage=Stage.ARRIVING)


@ladder("setAuthcode")
def set_authcode(climb: Climb) -> None:
    """Stage, lock, the code's form."""
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
    """The stage."""
    climb.arrange("active.com", stage=Stage.REDEMPTION)
    climb.found("active.com")
    climb.refused("wrong_state", "active.com is at the stage redemption", "reading the code")
    climb.arrange("active.com", stage=Stage.ACTIVE)


@ladder("setContacts")
def set_contacts(climb: Climb) -> None:
    """Stage, lock, the contacts, funds for an owner's change."""
    _unready(climb, "held.com.ua")
    arrange_balance(climb.sandbox, "2.49")
    climb.unreadable()
    climb.body = {"contacts": {"reg-contact": "Ann"}}
    climb.refused("invalid_parameter", "contacts.reg-contact must be an object")
    climb.body = {"contacts": {"reg-contact": person(country="Britain")}}
    climb.found("held.com.ua")
    _made_ready(climb, "held.com.ua", "changing contacts")
    climb.refused("invalid_contact", "contacts.reg-contact.country", "'Britain'")
    climb.body["contacts"]["reg-contact"]["country"] = "GB"
    climb.refused("insufficient_funds", "2.50 USD", "2.49 USD")
    arrange_balance(climb.sandbox, "2.50")
