"""Lists that were read in part, with more pages to come."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from reseller_sandbox.advice.finding import Seen, Severity, rule
from reseller_sandbox.advice.record import LIST, Record, grouped
from reseller_sandbox.registry.model import OUTSIDE
from reseller_sandbox.registry.state import account_named
from reseller_sandbox.worlds import Entry

#: How many names a page holds when the request does not say.
PER_PAGE = 100

_DIGITS = 12


class _Page(NamedTuple):
    """A page that was read: its request, its number and length, and how many names there were in all."""

    entry: Entry
    number: int
    length: int
    total: int

    @property
    def names(self) -> tuple[int, int]:
        """Return which of the names, in the list's order, it holds."""
        return (self.number - 1) * self.length, min(self.number * self.length, self.total)

    @property
    def following(self) -> tuple[int, int]:
        """Return which names the page holds that it is followed by; none after the last."""
        end = self.names[1]
        return end, min(end + self.length, self.total)


@rule(Severity.DATA)
def pages_not_followed(record: Record) -> Iterator[Seen]:
    """A list of names whose answer had a nextPage that was never asked for.

    Only which names have been seen counts, whatever the order, the number and the length of pages.

    Instead:
        Ask for nextPage until an answer has none: the names on the other pages exist, and expire, too.
    """
    lists = (entry for entry in record.entries if entry.operation == LIST and entry.refused is None)
    for entries in grouped(lists, lambda entry: entry.account).values():
        pages = [page for page in map(_read, entries) if page is not None]
        seen = _united([page.names for page in pages if not page.entry.lost])
        missed: dict[tuple[int, int], list[_Page]] = {}
        for page in pages:
            if not page.entry.lost and not _covered(page.following, seen):
                missed.setdefault((page.length, page.number), []).append(page)
        for (length, number), short in missed.items():
            last = -(-short[-1].total // length)
            yield Seen(
                [page.entry for page in short],
                f"The list of names was read up to page {number} of {last} ({length} names a page); "
                f"the answer named page {number + 1} as the next, and nobody asked for it.",
            )


def _united(stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return stretches that touch or overlap as one."""
    united: list[tuple[int, int]] = []
    for begin, end in sorted(stretches):
        if united and begin <= united[-1][1]:
            united[-1] = (united[-1][0], max(united[-1][1], end))
        else:
            united.append((begin, end))
    return united


def _covered(stretch: tuple[int, int], united: list[tuple[int, int]]) -> bool:
    begin, end = stretch
    return begin >= end or any(first <= begin and end <= last for first, last in united)


def _read(entry: Entry) -> _Page | None:
    """Return the page that a request read: what it was asked for in the path or in the query.

    How many names there were is counted as the request found them: its answer may have been too long for
    the journal.
    """
    *_, before, last = entry.path.split("/")
    sent = {name.lower(): value for name, value in entry.query}
    if before.isdigit() and last.isdigit():
        sent = {"perpage": before, "page": last}
    per_page, page = sent.get("perpage", str(PER_PAGE)), sent.get("page", "1")
    if not all(one.isdecimal() and len(one) < _DIGITS and int(one) for one in (per_page, page)):
        return None
    state = entry.before.state
    account = account_named(state, entry.account)
    mine = account.client_id if account is not None else OUTSIDE
    return _Page(entry, int(page), int(per_page), state.orders_of_account.count((mine,)))
