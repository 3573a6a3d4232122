"""The subject of a request: the values in the request, in its answer and in earlier answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl

from msgspec import Struct

from reseller_sandbox.registry.model import Flag, Purpose
from reseller_sandbox.tools.calibrate.hints import hints, operations
from reseller_sandbox.tools.calibrate.likeness import amount
from reseller_sandbox.tools.calibrate.transcripts import ObservedExchange, instant
from reseller_sandbox.values.names import BadName, normalise_zone, well_formed

#: The fields of a name that a known state contains, in addition to its flags.
KEPT = ("autorenew", "nameservers", "privacy")

#: How long a known state is used after the answer that shows it.
_LASTS = timedelta(days=1)

Known = Mapping[str, Any]


class Subject(Struct, frozen=True, kw_only=True):
    """The values in a request: names, hosts, handles, customers, a code, a price and so on.

    From the answer are: ``shown``, the values of each name in fixture format. ``flags``, the flags of the
    first name, and whether each is set. ``zones``, the listed zones. ``premium``, the premium names.
    ``more_pages``, whether there is a next page. ``numbers``, the number at the end of a message.
    ``is_done``, whether the request succeeded.
    """

    operation: str
    at: datetime
    names: tuple[str, ...]
    shown: Mapping[str, Mapping[str, Any]]
    flags: Mapping[str, bool]
    zones: Mapping[str, Mapping[str, Any]]
    host: str
    servers: tuple[str, ...]
    handles: tuple[str, ...]
    customers: tuple[int, ...]
    mail: str
    code: str
    price: Decimal | None
    years: int
    expires: datetime | None
    order: int | None
    page: tuple[int, int]
    more_pages: bool
    numbers: tuple[int, ...]
    keys: tuple[str, ...]
    start: int
    is_done: bool
    premium: tuple[str, ...]

    @property
    def name(self) -> str:
        """The first name, an empty string if there is none."""
        return self.names[0] if self.names else ""

    @property
    def orders(self) -> Purpose | None:
        """The purpose of the order that the request places, None if the request places no order."""
        operation = operations().get(self.operation)
        return operation.orders if operation is not None else None

    @property
    def lists_names(self) -> bool:
        """Whether the request lists the names of an account."""
        return self.operation in operations() and operations()[self.operation].lists_names

    @property
    def is_about_new_names(self) -> bool:
        """Whether the request checks names, or registers one.

        The stage of a registered name has no effect on the answer to such a request.
        """
        return self.operation in hints().checks or self.orders is Purpose.REGISTRATION


def subject_of(
    exchange: ObservedExchange, operation: str, names: Sequence[str], placeholders: Mapping[str, object]
) -> Subject:
    """Return the values in the request and the answer of an exchange.

    ``names`` are the names in its request, and ``placeholders`` the values of the placeholders in its path.
    """
    asked, answer = exchange.asked, exchange.answered
    records = list(_records(answer))
    inner = {key: value for part in asked.values() if isinstance(part, dict) for key, value in part.items()}
    query = {f"?{key}": value for key, value in parse_qsl(exchange.target.partition("?")[2])}
    sent = {**inner, **asked, **query, **{f"{{{key}}}": value for key, value in placeholders.items()}}

    def parts(name: str) -> list[Any]:
        return [sent[place] for place in hints().parts.get(name, ()) if sent.get(place)]

    def number(name: str, default: int = 0) -> int:
        return next((int(each) for value in parts(name) if (each := _number(value))), default)

    shown = dict(_shown(records, names))
    declared = operations().get(operation)
    prices = [
        sent.get(place.rpartition(".")[2]) for place in (declared.price if declared is not None else ())
    ]
    is_listing = (declared is not None and declared.lists_names) or operation in hints().lists_hosts
    return Subject(
        operation=operation,
        at=exchange.at,
        names=tuple(dict.fromkeys((*names, *shown))) if is_listing else tuple(names),
        shown=shown,
        flags=_flags(records),
        zones=dict(_zones(records)),
        host=next((host for host in parts("host") if isinstance(host, str)), ""),
        servers=tuple(_servers(parts("nameservers"))),
        handles=tuple(dict.fromkeys(handle for handle in parts("handles") if isinstance(handle, str))),
        customers=tuple(dict.fromkeys(int(_number(value) or 0) for value in parts("customers"))),
        mail=next((mail for mail in parts("mail") if isinstance(mail, str)), ""),
        code=next(map(str, parts("code")), ""),
        price=next(filter(None, map(_number, prices)), None),
        years=number("years", 1),
        expires=next(map(instant, parts("expires")), None),
        premium=tuple(_premium(records)),
        is_done=exchange.status == 200 and exchange.refusal is None and operation not in hints().checks,
        start=number("start"),
        order=number("order") or None,
        page=(number("page", 1), number("size", 100)),
        more_pages=hints().field(answer, "next_page") is not None,
        numbers=tuple(map(int, re.findall(r"\d{1,2}$", exchange.refusal or ""))),
        keys=tuple(key for key in asked if key.isascii()),
    )


def _records(answer: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """Yield the objects in an answer, also those in arrays, and then the answer itself."""
    for value in answer.values():
        entries = value if isinstance(value, list) else [value]
        yield from (entry for entry in entries if isinstance(entry, Mapping))
    yield answer


def _shown(
    records: Iterable[Mapping[str, object]], names: Sequence[str]
) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield each name in an answer with the values that the answer shows, as a part of a fixture."""
    field = hints().field
    for record in records:
        domain = field(record, "name")
        name = well_formed(domain) if isinstance(domain, str) else names[0] if len(names) == 1 else None
        dates = {key: value for key in ("created", "expires") if instant(value := field(record, key))}
        switches = {
            key: value for key in ("privacy", "autorenew") if isinstance(value := field(record, key), bool)
        }
        if name is None or not (dates or switches):
            continue
        servers = field(record, "nameservers")
        is_listed = (
            isinstance(servers, list) and servers and all(isinstance(server, str) for server in servers)
        )
        flags = [flag for flag, is_set in _flags([record]).items() if is_set]
        yield name, {**dates, **switches, **({"nameservers": servers} if is_listed else {}), "flags": flags}


