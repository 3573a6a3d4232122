"""Renewals sent without the guard that would have kept them from taking effect twice."""

from __future__ import annotations

from collections.abc import Iterator

from sandbox.advice.finding import Rule, Seen, Severity
from sandbox.advice.record import Record, asked, names, renewals
from sandbox.advice.words import listed, times
from sandbox.worlds import Entry

#: The operation that has a guard, and the parameter that is it.
GUARDED_OPERATION = "v2.domain.renew"
GUARD = "current_expiry_date"


def guarded(entry: Entry) -> bool:
    """Whether the request named the expiry date it meant to move."""
    return entry.operation == GUARDED_OPERATION and bool(asked(entry).get(GUARD))


def _unguarded(record: Record) -> Iterator[Seen]:
    by_account: dict[str | None, list[Entry]] = {}
    for entry in record.entries:
        if entry.operation == GUARDED_OPERATION and renewals(entry) and not guarded(entry):
            by_account.setdefault(entry.account, []).append(entry)
    for account, entries in by_account.items():
        domains = tuple(dict.fromkeys(name for entry in entries for name in names(entry)))
        yield Seen(
            account=account,
            domains=domains,
            entries=tuple(entry.id for entry in entries),
            summary=f"{listed(domains)}: renewed {times(len(entries))} in v2.0 without {GUARD}. Sent again "
            "after a lost answer, each would have been carried out and paid for again.",
        )


RENEWED_WITHOUT_GUARD = Rule(
    name="renewed_without_guard",
    severity=Severity.RISK,
    about=f"A v2.0 renewal without {GUARD}, which guards against carrying it out twice; v3 has no guard.",
    instead=f"Read the name's date_end and send it as {GUARD} with the renewal.",
    look=_unguarded,
)
