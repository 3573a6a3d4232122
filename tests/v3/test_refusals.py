"""Every documented refusal of each v3 operation in the order of the checks, and the stages of an order.

A climb begins with a request that is wrong in every way that its operation can refuse. Each rung asserts
the refusal and then corrects that one thing. At the top the request is accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Answer, Headers, encoded, person, signature
from tests.registry import Make, connect, contents, edit, edit_name, edit_zone
from tests.v3.operations import Operation, operations
from tests.v3.test_bad_input import GOOD

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
LEAVING = {"to": "other", "requested": "-1d"}


def headers(key: str, signed: str) -> Headers:
    return [("X-SVC-APIKEY", key), ("X-SVC-SIGNATURE", signed)]


class Climb:
    """A request that is corrected step by step, and the refusals that it has met."""

    def __init__(self, sandbox: Sandbox, operation: Operation) -> None:
        self.sandbox = sandbox
        self.api = connect(sandbox, checked=False)
        self.operation = operation
        self.has_body = operation.method in ("POST", "PUT")
        self.name, self.host, self.query = "not a name", "ns1", ""
        self.body: Any = None
        self.prefix = "/_worlds/nowhere"
        self.content_type = "text/plain" if self.has_body else "application/json"
        self.raw: bytes | None = b"x" * ((1 << 20) + 1)
        self.sign: Callable[[str, bytes], Headers] = lambda target, raw: [("Host", "no host")]
        self.visited: list[str] = []

    def send(self) -> Answer:
        path = self.operation.paths[0].format(domainName=quote(self.name), hostname=quote(self.host))
        target = self.prefix + path + self.query
        raw = self.raw if self.raw is not None else encoded(self.body)
        headers = [*self.sign(target, raw), ("Content-Type", self.content_type)]
        return self.api.send(self.operation.method, target, headers, raw)

    def refused(self, code: str, **corrected: Any) -> None:
        """Assert a refusal that changes nothing. Then correct the request, its body, or its domain."""
        before = contents(self.sandbox)
        answer = self.send()
        assert answer.error == code, f"after {self.visited}: {answer.raw!r}, not {code}"
        assert answer.status == self.operation.errors[code]
        assert set(answer.json) == {"error", "message"}
        assert contents(self.sandbox) == before
        self.visited.append(code)
        for key, value in corrected.items():
            if hasattr(self, key):
                setattr(self, key, value)
            else:
                domain = self.body.get("domain", {})
                (domain if key in domain else self.body)[key] = value

    def transport(self) -> None:
        """The rungs that every operation has: host, size, world, key and signature."""
        key = self.api.key
        self.refused("invalid_host", sign=lambda target, raw: [])
        self.refused("body_too_large", raw=b"{" if self.has_body else None)
        self.refused("unknown_world", prefix="")
        self.refused("credentials_missing", sign=lambda target, raw: headers("nobody", "0" * 64))
        self.refused("unknown_key", sign=lambda target, raw: headers(key, "0" * 64))
        self.refused(
            "signature_mismatch",
            sign=lambda target, raw: headers(
                key, signature(self.api.secret, key, self.api.base + target, raw)
            ),
        )

    def unreadable(self, body: Any = None) -> None:
        """The rungs of a body's form, its type and its JSON, up to ``body``."""
        self.refused("unsupported_media_type", content_type="application/json")
        self.refused("malformed_body", raw=None, body=body)

    def found(self, name: str) -> None:
        self.refused("invalid_name", name="nobodys.com")
        self.refused("domain_not_found", name=name)

    def overdue(self, name: str) -> None:
        """Have a name at a stage where updates are not possible, with a flag that forbids updates."""
        edit_name(self.sandbox, name, stage="overdue", flags=["client_update_prohibited"])

    def updatable(self, name: str) -> None:
        """The rungs of a name's stage and of its flag."""
        self.refused("wrong_state")
        edit_name(self.sandbox, name, stage="active")
        self.refused("locked")
        edit_name(self.sandbox, name, flags=[])


LADDERS: dict[str, Callable[[Climb], None]] = {
    "v3.balance": lambda climb: None,
    "v3.getDomain": lambda climb: climb.found("active.com"),
}


def ladder(operation: str) -> Callable[[Callable[[Climb], None]], Callable[[Climb], None]]:

    def register(climb: Callable[[Climb], None]) -> Callable[[Climb], None]:
        LADDERS[f"v3.{operation}"] = climb
        return climb

    return register


@ladder("checkAvailability")
def check_availability(climb: Climb) -> None:
    climb.unreadable({"domainNames": "a.com"})
    climb.refused("invalid_parameter", domainNames=["a.com"] * 51)
    climb.refused("too_many_names", domainNames=["a.com"] * 50)


