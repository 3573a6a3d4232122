"""Lists that were read in part, with more pages to come."""

from __future__ import annotations

from collections.abc import Iterator

from reseller_sandbox.advice.finding import Rule, Seen, Severity
from reseller_sandbox.advice.record import Record, path, query
from reseller_sandbox.core.model import OUTSIDE
from reseller_sandbox.worlds import Entry

LIST = "v3.listDomains"

#: How many names a page holds when the request does not say.
PER_PAGE = 100

_DIGITS = 12


def _unfollowed(record: Record) -> Iterator[Seen]:
    waiting: dict[tuple[str | None, int, int], list[Entry]] = {}
    for entry in record.entries:
        where = _asked(entry) if entry.operation == LIST and entry.refused is None else None
        if where is None:
            continue
        per_page, page = where
        waiting.pop((entry.account, per_page, page), None)
        if page < _last(entry, per_page) and not entry.lost:
            waiting.setdefault((entry.account, per_page, page + 1), []).append(entry)
    for (account, per_page, following), entries in waiting.items():
        last = _last(entries[-1], per_page)
        yield Seen(
            account=account,
            entries=tuple(entry.id for entry in entries),
            summary=f"The list of names was read up to page {following - 1} of {last} ({per_page} names a "
            f"page); the answer named page {following} as the next, and nobody asked for it.",
        )


def _last(entry: Entry, per_page: int) -> int:
    """The list's last page as the request found it; the answer may have been too long for the journal."""
    state = entry.before.state
    accounts = (state.accounts[number] for number in sorted(state.accounts))
    mine = next((account.client_id for account in accounts if account.name == entry.account), OUTSIDE)
    return -(-state.orders_of_account.count((mine,)) // per_page) if per_page else 0


def _asked(entry: Entry) -> tuple[int, int] | None:
    """How many names a page was to hold, and which page was asked for, in the path or in the query."""
    *_, before, last = path(entry).split("/")
    sent = {name.lower(): value for name, value in query(entry).items()}
    if before.isdigit() and last.isdigit():
        sent = {"perpage": before, "page": last}
    per_page, page = sent.get("perpage", str(PER_PAGE)), sent.get("page", "1")
    numbers = all(one.isdecimal() and len(one) < _DIGITS for one in (per_page, page))
    return (int(per_page), int(page)) if numbers else None


PAGES_NOT_FOLLOWED = Rule(
    name="pages_not_followed",
    severity=Severity.DATA,
    about="A list of names whose answer had a nextPage that was never asked for.",
    instead="Ask for nextPage until an answer has none: the names on the other pages exist, and expire, too.",
    look=_unfollowed,
)
