"""The outcome of a run, for sweep and explore: changed records, payments, requests and advice.

The outcome is read through the control interface, so the world of the run can be on another server.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from reseller_sandbox.advice.finding import Finding, Severity
from reseller_sandbox.control.journal import RequestRecord
from reseller_sandbox.control.records import NameRecord
from reseller_sandbox.control.results import RecordChange
from reseller_sandbox.refusals import Refused
from reseller_sandbox.registry.lifecycle import TIMED
from reseller_sandbox.registry.model import OUTSIDE, Stage
from reseller_sandbox.reports.findings import write_file
from reseller_sandbox.reports.html import rendered
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.tools.running import Ended
from reseller_sandbox.values.money import NOTHING, write
from reseller_sandbox.values.names import to_unicode

#: The purposes of ledger entries that pay for an order of a name. Each such order must be paid once.
PURPOSES = ("registration", "renewal", "restore", "transfer")

#: Request headers that a program can send: the name of its worker, and its source line (``file:line``).
ACTOR, SOURCE = "X-Sandbox-Actor", "X-Sandbox-Source"

#: Maximum number of requests that are read from a world, and number of changes in one page.
MOST, _PAGE = 10_000, 1000

#: Maximum number of timed events that are read for a name.
_MOST_EVENTS = 500

#: The values of ``Effect.after`` if a record was created or deleted.
NEW, GONE = "new", "gone"

#: The text of a switch that is off.
OFF = "off"

#: The words of reports for fields with another name in the registry.
FIELDS: Mapping[str, str] = {
    "autorenew": "automatic renewal",
    "card": "contact details",
    "customer_id": "customer",
    "expires": "expiry date",
    "ips": "addresses",
    "nameservers": "name servers",
}

#: The ``Effect.title`` of charges and refunds. ``Outcome.movements`` has the details.
MONEY = "money"


class Effect(NamedTuple):
    """A change of one field of a record. If ``field`` is empty, the record was created or deleted."""

    title: str
    field: str
    before: str
    after: str

    def __str__(self) -> str:
        """Return the change as a line of a report, such as ``example.com of main: expires 2028-01-15``."""
        return f"{self.title}: {f'{self.field} ' if self.field else ''}{self.after or 'none'}"


class Difference(NamedTuple):
    """The value of a field before a run, after the run, and after the baseline run (``usual``).

    If ``field`` is empty, the values say whether the record exists.
    """

    record: str
    field: str
    before: str
    after: str
    usual: str


class Paid(NamedTuple):
    """An order that an account paid for: the domain and the purpose, such as registration."""

    account: str
    name: str
    purpose: str

    def __str__(self) -> str:
        """Return the order as text, such as ``the renewal of example.com``."""
        return f"the {self.purpose} of {to_unicode(self.name)}"


class Movement(Struct, frozen=True):
    """A movement of money in a run. ``amount`` is negative for a charge, positive for a refund."""

    id: int
    paid: Paid
    amount: Decimal
    cause: str
    refunds: int | None


class Detour(NamedTuple):
    """A period in which an existing order of a name was not active: its stage, beginning and end.

    ``end`` is the instant at which the name became active again.
    """

    name: str
    stage: Stage
    begin: datetime
    end: datetime


class Outcome(Struct, frozen=True):
    """The outcome of a run: its requests, their effects, the movements of money, and advice.

    The effects include changes of a name only if a request addressed the name, or if the program reports it.
    For example, an expiry of another name of the fixture is no effect. ``names`` holds the names that changed
    or that the program reports, by account and name. The value is None if the account does not have the name.
    ``customers`` holds the ids of the customers that the program reports, by mail address, and ``buyers`` the
    customer of each paid name. ``detours`` are the periods in which a name was not active.
    """

    ended: Ended
    requests: tuple[RequestRecord, ...]
    effects: Counter[Effect]
    names: Mapping[tuple[str, str], NameRecord | None]
    movements: tuple[Movement, ...]
    findings: tuple[Finding, ...]
    customers: Mapping[str, int]
    buyers: Mapping[str, str]
    detours: tuple[Detour, ...]
    describer: ChangeDescriber

    @property
    def total(self) -> Decimal:
        """The amount that the run cost: its charges less its refunds."""
        return -sum((movement.amount for movement in self.movements), NOTHING)

    @property
    def paid(self) -> dict[Paid, tuple[Decimal, ...]]:
        """The charges of each order. A refunded charge does not count."""
        refunded = {movement.refunds for movement in self.movements}
        paid: dict[Paid, tuple[Decimal, ...]] = {}
        for movement in self.movements:
            if movement.amount < 0 and movement.paid.purpose in PURPOSES and movement.id not in refunded:
                paid[movement.paid] = (*paid.get(movement.paid, ()), -movement.amount)
        return paid

    @property
    def money_advice(self) -> list[Finding]:
        """The advice findings with the severity ``money``."""
        return [finding for finding in self.findings if finding.severity == Severity.MONEY]

    def effects_of(self, request: RequestRecord) -> list[Effect]:
        """Return the changes that one request made."""
        return [effect for change in request.changes for effect in self.describer.effects(change)]

    def lines(self) -> list[str]:
        """Return the effects of the run and the program's orders as sorted lines of a report."""
        orders = (f"the program says: an order of {order}" for order in self.ended.view or ())
        return sorted([*orders, *map(str, self.effects.elements())])


