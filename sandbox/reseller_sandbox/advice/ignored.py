"""Keys that a client sends and nothing reads, which may have been meant for others."""

from __future__ import annotations

from collections.abc import Iterator

from reseller_sandbox.advice.finding import Rule, Seen, Severity
from reseller_sandbox.advice.record import Record, names
from reseller_sandbox.advice.words import listed, plural
from reseller_sandbox.worlds import Entry


def _ignored(record: Record) -> Iterator[Seen]:
    by_key: dict[tuple[str | None, str, str], list[Entry]] = {}
    for entry in record.entries:
        for key in entry.ignored:
            by_key.setdefault((entry.account, entry.operation, key), []).append(entry)
    for (account, operation, key), entries in by_key.items():
        name, _, near = key.partition("; nearest ")
        hint = f"; the nearest that is read is {near}" if near else ""
        domains = tuple(dict.fromkeys(name for entry in entries for name in names(entry)))
        about = f" ({listed(domains)})" if domains else ""
        yield Seen(
            account=account,
            domains=domains,
            entries=tuple(entry.id for entry in entries),
            summary=f"{plural(len(entries), 'request')} of {operation}{about} sent {name}, which nothing "
            f"reads{hint}.",
        )


KEYS_IGNORED = Rule(
    name="keys_ignored",
    severity=Severity.RISK,
    about="Keys in a body or a query that the operation does not read.",
    instead="Leave the key out, or spell it as the contract does: what was meant by it did not happen.",
    look=_ignored,
)
