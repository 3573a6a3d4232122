"""Candidate states of a service at the time of an answer. The likeliest state comes first.

The state of the service is unknown. So an assumption value is ruled out only if no candidate state explains
the answer with this value. Each state is a fixture with at most one obstacle for the request, because the
first obstacle decides the refusal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import ROUND_DOWN, Decimal
from fnmatch import fnmatchcase
from typing import Any

from msgspec.structs import replace

from reseller_sandbox.registry.model import ZONE_TYPES, Flag, Purpose
from reseller_sandbox.tools.calibrate.bench import ACCOUNT, PARTS
from reseller_sandbox.tools.calibrate.hints import hints
from reseller_sandbox.tools.calibrate.subject import KEPT, Known, Subject, agrees
from reseller_sandbox.values.clock import wire

_PREMIUM = ("registration", "renewal", "transfer")
_CARD = ACCOUNT["contact"]
_OTHER = {**ACCOUNT, "client_id": 2002, "key": "other-key", "secret": "other-secret", "token": "other-token"}

#: The answer shows one page of a list. Maximum number of names on the pages before that page.
_MOST_OTHERS = 2000

#: The domains of the account's name servers. Other registrars hold them.
_TAKEN: Mapping[str, Any] = {".".join(server.split(".")[-2:]): {} for server in ACCOUNT["nameservers"]}

#: A candidate state, in fixture format.
State = dict[str, Any]


def candidate_states(subject: Subject, known: Known | None, registry: State | None) -> Iterator[State]:
    """Yield the candidate states for ``subject`` that are consistent with the state in ``known``.

    With a ``registry``, all states have its zones, and its names of other registrars.
    """
    taken = {**_TAKEN, **(registry or {}).get("taken", {})}
    for state in _consistent(subject, known):
        zones = state["zones"] if registry is None else registry["zones"]
        others = {
            name: entry
            for name, entry in taken.items()
            if _zone(name) in zones and name not in (*subject.names, *state["domains"])
        }
        yield {**state, "zones": zones, "taken": {**others, **state["taken"]}}


def _consistent(subject: Subject, known: Known | None) -> Iterator[State]:
    if known is None:
        yield from _all(subject)
        return
    shown = subject.shown.get(subject.name, {})
    flags = [str(flag) for flag in Flag if known.get(str(flag), str(flag) in shown.get("flags", ()))]
    before = {**shown, "flags": flags, **{key: known[key] for key in KEPT if key in known}}
    informed = replace(subject, shown={**subject.shown, subject.name: before})
    yield from (state for state in _all(informed) if agrees(state, subject.name, known))


def _all(subject: Subject) -> Iterator[State]:
    if subject.lists_names:
        yield from (_held(subject), _many(subject), _world(subject))
        return
    holders = list(_holders(subject))
    yield from holders
    disturbed = [holders[0]]
    if not subject.is_about_new_names:
        disturbed += [_world(subject), _held(subject)]
    for state in disturbed:
        yield from _disturbed(state, subject)


def _world(subject: Subject) -> State:
    """Return the state in which nobody holds the names of the request."""
    named = (*subject.names, *subject.premium)
    zones = {_zone(name): _zone_entry() for name in named if "." in name}
    for name in subject.premium:
        zones[_zone(name)].setdefault("premium", {}).update(
            dict.fromkeys(_labels([name]), dict.fromkeys(_PREMIUM, "4321.00"))
        )
    zones |= {f"0-{number:03}": _zone_entry() for number in range(subject.start)}
    listed = {name: {**_zone_entry(), **entry} for name, entry in subject.zones.items()}
    return {
        "now": wire(subject.at),
        "zones": {**zones, **listed},
        "accounts": {"main": {**ACCOUNT, "reseller": True}, "other": {**_OTHER, "reseller": True}},
        "customers": {
            number: {**_CARD, "mail": subject.mail or f"c{number}@example.com"}
            for number in subject.customers
        },
        "contacts": {handle: dict(_CARD) for handle in subject.handles},
        "contact_params": {},
        "domains": {},
        "taken": {},
        "transfers": {},
    }


def _zone_entry() -> dict[str, Any]:
    return {"types": list(ZONE_TYPES), "prices": PARTS["prices"], "idn": True}


def _zone(name: str) -> str:
    return name.partition(".")[2]


def _labels(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(name.partition(".")[0] for name in names))


def _order(subject: Subject, name: str, more: Mapping[str, object]) -> dict[str, Any]:
    """Return the account's order for a name, with the values that the answer shows."""
    entry: dict[str, Any] = {**subject.shown.get(name, {}), **more}
    if subject.expires is not None and "expires" not in more:
        entry["expires"] = wire(subject.expires)
    elif subject.orders in (Purpose.RENEWAL, Purpose.RESTORE):
        entry.pop("expires", None)  # the answer shows the new date, not the date before the order
    if "expires" in entry and "created" not in entry:
        entry["created"] = "-2y"
    if subject.code:
        entry["auth_code"] = subject.code
    if subject.order is not None:
        entry["id"] = subject.order
    if subject.host:
        label = subject.host.removesuffix(f".{name}")
        entry["hosts"] = {label: ["192.0.2.250"], "another": ["192.0.2.251"]}
    elif subject.operation in hints().lists_hosts:
        entry["hosts"] = {"another": ["192.0.2.251"]}
    return entry