def advice_line(finding: Finding) -> str:
    """Return a finding of advice as one line: its rule and its summary."""
    return f"{finding.rule}: {finding.summary}"


def outcome_of(world: Sandbox, ended: Ended) -> Outcome:
    """Return the outcome of the run in ``world``. No other run may use this world."""
    requests = world.journal.list(limit=MOST).requests
    addressed = {name for request in requests for name in request.domains}
    addressed |= {to_unicode(order.name) for order in ended.view or () if order.name}
    own = {(change.table, str(change.key)) for request in requests for change in request.changes}
    changes = [
        change
        for change in _changes(world)
        if (change.table, str(change.key)) in own or _is_about(change, addressed)
    ]
    accounts = {account.client_id: account.name for account in world.accounts.list().accounts}
    concerned = {change.name for change in changes if change.table == "orders" and change.name}
    concerned |= {order.name for order in ended.view or () if order.name}
    names = {
        (account, name): _held(world, account, name) for account in accounts.values() for name in concerned
    }
    owners = {record.order: account for (account, _), record in names.items() if record is not None}
    describer = ChangeDescriber(changes, accounts, owners)
    return Outcome(
        ended,
        requests,
        Counter(effect for change in changes for effect in describer.effects(change)),
        names,
        tuple(describer.movements(requests)),
        world.advice.list().findings,
        {
            record.card.mail: record.id
            for mail in {str(order.customer) for order in ended.view or () if order.customer}
            for record in world.customers.list(mail=mail).customers
        },
        {
            change.name: str(customer)
            for change in _orders(requests)
            if change.name and (customer := change.fields.get("customer_id", {}).get("after")) is not None
        },
        tuple(_detours(world, requests)),
        describer,
    )


def _is_about(change: RecordChange, addressed: AbstractSet[str]) -> bool:
    """Whether a change counts that no request made, because a request addressed the name.

    Changes of zones are those of third parties, and never count.
    """
    if change.table == "hosts":
        labels = to_unicode(str(change.key)).split(".")
        return any(".".join(labels[at:]) in addressed for at in range(len(labels)))
    if change.table in ("orders", "transfers", "ledger"):
        return to_unicode(change.name or str(change.key)) in addressed
    return change.table != "zones"


def _orders(requests: Iterable[RequestRecord]) -> Iterator[RecordChange]:
    """Yield the changes of orders that the requests made."""
    return (change for request in requests for change in request.changes if change.table == "orders")


#: The stage that each timed event leads to.
_STAGES = {row.event: row.target for row in TIMED}

#: The stages in which a name that existed no longer works.
_OUT = (Stage.OVERDUE, Stage.REDEMPTION, Stage.PENDING_DELETE, Stage.RELEASED)


