"""Lists that were read in part, with more pages to come."""

from __future__ import annotations

from collections.abc import Iterator

from sandbox.advice.finding import Rule, Seen, Severity
from sandbox.advice.record import Record, answered, path, query
from sandbox.worlds import Entry

LIST = "v3.listDomains"

#: How many names a page holds when the request does not say.
PER_PAGE = 100


def _unfollowed(record: Record) -> Iterator[Seen]:
    waiting: dict[tuple[str | None, int, int], list[Entry]] = {}
    for entry in record.entries:
        where = _asked(entry) if entry.operation == LIST and entry.refused is None else None
        if where is None:
            continue
        per_page, page = where
        waiting.pop((entry.account, per_page, page), None)
        following = answered(entry).get("nextPage")
        if isinstance(following, int) and entry.fault is None:
            waiting.setdefault((entry.account, per_page, following), []).append(entry)
    for (account, per_page, following), entries in waiting.items():
        last = answered(entries[-1]).get("lastPage", following)
        yield Seen(
            account=account,
            entries=tuple(entry.id for entry in entries),
            summary=f"The list of names was read up to page {following - 1} of {last} ({per_page} names a "
            f"page); the answer named page {following} as the next, and nobody asked for it.",
        )


def _asked(entry: Entry) -> tuple[int, int] | None:
    """How many names a page was to hold, and which page was asked for, in the path or in the query."""
    *_, before, last = path(entry).split("/")
    sent = {name.lower(): value for name, value in query(entry).items()}
    if before.isdigit() and last.isdigit():
        sent = {"perpage": before, "page": last}
    per_page, page = sent.get("perpage", str(PER_PAGE)), sent.get("page", "1")
    return (int(per_page), int(page)) if per_page.isdecimal() and page.isdecimal() else None


PAGES_NOT_FOLLOWED = Rule(
    name="pages_not_followed",
    severity=Severity.DATA,
    about="A list of names whose answer had a nextPage that was never asked for.",
    instead="Ask for nextPage until an answer has none: the names on the other pages exist, and expire, too.",
    look=_unfollowed,
)
