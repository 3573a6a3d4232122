"""What holds under any sequence of requests and moves of the clock."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from urllib.parse import quote

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from reseller_sandbox import Sandbox
from tests.clients import Answer, person
from tests.registry import REGISTRY, connect
from tests.soundness import assert_consistent, assert_unchanged
from tests.thorough import tries

D = "/v3/domains"
WHO = st.sampled_from(["main", "other", "poor"])
NAMES = st.sampled_from(
    [
        "one.com",
        "two.com",
        "a.net",
        "active.com",
        "second.com",
        "overdue.com",
        "theirs.com",
        "leaving.com",
        "arriving.com",
        "gold.com",
        "rare.shop",
        "held.com.ua",
        "españa.com",
    ]
)
HOSTS = st.sampled_from(["ns1", "ns2", "ns1.active.com"])
SERVERS = st.lists(
    st.sampled_from(["ns1.active.com", "ns1.one.com", "ns2.one.com", "ns.else.net"]), max_size=3
)
ADDRESSES = st.lists(st.sampled_from(["192.0.2.1", "192.0.2.2", "2001:db8::1", "bad"]), max_size=2)
CARDS = st.sampled_from([person("Ann"), person("Bob"), {"name": "Cy"}])
ROLES = st.dictionaries(st.sampled_from(["reg-contact", "tech-contact"]), CARDS, max_size=2)
SWITCHES = st.sampled_from(
    [
        "lock",
        "unlock",
        "lockTransfer",
        "unlockTransfer",
        "lockUpdate",
        "unlockUpdate",
        "enableAutorenew",
        "disableAutorenew",
    ]
)
STEPS = st.sampled_from(["1s", "1d", "5d", "12d", "30d", "61d", "200d", "400d"])


class AnySequence(RuleBasedStateMachine):
    """Three registrars, one registry, and time."""

    def __init__(self) -> None:
        """A fresh registry; every answer is held against the OpenAPI document by the clients."""
        super().__init__()
        self.sandbox = Sandbox(REGISTRY)
        self.apis = {name: connect(self.sandbox, name) for name in ("main", "other", "poor")}

    def send(self, who: str, method: str, target: str, body: Any = None) -> Answer:
        """A request; one that is refused changes nothing."""
        answer = self.apis[who].call(method, quote(target, safe="/?=&"), body)
        assert answer.status < 500, answer.raw
        if answer.error is not None or method == "GET" or "checkAvailability" in target:
            assert_unchanged(self.sandbox)
        return answer

    @rule(
        who=WHO,
        name=NAMES,
        years=st.sampled_from([1, 2, 10, 11]),
        cost=st.sampled_from([None, 500, 1000]),
        privacy=st.booleans(),
        autorenew=st.booleans(),
    )
    def create(self, who: str, name: str, years: int, cost: Any, privacy: bool, autorenew: bool) -> None:
        """Register a name; what is paid is what the balance loses."""
        domain = {"domainName": name, "privacyEnabled": privacy, "autorenewEnabled": autorenew}
        body = {
            "domain": domain,
            "years": years,
            "purchaseCost": cost,
            "tldRequirements": {"license": "123456"},
        }
        self._paid(who, "POST", f"{D}/createDomain", body)

    @rule(who=WHO, name=NAMES, years=st.sampled_from([1, 3, 9]), cost=st.sampled_from([None, 300]))
    def renew(self, who: str, name: str, years: int, cost: Any) -> None:
        """Renew a name; what is paid is what the balance loses."""
        body = {"domain": {"domainName": name}, "years": years, "purchaseCost": cost}
        self._paid(who, "POST", f"{D}/renewDomain", body)

    @rule(who=WHO, name=NAMES, honest=st.booleans())
    def ask(self, who: str, name: str, honest: bool) -> None:
        """Ask for a name, with its code or without."""
        holders = self.sandbox.names
        code = holders[name].auth_code if honest and name in holders else "guess"
        self._paid(who, "POST", f"{D}/requestTransfer", {"domain": {"domainName": name}, "authCode": code})

    def _paid(self, who: str, method: str, target: str, body: Any) -> None:
        before = self.sandbox.account(who).balance
        answer = self.send(who, method, target, body)
        paid = Decimal(answer.json["totalPaid"]) if answer.error is None else 0
        assert self.sandbox.account(who).balance == before - paid

    @rule(who=WHO, name=NAMES, word=st.sampled_from(["approve", "reject", "cancel"]))
    def decide(self, who: str, name: str, word: str) -> None:
        """Answer a transfer, or take it back."""
        self.send(who, "POST", f"{D}/{word}Transfer/{name}")

    @rule(who=WHO, name=NAMES, switch=SWITCHES)
    def switch(self, who: str, name: str, switch: str) -> None:
        """One of the eight switches."""
        self.send(who, "POST", f"{D}/{switch}/{name}")

    @rule(who=WHO, name=NAMES, servers=SERVERS)
    def delegate(self, who: str, name: str, servers: list[str]) -> None:
        """Other name servers."""
        self.send(who, "POST", f"{D}/setNameservers/{name}", {"nameservers": servers})

    @rule(who=WHO, name=NAMES, contacts=ROLES)
    def set_contacts(self, who: str, name: str, contacts: Any) -> None:
        """Other contacts."""
        self.send(who, "POST", f"{D}/setContacts/{name}", {"contacts": contacts})

    @rule(who=WHO, name=NAMES, host=HOSTS, ips=ADDRESSES, method=st.sampled_from(["POST", "PUT", "DELETE"]))
    def change_hosts(self, who: str, name: str, host: str, ips: list[str], method: str) -> None:
        """Glue records come, change and go."""
        one = f"{D}/glueRecords/{name}" + ("" if method == "POST" else f"/{host}")
        self.send(who, method, one, {"hostname": host, "ips": ips})

    @rule(who=WHO, name=NAMES, host=HOSTS)
    def read(self, who: str, name: str, host: str) -> None:
        """Everything that reads."""
        for target in (
            "/v3/balance",
            D,
            f"{D}?perPage=3&page=2",
            f"{D}/getDomain/{name}",
            f"{D}/getAuthcode/{name}",
            f"{D}/glueRecords/{name}",
            f"{D}/glueRecords/{name}/{host}",
        ):
            self.send(who, "GET", target)
        self.send(who, "POST", f"{D}/checkAvailability", {"domainNames": [name, "-", "x.zone"]})

    @rule(who=WHO, name=NAMES, code=st.sampled_from(["abc", "abcd", 1234]))
    def set_code(self, who: str, name: str, code: Any) -> None:
        """Another authorization code."""
        self.send(who, "POST", f"{D}/setAuthcode/{name}", {"authCode": code})

    @rule(by=STEPS)
    def wait(self, by: str) -> None:
        """Let time go by."""
        self.sandbox.clock.advance(by)

    def teardown(self) -> None:
        """Assert that the books balance, no name has two holders, and nothing is overdue."""
        assert_consistent(self.sandbox)


AnySequence.TestCase.settings = settings(max_examples=tries(12), stateful_step_count=30)
TestAnySequence = AnySequence.TestCase