@ladder("createDomain")
def create_domain(climb: Climb) -> None:
    premium = {"gold": {"registration": "500.00", "renewal": "300.00", "transfer": "200.00"}}
    edit_zone(climb.sandbox, "com.ua", in_service=False, reserved=["gold"], premium=premium)
    climb.sandbox.simulate.adjust_balance("main", to="502.99")
    bad = {"reg-contact": person(email="nobody")}
    good = dict.fromkeys(("reg-contact", "admin-contact", "tech-contact", "billing-contact"), person())
    domain = {"domainName": "gold..com", "contacts": bad, "nameservers": ["-"], "privacyEnabled": True}
    climb.unreadable({"domain": domain, "years": "0"})
    climb.refused("invalid_parameter", years=0)
    climb.refused("invalid_name", domainName="gold.zone")
    climb.refused("zone_not_supported", domainName="held.com.ua")
    climb.refused("zone_out_of_service")
    climb.sandbox.simulate.set_service("com.ua", in_service=True)
    climb.refused("period_too_short", years=11)
    climb.refused("period_too_long", years=1)
    climb.refused("privacy_not_offered")
    climb.sandbox.simulate.set_prices("com.ua", privacy=3)
    climb.refused("contacts_required", contacts=good | bad)
    climb.refused("invalid_contact", contacts=good)
    climb.refused("invalid_nameserver", nameservers=["ns1.example.net"])
    climb.refused("license_required", tldRequirements={"license": "12"})
    climb.refused("invalid_license", tldRequirements={"license": "123456"})
    climb.refused("name_taken", domainName="gold.com.ua")
    climb.refused("name_reserved")
    edit_zone(climb.sandbox, "com.ua", reserved=None)
    climb.refused("premium_cost_required", purchaseCost=499.99)
    climb.refused("price_mismatch", purchaseCost=500)
    climb.refused("insufficient_funds")
    climb.sandbox.simulate.adjust_balance("main", to="503.00")


@ladder("listDomains")
def list_domains(climb: Climb) -> None:
    climb.query = "?perPage=0&page=x"
    climb.refused("invalid_parameter", query="?perPage=1&page=1")


@ladder("renewDomain")
def renew_domain(climb: Climb) -> None:
    climb.sandbox.assumptions.set({"v3.purchase_cost": "premium_everywhere"})
    edit_name(climb.sandbox, "gold.com", stage="redemption", flags=["client_renew_prohibited"])
    climb.sandbox.simulate.set_service("com", in_service=False)
    climb.sandbox.simulate.adjust_balance("main", to="299.99")
    climb.query = "?years=x"
    climb.unreadable({"domain": {"domainName": "not a name"}, "years": "0"})
    climb.refused("invalid_parameter", years=0, query="")
    climb.refused("invalid_name", domainName="nobodys.com")
    climb.refused("domain_not_found", domainName="gold.com")
    climb.refused("wrong_state")
    edit_name(climb.sandbox, "gold.com", stage="active")
    edit(climb.sandbox, {"transfers": {"gold.com": LEAVING}})
    climb.refused("transfer_pending")
    edit(climb.sandbox, {"transfers": {"gold.com": None}})
    climb.refused("locked")
    edit_name(climb.sandbox, "gold.com", flags=[])
    climb.refused("zone_out_of_service")
    climb.sandbox.simulate.set_service("com", in_service=True)
    climb.refused("period_too_short", years=10)
    climb.refused("period_too_long", years=1)
    climb.refused("premium_cost_required", purchaseCost="300.01")
    climb.refused("price_mismatch", purchaseCost="300")
    climb.refused("insufficient_funds")
    climb.sandbox.simulate.adjust_balance("main", to="300.00")


def switch(operation: str, opposite: str, *, on: bool) -> None:
    @ladder(operation)
    def climbing(climb: Climb) -> None:
        changes = {"stage": "overdue", "flags": FLAGS if on else [], "autorenew": on}
        edit_name(climb.sandbox, "active.com", **changes)
        climb.unreadable({"domainName": "other.com"})
        climb.refused("invalid_parameter", body=None)
        climb.found("active.com")
        climb.refused("wrong_state")
        edit_name(climb.sandbox, "active.com", **changes | {"stage": "active"})
        if operation == "lockTransfer":
            edit(climb.sandbox, {"transfers": {"active.com": LEAVING}})
            climb.refused("transfer_pending")
            edit(climb.sandbox, {"transfers": {"active.com": None}})
        if operation == "unlock":
            climb.sandbox.simulate.hold("active.com")
            climb.refused("held_by_registry")
            climb.sandbox.simulate.release_hold("active.com")
        climb.refused("switched_already")
        assert climb.api.post(f"/v3/domains/{opposite}/active.com").status == 200