def _held(subject: Subject, toggled: Flag | None = None, **more: object) -> State:
    """Return the state in which the account holds the names. The flag ``toggled`` is inverted."""
    state = _world(subject)
    for name in subject.names:
        entry = _order(subject, name, more)
        if toggled is not None:
            entry["flags"] = sorted({*entry.get("flags", ())} ^ {str(toggled)})
        state["domains"][name] = entry
    if subject.order is not None and not subject.names:
        state["zones"]["com"] = _zone_entry()
        state["domains"]["ordered.com"] = _order(subject, "ordered.com", more)
    return state


def _taken(subject: Subject, **more: object) -> State:
    """Return the state in which other registrars hold the names of the request."""
    state = _world(subject)
    code = {"auth_code": subject.code} if subject.code else {}
    state["taken"] = {name: {"created": "-3y", **code, **more} for name in subject.names}
    return state


def _holders(subject: Subject) -> Iterator[State]:
    """Yield states with different holders and stages of the names. The likeliest comes first."""
    if subject.is_about_new_names:
        yield from (_world(subject), _held(subject), _taken(subject))
        return
    transferring = any(fnmatchcase(subject.operation, pattern) for pattern in hints().transfers)
    if transferring:
        yield _taken(subject)
    yield from _stages(subject)
    yield _world(subject)
    for more in PARTS["taken"] if transferring else ({},):
        yield _taken(subject, **more)
    for to, origin in (("main", "outside"), ("outside", "main")):
        for status in _ENDS if transferring else _ENDS[:1]:
            yield _transferred(subject, to, origin, status)


_ENDS = ("pending", "clientApproved", "clientRejected", "clientCancelled", "serverApproved")


def _stages(subject: Subject) -> Iterator[State]:
    """Yield states in which the account holds the names, with different stages, dates and flags."""
    for more in PARTS["held"]:
        yield _held(subject, **more)
    for flag in Flag:
        yield _held(subject, flag)
    if subject.more_pages or subject.page[0] > 1:
        yield _many(subject)


def _many(subject: Subject) -> State:
    """Return a state in which the account's list of names has pages before and after the answer's page."""
    state = _held(subject)
    state["zones"]["com"] = _zone_entry()
    page, size = subject.page
    before: State = {f"before-{number}.com": {} for number in range(min((page - 1) * size, _MOST_OTHERS))}
    after: State = {f"after-{number}.com": {} for number in range(size if subject.more_pages else 0)}
    state["domains"] = {**before, **state["domains"], **after}
    return state


def _transferred(subject: Subject, to: str, origin: str, status: str) -> State:
    """Return the state in which a transfer of the names is pending or has ended."""
    is_completed = status in ("clientApproved", "serverApproved")
    is_elsewhere = (to == "main" and status == "pending") or (to == "outside" and is_completed)
    state = _taken(subject) if is_elsewhere else _held(subject)
    parties = {"from": origin} if is_completed else {"to": to}
    ended = {} if status == "pending" else {"status": status}
    state["transfers"] = {name: {**parties, "requested": "-1d", **ended} for name in subject.names}
    return state


def _with(state: State, section: str, entries: State) -> State:
    """Return ``state`` with ``entries`` added to ``section``."""
    return {**state, section: {**state[section], **entries}}


def _with_zones(state: State, change: Mapping[str, object]) -> State:
    return {**state, "zones": {name: {**entry, **change} for name, entry in state["zones"].items()}}