def _detours(world: Sandbox, requests: Sequence[RequestRecord]) -> Iterator[Detour]:
    """Yield each period in which a name that a request changed was not active, and became active again."""
    for name in sorted({change.name for change in _orders(requests) if change.name}):
        steps = [
            (event.number, event.at, _STAGES[event.name])
            for event in world.events.list(kind="time", domain=name, limit=_MOST_EVENTS).events
            if event.name in _STAGES
        ]
        for request in requests:
            for change in _orders([request]):
                if change.name == name and "stage" in change.fields:
                    stage = change.fields["stage"]["after"] or Stage.RELEASED
                    steps.append((request.number, request.at, Stage(stage)))
        begin, worst = None, Stage.OVERDUE
        for _, at, stage in sorted(steps):
            if stage in _OUT:
                begin, worst = begin or at, stage
            elif stage is Stage.ACTIVE and begin is not None:
                yield Detour(name, worst, begin, at)
                begin = None


def _changes(world: Sandbox) -> Iterator[RecordChange]:
    """Yield each change of a record since the world was forked."""
    following: int | None = 0
    while following is not None:
        page = world.history.diff(limit=_PAGE, start=following)
        yield from page.changes
        following = page.next


def _held(world: Sandbox, account: str, name: str) -> NameRecord | None:
    try:
        return world.names.get(name, account=account)
    except Refused:
        return None


def write_page(
    outcome: Outcome, baseline: Outcome | None, file: str, title: str, violations: Sequence[str], remedy: str
) -> str:
    """Write the HTML page of a finding next to its recording ``file``, and return the page's file.

    ``baseline`` is the outcome without the trouble. Raise ``BadSetting``.
    """
    other = baseline or outcome
    totals = (sum((each.amount for each in run.movements), NOTHING) for run in (outcome, other))
    page = rendered(
        "finding.html",
        title=title,
        violations=violations,
        requests=outcome.requests,
        actor_header=ACTOR,
        target=lambda request: re.sub("^/_worlds/[^/]*", "", request.request.target),
        effects=outcome.effects_of,
        source=source_of,
        differences=[*differences(outcome, other), Difference(MONEY, "total", "", *map(write, totals))],
        remedy=remedy,
        recording=file,
    )
    return write_file(Path(file).with_suffix(".html"), page)


def source_of(request: RequestRecord) -> str:
    """Return the source line that sent a request (header ``X-Sandbox-Source``), or an empty string."""
    return str(request.request.headers.get(SOURCE, ""))


def differences(run: Outcome, baseline: Outcome) -> Iterator[Difference]:
    """Yield the fields of records that a run or its ``baseline`` changed, except balances."""
    both = [{(effect.title, effect.field): effect for effect in each.effects} for each in (run, baseline)]
    for key in sorted((both[0] | both[1]).keys() - {(MONEY, "")}):
        first = both[0].get(key) or both[1][key]
        before = first.before if first.field else "exists" if first.after == GONE else "does not exist"
        values = (
            _after(effects[key], outcome) if key in effects else before
            for effects, outcome in zip(both, (run, baseline), strict=True)
        )
        yield Difference(*key, before, *values)


def _after(effect: Effect, outcome: Outcome) -> str:
    """Return the field's value after an effect, or ``exists`` or ``is deleted`` for a whole record."""
    if effect.field:
        return effect.after
    count = outcome.effects[effect]
    return "is deleted" if effect.after == GONE else f"exists {count} times" if count > 1 else "exists"


def write_recording(world: Sandbox, folder: Path, name: str) -> str:
    """Write the recording of a world to a folder, and return the file. Raise ``BadSetting``."""
    file = folder / re.sub(r"[^\w.=-]+", "_", f"{name}.recording")
    return write_file(file, world.recording.get().content)


#: For each table, the fields that reports leave out: identifiers, values of counters, and copies of other
#: records. A counter depends on the order of unrelated requests.
_OMITTED: Mapping[str, set[str]] = {
    "accounts": {"client_id", "name", "balance"},
    "contacts": {"handle", "account"},
    "customers": {"customer_id", "account"},
    "hosts": {"name"},
    "orders": {"id", "account", "name", "zone", "since", "due", "retry", "registration", "renewals"}
    | {"last_renewal"},
    "transfers": {"name", "gaining_order", "losing_order", "charges"},
}

