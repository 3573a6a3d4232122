"""The subject of a request, with facts from its answer and from earlier answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import unquote

from msgspec import Struct

from reseller_sandbox.registry.model import Flag
from reseller_sandbox.tools.calibrate.hints import hints
from reseller_sandbox.tools.calibrate.transcripts import ObservedExchange, instant
from reseller_sandbox.values.names import well_formed

_KEYS = {
    "createDate": "created",
    "date_created": "created",
    "expireDate": "expires",
    "date_end": "expires",
    "privacyEnabled": "privacy",
    "autorenewEnabled": "autorenew",
}
_IN_PATH = {
    "handle": re.compile(r"/contact/([^/]+)"),
    "customer": re.compile(r"/customer/([0-9]+)"),
    "host": re.compile(r"/(?:host|glueRecords/[^/]+)/([^/]+)"),
    "start": re.compile(r"/zones/(?:.*/)?start/([0-9]{1,3})$"),
    "order": re.compile(r"/getDomain/([0-9]+)$"),
}


#: The known fields of a name beside its flags, in fixture format.
KEPT = ("autorenew", "nameservers", "privacy")

#: How long a name counts as the account's after an answer that shows it.
_LASTS = timedelta(days=1)

Known = Mapping[str, Any]


class Subject(Struct, frozen=True, kw_only=True):
    """The subject of a request: names, hosts, handles, customers, a code, a price.

    ``shown`` are the values of each name in the answer, in fixture format. ``zones`` are the listed zones.
    """

    operation: str
    at: datetime
    names: tuple[str, ...]
    shown: Mapping[str, Mapping[str, Any]]
    zones: Mapping[str, Mapping[str, Any]]
    host: str = ""
    servers: tuple[str, ...] = ()
    handles: tuple[str, ...] = ()
    customers: tuple[int, ...] = ()
    mail: str = ""
    code: str = ""
    price: Decimal | None = None
    years: int = 1
    expires: datetime | None = None
    order: int | None = None
    page: tuple[int, int] = (1, 100)
    more_pages: bool = False
    numbers: tuple[int, ...] = ()
    keys: tuple[str, ...] = ()
    start: int = 0
    is_done: bool = False
    premium: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The first name, an empty string if there is none."""
        return self.names[0] if self.names else ""


def subject_of(exchange: ObservedExchange, operation: str, names: Sequence[str]) -> Subject:
    """Return the subject of an exchange. ``names`` are the names in its request."""
    asked, answer, path = exchange.asked, exchange.answered, unquote(exchange.path)
    domain = asked.get("domain")
    both: dict[str, Any] = {**(domain if isinstance(domain, dict) else {}), **asked}
    shown = dict(_shown(answer, names))
    in_path = {key: match[1] for key, pattern in _IN_PATH.items() if (match := pattern.search(path))}
    handles = [both[key] for key in both if key.startswith("contact_") and isinstance(both[key], str)]
    customers = (int(_number(value) or 0) for value in (both.get("customer_id"), in_path.get("customer")))
    query = dict(pair.partition("=")[::2] for pair in exchange.target.partition("?")[2].split("&"))
    return Subject(
        operation=operation,
        at=exchange.at,
        names=tuple(dict.fromkeys((*names, *shown)))
        if operation in (*hints().lists_names, *hints().lists_hosts)
        else tuple(names),
        shown=shown,
        zones=dict(_zones(answer)),
        host=in_path.get("host") or _text(both.get("hostname")),
        servers=tuple(_servers(both)),
        handles=tuple(dict.fromkeys([*filter(None, (in_path.get("handle"),)), *handles])),
        customers=tuple(dict.fromkeys(number for number in customers if number)),
        mail=_text(both.get("mail")),
        code=next((str(both[key]) for key in ("authCode", "authcode", "transfer_code") if both.get(key)), ""),
        price=_number(both.get("purchaseCost", query.get("purchaseCost"))),
        years=int(_number(both.get("years", both.get("period"))) or 1) or 1,
        expires=instant(both.get("current_expiry_date")),
        premium=tuple(_premium(answer)),
        is_done=_is_done(exchange, operation),
        start=int(in_path.get("start", 0)),
        order=int(_number(in_path.get("order")) or 0) or None,
        page=(int(_number(query.get("page")) or 1) or 1, int(_number(query.get("perPage")) or 100) or 100),
        more_pages="nextPage" in answer,
        numbers=tuple(map(int, re.findall(r"\d{1,2}$", str(answer.get("msg"))))),
        keys=tuple(key for key in asked if key.isascii()),
    )