def _disturbed(state: State, subject: Subject) -> Iterator[State]:
    """Yield variants of a state with one change of zones, accounts, contacts or hosts."""
    for change in PARTS["zones"]:
        yield _with_zones(state, change)
    if not subject.is_done:
        yield from _obstructed(state, subject)
    for price in filter(None, (subject.price, Decimal(4321))):
        # The price of all years rarely has a whole number of cents for each year.
        later = (price / subject.years).quantize(Decimal("0.01"), ROUND_DOWN)
        premium = {
            **dict.fromkeys(_PREMIUM, str(later)),
            "registration": str(price - later * (subject.years - 1)),
        }
        prices = {**PARTS["prices"], "later_years": "renewal"}
        names = dict.fromkeys(_labels(subject.names), premium)
        yield _with_zones(state, {"premium": names, "prices": prices})
    yield from _of_accounts(state, subject)
    yield from _of_people(state, subject)
    yield from _of_hosts(state, subject)


def _obstructed(state: State, subject: Subject) -> Iterator[State]:
    """Yield variants of a state with one change that can only cause a refusal."""
    for change in PARTS["obstacles"]:
        yield _with_zones(state, change)
    for number in subject.numbers:
        yield _with_zones(state, {"max_years": number})
        yield _with_zones(state, {"min_years": number})
    yield {**state, "zones": {}, "domains": {}, "taken": {}, "transfers": {}}
    yield _with_zones(state, {"reserved": _labels(subject.names)})
    yield _with(state, "accounts", {"main": {**state["accounts"]["main"], "balance": "0.00"}})


def _of_accounts(state: State, subject: Subject) -> Iterator[State]:
    """Yield variants of a state: the account is not a reseller, or there are rules for contact parameters."""
    main = {**state["accounts"]["main"], "reseller": False}
    yield {**_with(state, "accounts", {"main": main}), "customers": {}}
    if subject.keys and not subject.names:  # if the request is about a contact or a customer
        yield {**state, "contact_params": dict.fromkeys(subject.keys, ".*")}
        yield {**state, "contact_params": dict.fromkeys(subject.keys, "[^ -~]")}


def _of_people(state: State, subject: Subject) -> Iterator[State]:
    """Yield variants of a state: customers or contacts are missing, in use, or of another account."""
    ordered = _with(state, "zones", {"com": _zone_entry()})
    if subject.customers or subject.mail:
        others = {990001: {**_CARD, "mail": subject.mail or "m@example.com"}}
        first = {number: {**_CARD, "mail": f"c{number}@example.com"} for number in subject.customers}
        for customers in ({}, others, {**first, **others}, first):
            yield {**state, "customers": customers}
        for more in PARTS["ordered"]:
            names = {f"of-{number}.com": {"customer": number, **more} for number in subject.customers}
            yield _with(ordered, "domains", names)
    if subject.handles:
        yield {**state, "contacts": {}}
        yield {**state, "contacts": {handle: {**_CARD, "account": "other"} for handle in subject.handles}}
        yield _with(ordered, "domains", {"linked.com": {"contacts": {"registrant": subject.handles[0]}}})


def _of_hosts(state: State, subject: Subject) -> Iterator[State]:
    """Yield variants of a state with no hosts, with hosts in use, or with other name servers."""
    with_hosts = {name: entry for name, entry in state["domains"].items() if entry.get("hosts")}
    if with_hosts:
        yield _with(state, "domains", {name: {**entry, "hosts": {}} for name, entry in with_hosts.items()})
        users = {
            f"user-of.{_zone(name)}": {"nameservers": [f"{host}.{name}" for host in entry["hosts"]]}
            for name, entry in with_hosts.items()
        }
        yield _with(state, "domains", users)
    if subject.servers:
        parents = [".".join(server.split(".")[-2:]) for server in subject.servers]
        above = {_zone(parent): _zone_entry() for parent in parents}
        served = {**state, "zones": {**state["zones"], **above, **state["zones"]}}
        yield served
        others: State = {parent: {} for parent in parents if parent not in state["domains"]}
        yield _with(served, "taken", others)
        for name, entry in state["domains"].items():
            current = entry.get("nameservers", ACCOUNT["nameservers"])
            rest = [server for server in current if server not in subject.servers] or ["ns8.example.org"]
            for servers in (subject.servers, rest, dict.fromkeys((*current, *subject.servers))):
                yield _with(state, "domains", {name: {**entry, "nameservers": list(servers)}})