_OUTSIDE = "another registrar"


class ChangeDescriber:
    """Describes the changes of a run as text. It omits generated ids, so that runs can be compared."""

    def __init__(
        self, changes: list[RecordChange], accounts: Mapping[int, str], owners: Mapping[int, str]
    ) -> None:
        self._accounts = {OUTSIDE: _OUTSIDE, **accounts}
        self._owners = owners
        self._ledger = [change for change in changes if change.table == "ledger"]
        #: The new contacts and customers as text, by table and key.
        self._people: dict[tuple[str, object], str] = {}
        for change in changes:
            if change.table in ("contacts", "customers") and change.change == "created":
                card = change.fields["card"]["after"]
                words = f"contact {_text(card)}" if change.table == "contacts" else f"customer {card['mail']}"
                self._people[change.table, change.key] = words

    def movements(self, requests: tuple[RequestRecord, ...]) -> Iterator[Movement]:
        """Yield the movements of money that are caused by a request, or by a timed event of its names."""
        own = {request.id for request in requests}
        names = {name for request in requests for name in request.domains}
        for change in self._ledger:
            entry = {name: values["after"] for name, values in change.fields.items()}
            cause = entry["cause"].partition(":")[0]
            if cause in own or (cause == "event" and to_unicode(entry["name"]) in names):
                paid = Paid(self._accounts[entry["account"]], entry["name"], entry["purpose"])
                yield Movement(entry["id"], paid, Decimal(entry["amount"]), entry["cause"], entry["refunds"])

    def effects(self, change: RecordChange) -> Iterator[Effect]:
        """Yield an effect for each changed field of a record."""
        title = self._title(change)
        if change.table == "ledger":
            amount, name, refunds = (change.fields[key]["after"] for key in ("amount", "name", "refunds"))
            purpose = change.fields["purpose"]["after"]
            refund = ", a refund" if refunds is not None else ""
            yield Effect(MONEY, "", "", f"{amount} for {purpose} {to_unicode(name)}".rstrip() + refund)
            return
        if change.table == "scheduled":
            return
        if change.change != "changed":
            yield Effect(title, "", "", GONE if change.change == "deleted" else NEW)
        for name, values in change.fields.items():
            if name not in _OMITTED.get(change.table, ()):
                before, after = (self._value(name, values[side]) for side in ("before", "after"))
                if after not in ("", OFF) or change.change == "changed":
                    yield Effect(title, FIELDS.get(name, name.replace("_", " ")), before, after)

    def _title(self, change: RecordChange) -> str:
        match change.table:
            case "accounts":
                return f"account {change.name}"
            case "orders":
                return f"{to_unicode(change.name or '')} of {self._owner(change)}"
        unknown = f"{change.table.removesuffix('s')} {change.key}"
        return self._people.get((change.table, change.key), unknown)

    def _owner(self, change: RecordChange) -> str:
        number = next(
            (value for value in change.fields.get("account", {}).values() if value is not None), None
        )
        return self._owners.get(change.key, _OUTSIDE) if number is None else self._accounts[number]

    def _value(self, name: str, value: Any) -> str:
        """Return the value of a record's field as text, empty for None, 0 and empty values."""
        if name in ("account", "gaining", "losing"):
            return self._accounts[value] if value is not None else ""
        if name == "customer_id":
            return self._people.get(("customers", value), str(value or ""))
        if name == "contacts" and value is not None:
            contacts = {role: self._people.get(("contacts", key), str(key)) for role, key in value.items()}
            if len({*contacts.values()}) == 1:
                return next(iter(contacts.values()))
            return ", ".join(f"{role} {contact}" for role, contact in contacts.items())
        return OFF if value is False else _text(value)


def _text(value: object) -> str:
    match value:
        case None | "" | False | [] | 0:
            return ""
        case True:
            return "on"
        case dict():
            return " ".join(text for part in value.values() if (text := _text(part)))
        case list():
            return ", ".join(sorted(map(_text, value)))
    return str(value)