def _shown(answer: Mapping[str, Any], names: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the values of each name in an answer, in fixture format."""
    for record in (*_records(answer, "domain", "domains", "data"), answer):
        domain = record.get("domainName")
        name = well_formed(domain) if isinstance(domain, str) else names[0] if len(names) == 1 else None
        values = {_KEYS[key]: value for key, value in record.items() if key in _KEYS}
        entry = {key: value for key, value in values.items() if _is_fit(key, value)}
        if name is not None and entry:
            servers = record.get("nameservers", record.get("ns"))
            if isinstance(servers, list) and servers and all(isinstance(server, str) for server in servers):
                entry["nameservers"] = servers
            flags = ["client_transfer_prohibited"] if record.get("lockedEnabled") is True else []
            flags += ["client_update_prohibited"] if record.get("updateProhibited") is True else []
            yield name, {**entry, "flags": flags}


def _premium(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the premium names in an answer."""
    for record in _records(answer, "domain", "domains", "results"):
        name = record.get("domainName")
        if record.get("premium") is True and isinstance(name, str) and (domain := well_formed(name)):
            yield domain


def _records(answer: Mapping[str, Any], *keys: str) -> Iterator[Mapping[str, Any]]:
    """Yield the objects under ``keys`` of an answer, alone or in arrays."""
    for value in map(answer.get, keys):
        yield from (
            each for each in (value if isinstance(value, list) else [value]) if isinstance(each, Mapping)
        )


def _is_fit(key: str, value: Any) -> bool:
    return instant(value) is not None if key in ("created", "expires") else isinstance(value, bool)


def _zones(answer: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the zones that an answer lists, with their promotions."""
    for record in _records(answer, "data"):
        name = well_formed(f"x.{record.get('zone')}")
        if name is None or not isinstance(record.get("zone"), str):
            continue
        entry: dict[str, Any] = {
            "idn": bool(record.get("idn_avail")),
            "transfers": record.get("transfer_avail") is not False,
        }
        for word, long in (("reg", "registration"), ("renew", "renewal")):
            until = record.get(f"date_end_{word}_action")
            if instant(until) is not None:
                entry[f"{long}_promotion"] = {"price": "1.00", "until": until}
        yield name.removeprefix("x."), entry


def _is_done(exchange: ObservedExchange, operation: str) -> bool:
    """Whether an action succeeded. Availability checks do not count."""
    refused = exchange.answered.get("error") or exchange.answered.get("code", 200) != 200
    return exchange.status == 200 and not refused and not operation.endswith(("check", "checkAvailability"))


def _servers(asked: Mapping[str, Any]) -> Iterator[str]:
    """Yield the name servers of a request."""
    servers = asked.get("nameservers", asked.get("ns"))
    if isinstance(servers, Mapping):
        servers = [server for listed in servers.values() if isinstance(listed, list) for server in listed]
    for server in servers if isinstance(servers, list) else ():
        if isinstance(server, str) and (name := well_formed(server)) is not None:
            yield name


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> Decimal | None:
    """Return the positive number that a value represents, None if it represents none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    with suppress(InvalidOperation):
        number = Decimal(str(value))
        if number.is_finite() and 0 < number < 10**9:
            return number
    return None


class KnownState:
    """The known state of each name: its switches and its name servers."""

    def __init__(self) -> None:
        self._names: dict[str, dict[str, Any]] = {}
        self._seen: dict[str, tuple[datetime, list[str]]] = {}

    def of(self, exchange: ObservedExchange, subject: Subject) -> Known | None:
        """Return the known state of a request's only name, None if unknown."""
        if len(subject.names) != 1 or subject.name not in self._names:
            return None
        at, credentials = self._seen[subject.name]
        is_fresh = credentials == exchange.credentials and timedelta(0) <= exchange.at - at < _LASTS
        return dict(self._names[subject.name]) if is_fresh else None

    def learn(self, exchange: ObservedExchange, subject: Subject) -> None:
        """Update the known state from an exchange."""
        answer, name = exchange.answered, subject.name
        if not answer or answer.get("error") or "msg" in answer or subject.operation in hints().reads:
            return
        switches = hints().switches
        is_showing = subject.operation in (*hints().shows, *switches)
        shows = is_showing and name in subject.shown and not _is_pending(answer)
        if not shows or self.of(exchange, subject) is None:
            for changed in subject.names:
                self._names.pop(changed, None)
        if not shows:
            return
        self._seen[name] = exchange.at, exchange.credentials
        known, shown = self._names.setdefault(name, {}), subject.shown[name]
        known.update((key, shown[key]) for key in KEPT if key in shown)
        if subject.operation in hints().shows_lock:
            known[str(Flag.TRANSFER_PROHIBITED)] = str(Flag.TRANSFER_PROHIBITED) in shown["flags"]
        if subject.operation in switches:
            switch, on = switches[subject.operation]
            known[switch] = on


def _is_pending(answer: Mapping[str, Any]) -> bool:
    return any(
        record.get("status") in ("pending", "0", "1") for record in (answer, *_records(answer, "data"))
    )


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
