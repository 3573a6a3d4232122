"""Credentials in a query string, which logs of proxies and servers record."""

from __future__ import annotations

from collections.abc import Iterator

from reseller_sandbox.advice.finding import Case, Severity, rule
from reseller_sandbox.advice.record import Record, by_account
from reseller_sandbox.advice.words import listed, plural
from reseller_sandbox.worlds import Entry

#: The endings of query parameters with credentials, whether the service reads them or not.
NAMES = ("APIKEY", "SIGNATURE", "AUTH-TOKEN")


@rule(Severity.RISK)
def credentials_in_query(record: Record) -> Iterator[Case]:
    """Credentials sent in the query string.

    Instead:
        Send the key and the signature, or the token, as headers.
    """
    for entries in by_account(filter(_has_credentials, record.entries)):
        operations = sorted({entry.operation for entry in entries})
        yield Case(
            entries,
            f"{plural(len(entries), 'request')} ({listed(operations)}) had credentials in the "
            "query string. Proxies, servers and browsers log URLs.",
        )


def _has_credentials(entry: Entry) -> bool:
    return entry.credentials_in_query or any(name.upper().endswith(NAMES) for name, _ in entry.query)
