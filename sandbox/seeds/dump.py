"""From a state back to YAML: a fixture that loads to the very same state.

What is left out is what the fixture format supplies by itself: the defaults of the records, and what
:mod:`sandbox.seeds.holdings` derives. Dates are absolute.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import yaml

from sandbox.core import hosts, ledger, names
from sandbox.core.assumptions import Assumptions
from sandbox.core.clock import wire
from sandbox.core.lifecycle import due
from sandbox.core.model import (
    OUTSIDE,
    ROLES,
    Account,
    Contact,
    Customer,
    Flag,
    Host,
    LedgerEntry,
    Order,
    Plan,
    Stage,
    Transfer,
    TransferStatus,
    Zone,
)
from sandbox.core.refusals import Refused
from sandbox.core.state import State
from sandbox.faults import FaultBook
from sandbox.seeds import faults, people
from sandbox.seeds.holdings import code_in
from sandbox.seeds.load import counters_in_use
from sandbox.seeds.money import FIXTURE
from sandbox.seeds.schema import OUTSIDE_WORD
from sandbox.seeds.site import OUTSIDE_CONTACT
from sandbox.seeds.transfers import APPROVED

_NOTHING: Mapping[str, object] = {}
_NO_FAULTS = FaultBook()
_WIDTH = 110


def dumps(
    state: State,
    now: datetime,
    *,
    frozen: bool | None = None,
    assume: Mapping[str, object] = _NOTHING,
    book: FaultBook = _NO_FAULTS,
) -> str:
    """A fixture of ``state`` at ``now``; :func:`~sandbox.seeds.load.loads` makes an equal state of it.

    ``book`` has the faults in force there. The windows of a rate limit are not written, but begin anew.
    """
    sections = {**_Writer(state, assume).sections(), "faults": _json(faults.written(book))}
    seed = state.seed if state.seed != State().seed else None
    head: dict[str, Any] = {"now": now, "frozen": frozen, "seed": seed, "assume": dict(assume)}
    whole = {**head, "contact_params": dict(state.contact_params), **sections}
    kept = {name: value for name, value in whole.items() if value is not None and value != {}}
    return yaml.dump(
        kept, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=_WIDTH, default_flow_style=False
    )


class _Number(str):
    """A number with a fraction, as it is to be written."""

    __slots__ = ()


def _json(value: Any) -> Any:
    """A JSON value whose numbers are written in digits alone, exactly."""
    if isinstance(value, dict):
        return {key: _json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_json(item) for item in value]
    if isinstance(value, float | Decimal):
        digits = format(Decimal(str(value)), "f")
        return _Number(digits) if "." in digits else int(digits)
    return value


class _Inline(dict[Any, Any]):
    """A mapping that is written on one line."""


_Base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_Base):  # type: ignore[misc]
    """Writes amounts and dates plainly, and short things on one line."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        """Values are written out wherever they are."""
        return True


def _represent_list(dumper: yaml.SafeDumper, data: Any) -> yaml.Node:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=True)


def _represent_inline(dumper: yaml.SafeDumper, data: Any) -> yaml.Node:
    # PyYAML cannot write a plain date inside braces; quoted, it is as good.
    plain = {key: wire(value) if isinstance(value, datetime) else value for key, value in data.items()}
    return dumper.represent_mapping("tag:yaml.org,2002:map", plain.items(), flow_style=True)


def _represent_money(dumper: yaml.SafeDumper, data: Decimal) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:float", ledger.money(data))


def _represent_number(dumper: yaml.SafeDumper, data: _Number) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:float", str(data))


def _represent_instant(dumper: yaml.SafeDumper, data: datetime) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:timestamp", wire(data))


_Dumper.add_representer(list, _represent_list)
_Dumper.add_representer(tuple, _represent_list)
_Dumper.add_representer(_Inline, _represent_inline)
_Dumper.add_representer(Decimal, _represent_money)
_Dumper.add_representer(_Number, _represent_number)
_Dumper.add_representer(datetime, _represent_instant)
_Dumper.add_multi_representer(datetime, _represent_instant)  # what a test may have put in its place


def _departures(record: Any, *, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """The fields of ``record`` that differ from its type's defaults."""
    return {
        field.name: getattr(record, field.name)
        for field in fields(record)
        if field.name not in without and getattr(record, field.name) != field.default
    }


def _spelled(name: str) -> str:
    """``name`` in Unicode where that leads back to it."""
    shown = names.to_unicode(name)
    try:
        return shown if names.normalise(f"x.{shown}") == f"x.{name}" else name
    except names.BadName:
        return name


