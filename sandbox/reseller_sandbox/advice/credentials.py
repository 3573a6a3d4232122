"""Credentials in a query string, where every log on the way writes them down."""

from __future__ import annotations

from collections.abc import Iterator

from reseller_sandbox.advice.finding import Rule, Seen, Severity
from reseller_sandbox.advice.record import Record, query
from reseller_sandbox.advice.words import listed, plural
from reseller_sandbox.worlds import Entry

#: How the names of elements end that are credentials, whether the service looks for them there or not.
NAMES = ("APIKEY", "SIGNATURE", "AUTH-TOKEN")


def _in_query(record: Record) -> Iterator[Seen]:
    by_account: dict[str | None, list[Entry]] = {}
    for entry in record.entries:
        if entry.credentials_in_query or any(name.upper().endswith(NAMES) for name in query(entry)):
            by_account.setdefault(entry.account, []).append(entry)
    for account, entries in by_account.items():
        operations = sorted({entry.operation for entry in entries})
        yield Seen(
            account=account,
            entries=tuple(entry.id for entry in entries),
            summary=f"{plural(len(entries), 'request')} ({listed(operations)}) carried credentials in the "
            "query string: proxies, servers and browsers keep URLs in their logs.",
        )


CREDENTIALS_IN_QUERY = Rule(
    name="credentials_in_query",
    severity=Severity.RISK,
    about="Credentials sent in the query string.",
    instead="Send the key and the signature, or the token, as headers.",
    look=_in_query,
)
