"""Lists of which the client did not read all pages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from reseller_sandbox.advice.finding import Case, Severity, rule
from reseller_sandbox.advice.record import Record, by_account
from reseller_sandbox.registry.model import OUTSIDE
from reseller_sandbox.registry.state import account_named
from reseller_sandbox.worlds import Entry

#: The default number of names per page.
PER_PAGE = 100

_DIGITS = 12


class _Page(NamedTuple):
    """A page that was read: request, number, length, and count of all names."""

    entry: Entry
    number: int
    length: int
    total: int

    @property
    def names(self) -> range:
        """The positions of this page's names in the list."""
        return range((self.number - 1) * self.length, min(self.number * self.length, self.total))

    @property
    def following(self) -> range:
        """The positions of the next page's names, empty after the last page."""
        return range(self.names.stop, min(self.names.stop + self.length, self.total))


@rule(Severity.DATA)
def pages_not_followed(record: Record) -> Iterator[Case]:
    """A list of names whose response had a nextPage that was never requested.

    The rule looks only at the names read, in any order and with any page number and page length.

    Instead:
        Request nextPage until a response has none. The names on the other pages exist, and expire, too.
    """
    lists = (entry for entry in record.entries if record.lists_names(entry) and entry.refused is None)
    for entries in by_account(lists):
        pages = [page for page in map(_read, entries) if page is not None and not page.entry.lost]
        seen = set(chain.from_iterable({page.names for page in pages}))
        unseen = {names for names in {page.following for page in pages} if not seen.issuperset(names)}
        missed: dict[tuple[int, int], list[_Page]] = {}
        for page in pages:
            if page.following in unseen:
                missed.setdefault((page.length, page.number), []).append(page)
        for (length, number), short in missed.items():
            last = -(-short[-1].total // length)
            yield Case(
                [page.entry for page in short],
                f"The list of names was read up to page {number} of {last} ({length} names a page); "
                f"the answer had a nextPage, page {number + 1}, which no request read.",
            )


def _read(entry: Entry) -> _Page | None:
    """Return the page that a request read, by its path or its query, or None.

    The count of all names comes from the state at the request, because the response may be too long for the
    journal.
    """
    *_, before, last = entry.path.split("/")
    sent = {name.lower(): value for name, value in entry.query}
    if before.isdigit() and last.isdigit():
        sent = {"perpage": before, "page": last}
    per_page, page = sent.get("perpage", str(PER_PAGE)), sent.get("page", "1")
    if not all(text.isdecimal() and len(text) < _DIGITS and int(text) for text in (per_page, page)):
        return None
    state = entry.before.state
    account = account_named(state, entry.account)
    holder = account.client_id if account is not None else OUTSIDE
    return _Page(entry, int(page), int(per_page), state.orders_of_account.count((holder,)))
