"""A reference model of the registry: plain dicts, written from the contract and the manual.

It shares no code with the sandbox. Amounts are ``Decimal``, instants are aware ``datetime``. Each operation
returns a dict of facts, or raises ``Refusal`` and changes nothing.
"""

from __future__ import annotations

from calendar import isleap
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

import yaml

FIXTURE = Path(__file__).parent / "registry.yaml"
DAYS = {"add_grace": 5, "overdue": 30, "redemption": 30, "pending_delete": 5}
DAYS |= {"transfer": 5, "transfer_lock": 60}
DAYS |= dict.fromkeys(("renew_grace", "autorenew_grace", "autorenew_before"), 0)
DAYS |= dict.fromkeys(("registrant_change_lock", "auth_code_days"), 0)
DAY = timedelta(days=1)
#: The rules of a zone that its fixture does not set.
RULES = {"min_years": 1, "max_years": 10, "min_renewal_years": 1, "min_transfer_years": 1}
RULES |= {"min_nameservers": 0, "max_nameservers": 13}
LONGEST_TERM = 10
#: Which stages permit an action; only active names permit the others.
KEPT = ("active", "overdue")
STAGES = {"renew": KEPT, "delete": KEPT, "read_code": KEPT, "transfer_out": KEPT, "restore": ("redemption",)}
#: The flag that forbids an action.
FORBIDDEN_BY = {
    **{"renew": "renew", "delete": "delete", "transfer_out": "transfer"},
    **dict.fromkeys(("set_servers", "set_holder", "set_code", "change_hosts"), "update"),
}
#: Actions that have to wait until a transfer to another registrar is over.
WAITING = ("renew", "delete", "transfer_out", "lock_transfer")
STATUS_V2 = {"arriving": "1", "active": "2", "overdue": "3", "redemption": "6", "pending_delete": "6"}
#: A value that the sandbox draws, until an answer shows it.
UNKNOWN = "?"


class Refusal(Exception):
    """An operation that is not carried out, with the code of the reason and its facts."""

    def __init__(self, code: str, **facts: Any) -> None:
        super().__init__(code, facts)
        self.code = code
        self.facts = facts


class Person(NamedTuple):
    """Contact details: a telephone number without ``+``. ``place`` stands for the fields that are left."""

    name: str
    company: str = ""
    mail: str = ""
    phone: str = ""
    place: str = ""

    @classmethod
    def of(cls, source: Mapping[str, str], place: str) -> Person:
        """Return the person in a fixture's contact."""
        name, company, mail, phone = (source.get(key, "") for key in cls._fields[:-1])
        return cls(name, company, mail, phone.lstrip("+"), place)


ANN = Person("Anné Example", "", "ann@example.com", "380.441234567", "1 Main Street")

#: How many fields of a person make a new registrant, by ``lifecycle.new_registrant``.
IDENTITY = {"name_or_company": 2, "email_too": 3, "any_field": 5}


def years_later(instant: datetime, years: int) -> datetime:
    """Return the same day in another year; the 28th of February stands for a 29th that does not exist."""
    year = instant.year + years
    is_lost = (instant.month, instant.day) == (2, 29) and not isleap(year)
    return instant.replace(year=year, day=28 if is_lost else instant.day)


def _repeated(servers: Sequence[str]) -> str:
    return next(server for index, server in enumerate(servers) if server in servers[:index])


