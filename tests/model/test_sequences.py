"""Random sequences of requests and of moves of the clock: the sandbox answers as the model does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any
from unicodedata import normalize

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from reseller_sandbox import Sandbox
from tests.model.registry import ANN, FIXTURE, IDENTITY, UNKNOWN, Model, Person
from tests.model.wire import Call, agree
from tests.registry import assert_books_balance
from tests.thorough import THOROUGH, tries

ACCOUNTS = ("main", "other", "poor")
NAMES = (
    *("old.com", "their.com", "young.com", "long.com", "gold.com"),
    *("one.eu", "two.eu", "one.es", "one.shop"),
)
WRONG = ("nic.com", "x.zone", "a.b.com")
SERVERS = ("ns1.home.test", "ns2.home.test", "ns1.old.com", "ns1.one.eu", "ns1.long.com")
FLAGS = ("hold", "transfer", "update", "delete", "renew")
IPS = (["192.0.2.1"], ["192.0.2.2", "2001:db8::1"])


class SameAnswers(RuleBasedStateMachine):
    """Three accounts share few names, over both interfaces. Most requests are such that they can succeed."""

    @initialize(
        tries=st.sampled_from(["once", "daily"]),
        shared=st.sampled_from(["on", "on", "off"]),
        new=st.sampled_from(["name_or_company", *IDENTITY]),
    )
    def begin(self, tries: str, shared: str, new: str) -> None:
        assumed = {"lifecycle.autorenew.tries": tries, "locks.cover_shared_contacts": shared}
        assumed |= {"lifecycle.new_registrant": new}
        self.sandbox = Sandbox(FIXTURE, assume=assumed)
        self.clients = {name: self.sandbox.client(name) for name in ACCOUNTS}
        self.model = Model(tries, shared, new)
        self.codes: set[str] = set()
        self.touched = "old.com"
        self.history: list[object] = []
        self.failed = False
        self.steps = 0

    # A rule for each operation would be left out of every other sequence, and one seed would come many times.
    @rule(seed=st.integers(0, 2**32))
    def step(self, seed: int) -> None:
        self.steps += 1
        self.random = random = Random(f"{seed} {self.steps}")
        self.is_clumsy = random.random() < 0.25  # several mistakes in one request show which is checked first
        operations: dict[Callable[[], None], int] = {
            **{self.create: 5, self.renew: 3, self.delete: 1, self.restore: 2, self.switch: 3},
            **{self.edit: 3, self.change: 5, self.request_transfer: 5, self.decide: 2, self.hosts: 4},
            **{self.read: 1, self.wait: 8, self.set_balance: 1},
        }
        random.choices(list(operations), list(operations.values()))[0]()

    # Choices

    def rarely(self, chance: float = 0.1) -> bool:
        return self.random.random() < (0.5 if self.is_clumsy else chance)

    def name(self, fitting: Iterable[str] = ()) -> str:
        """Mostly one of the ``fitting`` names, else any; sometimes a wrong one."""
        names = sorted(fitting)
        if names and not self.rarely():
            return self.random.choice(names)
        return self.random.choice((*NAMES, *WRONG))

    def at(self, *stages: str) -> list[str]:
        return [order["name"] for order in self.model.orders.values() if order["stage"] in stages]

    def holder(self, name: str) -> str:
        """Mostly the account that holds ``name``, else any."""
        held = self.model.held(name)
        return self.random.choice(ACCOUNTS) if held is None or self.rarely() else str(held["account"])

    def years(self) -> int:
        return self.random.choice([0, 10, 11]) if self.rarely() else self.random.choice([1, 1, 2, 2, 4])

    def interface(self) -> str:
        return self.random.choice(["v3", "v2"])

    def servers(self) -> list[str]:
        return self.random.choices(SERVERS, k=self.random.choice([1, 2, 2]))

    def cost(self, name: str, term: str, years: int) -> Decimal | None:
        """Mostly the price that a premium name needs."""
        right = self.model.price(name, term, years) if name == "gold.com" else None
        return self.random.choice([None, Decimal(3)]) if self.rarely() else right

    def wishes(self) -> dict[str, bool]:
        return {wish: self.rarely(0.4) for wish in ("privacy", "autorenew", "locked")}

    # Requests

    def send(self, interface: str, operation: str, account: str, name: str = "", **parameters: Any) -> Any:
        """Send a request; the answer must be the model's."""
        call = Call(interface, operation, account, name, parameters)
        self.history.append(call)
        method, path, body = call.request()
        answer = self.clients[account].open(path, method=method, json=body)
        seen = call.seen(answer.status_code, answer.json, answer.headers.get("X-Sandbox-Refusal"))
        expected = call.expected(self.model)
        if operation in ("balance", "info", "names") and agree(seen, expected):
            self.history.pop()
        self.compare(agree(seen, expected), seen, expected)
        self.touched = name or self.touched
        return seen[2]

    def compare(self, same: bool, seen: object, expected: object) -> None:
        self.failed = not same
        if self.failed:
            before = "\n".join(map(str, self.history))
            raise AssertionError(f"{before}\nsandbox: {seen}\nmodel:   {expected}")

    def create(self) -> None:
        free = set(NAMES) - {order["name"] for order in self.model.orders.values()}
        name = "gold.com" if "gold.com" in free and self.rarely(0.2) else self.name(free)
        account = "poor" if self.is_clumsy else self.random.choice(ACCOUNTS)
        years = self.years()
        if self.rarely(0.3):
            parameters = {"servers": self.servers(), "holder": f"PERSON-{account}"}
            self.send("v2", "create", account, name, years=years, **parameters)
        else:
            servers = self.servers() if self.rarely(0.3) else None
            cost = self.cost(name, "registration", years)
            self.send("v3", "create", account, name, years=years, cost=cost, servers=servers, **self.wishes())
        self.send("v3", "list_hosts", account, name)
        if self.rarely(0.2):
            self.renew(name)
            self.delete(name)

    def renew(self, name: str = "") -> None:
        name, years = name or self.name(self.at("active", "overdue")), self.years()
        held = self.model.held(name)
        if self.rarely(0.5):
            cost = self.cost(name, "renewal", years)
            self.send("v3", "renew", self.holder(name), name, years=years, cost=cost)
        else:
            expected = (held["expires"] if held else self.model.now) + timedelta(days=int(self.rarely()))
            self.send("v2", "renew", self.holder(name), name, years=years, expected=expected)

    def delete(self, name: str = "") -> None:
        name = name or self.name(self.at("active", "overdue"))
        self.send("v2", "delete", self.holder(name), name)

    def restore(self, name: str = "") -> None:
        fitting = self.at("redemption")
        if not fitting and not self.rarely():
            self.delete()
            return
        name = name or self.name(fitting)
        self.send("v2", "restore", self.holder(name), name)

    def switch(self) -> None:
        name = self.name(self.at("active"))
        flag = self.random.choice(["hold", "transfer", "update", "autorenew"])
        self.send("v3", "switch", self.holder(name), name, flag=flag, on=self.rarely(0.4))

    def edit(self) -> None:
        name = self.name(self.at("active"))
        account, held = self.holder(name), self.model.held(name)
        flags = {flag: self.rarely(0.4) for flag in self.random.sample(FLAGS, self.random.choice([1, 2]))}
        add = self.random.sample(SERVERS, self.random.choice([0, 0, 1]))
        servers = held["servers"] if held else ()
        remove = self.random.sample(servers, 1) if servers and self.rarely(0.3) else []
        person = f"PERSON-{account}" if self.rarely(0.3) else ""
        self.send("v2", "edit", account, name, flags=flags, add=add, remove=remove, holder=person)

    def change(self) -> None:
        name = self.name(self.at("active"))
        operation, parameters = self.random.choice(
            [
                *[("set_servers", {"servers": self.servers()})] * 2,
                *[("set_holder", {})] * 2,
                ("set_code", {"code": self.random.choice(["abc", "abcd", "a-longer-code"])}),
                ("edit_contact", {}),
            ]
        )
        account = self.holder(name)
        if operation == "edit_contact":
            person = self.person(self.model.persons[f"PERSON-{account}"])._replace(place="2 Shared Street")
            self.send("v2", operation, account, handle=f"PERSON-{account}", person=person)
        elif operation == "set_holder":
            held = self.model.held(name)
            person = self.person(held["holder"] if held else ANN)._replace(place="1 Main Street")
            self.send("v3", operation, account, name, person=person)
        else:
            self.send("v3", operation, account, name, **parameters)

    def person(self, before: Person) -> Person:
        """Another person, or the one before with another spelling, mail address or telephone number."""
        if self.rarely(0.4):
            return self.random.choice([ANN, ANN._replace(name="Bob Example"), ANN._replace(company="Works")])
        mail, phone = before.mail or ANN.mail, before.phone or ANN.phone
        before = before._replace(mail=mail, phone=phone)
        return self.random.choice(
            [
                before._replace(name=normalize("NFD", f" {before.name} ")),
                before._replace(name=normalize("NFC", before.name.strip()).replace(" ", "  ")),
                before._replace(mail="new@example.com"),
                before._replace(phone="380.449999999"),
            ]
        )

    def read_code(self, account: str, name: str) -> None:
        """Read the code; a name that has just been created or transferred has a new one."""
        code = self.send("v3", "get_code", account, name).get("code")
        if code and self.model.own(account, name)["code"] == UNKNOWN:
            assert code not in self.codes, f"{name} has the code of an earlier order"
            self.model.own(account, name)["code"] = code
            self.codes.add(code)

    def request_transfer(self, name: str = "") -> None:
        name = name or self.name(self.at("active", "overdue"))
        held, account = self.model.held(name), self.random.choice(ACCOUNTS)
        if held:
            self.read_code(held["account"], name)
        if held and held["account"] == account and not self.rarely():
            account = self.random.choice([other for other in ACCOUNTS if other != account])
        code = "wrong" if not held or held["code"] == UNKNOWN or self.rarely(0.1) else held["code"]
        if self.rarely(0.4):
            self.send("v2", "transfer", account, name, code=code)
        else:
            years = self.years()
            parameters = {"code": code, "years": years, "cost": self.cost(name, "transfer", 1)}
            self.send("v3", "transfer", account, name, **parameters, **self.wishes())

    def decide(self) -> None:
        fitting = list(filter(self.model.pending, self.model.transfers))
        if not fitting and not self.rarely():
            self.request_transfer()
            return
        name = self.name(fitting)
        transfer = self.model.pending(name)
        word = self.random.choice(["approve", "reject", "cancel"])
        party = transfer["parties"][word != "cancel"] if transfer else "main"
        account = self.random.choice(ACCOUNTS) if self.rarely() else party
        self.send(self.interface(), "decide", account, name, word=word)

    def hosts(self) -> None:
        operation = self.random.choice(["create_host", "update_host", "delete_host"])
        below = [host.partition(".")[2] for host in self.model.hosts]
        if not below and not self.rarely():
            operation = "create_host"
        name = self.name(self.at("active") if operation == "create_host" else below)
        interface = "v3" if operation == "update_host" else self.interface()
        parameters = {} if operation == "delete_host" else {"ips": self.random.choice(IPS)}
        label = self.random.choice(["ns1", "ns1", "ns2"])
        self.send(interface, operation, self.holder(name), name, label=label, **parameters)

    def read(self) -> None:
        name = self.name(self.at("arriving", "overdue", "redemption", "pending_delete"))
        account = self.holder(name)
        for interface in ("v3", "v2"):
            self.send(interface, "info", account, name)
            self.send(interface, "check", account, name)
            self.send(interface, "get_host", account, name, label="ns1")
        self.send("v2", "check_host", account, name, label="ns1")
        self.send("v3", "list_hosts", account, name)
        if self.rarely(0.2):
            self.renew(name)
            self.delete(name)
        self.send("v2", "transfer_status", account, name)
        self.send("v3", "names", account)

    # Control

    def wait(self) -> None:
        """Move the clock: mostly to the next event, or to the end of a limit, or to a second before that."""
        by = self.random.choice(["due", "due", "due", "limit", "limit", "days"])
        just_before = self.rarely(0.3)
        limits = [(at, name, action) for name, action, at in self.model.limits() if at > self.model.now]
        if by == "due" and (due := self.model.due()):
            self.move(due[0][0], just_before)
        elif by == "limit" and limits:
            at, name, action = self.random.choice(limits)
            self.move(at, just_before)
            (self.delete if action == "delete" else self.request_transfer)(name)
        else:
            self.move(self.model.now + timedelta(days=self.random.choice([1, 4, 6, 20, 61])), just_before)

    def move(self, to: datetime, just_before: bool) -> None:
        to = max(self.model.now, to - timedelta(seconds=just_before))
        self.history.append(to)
        seen = [(event.at, event.event, event.subject) for event in self.sandbox.clock.set(to).events]
        expected = self.model.advance(to)
        self.compare(seen == expected, seen, expected)
        for _, event, name in expected:
            if event == "redemption" and self.rarely(0.7):
                self.restore(name)
            elif event == "expiry" and self.rarely(0.2):
                self.renew(name)

    def set_balance(self) -> None:
        account, amount = self.random.choice(ACCOUNTS), self.random.choice([0, 12, 300, 300])
        self.history.append((account, amount))
        self.sandbox.accounts.set_balance(account, amount)
        self.model.accounts[account] = Decimal(amount)

    @invariant()
    def same_money_and_same_name(self) -> None:
        balances = {account: self.sandbox.accounts[account].balance for account in ACCOUNTS}
        self.compare(balances == self.model.accounts, balances, self.model.accounts)
        for order in list(self.model.orders.values()):
            if order["name"] == self.touched:
                self.send("v3", "info", order["account"], self.touched)

    def teardown(self) -> None:
        if self.failed:  # another difference would hide the first
            return
        for order in list(self.model.orders.values()):
            self.send("v3", "info", order["account"], order["name"])
            self.send("v2", "info", order["account"], order["name"])
            self.send("v3", "list_hosts", order["account"], order["name"])
        for account in ACCOUNTS:
            self.send("v3", "names", account)
            self.send("v3", "balance", account)
        assert_books_balance(self.sandbox)


SameAnswers.TestCase.settings = settings(
    max_examples=tries(25),
    stateful_step_count=60,
    print_blob=False,
    phases=[Phase.generate, *([Phase.shrink] if THOROUGH else [])],  # to shrink takes minutes
)
TestSameAnswers = SameAnswers.TestCase
