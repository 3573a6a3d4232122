"""What the rules on orders with no price, or a wrong one, have in common."""

from __future__ import annotations

from collections.abc import Iterator

from reseller_sandbox.advice.record import Record, order_asked_for
from reseller_sandbox.core import refusals
from reseller_sandbox.worlds import Entry

#: Once is how one finds out; so many times, and never otherwise, is a client that cannot do it.
TRIES = 2


def never_right(record: Record, rule: refusals.Rule) -> Iterator[list[Entry]]:
    """Yield, for each account, the orders that ``rule`` refused and whose names were never ordered.

    One of a name counts if the account never gets one right: else it has decided against that name.
    """
    waiting: dict[str | None, dict[str, list[Entry]]] = {}
    able: set[str | None] = set()
    for entry in record.entries:
        refused = waiting.setdefault(entry.account, {})
        for name in entry.domains:
            if entry.refused is not None and entry.refused.rule is rule:
                refused.setdefault(name, []).append(entry)
            elif name in refused and entry.changes and order_asked_for(entry) is not None:
                del refused[name]
                able.add(entry.account)
    for account, refused in waiting.items():
        least = TRIES if account in able else 1
        entries = [entry for tries in refused.values() if len(tries) >= least for entry in tries]
        if len(entries) >= TRIES:
            yield sorted(entries, key=lambda entry: entry.number)


def facts(entries: list[Entry], fact: str) -> list[str]:
    """Return what the refusals of ``entries`` say of a thing, each once."""
    said = (str(entry.refused.facts[fact]) for entry in entries if entry.refused is not None)
    return list(dict.fromkeys(said))