class Model:
    """The registry: accounts, orders by number, transfers by name, and hosts by name.

    ``tries``, ``shared`` and ``new`` are the values of the assumptions ``lifecycle.autorenew.tries``,
    ``locks.cover_shared_contacts`` and ``lifecycle.new_registrant``.
    """

    def __init__(self, tries: str = "once", shared: str = "on", new: str = "name_or_company") -> None:
        self.tries, self.shared, self.identity = tries, shared, IDENTITY[new]
        source = yaml.load(FIXTURE.read_text("utf-8"), yaml.CSafeLoader)
        self.now: datetime = source["now"].astimezone(UTC)
        self.zones = {name: self._zone(zone) for name, zone in source["zones"].items()}
        self.defaults = source["accounts"]
        self.accounts = {name: Decimal(str(row["balance"])) for name, row in self.defaults.items()}
        self.persons = {handle: Person.of(row, handle) for handle, row in source["contacts"].items()}
        self.orders: dict[int, dict[str, Any]] = {}
        self.transfers: dict[str, dict[str, Any]] = {}
        self.hosts: dict[str, tuple[str, ...]] = {}
        self.next_order = 100_001
        for name, domain in source["domains"].items():
            created = self._relative(domain["created"])
            expires = self._relative(domain["expires"]) if "expires" in domain else years_later(created, 1)
            wanted = {key: domain.get(key, False) for key in ("autorenew", "privacy")}
            order = self._new(domain["account"], name, created=created, expires=expires, **wanted)
            self._set_code(order, domain["auth_code"])

    def _zone(self, source: Mapping[str, Any]) -> dict[str, Any]:
        zone = {**RULES, "hosts": True, "transfers": True, "transfer_term": "extends", **source}
        prices, policy = dict(source["prices"]), DAYS | source.get("policy", {})
        zone["later_years"] = prices.pop("later_years", "registration")
        zone["restore_years"] = policy.pop("restore_years", "when_due")
        zone["prices"] = {key: Decimal(str(price)) for key, price in prices.items()}
        zone["policy"] = {key: timedelta(days=count) for key, count in policy.items()}
        zone["promotions"] = {
            term: (Decimal(str(source[key]["price"])), self._relative(source[key]["until"]))
            for term in ("registration", "renewal")
            if (key := f"{term}_promotion") in source
        }
        return zone

    def _relative(self, text: str) -> datetime:
        count = int(text[:-1])
        return years_later(self.now, count) if text.endswith("y") else self.now + timedelta(days=count)

    # Names

    def zone_of(self, name: str) -> tuple[str, dict[str, Any]]:
        labels = name.split(".")
        for cut in range(1, len(labels)):
            zone = self.zones.get(".".join(labels[cut:]))
            if zone is not None:
                if cut > 1:
                    raise Refusal("invalid_name", name=name)
                return labels[0], zone
        raise Refusal("zone_not_supported", name=name)

    def held(self, name: str) -> dict[str, Any] | None:
        """Return the order of the account that holds ``name``."""
        orders = [order for order in self.orders.values() if order["name"] == name]
        return next((order for order in orders if order["stage"] != "arriving"), None)

    def own(self, account: str, name: str) -> dict[str, Any]:
        """Return the account's order for ``name``, which may wait for a transfer."""
        for order in self.orders.values():
            if (order["account"], order["name"]) == (account, name):
                return order
        raise Refusal("domain_not_found", name=name, elsewhere=self.held(name) is not None)

    def pending(self, name: str) -> dict[str, Any] | None:
        transfer = self.transfers.get(name)
        return transfer if transfer is not None and transfer["status"] == "pending" else None

    def _require(self, order: Mapping[str, Any], action: str) -> None:
        if order["stage"] not in STAGES.get(action, ("active",)):
            raise Refusal("wrong_state")
        transfer = self.pending(order["name"])
        if action in WAITING and transfer and transfer["losing"] == order["number"]:
            raise Refusal("transfer_pending")
        flag = FORBIDDEN_BY.get(action)
        if flag in order["flags"]:
            raise Refusal("locked", flag=flag)

    def _new(self, account: str, name: str, **values: Any) -> dict[str, Any]:
        order = {
            **{"number": self.next_order, "account": account, "name": name},
            **{"stage": "active", "since": self.now, "arrived": None},
            **{"code": UNKNOWN, "code_ends": None, "contact": "", "holder_since": None},
            **{"last": None, "retry": None},
            **{"autorenew": False, "privacy": False, "flags": set()},
            "holder": Person.of(self.defaults[account]["contact"], account),
            "servers": tuple(self.defaults[account]["nameservers"]),
            "paid": Decimal(0),  # the refund of a delete in the add grace period
            **values,
        }
        self.orders[self.next_order] = order
        self.next_order += 1
        self._plan(order)
        return order

    def _enter(self, order: dict[str, Any], stage: str) -> None:
        if stage == "active" and order["expires"] <= self.now:
            stage = "overdue"
        if order["stage"] != stage:
            order.update(stage=stage, since=self.now)
        self._plan(order)

    def _plan(self, order: dict[str, Any], *, failed: bool = False) -> None:
        """Set the next attempt to renew a name by itself, apart from the one at its expiry."""
        policy, order["retry"] = self._policy(order), None
        early, overdue = policy["autorenew_before"], order["stage"] == "overdue"
        if not order["autorenew"] or not (overdue or (order["stage"] == "active" and early)):
            return
        attempt = order["since"] + DAY if overdue else order["expires"] - early
        is_first = attempt > self.now and not overdue
        while attempt <= self.now:
            attempt += DAY
        if overdue and (self.tries == "once" or attempt >= order["since"] + policy["overdue"]):
            return
        if overdue or is_first or not failed or self.tries == "daily":
            order["retry"] = attempt if overdue else min(attempt, order["expires"])

    def _policy(self, order: Mapping[str, Any]) -> Any:
        return self.zone_of(order["name"])[1]["policy"]

    def _set_code(self, order: dict[str, Any], code: str = UNKNOWN) -> None:
        period = self._policy(order)["auth_code_days"]
        order.update(code=code, code_ends=self.now + period if period else None)

    # Money

    def price(self, name: str, term: str, years: int = 1) -> Decimal:
        """Return the price of ``years`` of ``name``; ``term`` is registration, renewal or transfer."""
        label, zone = self.zone_of(name)
        special = zone.get("premium", {}).get(label)
        if term == "registration" and years > 1 and zone["later_years"] == "renewal":
            return self.price(name, term) + self.price(name, "renewal", years - 1)
        if special:
            return years * Decimal(str(special[term]))
        promoted, until = zone["promotions"].get(term, (None, self.now))
        yearly: Decimal = promoted if self.now < until else zone["prices"][term]
        return yearly * years

    def is_premium(self, name: str) -> bool:
        label, zone = self.zone_of(name)
        return label in zone.get("premium", {})

    def _privacy(self, name: str, years: int, wanted: bool) -> Decimal:
        yearly: Decimal = self.zone_of(name)[1]["prices"].get("privacy", Decimal(0))
        return yearly * years * wanted

    def _agreed(self, name: str, cost: Decimal | None, price: Decimal, *, required: bool) -> None:
        """Refuse a price that the caller expects and that is wrong; prices of ordinary names are ignored."""
        if self.is_premium(name):
            if cost is None and required:
                raise Refusal("premium_cost_required")
            if cost not in (None, price):
                raise Refusal("price_mismatch")

    def _pay(self, account: str, amount: Decimal) -> None:
        if self.accounts[account] < amount:
            raise Refusal("insufficient_funds")
        self.accounts[account] -= amount

    def _period(self, years: int, least: int, most: int) -> None:
        if years < least:
            raise Refusal("period_too_short", limit=least)
        if years > most:
            raise Refusal("period_too_long", limit=most)

    def _years_left(self, order: Mapping[str, Any]) -> int:
        furthest = years_later(self.now, LONGEST_TERM)
        left = sum(years_later(order["expires"], count) <= furthest for count in range(1, LONGEST_TERM + 1))
        return int(min(left, self.zone_of(order["name"])[1]["max_years"]))

    # Reading

    def shown(self, order: Mapping[str, Any]) -> dict[str, Any]:
        """Return everything that an answer may show of an order."""
        waiting = order["stage"] == "arriving"
        live = order["stage"] == "active" and "hold" not in order["flags"]
        plain = ("number", "name", "privacy", "autorenew", "servers", "created", "expires")
        return {
            **{key: order[key] for key in plain},
            "holder": order["holder"]._replace(place=""),
            "locked": "transfer" in order["flags"],
            "update_locked": "update" in order["flags"],
            "renewal": self.price(order["name"], "renewal"),
            "premium": self.is_premium(order["name"]),
            "status": "pending" if waiting else "active" if live else "suspended",
            "status_v2": STATUS_V2[order["stage"]],
        }

    def info(self, account: str, name: str) -> dict[str, Any]:
        return self.shown(self.own(account, name))

    def names(self, account: str) -> dict[str, Any]:
        numbers = sorted(number for number, order in self.orders.items() if order["account"] == account)
        return {"domains": [self.shown(self.orders[number]) for number in numbers]}

    def balance(self, account: str) -> dict[str, Any]:
        return {"balance": self.accounts[account], "server_time": self.now}

    def check(self, account: str, name: str) -> dict[str, Any]:
        """Return whether ``name`` can be registered, and its prices."""
        label, zone = self.zone_of(name)
        reserved = label in zone.get("reserved", ())
        return {
            "availability": "registered" if self.held(name) else "reserved" if reserved else "available",
            "purchase": self.price(name, "registration"),
            "renewal": self.price(name, "renewal"),
            "premium": self.is_premium(name),
            "years": (zone["min_years"], zone["max_years"]),
        }

    def get_code(self, account: str, name: str) -> dict[str, Any]:
        order = self.own(account, name)
        self._require(order, "read_code")
        return {"code": order["code"]}

    # Registration, renewal, deletion

    def create(
        self,
        account: str,
        name: str,
        years: int = 1,
        cost: Decimal | None = None,
        *,
        servers: Sequence[str] | None = None,
        holder: str = "",
        whatever: bool = False,
        **wishes: bool,
    ) -> dict[str, Any]:
        """Register a name; ``whatever`` pays any price, and ``holder`` is the handle of a contact."""
        label, zone = self.zone_of(name)
        self._period(years, zone["min_years"], zone["max_years"])
        wanted = self._wanted(zone, wishes)
        self._servers(zone, servers or self.defaults[account]["nameservers"])
        if any(order["name"] == name for order in self.orders.values()):
            raise Refusal("name_taken")
        if label in zone.get("reserved", ()):
            raise Refusal("name_reserved")
        price = self.price(name, "registration", years)
        if not whatever:
            self._agreed(name, cost, price, required=True)
        total = price + self._privacy(name, years, wanted["privacy"])
        self._pay(account, total)
        more: dict[str, Any] = {"servers": tuple(servers)} if servers else {}
        if holder:
            more |= {"holder": self.persons[holder], "contact": holder}
        dates = {"created": self.now, "expires": years_later(self.now, years)}
        order = self._new(account, name, paid=total, **wanted, **dates, **more)
        self._set_code(order)
        return self.shown(order) | {"paid": total}

    def _servers(self, zone: Mapping[str, Any], servers: Sequence[str]) -> None:
        if len(servers) > zone["max_nameservers"]:
            raise Refusal("invalid_nameserver", server=servers[zone["max_nameservers"]])
        if len(servers) < zone["min_nameservers"]:
            raise Refusal("invalid_nameserver", server=servers[-1])
        if len(set(servers)) < len(servers):
            raise Refusal("invalid_nameserver", server=_repeated(servers))

    def _wanted(self, zone: Mapping[str, Any], wishes: Mapping[str, bool]) -> dict[str, Any]:
        """Return the fields of a new order. Privacy is ignored in a zone that does not sell it."""
        return {
            "privacy": wishes.get("privacy", False) and "privacy" in zone["prices"],
            "autorenew": wishes.get("autorenew", False),
            "flags": {"transfer"} if wishes.get("locked") else set(),
        }

    def renew(
        self,
        account: str,
        name: str,
        years: int = 1,
        cost: Decimal | None = None,
        expected: datetime | None = None,
    ) -> dict[str, Any]:
        """Add years; ``expected`` is the day on which the caller believes the name to expire."""
        order = self.own(account, name)
        self._require(order, "renew")
        if expected is not None and expected.date() != order["expires"].date():
            raise Refusal("expiry_mismatch")
        self._period(years, self.zone_of(name)[1]["min_renewal_years"], self._years_left(order))
        price = self.price(name, "renewal", years)
        self._agreed(name, cost, price, required=False)
        total = price + self._privacy(name, years, order["privacy"])
        self._pay(account, total)
        self._renewed(order, years, total, "renew_grace")
        return self.shown(order) | {"paid": total}

    def _renewed(self, order: dict[str, Any], years: int, total: Decimal, grace: str) -> None:
        if self._in_grace(order):
            order["paid"] += total
        until = self.now + self._policy(order)[grace]
        order["last"] = {"until": until, "before": order["expires"], "paid": total}
        order["last"]["automatic"] = grace == "autorenew_grace"
        order["expires"] = years_later(order["expires"], years)
        self._enter(order, "active")

    def _in_grace(self, order: Mapping[str, Any]) -> bool:
        return bool(self.now < order["created"] + self.zone_of(order["name"])[1]["policy"]["add_grace"])

    def delete(self, account: str, name: str) -> dict[str, Any]:
        """Move a name to redemption; refund and release it within the add grace period."""
        order = self.own(account, name)
        self._require(order, "delete")
        for host in self._hosts(name):
            self._unused(host, besides=order["number"])
        if self._in_grace(order):
            self.accounts[account] += order["paid"]
            self._release(order)
        else:
            self._take_back(order)
            self._enter(order, "redemption")
        return {}

    def _take_back(self, order: dict[str, Any]) -> None:
        last, order["last"] = order["last"], None
        if last and self.now < last["until"]:
            self.accounts[order["account"]] += last["paid"]
            order["expires"] = last["before"]

    def _release(self, order: Mapping[str, Any]) -> None:
        for host in self._hosts(order["name"]):
            del self.hosts[host]
        self.transfers.pop(order["name"], None)
        del self.orders[order["number"]]

    def restore(self, account: str, name: str) -> dict[str, Any]:
        """Return a deleted name to its holder, with the shortest renewal if its zone says so."""
        order = self.own(account, name)
        self._require(order, "restore")
        zone = self.zone_of(name)[1]
        due = {"always": True, "never": False}.get(zone["restore_years"], order["expires"] <= self.now)
        years = min(zone["min_renewal_years"], self._years_left(order)) if due else 0
        extra = self.price(name, "renewal", years) if self.is_premium(name) else Decimal(0)
        self._pay(account, self.zone_of(name)[1]["prices"]["restore"] + extra)
        order["expires"] = years_later(order["expires"], years)
        self._enter(order, "active")
        return {}

    # Changes

    def switch(self, account: str, name: str, flag: str, on: bool) -> dict[str, Any]:
        order = self.own(account, name)
        self._require(order, f"lock_{flag}" if on else f"unlock_{flag}")
        if flag == "autorenew":
            if order["autorenew"] is not on:
                order["autorenew"] = on
                self._plan(order)
        else:
            order["flags"] = order["flags"] | {flag} if on else order["flags"] - {flag}
        return self.shown(order)

    def edit(
        self,
        account: str,
        name: str,
        flags: Mapping[str, bool],
        add: Sequence[str] = (),
        remove: Sequence[str] = (),
        holder: str = "",
    ) -> dict[str, Any]:
        """Change flags, servers and the registrant together, or nothing."""
        order = self.own(account, name)
        self._require(order, "set_flags")
        if add or remove:
            self._require(order, "set_servers")
        if holder:
            self._require(order, "set_holder")
        for flag, on in flags.items():
            if (flag in order["flags"]) is not on:
                self._require(order, f"lock_{flag}" if on else f"unlock_{flag}")
        servers = list(order["servers"])
        for server in remove:
            if server not in servers:
                raise Refusal("invalid_nameserver", server=server)
            servers.remove(server)
        for server in add:
            if server in servers:
                raise Refusal("invalid_nameserver", server=server)
            servers.append(server)
        if not servers:
            raise Refusal("invalid_nameserver", server=remove[-1])
        if add or remove:
            self._servers(self.zone_of(name)[1], servers)
        if holder:
            self._owner_change([order], self.persons[holder])
            order["contact"] = holder
        order["servers"] = tuple(servers)
        order["flags"] = {flag for flag in order["flags"] | set(flags) if flags.get(flag, True)}
        return {}

    def set_servers(self, account: str, name: str, servers: Sequence[str]) -> dict[str, Any]:
        order = self.own(account, name)
        self._require(order, "set_servers")
        self._servers(self.zone_of(name)[1], servers)
        order["servers"] = tuple(servers)
        return self.shown(order)

    def set_holder(self, account: str, name: str, person: Person) -> dict[str, Any]:
        """Replace the registrant. Another person has a price in some zones."""
        order = self.own(account, name)
        self._require(order, "set_holder")
        self._owner_change([order], person)
        order["contact"] = ""
        return self.shown(order)

    def _is_other(self, one: Person, other: Person) -> bool:
        """Whether two persons differ, apart from blanks and from the Unicode form of letters."""
        plain = [[" ".join(normalize("NFC", text).split()) for text in each] for each in (one, other)]
        return plain[0][: self.identity] != plain[1][: self.identity]

    def _owner_change(self, orders: Sequence[dict[str, Any]], person: Person) -> None:
        """Give names of an account these details. For another holder, each zone has its price and rules."""
        same = [order for order in orders if not self._is_other(order["holder"], person)]
        orders = [order for order in orders if order not in same]
        zones = [self.zone_of(order["name"])[1] for order in orders]
        if orders:
            prices = [zone["prices"].get("owner_change", Decimal(0)) for zone in zones]
            self._pay(orders[0]["account"], sum(prices, Decimal(0)))
        for order, zone in zip(orders, zones, strict=True):
            order.update(holder=person, holder_since=self.now)
            if zone["policy"]["auth_code_days"]:
                self._set_code(order)
        for order in same:
            order["holder"] = person

    def edit_contact(self, account: str, handle: str, person: Person) -> dict[str, Any]:
        """Give a contact other details, and so perhaps another holder to each name whose holder it is."""
        orders = [order for order in self.orders.values() if order["contact"] == handle]
        if self.shared == "on" and self._is_other(self.persons[handle], person):
            if any("update" in order["flags"] for order in orders):
                raise Refusal("locked")
            self._owner_change(orders, person)
        self.persons[handle] = person
        for order in orders:
            order["holder"] = person
        return {}

    def set_code(self, account: str, name: str, code: str) -> dict[str, Any]:
        order = self.own(account, name)
        self._require(order, "set_code")
        if not 4 <= len(code) <= 64:
            raise Refusal("invalid_auth_code")
        self._set_code(order, code)
        return {"code": code}

    # Transfers

    def transfer(
        self,
        account: str,
        name: str,
        code: str,
        years: int | None = None,
        cost: Decimal | None = None,
        **wishes: bool,
    ) -> dict[str, Any]:
        """Ask for a name of another account; paid at once."""
        _, zone = self.zone_of(name)
        if not zone["transfers"]:
            raise Refusal("transfers_not_supported")
        wanted = self._wanted(zone, wishes)
        held = self.held(name)
        if held is None:
            raise Refusal("not_registered")
        if held["account"] == account:
            raise Refusal("already_yours")
        self._require(held, "transfer_out")
        if self.now < (held["arrived"] or held["created"]) + zone["policy"]["transfer_lock"]:
            raise Refusal("too_young")
        changed = held["holder_since"]
        if changed and self.now < changed + zone["policy"]["registrant_change_lock"]:
            raise Refusal("registrant_changed")
        if held["code"] != code or (held["code_ends"] and self.now >= held["code_ends"]):
            raise Refusal("wrong_auth_code")
        # The shortest term is added and charged, whatever is sent.
        least = zone["min_transfer_years"]
        most = self._years_left(held) if zone["transfer_term"] == "extends" else zone["max_years"]
        self._period(least if years is None else years, least, max(least, most))
        paid_years = 1 if zone["transfer_term"] == "unchanged" else least
        price = self.price(name, "transfer", paid_years)
        self._agreed(name, cost, price, required=False)
        total = price + self._privacy(name, paid_years, wanted["privacy"])
        self._pay(account, total)
        dates = {"created": held["created"], "expires": held["expires"]}
        order = self._new(account, name, stage="arriving", servers=(), **wanted, **dates)
        self.transfers[name] = {
            **{"status": "pending", "parties": (account, held["account"])},
            **{"gaining": order["number"], "losing": held["number"]},
            "completes": self.now + zone["policy"]["transfer"],
            "paid": total,
        }
        return {"name": name, "number": order["number"], "paid": total, "status": "pending"}

    def transfer_status(self, account: str, name: str) -> dict[str, Any]:
        transfer = self.transfers.get(name)
        if transfer is None or account not in transfer["parties"]:
            self.own(account, name)
            raise Refusal("no_transfer")
        return {"transfer_status": transfer["status"]}

    def decide(self, account: str, name: str, word: str) -> dict[str, Any]:
        order = self.own(account, name)
        transfer = self.pending(name)
        if transfer is None or transfer["gaining" if word == "cancel" else "losing"] != order["number"]:
            raise Refusal("no_transfer")
        if word == "approve":
            self._complete(name, "clientApproved")
        else:
            self._fail(name, {"reject": "clientRejected", "cancel": "clientCancelled"}[word])
        return {"name": name}

    def _complete(self, name: str, status: str) -> None:
        transfer = self.transfers[name]
        losing, gaining = self.orders.pop(transfer["losing"]), self.orders[transfer["gaining"]]
        zone = self.zone_of(name)[1]
        if losing["last"] and losing["last"]["automatic"] and zone["transfer_term"] != "unchanged":
            self._take_back(losing)
        years, furthest = zone["min_transfer_years"], years_later(self.now, LONGEST_TERM)
        extended = max(min(years_later(losing["expires"], years), furthest), losing["expires"])
        ends = {"unchanged": losing["expires"], "restarts": years_later(self.now, years)}
        expires = ends.get(zone["transfer_term"], extended)
        gaining.update(expires=expires, arrived=self.now, servers=losing["servers"])
        self._set_code(gaining)
        self._enter(gaining, "active")
        transfer["status"] = status

    def _fail(self, name: str, status: str) -> None:
        transfer = self.transfers[name]
        gaining = self.orders.pop(transfer["gaining"])
        self.accounts[gaining["account"]] += transfer["paid"]
        transfer["status"] = status

    # Hosts

    def _hosts(self, name: str) -> list[str]:
        return [host for host in self.hosts if host.partition(".")[2] == name]

    def _unused(self, host: str, besides: int = 0) -> None:
        if any(host in order["servers"] and number != besides for number, order in self.orders.items()):
            raise Refusal("host_in_use")

    def _host_order(self, account: str, name: str, action: str, *, zone: bool = True) -> None:
        order = self.own(account, name)
        if zone and not self.zone_of(name)[1]["hosts"]:
            raise Refusal("hosts_not_supported")
        if action:
            self._require(order, action)

    def create_host(self, account: str, name: str, label: str, ips: Sequence[str]) -> dict[str, Any]:
        self._host_order(account, name, "change_hosts")
        host = f"{label}.{name}"
        if host in self.hosts:
            raise Refusal("host_exists")
        self.hosts[host] = tuple(ips)
        return {"host": host, "ips": tuple(ips)}

    def update_host(self, account: str, name: str, label: str, ips: Sequence[str]) -> dict[str, Any]:
        self._host_order(account, name, "change_hosts")
        self.hosts[self._host(name, label)] = tuple(ips)
        return self.get_host(account, name, label)

    def delete_host(self, account: str, name: str, label: str, *, asks_zone: bool = True) -> dict[str, Any]:
        """Delete a host to which no name is delegated."""
        self._host_order(account, name, "change_hosts", zone=asks_zone)
        host = self._host(name, label)
        self._unused(host)
        del self.hosts[host]
        return {"host": host}

    def get_host(self, account: str, name: str, label: str) -> dict[str, Any]:
        self._host_order(account, name, "", zone=False)
        host = self._host(name, label)
        return {"host": host, "ips": self.hosts[host]}

    def check_host(self, account: str, name: str, label: str) -> dict[str, Any]:
        self._host_order(account, name, "check_host")
        return {"avail": f"{label}.{name}" not in self.hosts}

    def list_hosts(self, account: str, name: str) -> dict[str, Any]:
        self._host_order(account, name, "", zone=False)
        return {"hosts": sorted(self._hosts(name))}

    def _host(self, name: str, label: str) -> str:
        host = f"{label}.{name}"
        if host not in self.hosts:
            raise Refusal("host_not_found", host=host)
        return host

    # Time

    def due(self) -> list[tuple[datetime, str, Any]]:
        """Return the events to come, in order: orders before transfers at the same instant."""
        events: list[tuple[datetime, str, Any]] = []
        for number, order in self.orders.items():
            policy = self.zone_of(order["name"])[1]["policy"]
            if order["stage"] == "active":
                events.append((order["expires"], "order", number))
            elif order["stage"] != "arriving":
                events.append((order["since"] + policy[order["stage"]], "order", number))
            if order["retry"]:
                events.append((order["retry"], "retry", number))
        for name in self.transfers:
            if transfer := self.pending(name):
                events.append((transfer["completes"], "transfer", name))
        for name, zone in self.zones.items():
            ends = [(until, f"{term} promotion", name) for term, (_, until) in zone["promotions"].items()]
            events += [end for end in ends if end[0] > self.now]
        return sorted(events, key=lambda due: (due[0], due[1], str(due[2])))

    def limits(self) -> list[tuple[str, str, datetime]]:
        """Return for each held name the instants from which a delete or a transfer has another result."""
        instants: list[tuple[str, str, datetime]] = []
        for name, order in ((order["name"], order) for order in self.orders.values()):
            policy, settled = self.zone_of(name)[1]["policy"], order["arrived"] or order["created"]
            instants.append((name, "delete", order["created"] + policy["add_grace"]))
            instants.append((name, "transfer", settled + policy["transfer_lock"]))
            if order["last"]:
                instants.append((name, "delete", order["last"]["until"]))
            if order["holder_since"]:
                instants.append((name, "transfer", order["holder_since"] + policy["registrant_change_lock"]))
            if order["code_ends"]:
                instants.append((name, "transfer", order["code_ends"]))
        return instants

    def advance(self, to: datetime) -> list[tuple[datetime, str, str]]:
        """Let everything happen that is due by ``to``; return instant, event and name of each."""
        events: list[tuple[datetime, str, str]] = []
        while (coming := self.due()) and coming[0][0] <= to:
            self.now, kind, key = coming[0]
            if kind == "transfer":
                self._complete(key, "serverApproved")
                events.append((self.now, "transfer completion", key))
            elif kind.endswith("promotion"):
                events.append((self.now, f"{kind} ends", key))
            else:
                order = self.orders[key]
                happened = self._pass(order) if kind == "order" else [self._retry(order)]
                events += [(self.now, event, order["name"]) for event in happened]
        self.now = to
        return events

    def _renew_itself(self, order: dict[str, Any]) -> bool:
        name = order["name"]
        years = self.zone_of(name)[1]["min_renewal_years"]
        cost = self.price(name, "renewal", years) + self._privacy(name, years, order["privacy"])
        if "renew" in order["flags"] or self.pending(name) or self.accounts[order["account"]] < cost:
            return False
        self._pay(order["account"], cost)
        self._renewed(order, years, cost, "autorenew_grace")
        return True

    def _retry(self, order: dict[str, Any]) -> str:
        if self._renew_itself(order):
            return "automatic renewal"
        self._plan(order, failed=True)
        return "automatic renewal failed"

    def _pass(self, order: dict[str, Any]) -> list[str]:
        name = order["name"]
        if order["stage"] == "active":
            attempt = not self._policy(order)["autorenew_before"] or order["retry"] == order["expires"]
            if order["autorenew"] and attempt and self._renew_itself(order):
                return ["automatic renewal"]
            self._enter(order, "overdue")
            return ["expiry"]
        if order["stage"] == "overdue":
            ended = ["transfer cancelled"] if self.pending(name) else []
            if ended:
                self._fail(name, "serverCancelled")
            self._enter(order, "redemption")
            return [*ended, "redemption"]
        if order["stage"] == "redemption":
            self._enter(order, "pending_delete")
            return ["pending delete"]
        self._release(order)
        return ["release"]