def _flags(records: Iterable[Mapping[str, object]]) -> dict[str, bool]:
    """Find the first record with flags. Return for each of its flags whether the flag is set."""
    for record in records:
        values = {str(flag): hints().field(record, str(flag)) for flag in Flag if str(flag) in hints().fields}
        if shown := {flag: value for flag, value in values.items() if isinstance(value, bool)}:
            return shown
    return {}


def _premium(records: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """Yield the premium names in an answer."""
    for record in records:
        name = hints().field(record, "name")
        if (
            hints().field(record, "premium") is True
            and isinstance(name, str)
            and (domain := well_formed(name))
        ):
            yield domain


def _zones(records: Iterable[Mapping[str, object]]) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield each zone in an answer with its promotions, as a part of a fixture."""
    field = hints().field
    for record in records:
        zone = field(record, "zone")
        try:
            name = normalise_zone(zone if isinstance(zone, str) else "")
        except BadName:
            continue
        promotions = {
            key: {"price": "1.00", "until": until}
            for key in ("registration_promotion", "renewal_promotion")
            if instant(until := field(record, key)) is not None
        }
        can_transfer = field(record, "transfers") is not False
        yield (name, {"idn": bool(field(record, "idn")), "transfers": can_transfer, **promotions})


def _servers(parts: Iterable[object]) -> Iterator[str]:
    """Yield the name servers of a request. The request has them in an array, or in an object of arrays."""
    for part in parts:
        for listed in part.values() if isinstance(part, Mapping) else (part,):
            for server in listed if isinstance(listed, list) else ():
                if isinstance(server, str) and (name := well_formed(server)) is not None:
                    yield name


def _number(value: object) -> Decimal | None:
    """Return a value as a positive number. Return None if it is not a positive number."""
    number = amount(value)
    return number if number is not None and number.is_finite() and 0 < number < 10**9 else None


class KnownState:
    """For each name, the flags, switches and name servers that earlier answers have shown."""

    def __init__(self) -> None:
        self._names: dict[str, dict[str, object]] = {}
        self._seen: dict[str, tuple[datetime, list[str]]] = {}

    def of(self, exchange: ObservedExchange, subject: Subject) -> Known | None:
        """Return the known state of the request's only name. Return None if the state is not known."""
        if exchange.is_anonymous or len(subject.names) != 1 or subject.name not in self._names:
            return None
        at, credentials = self._seen[subject.name]
        is_fresh = credentials == exchange.credentials and timedelta(0) <= exchange.at - at < _LASTS
        return dict(self._names[subject.name]) if is_fresh else None

    def learn(self, exchange: ObservedExchange, subject: Subject) -> None:
        """Update the known state of a name with the answer of an exchange."""
        answer, name, switches = exchange.answered, subject.name, hints().switches
        operation = operations().get(subject.operation)
        if exchange.lost:
            if operation is None or not operation.reads:
                # The request can have changed its names, or all names if it is not known completely.
                touched = subject.names if exchange.is_whole and subject.names else tuple(self._names)
                for changed in touched:
                    self._names.pop(changed, None)
            return
        shows_all = operation is not None and operation.shows_status
        if not answer or exchange.refusal or (operation is not None and operation.reads and not shows_all):
            return
        is_showing = shows_all or subject.operation in switches
        pending = hints().pending
        is_pending = any(hints().field(record, "status") in pending for record in _records(answer))
        shows = is_showing and name in subject.shown and not is_pending
        if not shows or self.of(exchange, subject) is None:
            for changed in subject.names:
                self._names.pop(changed, None)
        if not shows:
            return
        self._seen[name] = exchange.at, exchange.credentials
        known, shown = self._names.setdefault(name, {}), subject.shown[name]
        known.update((key, shown[key]) for key in KEPT if key in shown)
        if shows_all:
            known.update(subject.flags)
        if subject.operation in switches:
            switch, on = switches[subject.operation]
            known[switch] = on


def agrees(state: Mapping[str, Any], name: str, known: Known) -> bool:
    """Whether a candidate state is consistent with the known state of a name."""
    entry = state["domains"].get(name)
    if entry is None:
        return False
    for key, value in known.items():
        if key in KEPT:
            if key in entry and entry[key] != value:
                return False
        elif (key in entry.get("flags", ())) is not value:
            return False
    return True