class _Writer:
    """Writes the sections of one state."""

    def __init__(self, state: State, assume: Mapping[str, object]) -> None:
        self.state = state
        seconds = Assumptions().with_values(assume).order_processing
        self.processing = timedelta(seconds=seconds)
        self.words = _account_words(state)
        listed = [number for number in sorted(state.accounts) if number != OUTSIDE]
        self.first = listed[0] if listed else OUTSIDE
        self.arriving = {transfer.gaining_order for transfer in state.transfers.values() if transfer.pending}

    def sections(self) -> dict[str, dict[Any, Any]]:
        """Each section, with its entries in the order of their keys."""
        state = self.state
        own = {account.contact for account in state.accounts.values() if self._has_inline(account)}
        held = [order for _, order in sorted(state.orders.items()) if order.id not in self.arriving]
        return {
            "zones": {_spelled(name): self._zone(zone) for name, zone in sorted(state.zones.items())},
            "accounts": {
                self.words[number]: self._account(account)
                for number, account in sorted(state.accounts.items())
                if number != OUTSIDE
            },
            "customers": {number: self._customer(item) for number, item in sorted(state.customers.items())},
            "contacts": {
                handle: self._contact(item)
                for handle, item in sorted(state.contacts.items())
                if handle not in own and item != OUTSIDE_CONTACT
            },
            "domains": {_spelled(o.name): self._domain(o) for o in held if o.account != OUTSIDE},
            "taken": {_spelled(o.name): self._taken(o) for o in held if o.account == OUTSIDE},
            "transfers": {
                _spelled(name): self._transfer(item) for name, item in sorted(state.transfers.items())
            },
            "ledger": {number: self._entry(item) for number, item in sorted(state.ledger.items())},
            "plans": {number: self._plan(item) for number, item in sorted(state.plans.items())},
            "counters": self._counters(),
        }

    def _owned(self, account: int) -> dict[str, Any]:
        """The key that says whose an entry is, which the first account's do without."""
        return {} if account == self.first else {"account": self.words[account]}

    def _zone(self, zone: Zone) -> dict[str, Any]:
        written = _departures(zone, without=("name",))
        for field in ("prices", "policy", "registration_promotion", "renewal_promotion"):
            if field in written:
                written[field] = _Inline(_departures(written[field]))
        if "premium" in written:
            written["premium"] = {
                _label(label): _Inline(_departures(prices)) for label, prices in zone.premium
            }
        if "reserved" in written:
            written["reserved"] = [_label(label) for label in zone.reserved]
        return written

    def _account(self, account: Account) -> dict[str, Any]:
        word = self.words[account.client_id]
        written = _departures(account, without=("name", "opening", "contact", "nameservers"))
        usual = {**people.credentials_of(account.name), **people.USUAL}
        written = {field: value for field, value in written.items() if usual.get(field) != value}
        if account.name != word:
            written["name"] = account.name
        written["contact"] = account.contact
        if self._has_inline(account):
            written["contact"] = _departures(self.state.contacts[account.contact].card)
            if account.contact != people.handle_of(account.client_id):
                written["contact"]["handle"] = account.contact
        if account.nameservers:
            written["nameservers"] = [_spelled(server) for server in account.nameservers]
        return written

    def _has_inline(self, account: Account) -> bool:
        """Whether the account's contact is a mere card, which can be written in the account's entry."""
        contact = self.state.contacts.get(account.contact)
        if contact is None or account.client_id == OUTSIDE:
            return False
        return contact == Contact(handle=contact.handle, account=account.client_id, card=contact.card)

    def _customer(self, customer: Customer) -> dict[str, Any]:
        rest = _departures(customer, without=("customer_id", "account", "card"))
        return {**self._owned(customer.account), **_departures(customer.card), **rest}

    def _contact(self, contact: Contact) -> dict[str, Any]:
        written = {**self._owned(contact.account), **_departures(contact.card)}
        if contact.customer_id is not None:
            written["customer"] = contact.customer_id
        if contact.extra:
            written["extra"] = _Inline(contact.extra)
        return written

    def _domain(self, order: Order) -> dict[str, Any]:
        hosts_below = {"hosts": dict(self._hosts(order.name))} if self._hosts_of(order.name) else {}
        return {**self._owned(order.account), **self._order(order), **hosts_below}

    def _taken(self, order: Order) -> dict[str, Any]:
        written = {**self._domain(order), "autorenew": order.autorenew}
        written.pop("account", None)  # the section says it
        if order.autorenew:
            del written["autorenew"]
        if order.flags == {Flag.TRANSFER_PROHIBITED}:
            written["locked"] = True
            del written["flags"]
        return written

    def _order(self, order: Order) -> dict[str, Any]:
        account = self.state.accounts[order.account]
        derived = ("account", "name", "zone", "due", "contacts", "nameservers", "customer_id", "auth_code")
        written = _departures(order, without=derived)
        if order.stage is Stage.ACTIVE:
            del written["stage"]
        if order.since == order.created and order.stage in (Stage.ACTIVE, Stage.REQUESTED, Stage.PROCESSING):
            del written["since"]
        if "flags" in written:
            written["flags"] = [str(flag) for flag in sorted(order.flags)]
        if "stage" in written:
            written["stage"] = str(order.stage)
        if order.due != due(order, self.state.zones[order.zone].policy, self.processing):
            written["due"] = order.due
        roles = {role: getattr(order.contacts, role) for role in ROLES}
        given = {role: handle for role, handle in roles.items() if handle != account.contact}
        if given:
            written["contacts"] = _Inline(given)
        if order.customer_id is not None:
            written["customer"] = order.customer_id
        if order.nameservers != account.nameservers:
            written["nameservers"] = [_spelled(server) for server in order.nameservers]
        if order.auth_code != code_in(self.state.seed, order.name):
            written["auth_code"] = order.auth_code
        return written

    def _hosts_of(self, name: str) -> list[Host]:
        return hosts.of_domain(self.state, name)

    def _hosts(self, name: str) -> Iterator[tuple[str, list[str]]]:
        for host in self._hosts_of(name):
            label = host.name.removesuffix(f".{name}")
            yield (label if _host(name, label) == host.name else host.name), list(host.ips)

    def _transfer(self, transfer: Transfer) -> dict[str, Any]:
        approved = transfer.status in APPROVED
        word = self.words[transfer.losing if approved else transfer.gaining]
        written: dict[str, Any] = {"from" if approved else "to": word}
        if not transfer.pending:
            written["status"] = str(transfer.status)
        written["requested"] = transfer.requested
        written["completes"] = transfer.completes
        if transfer.status is TransferStatus.PENDING:
            written["order"] = self._arriving(self.state.orders[transfer.gaining_order])
        else:
            written["gaining_order"] = transfer.gaining_order
            written["losing_order"] = transfer.losing_order
        if transfer.charges or transfer.pending:
            written["charges"] = list(transfer.charges)
        return written

    def _arriving(self, order: Order) -> dict[str, Any]:
        written = {**self._order(order), "nameservers": list(order.nameservers), "auth_code": order.auth_code}
        del written["stage"]
        return written

    def _entry(self, entry: LedgerEntry) -> dict[str, Any]:
        written = {**self._owned(entry.account), **_departures(entry, without=("id", "account", "name"))}
        written["purpose"] = str(entry.purpose)
        if entry.name:
            written["domain"] = _spelled(entry.name)
        if entry.cause == FIXTURE:
            del written["cause"]
        return _Inline(written)

    def _plan(self, plan: Plan) -> dict[str, Any]:
        written = _departures(plan, without=("id", "given", "after"))
        if plan.given:
            written["given"] = {name: _told(name, value) for name, value in plan.given}
        if plan.after is not None:
            written["after"] = {"operation": plan.after.operation, "answer": plan.after.answer}
            if plan.after.name:
                written["after"]["domain"] = _spelled(plan.after.name)
        return written

    def _counters(self) -> dict[str, int]:
        counters = dict(sorted(self.state.counters.items()))
        numbers = set(self.state.orders)
        for transfer in self.state.transfers.values():
            numbers.update((transfer.gaining_order, transfer.losing_order))
        return {} if counters == counters_in_use(self.state, numbers) else counters


def _told(name: str, value: Any) -> Any:
    """A parameter's value; names in Unicode."""
    return _spelled(value) if name in ("domain", "zone") else value


def _label(label: str) -> str:
    return _spelled(f"{label}.example").removesuffix(".example")


def _host(domain: str, text: str) -> str:
    try:
        return hosts.parse_host(domain, text)
    except Refused:
        return ""


def _account_words(state: State) -> dict[int, str]:
    """What each account is called in the file: its name, with the client id where that is not enough."""
    words: dict[int, str] = {OUTSIDE: OUTSIDE_WORD}
    for number, account in sorted(state.accounts.items()):
        if number == OUTSIDE:
            continue
        word = account.name
        while word in words.values():
            word = f"{word}-{number}"
        words[number] = word
    return words
