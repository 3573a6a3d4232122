"""Orders whose answers were lost or came late, and what their clients did about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from reseller_sandbox.advice.record import LIST, Record, order_asked_for, reads
from reseller_sandbox.worlds import Entry


def answer_lost(entry: Entry) -> bool:
    """Whether the request took effect and a fault kept its answer back, replaced it, or held it up."""
    return bool(entry.changes) and (entry.lost or any(rule.kind.slows for rule in entry.faults))


@dataclass(slots=True)
class Unknown:
    """An order whose client did not learn of it: ``first`` placed it, ``name`` is what it is for.

    ``again`` are the requests for the same that followed before anything else told the client what had
    become of it; ``told`` is whether something has.
    """

    first: Entry
    name: str
    wish: str
    again: list[Entry] = field(default_factory=list)
    told: bool = False


def unknown_orders(record: Record) -> list[Unknown]:
    """Return the orders whose answers were lost or late, in either generation, in their order."""
    found: list[Unknown] = []
    open_: dict[tuple[str | None, str], Unknown] = {}
    for entry in record.entries:
        wish = order_asked_for(entry)
        for one in list(_concerned(open_, entry)):
            if wish == one.wish:
                one.again.append(entry)
            elif not entry.lost:
                one.told = True
                del open_[one.first.account, one.name]
        if wish is not None and answer_lost(entry):
            for name in entry.domains:
                open_[entry.account, name] = Unknown(entry, name, wish)
                found.append(open_[entry.account, name])
    return found


def _concerned(open_: dict[tuple[str | None, str], Unknown], entry: Entry) -> Iterator[Unknown]:
    """Those that the request asks for again or tells of: by naming the name, or by listing all names."""
    for (account, name), one in open_.items():
        lists = entry.operation == LIST and reads(entry)
        if account == entry.account and (name in entry.domains or lists):
            yield one
