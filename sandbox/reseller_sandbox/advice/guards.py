"""Renewals sent without the parameter that prevents a second renewal."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qsl

from reseller_sandbox.advice.finding import Case, Severity, rule
from reseller_sandbox.advice.record import Record, by_account, names, renewals
from reseller_sandbox.advice.words import listed, plural
from reseller_sandbox.refusals import MISSING_PARAMETER
from reseller_sandbox.worlds import Entry

#: The operation with a guard against repetition, and the parameter for it.
GUARDED_OPERATION = "v2.domain.renew"
GUARD = "current_expiry_date"


@rule(Severity.RISK)
def renewed_without_guard(record: Record) -> Iterator[Case]:
    """A v2.0 renewal without current_expiry_date, which prevents a second renewal.
    v3 has no such parameter.

    Instead:
        Read the name's date_end and send it as current_expiry_date with the renewal.
    """
    for entries in by_account(filter(_is_unguarded, record.entries)):
        refused = sum(entry.refused is not None for entry in entries)
        outcome = f", {refused} of them refused because of that" if refused else ""
        yield Case(
            entries,
            f"{plural(len(entries), 'renewal')} in v2.0 without {GUARD}{outcome} "
            f"({listed(names(*entries))}). If the service accepts such a renewal and the client repeats the "
            "renewal after a lost answer, the service charges twice.",
            names(*entries),
        )


def _is_unguarded(entry: Entry) -> bool:
    if entry.operation != GUARDED_OPERATION:
        return False
    body = entry.json
    if body is None:
        body = dict(parse_qsl(entry.body.decode("utf-8", "replace")))
    if isinstance(body, dict) and body.get(GUARD):
        return False
    return bool(renewals(entry)) or (entry.refused is not None and entry.refused.rule is MISSING_PARAMETER)
