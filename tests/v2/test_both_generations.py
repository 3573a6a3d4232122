"""One registry in two interfaces: v2.0 shows the changes of v3, and the other way round.

Random sequences of operations, each through either generation and from either of two accounts; after each
step every name is read through both, and the two accounts of it must agree in all that both show.
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from reseller_sandbox import MissingRecord, Sandbox
from tests import registry
from tests.clients import Answer, Api, InProcess, person
from tests.soundness import assert_books_balance
from tests.thorough import tries
from tests.v2.client import REGISTRY, Client, connect
from tests.v2.works import CARD

NAMES = ("active.com", "served.com", "theirs.com", "new.com")
ACCOUNTS = ("main", "other")
ROLES = ("registrant", "admin", "tech", "billing")
HANDLES = {"main": ("MAIN", "OWNER", "SPARE"), "other": ("OTHER", "THEIRS")}
HOSTS = ("ns1", "ns2", "ns3")
SERVERS = ("ns1.home.net", "ns2.home.net", "ns3.home.net", "ns2.active.com")
ADDRESSES = {"192.0.2.1": "v4", "192.0.2.2": "v4", "2001:db8::1": "v6"}
LOCKS = {
    "client_hold": ("lock", "unlock"),
    "client_transfer_prohibited": ("lockTransfer", "unlockTransfer"),
    "client_update_prohibited": ("lockUpdate", "unlockUpdate"),
}
#: v3's words for the fields of a card.
FIELDS = {
    "name": "name",
    "company": "company-name",
    "address": "address1",
    "city": "city",
    "region": "state",
    "zip": "zipcode",
    "country": "country",
    "phone": "phone",
    "fax": "fax",
    "mail": "email",
}
SUSPENDED = ("3", "6")

names, hosts = st.sampled_from(NAMES), st.sampled_from(HOSTS)
#: Who acts: more often than not, the one who holds the name.
sides = st.sampled_from(["holder", "holder", "holder", "stranger"])
addresses = st.sampled_from(sorted(ADDRESSES))


class BothGenerations(RuleBasedStateMachine):
    """Two accounts, each with a client of either generation, at work on the same names."""

    sandbox: Sandbox

    @initialize()
    def begin(self) -> None:
        """Begin anew, with no flag set anywhere."""
        if not hasattr(BothGenerations, "sandbox"):
            BothGenerations.sandbox = Sandbox(REGISTRY)
        self.sandbox.reset()
        self.v2: dict[str, Client] = {name: connect(self.sandbox, name) for name in ACCOUNTS}
        for client in self.v2.values():
            client.checked = False  # so many answers; other tests hold them against the document
        self.v3: dict[str, Api] = {name: registry.connect(self.sandbox, name) for name in ACCOUNTS}
        for api in self.v3.values():
            api.transport = InProcess(self.sandbox.app)
        self.flags: dict[tuple[str, str], set[str]] = {}
        self.seen: object = None

    def _pending(self) -> list[str]:
        pending = {one.domain for one in self.sandbox.transfers.list(status="pending").transfers}
        return [name for name in NAMES if name in pending]

    def _acting(self, side: str, name: str) -> str:
        try:
            holder = self.sandbox.names[name].account
        except MissingRecord:
            holder = "main"
        return holder if side == "holder" else next(other for other in ACCOUNTS if other != holder)

    def _done(self, answer: Answer) -> bool:
        assert answer.status < 500, answer.raw
        return answer.status == 200

    # What is asked for, each through one generation or the other.

    @rule(side=sides, name=names, by_v3=st.booleans(), years=st.integers(1, 3))
    def register(self, side: str, name: str, by_v3: bool, years: int) -> None:
        """Register a name."""
        account = self._acting(side, name)
        handle = HANDLES[account][0]
        if by_v3:
            answer = self.v3[account].post(
                "/v3/domains/createDomain", {"domain": {"domainName": name}, "years": years}
            )
        else:
            roles = {f"contact_{role}": handle for role in ROLES}
            body = {**roles, "ns": list(SERVERS[:2]), "period": years}
            answer = self.v2[account].post(f"/domain/{name}", body)
        if self._done(answer):
            self.flags[account, name] = set()

    @rule(side=sides, name=names, flag=st.sampled_from(sorted(LOCKS)), on=st.booleans(), by_v3=st.booleans())
    def switch(self, side: str, name: str, flag: str, on: bool, by_v3: bool) -> None:
        """Set a flag or take it off."""
        account = self._acting(side, name)
        if by_v3:
            word = LOCKS[flag][0 if on else 1]
            answer = self.v3[account].post(f"/v3/domains/{word}/{name}")
        else:
            answer = self.v2[account].put(f"/domain/{name}", {flag: int(on)})
        if self._done(answer):
            flags = self.flags.setdefault((account, name), set())
            (flags.add if on else flags.discard)(flag)

    @rule(side=sides, name=names, server=st.sampled_from(SERVERS), by_v3=st.booleans(), add=st.booleans())
    def delegate(self, side: str, name: str, server: str, by_v3: bool, add: bool) -> None:
        """Change name servers."""
        account = self._acting(side, name)
        if by_v3:
            self._done(self.v3[account].post(f"/v3/domains/setNameservers/{name}", {"nameservers": [server]}))
        else:
            changes = {"add" if add else "del": [server]}
            self._done(self.v2[account].put(f"/domain/{name}", {"ns": changes}))

    @rule(side=sides, name=names, role=st.sampled_from(ROLES), by_v3=st.booleans(), pick=st.integers(0, 2))
    def appoint(self, side: str, name: str, role: str, by_v3: bool, pick: int) -> None:
        """Change a contact."""
        account = self._acting(side, name)
        if by_v3:
            word = f"{'reg' if role == 'registrant' else role}-contact"
            body = {"contacts": {word: person(f"Person {pick}")}}
            self._done(self.v3[account].post(f"/v3/domains/setContacts/{name}", body))
        else:
            handle = HANDLES[account][pick % len(HANDLES[account])]
            self._done(self.v2[account].put(f"/domain/{name}", {f"contact_{role}": handle}))

    @rule(account=st.sampled_from(ACCOUNTS), pick=st.integers(0, 2), city=st.sampled_from(["Kyiv", "Lviv"]))
    def edit_contact(self, account: str, pick: int, city: str) -> None:
        """Change a contact's own card, which all its names then show."""
        handle = HANDLES[account][pick % len(HANDLES[account])]
        assert self._done(self.v2[account].put(f"/contact/{handle}", {**CARD, "city": city}))

    @rule(side=sides, name=names, host=hosts, ip=addresses, by_v3=st.booleans())
    def add_host(self, side: str, name: str, host: str, ip: str, by_v3: bool) -> None:
        """Create a host."""
        account = self._acting(side, name)
        if by_v3:
            body: dict[str, Any] = {"hostname": host, "ips": [ip]}
            self._done(self.v3[account].post(f"/v3/domains/glueRecords/{name}", body))
        else:
            body = {"ip": [{"ip": ip, "type": ADDRESSES[ip]}]}
            self._done(self.v2[account].post(f"/domain/{name}/host/{host}", body))

    @rule(side=sides, name=names, host=hosts, ip=addresses, by_v3=st.booleans(), add=st.booleans())
    def change_host(self, side: str, name: str, host: str, ip: str, by_v3: bool, add: bool) -> None:
        """Change a host's addresses."""
        account = self._acting(side, name)
        if by_v3:
            self._done(self.v3[account].put(f"/v3/domains/glueRecords/{name}/{host}", {"ips": [ip]}))
        else:
            changes = {"add" if add else "del": [f"type=>{ADDRESSES[ip]},ip=>{ip}"]}
            self._done(self.v2[account].put(f"/domain/{name}/host/{host}", {"ip": changes}))

    @rule(side=sides, name=names, host=hosts, by_v3=st.booleans())
    def remove_host(self, side: str, name: str, host: str, by_v3: bool) -> None:
        """Delete a host."""
        account = self._acting(side, name)
        if by_v3:
            self._done(self.v3[account].delete(f"/v3/domains/glueRecords/{name}/{host}"))
        else:
            self._done(self.v2[account].delete(f"/domain/{name}/host/{host}"))

    @rule(side=sides, name=names, by_v3=st.booleans())
    def renew(self, side: str, name: str, by_v3: bool) -> None:
        """Add a year."""
        account = self._acting(side, name)
        if by_v3:
            body: dict[str, Any] = {"domain": {"domainName": name}}
            self._done(self.v3[account].post("/v3/domains/renewDomain", body))
        else:
            shown = self.v2[account].get(f"/domain/{name}").json.get("date_end", "2026-01-01")
            body = {"current_expiry_date": shown, "period": 1}
            self._done(self.v2[account].put(f"/domain/{name}/renew", body))

    @rule(side=sides, name=names, word=st.sampled_from(["delete", "restore"]))
    def remove(self, side: str, name: str, word: str) -> None:
        """Delete or restore a name; v3 has neither."""
        account = self._acting(side, name)
        path = f"/domain/{name}"
        client = self.v2[account]
        self._done(client.delete(path) if word == "delete" else client.put(f"{path}/restore"))

    @rule(side=sides, name=names, by_v3=st.booleans())
    def ask_for(self, side: str, name: str, by_v3: bool) -> None:
        """Ask for the other account's name, with the code that v3 shows its holder."""
        holder = self._acting(side, name)
        account = next(other for other in ACCOUNTS if other != holder)
        code = self.v3[holder].get(f"/v3/domains/getAuthcode/{name}").json.get("authCode", "none")
        if by_v3:
            body = {"domain": {"domainName": name}, "authCode": code}
            answer = self.v3[account].post("/v3/domains/requestTransfer", body)
        else:
            answer = self.v2[account].post(f"/domain/{name}/transfer", {"transfer_code": code})
        self._done(answer)

    @precondition(lambda self: self._pending())
    @rule(side=sides, word=st.sampled_from(["approve", "reject", "cancel"]), by_v3=st.booleans())
    def decide(self, side: str, word: str, by_v3: bool) -> None:
        """End a transfer."""
        name = self._pending()[0]
        account = self._acting(side, name)
        if word == "cancel":
            account = next(other for other in ACCOUNTS if other != account)
        if by_v3:
            self._done(self.v3[account].post(f"/v3/domains/{word}Transfer/{name}"))
        elif word == "cancel":
            self._done(self.v2[account].delete(f"/domain/{name}/transfer"))
        else:
            self._done(self.v2[account].put(f"/domain/{name}/transfer/{word}"))

    @rule(days=st.sampled_from([1, 6, 70, 250]))
    def wait(self, days: int) -> None:
        """Let time go by."""
        self.sandbox.clock.advance(f"P{days}D")

    # What must hold after each.

    @invariant()
    def both_show_the_same(self) -> None:
        """Every name, to both accounts, through both generations; once, where nothing has changed since."""
        flags = {held: set(on) for held, on in self.flags.items()}
        now = registry.contents(self.sandbox), flags
        if now == self.seen:
            return
        assert_books_balance(self.sandbox)
        for account in ACCOUNTS:
            balance = self.v3[account].get("/v3/balance").json[0]["balance"]
            assert balance == f"{self.sandbox.account(account).balance:.2f}"
            for name in NAMES:
                self._compare(account, name)
        self.seen = now

    def _compare(self, account: str, name: str) -> None:
        v2, v3 = (
            self.v2[account].get(f"/domain/{name}"),
            self.v3[account].get(f"/v3/domains/getDomain/{name}"),
        )
        assert (v2.status, v3.status) in ((200, 200), (404, 404))
        free = self.v2[account].get(f"/domain/{name}/check").json["avail"]
        body = {"domainNames": [name]}
        status = self.v3[account].post("/v3/domains/checkAvailability", body).json["results"][0]["status"]
        assert (free, status) in (("true", "available"), ("false", "registered"))
        if v2.status == 404:
            self.flags.pop((account, name), None)
            return
        assert not (free == "true" and v2.json["status"] != "1")
        shown, domain = v2.json, v3.json["domain"]
        assert shown["ns"] == domain["nameservers"]
        assert (shown["date_created"], shown["date_end"]) == (domain["createDate"], domain["expireDate"])
        self._compare_status(account, name, shown["status"], v3.json["status"], domain)
        self._compare_contacts(account, shown, domain["contacts"])
        self._compare_hosts(account, name)
        self._compare_transfer(account, name, shown["status"])

    def _compare_status(self, account: str, name: str, v2: str, v3: str, domain: dict[str, Any]) -> None:
        flags = self.flags.setdefault((account, name), set())
        if v2 == "1":
            assert v3 == "pending"
        elif v2 in SUSPENDED or "client_hold" in flags:
            assert v3 == "suspended"
        else:
            assert v3 == "active"
        assert domain["lockedEnabled"] is ("client_transfer_prohibited" in flags)

    def _compare_contacts(self, account: str, shown: dict[str, Any], cards: dict[str, Any]) -> None:
        for role in ROLES:
            card = self.v2[account].get(f"/contact/{shown[f'contact_{role}']}").json["data"]
            word = f"{'reg' if role == 'registrant' else role}-contact"
            assert {FIELDS[key]: value for key, value in card.items()} == cards[word]

    def _compare_hosts(self, account: str, name: str) -> None:
        listed = self.v3[account].get(f"/v3/domains/glueRecords/{name}")
        assert listed.status == 200, "whatever the stage"
        present = {one["hostname"] for one in listed.json["glueRecords"]}
        for host in HOSTS:
            mine = self.v2[account].get(f"/domain/{name}/host/{host}")
            assert (mine.status == 200) is (f"{host}.{name}" in present)
            if mine.status == 200:
                ips = self.v3[account].get(f"/v3/domains/glueRecords/{name}/{host}").json["ips"]
                assert mine.json["data"] == {"ip": ips, "name": f"{host}.{name}"}

    def _compare_transfer(self, account: str, name: str, status: str) -> None:
        answer = self.v2[account].get(f"/domain/{name}/transfer")
        if answer.status == 200:
            transfer = self.sandbox.transfers[name]
            assert answer.json["transfer_status"] == transfer.status
            assert transfer.status == "pending" or status != "1"
        else:
            assert answer.json["msg"].startswith("The status of the order")


class TestBothGenerations(BothGenerations.TestCase):  # type: ignore[misc,valid-type]
    """Runs it."""

    settings = settings(max_examples=tries(4), stateful_step_count=20, deadline=None)
