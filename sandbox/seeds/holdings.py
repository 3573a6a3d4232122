"""The names of a fixture: orders at every stage, those of other registrars, and their hosts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sandbox.core import hosts, names, orders
from sandbox.core.assumptions import Assumptions
from sandbox.core.clock import EARLIEST, days, years_later
from sandbox.core.lifecycle import due
from sandbox.core.model import ROLES, Account, Contacts, Flag, Host, Order, Policy, Stage
from sandbox.core.refusals import Refused
from sandbox.core.state import Draft, State
from sandbox.core.zones import zone_of
from sandbox.seeds.people import OUTSIDE_ACCOUNT, own_contact, own_customer
from sandbox.seeds.problems import shown
from sandbox.seeds.site import Path, Site

#: Where the order ids begin that a fixture leaves open.
FIRST_ORDER = 100_001

#: How long ago an active order was created that does not say.
USUAL_AGE = days(100)

_ORDER_SECTIONS = ("domains", "taken")


@dataclass
class Numbers:
    """Order ids: those in use, and the next free ones."""

    used: set[int]
    free: Iterator[int]

    def take(self, entry: Mapping[str, Any]) -> int:
        """The id of ``entry``, or the next free one."""
        number: int = entry["id"] if "id" in entry else next(self.free)
        self.used.add(number)
        return number


def numbers(site: Site) -> Numbers:
    """The ids given to orders anywhere in the file; two of the same are a mistake."""
    given: set[int] = set()
    for path, entry in _entries(site):
        if "id" in entry:
            if entry["id"] in given:
                site.report((*path, "id"), f"the order id {entry['id']} is there already")
            given.add(entry["id"])
    used = set(given)
    return Numbers(used, (number for number in range(FIRST_ORDER, 10**15) if number not in used))


def _entries(site: Site) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for section in _ORDER_SECTIONS:
        for text, entry in site.section(section).items():
            yield (section, text), entry
    for text, entry in site.section("transfers").items():
        yield ("transfers", text, "order"), entry.get("order", {})


def build(site: Site, ids: Numbers) -> None:
    """Put the orders that hold a name, and their hosts, into the state."""
    for section in _ORDER_SECTIONS:
        given = site.section(section)
        for text in site.written(section):
            path = (section, text)
            name = site.name(path, text) if text in given else _spelled(text)
            if name is not None and name in site.orders:
                site.report(path, f"{shown(text)} is held already", key=True)
            elif name is not None:
                site.orders[name] = None
                if text in given:
                    _hold(site, path, name, given[text], ids)


def _spelled(text: str) -> str | None:
    """The name of an entry that has mistakes enough already."""
    try:
        return names.normalise(text)
    except names.BadName:
        return None


def _hold(site: Site, path: Path, name: str, entry: Mapping[str, Any], ids: Numbers) -> None:
    if path[0] == "taken":
        account: Account | None = OUTSIDE_ACCOUNT
        entry = {"autorenew": True, **entry, "flags": _flags(entry)}
    else:
        account = site.account((*path, "account"), entry.get("account"))
    number = ids.take(entry)
    if account is not None:
        site.orders[name] = order(site, path, name, account, number, entry)
        site.records.append(site.orders[name])  # type: ignore[arg-type]
        site.records += _hosts(site, path, name, entry.get("hosts", {}))


def _flags(entry: Mapping[str, Any]) -> list[Flag]:
    locked = [Flag.TRANSFER_PROHIBITED] if entry.get("locked") else []
    return [*entry.get("flags", ()), *locked]


def order(
    site: Site, path: Path, name: str, account: Account, number: int, entry: Mapping[str, Any]
) -> Order:
    """The order that ``entry``, at ``path`` in the file, describes."""
    zone = zone_of(site.state, name)
    stage = entry.get("stage", Stage.ACTIVE)
    created, expires, since = _dates(site, path, entry, stage, zone.policy)
    servers = account.nameservers
    if "nameservers" in entry:
        servers = site.nameservers((*path, "nameservers"), entry["nameservers"])
    made = Order(
        id=number,
        account=account.client_id,
        name=name,
        zone=zone.name,
        stage=stage,
        created=created,
        expires=expires,
        since=since,
        contacts=_contacts(site, (*path, "contacts"), account, entry.get("contacts", {})),
        nameservers=servers,
        customer_id=own_customer(site, (*path, "customer"), account, entry.get("customer")),
        privacy=entry.get("privacy", False),
        autorenew=entry.get("autorenew", False),
        flags=frozenset(entry.get("flags", ())),
        auth_code=entry["auth_code"] if "auth_code" in entry else code_in(site.state.seed, name),
        license=entry.get("license", ""),
        years=entry.get("years", 1),
        registration=site.entries((*path, "registration"), entry.get("registration", ())),
    )
    moment = due(made, zone.policy, site.processing)
    if "due" in entry:
        moment = site.date(entry["due"], site.now)
    return replace(made, due=moment)


def code_in(seed: str, name: str) -> str:
    """The authorization code of a name that a fixture gives none: it follows from the seed and the name."""
    return orders.new_code(Draft(State(seed=f"{seed}/{name}"), EARLIEST, Assumptions(), ""))


def _dates(
    site: Site, path: Path, entry: Mapping[str, Any], stage: Stage, policy: Policy
) -> tuple[datetime, datetime, datetime]:
    """When an order was created, when it expires and since when it is in its stage."""
    created, expires = _term(site, entry, stage, policy)
    since = site.date(entry.get("since"), _entered(site.now, created, expires, stage, policy))
    if created > expires:
        site.report(
            (*path, "expires" if "expires" in entry else "created"), "it expires before it is created"
        )
    elif created > site.now:
        site.report((*path, "created"), "it is created after now")
    elif since > site.now:
        site.report((*path, "since"), "it enters its stage after now")
    elif stage is Stage.OVERDUE and expires > site.now:
        site.report((*path, "expires"), "an overdue order has expired, and this date is after now")
    return created, expires, since


def _term(site: Site, entry: Mapping[str, Any], stage: Stage, policy: Policy) -> tuple[datetime, datetime]:
    lapsed = {
        Stage.OVERDUE: days(0),
        Stage.REDEMPTION: days(policy.overdue),
        Stage.PENDING_DELETE: days(policy.overdue + policy.redemption),
    }
    if stage in lapsed:
        expires = site.date(entry.get("expires"), site.now - lapsed[stage])
        return site.date(entry.get("created"), _anniversary(expires, site.now, -1)), expires
    new = stage in (Stage.REQUESTED, Stage.PROCESSING)
    usual = site.now if new else site.now - USUAL_AGE
    if "expires" in entry and "created" not in entry and not new:
        expires = site.date(entry["expires"], site.now)
        return _anniversary(expires, site.now, -1), expires
    created = site.date(entry.get("created"), usual)
    return created, site.date(entry.get("expires"), _anniversary(created, site.now, 1))


def _anniversary(start: datetime, now: datetime, direction: int) -> datetime:
    """The first anniversary of ``start`` after ``now``, or the last one before it, a year away at least."""
    years = direction
    while years_later(start, years) <= now if direction > 0 else years_later(start, years) > now:
        years += direction
    return years_later(start, years)


def _entered(now: datetime, created: datetime, expires: datetime, stage: Stage, policy: Policy) -> datetime:
    """When an order entered its stage if nobody touched it; now, for one that was deleted early."""
    passed = {
        Stage.OVERDUE: expires,
        Stage.REDEMPTION: expires + days(policy.overdue),
        Stage.PENDING_DELETE: expires + days(policy.overdue + policy.redemption),
    }
    return min(passed.get(stage, created), now)


def _contacts(site: Site, path: Path, account: Account, given: Mapping[str, str]) -> Contacts:
    roles = dict.fromkeys(ROLES, account.contact)
    for role, handle in given.items():
        roles[role] = own_contact(site, (*path, role), account, handle)
    return Contacts(**roles)


def _hosts(site: Site, path: Path, name: str, given: Mapping[str, list[str]]) -> Iterator[Host]:
    zone = zone_of(site.state, name)
    if given and not zone.hosts:
        site.report((*path, "hosts"), f"the zone {zone.name} keeps no hosts", key=True)
    found: set[str] = set()
    for text, addresses in given.items():
        at = (*path, "hosts", text)
        try:
            host = hosts.parse_host(name, text)
        except Refused as refused:
            site.report(at, f"{shown(text)} {refused.facts['problem']}", key=True)
            continue
        if host in found:
            site.report(at, f"the host {shown(text)} is there twice", key=True)
        found.add(host)
        yield Host(name=host, domain=name, ips=site.addresses(at, addresses))
