"""Renewals sent without the guard that would have kept them from taking effect twice."""

from __future__ import annotations

from collections.abc import Iterator

from reseller_sandbox.advice.finding import Rule, Seen, Severity
from reseller_sandbox.advice.record import Record, asked, names, renewals
from reseller_sandbox.advice.words import listed, plural
from reseller_sandbox.core.refusals import MISSING_PARAMETER
from reseller_sandbox.worlds import Entry

#: The operation that has a guard, and the parameter that is it.
GUARDED_OPERATION = "v2.domain.renew"
GUARD = "current_expiry_date"


def _unguarded(record: Record) -> Iterator[Seen]:
    by_account: dict[str | None, list[Entry]] = {}
    for entry in record.entries:
        if _took_effect_or_lacked_it(entry) and not asked(entry).get(GUARD):
            by_account.setdefault(entry.account, []).append(entry)
    for account, entries in by_account.items():
        domains = tuple(dict.fromkeys(name for entry in entries for name in names(entry)))
        refused = sum(entry.refused is not None for entry in entries)
        outcome = f", {refused} of them refused for it" if refused else ""
        yield Seen(
            account=account,
            domains=domains,
            entries=tuple(entry.id for entry in entries),
            summary=f"{plural(len(entries), 'renewal')} in v2.0 without {GUARD}{outcome} "
            f"({listed(domains)}). Where a service lets that pass, one that is sent again after a lost "
            "answer is carried out and paid for again.",
        )


def _took_effect_or_lacked_it(entry: Entry) -> bool:
    if entry.operation != GUARDED_OPERATION:
        return False
    return bool(renewals(entry)) or (entry.refused is not None and entry.refused.rule is MISSING_PARAMETER)


RENEWED_WITHOUT_GUARD = Rule(
    name="renewed_without_guard",
    severity=Severity.RISK,
    about=f"A v2.0 renewal without {GUARD}, which guards against carrying it out twice; v3 has no guard.",
    instead=f"Read the name's date_end and send it as {GUARD} with the renewal.",
    look=_unguarded,
)
