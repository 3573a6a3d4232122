"""Renewals sent without the parameter that prevents a second renewal."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qsl

from reseller_sandbox.advice.finding import Seen, Severity, rule
from reseller_sandbox.advice.record import Record, grouped, names, renewals
from reseller_sandbox.advice.words import listed, plural
from reseller_sandbox.refusals import MISSING_PARAMETER
from reseller_sandbox.worlds import Entry

#: The operation with a guard against repetition, and the parameter for it.
GUARDED_OPERATION = "v2.domain.renew"
GUARD = "current_expiry_date"


@rule(Severity.RISK)
def renewed_without_guard(record: Record) -> Iterator[Seen]:
    """A v2.0 renewal without current_expiry_date, which prevents a second renewal.
    v3 has no such parameter.

    Instead:
        Read the name's date_end and send it as current_expiry_date with the renewal.
    """
    unguarded = filter(_is_unguarded, record.entries)
    for entries in grouped(unguarded, lambda entry: entry.account).values():
        refused = sum(entry.refused is not None for entry in entries)
        outcome = f", {refused} of them refused for it" if refused else ""
        yield Seen(
            entries,
            f"{plural(len(entries), 'renewal')} in v2.0 without {GUARD}{outcome} "
            f"({listed(names(*entries))}). Where a service lets that pass, one that is sent again after a "
            "lost answer is carried out and paid for again.",
            names(*entries),
        )


def _is_unguarded(entry: Entry) -> bool:
    if entry.operation != GUARDED_OPERATION or _asked(entry).get(GUARD):
        return False
    return bool(renewals(entry)) or (entry.refused is not None and entry.refused.rule is MISSING_PARAMETER)


def _asked(entry: Entry) -> dict[str, object]:
    """Return the request's body from JSON or a form, or an empty object."""
    body = entry.json
    if body is None:
        return dict(parse_qsl(entry.body.decode("utf-8", "replace")))
    return body if isinstance(body, dict) else {}