for switched_on, switched_off in {
    "lockTransfer": "unlockTransfer",
    "lock": "unlock",
    "lockUpdate": "unlockUpdate",
    "enableAutorenew": "disableAutorenew",
}.items():
    switch(switched_on, switched_off, on=True)
    switch(switched_off, switched_on, on=False)


def without_hosts(climb: Climb) -> None:
    names: dict[str, Any] = {name: {"hosts": None} for name in ("active.com", "leaving.com")}
    edit(climb.sandbox, {"zones": {"com": {"hosts": False}}, "domains": names})
    climb.overdue("active.com")


def with_hosts(climb: Climb) -> None:
    climb.found("active.com")
    climb.refused("hosts_not_supported")
    hosts = {"active.com": {"hosts": {"ns1": ["192.0.2.1"]}}}
    edit(climb.sandbox, {"zones": {"com": {"hosts": None}}, "domains": hosts})
    climb.updatable("active.com")


def named_host(climb: Climb) -> None:
    climb.refused("invalid_hostname", host="ns9")
    climb.refused("host_not_found", host="ns1")


@ladder("createGlueRecord")
def create_glue_record(climb: Climb) -> None:
    without_hosts(climb)
    climb.unreadable({"hostname": 1, "ips": ["192.0.2"]})
    climb.refused("invalid_parameter", hostname="-")
    with_hosts(climb)
    climb.refused("invalid_hostname", hostname="ns1")
    climb.refused("invalid_ip", ips=["192.0.2.1"])
    climb.refused("host_exists", hostname="ns2")


@ladder("updateGlueRecord")
def update_glue_record(climb: Climb) -> None:
    without_hosts(climb)
    climb.host = "-"
    climb.unreadable({"ips": [1]})
    climb.refused("invalid_parameter", ips=["::g"])
    with_hosts(climb)
    named_host(climb)
    climb.refused("invalid_ip", ips=["2001:db8::1"])


@ladder("deleteGlueRecord")
def delete_glue_record(climb: Climb) -> None:
    without_hosts(climb)
    edit_name(climb.sandbox, "second.com", nameservers=["ns1.active.com"])
    climb.host = "-"
    with_hosts(climb)
    named_host(climb)
    climb.refused("host_in_use")
    edit_name(climb.sandbox, "second.com", nameservers=["ns1.example.net"])


@ladder("listGlueRecords")
def list_glue_records(climb: Climb) -> None:
    edit(climb.sandbox, {"lifecycle": {"active": ["renew"]}})
    climb.found("active.com")
    climb.refused("wrong_state")
    edit(climb.sandbox, {"lifecycle": None})


@ladder("getGlueRecord")
def get_glue_record(climb: Climb) -> None:
    climb.host = "-"
    list_glue_records(climb)
    named_host(climb)


@ladder("requestTransfer")
def request_transfer(climb: Climb) -> None:
    climb.sandbox.assumptions.set({"v3.purchase_cost": "premium_everywhere"})
    edit_zone(climb.sandbox, "com", in_service=False, transfers=False, prices={"privacy": None})
    edit_name(climb.sandbox, "silver.com", stage="redemption", flags=["client_transfer_prohibited"])
    climb.sandbox.simulate.adjust_balance("main", to="32.99")
    domain = {
        "domainName": "not a name",
        "contacts": {"tech-contact": person(phone="none")},
        "nameservers": ["no server"],
        "privacyEnabled": True,
    }
    climb.unreadable({"domain": domain, "authCode": True, "years": 0})
    climb.refused("invalid_parameter", authCode="no-code")
    climb.refused("invalid_name", domainName="silver.zone")
    climb.refused("zone_not_supported", domainName="nobodys.com")
    climb.refused("transfers_not_supported")
    edit_zone(climb.sandbox, "com", transfers=True)
    climb.refused("zone_out_of_service")
    climb.sandbox.simulate.set_service("com", in_service=True)
    climb.refused("privacy_not_offered")
    climb.sandbox.simulate.set_prices("com", privacy=3)
    climb.refused("invalid_contact", contacts={})
    climb.refused("invalid_nameserver", nameservers=[])
    climb.refused("not_registered", domainName="active.com")
    climb.refused("already_yours", domainName="silver.com")
    climb.refused("wrong_state")
    edit_name(climb.sandbox, "silver.com", stage="active", created="-0d")
    edit(climb.sandbox, {"transfers": {"silver.com": {"to": "poor", "requested": "-0d"}}})
    climb.refused("transfer_pending")
    edit(climb.sandbox, {"transfers": {"silver.com": None}})
    climb.refused("locked")
    edit_name(climb.sandbox, "silver.com", flags=[])
    climb.refused("too_young")
    edit_name(climb.sandbox, "silver.com", created="-100d", since=None)
    climb.refused("wrong_auth_code", authCode="let-me-in")
    climb.refused("period_too_short", years=11)
    climb.refused("period_too_long", years=1)
    climb.refused("premium_cost_required", purchaseCost=31)
    climb.refused("price_mismatch", purchaseCost=30)
    climb.refused("insufficient_funds")
    climb.sandbox.simulate.adjust_balance("main", to="33.00")


