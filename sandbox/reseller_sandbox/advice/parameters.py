"""Rules about the parameters and credentials of requests."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qsl

from reseller_sandbox.advice.finding import Case, Severity, rule
from reseller_sandbox.advice.record import Record, by_account, names, renewals
from reseller_sandbox.advice.words import listed, plural
from reseller_sandbox.refusals import MISSING_PARAMETER
from reseller_sandbox.registry.contract import ApiOperation
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


@rule(Severity.RISK)
def renewed_without_guard(record: Record) -> Iterator[Case]:
    """A renewal without the parameter that prevents a second renewal, such as current_expiry_date.
    Operations without such a parameter are not checked.

    Instead:
        Read the name's expiry date, and send it in that parameter with the renewal.
    """
    for operation in record.operations.values():
        if operation.guard:
            yield from _unguarded(record, operation)


def _unguarded(record: Record, operation: ApiOperation) -> Iterator[Case]:
    requests = (entry for entry in record.entries if entry.operation == operation.id)
    unguarded = (entry for entry in requests if _is_unguarded(entry, operation.guard))
    for entries in by_account(unguarded):
        refused = sum(entry.refused is not None for entry in entries)
        outcome = f", {refused} of them refused because of that" if refused else ""
        yield Case(
            entries,
            f"{plural(len(entries), 'renewal')} in {operation.label} without {operation.guard}{outcome} "
            f"({listed(names(*entries))}). If the service accepts such a renewal and the client repeats the "
            "renewal after a lost answer, the service charges twice.",
            names(*entries),
        )


def _is_unguarded(entry: Entry, guard: str) -> bool:
    body = entry.json
    if body is None:
        body = dict(parse_qsl(entry.body.decode("utf-8", "replace")))
    if isinstance(body, dict) and body.get(guard):
        return False
    return bool(renewals(entry)) or (entry.refused is not None and entry.refused.rule is MISSING_PARAMETER)
