"""Keys without effect: the operation does not read them, or ignores them."""

from __future__ import annotations

from collections.abc import Iterator

from reseller_sandbox.advice.finding import Case, Severity, rule
from reseller_sandbox.advice.record import Record, names
from reseller_sandbox.advice.words import listed, plural
from reseller_sandbox.worlds import Entry


@rule(Severity.RISK)
def keys_ignored(record: Record) -> Iterator[Case]:
    """Keys in a body or a query that have no effect on the operation.

    Instead:
        Remove the key, or spell it as in the contract.
    """
    by_key: dict[tuple[str | None, str, str], list[Entry]] = {}
    for entry in record.entries:
        for key in entry.ignored:
            by_key.setdefault((entry.account, entry.operation, key), []).append(entry)
    for (_, operation, key), entries in by_key.items():
        name, _, near = key.partition("; nearest ")
        hint = f"; did you mean {near}?" if near else "."
        domains = names(*entries)
        about = f" ({listed(domains)})" if domains else ""
        yield Case(
            entries,
            f"{plural(len(entries), 'request')} of {operation}{about} sent {name}, which had no effect{hint}",
            domains,
        )