def decision(operation: str, name: str, permitted: dict[str, list[str]]) -> None:
    @ladder(operation)
    def climbing(climb: Climb) -> None:
        climb.unreadable({"domainName": "other.com"})
        climb.refused("invalid_parameter", body=None)
        climb.found("active.com")
        climb.refused("no_transfer", name=name)
        edit(climb.sandbox, {"lifecycle": permitted})
        climb.refused("wrong_state")
        edit(climb.sandbox, {"lifecycle": None})


decision("rejectTransfer", "leaving.com", {"active": ["renew"]})
decision("approveTransfer", "leaving.com", {"active": ["renew"]})
decision("cancelTransfer", "arriving.com", {"arriving": []})


def update(operation: str, code: str, key: str, values: Sequence[Any]) -> None:
    @ladder(operation)
    def climbing(climb: Climb) -> None:
        climb.overdue("active.com")
        climb.unreadable({key: values[0]})
        climb.refused("invalid_parameter", **{key: values[1]})
        climb.found("active.com")
        climb.updatable("active.com")
        climb.refused(code, **{key: values[2]})


update("setAuthcode", "invalid_auth_code", "authcode", ([], "abc", "abcd"))
update("setNameservers", "invalid_nameserver", "nameservers", ([5], ["nothing"], ["ns1.example.net"]))


@ladder("getAuthcode")
def get_authcode(climb: Climb) -> None:
    climb.found("redemption.com")
    climb.refused("wrong_state", name="active.com")


@ladder("setContacts")
def set_contacts(climb: Climb) -> None:
    climb.overdue("held.com.ua")
    climb.sandbox.simulate.adjust_balance("main", to="2.49")
    climb.unreadable({"contacts": {"reg-contact": "Ann"}})
    climb.refused("invalid_parameter", contacts={"reg-contact": person(country="Britain")})
    climb.found("held.com.ua")
    climb.updatable("held.com.ua")
    climb.refused("invalid_contact", contacts={"reg-contact": person(country="GB")})
    climb.refused("insufficient_funds")
    climb.sandbox.simulate.adjust_balance("main", to="2.50")


@pytest.mark.parametrize("operation", operations())
def test_checks_are_made_in_order_and_each_documented_refusal_occurs(make: Make, operation: str) -> None:
    climb = Climb(make(assume=ASSUME), operations()[operation])
    climb.transport()
    LADDERS[operation](climb)
    answer = climb.send()
    assert (answer.status, answer.error) == (200, None), answer.raw
    assert set(climb.visited) == set(climb.operation.errors)


STAGES = ("requested", "processing", "arriving", "active", "overdue", "redemption", "pending_delete")
#: Where an operation on a name is possible, if not only at ``active``.
POSSIBLE = {
    **dict.fromkeys(("v3.renewDomain", "v3.getAuthcode"), ("active", "overdue")),
    **dict.fromkeys(("v3.getDomain", "v3.listGlueRecords", "v3.getGlueRecord"), STAGES),
}
DECISIONS = ("v3.approveTransfer", "v3.rejectTransfer", "v3.cancelTransfer")


@pytest.mark.parametrize("stage", STAGES)
def test_an_operation_is_possible_only_in_its_stages(
    sandbox: Sandbox, stage: str, subtests: pytest.Subtests
) -> None:
    name = "arriving.com" if stage == "arriving" else "active.com"
    if stage == "arriving":  # the host lies below the name, whichever registrar holds it
        edit(sandbox, {"taken": {name: {"hosts": {"ns1": ["192.0.2.9"]}}}})
    elif stage != "active":
        edit_name(sandbox, name, stage=stage)
    api = connect(sandbox)
    for operation, row in operations().items():
        if "{domainName}" not in row.paths[-1] or operation in DECISIONS:
            continue
        sandbox.reset()
        before = contents(sandbox)
        body = GOOD.get(operation) if operation != "v3.renewDomain" else None
        with subtests.test(operation=operation):
            answer = api.call(row.method, row.paths[-1].format(domainName=name, hostname="ns1"), body)
            if stage in POSSIBLE.get(operation, ("active",)):
                assert answer.status == 200, answer.raw
            else:
                assert answer.error == "wrong_state"
                assert f"{name} is at the stage {stage}, where" in answer.message
                assert contents(sandbox) == before
