"""Tables of records, the index entries of each record, and immutable sorted sets."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import accumulate, chain, islice
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec.structs import astuple

from reseller_sandbox.registry.model import (
    OUTSIDE,
    Account,
    Contact,
    Customer,
    Host,
    LedgerEntry,
    Order,
    Record,
    ScheduledAction,
    Stage,
    Transfer,
    Zone,
)

#: The key of a record in its table.
RecordKey = int | str

#: An entry of the calendar: an instant, a key of ``HOLDERS``, and the key of the record that is due.
Due = tuple[datetime, str, Any]
Dues = tuple[Due, ...]

#: The fields of a zone that hold promotions. The calendar uses the same names for the end of a promotion.
PROMOTIONS = ("registration_promotion", "renewal_promotion")

#: Index entries: the name of the index, the key, and the value. The value is None if the index is a sorted
#: set.
Entries = tuple[tuple[str, tuple[object, ...] | str, RecordKey | None], ...]

R = TypeVar("R", bound=Record)


def nothing(_: object) -> tuple[()]:
    """Return no entries, for a kind of record without an index."""
    return ()


class Table(NamedTuple, Generic[R]):
    """The name, key and index entries of one kind of record.

    ``due`` returns the calendar entries of a record, and ``indexed`` its entries in all other indexes. Both
    are functions of the record alone, so an index always agrees with its table.
    """

    name: str
    key: Callable[[R], RecordKey]
    due: Callable[[R], Dues] = nothing
    indexed: Callable[[R], Entries] = nothing

    def entries(self, record: R | None) -> Entries:
        """Return the entries of ``record`` in all indexes. None has no entries."""
        if record is None:
            return ()
        due, indexed = self.due(record), self.indexed(record)
        return (*[("calendar", entry, None) for entry in due], *indexed) if due else indexed


def _account_indexed(account: Account) -> Entries:
    if account.client_id == OUTSIDE:
        return ()
    working = (
        ("key", ("account_by_key", account.key, account.client_id)),
        ("token", ("account_by_token", account.token, account.client_id)),
    )
    return tuple([entry for credential, entry in working if credential not in account.revoked])


def _customer_indexed(customer: Customer) -> Entries:
    return (
        ("customers_of_account", (customer.account, customer.customer_id), None),
        ("customer_by_mail", (customer.account, customer.card.mail.lower()), customer.customer_id),
    )


def _contact_indexed(contact: Contact) -> Entries:
    if contact.customer_id is None:
        return ()
    return (("linked", ("customer_contact", contact.customer_id, contact.handle), None),)


def _zone_due(zone: Zone) -> Dues:
    promotions = ((event, getattr(zone, event)) for event in PROMOTIONS)
    return tuple((promo.until, event, zone.name) for event, promo in promotions if promo is not None)


def _order_due(order: Order) -> Dues:
    due: Dues = ((order.due, "order", order.id),) if order.due is not None else ()
    return due if order.retry is None else (*due, (order.retry, "retry", order.id))


def _order_indexed(order: Order) -> Entries:
    links: list[tuple[str, RecordKey]] = [
        ("contact", handle) for handle in sorted(set(astuple(order.contacts)))
    ]
    links += [("nameserver", server) for server in order.nameservers]
    if order.customer_id is not None:
        links.append(("customer", order.customer_id))
    return (
        ("orders_of_account", (order.account, order.id), None),
        *[("linked", (*link, order.id), None) for link in links],
        ("own_order", (order.account, order.name), order.id),
        *([] if order.stage is Stage.ARRIVING else [("holding_order", order.name, order.id)]),
    )


def _transfer_due(transfer: Transfer) -> Dues:
    return ((transfer.completes, "transfer", transfer.name),) if transfer.pending else ()


def _scheduled_due(scheduled: ScheduledAction) -> Dues:
    if scheduled.at is None or scheduled.applied is not None:
        return ()
    return ((scheduled.at, "scheduled", scheduled.id),)


def _scheduled_indexed(scheduled: ScheduledAction) -> Entries:
    is_waiting = scheduled.at is None and scheduled.applied is None
    return (("waiting", (scheduled.id,), None),) if is_waiting else ()


def _host_indexed(host: Host) -> Entries:
    return (("hosts_of_domain", (host.domain, host.name), None),)


def _ledger_indexed(entry: LedgerEntry) -> Entries:
    return (("ledger_of_account", (entry.account, entry.id), None),)


#: Maps each type of record to its table.
TABLES: Mapping[type, Table[Any]] = {
    Account: Table[Account]("accounts", attrgetter("client_id"), indexed=_account_indexed),
    Customer: Table[Customer]("customers", attrgetter("customer_id"), indexed=_customer_indexed),
    Contact: Table[Contact]("contacts", attrgetter("handle"), indexed=_contact_indexed),
    Zone: Table[Zone]("zones", attrgetter("name"), _zone_due),
    Order: Table[Order]("orders", attrgetter("id"), _order_due, _order_indexed),
    Host: Table[Host]("hosts", attrgetter("name"), indexed=_host_indexed),
    Transfer: Table[Transfer]("transfers", attrgetter("name"), _transfer_due),
    LedgerEntry: Table[LedgerEntry]("ledger", attrgetter("id"), indexed=_ledger_indexed),
    ScheduledAction: Table[ScheduledAction](
        "scheduled", attrgetter("id"), _scheduled_due, _scheduled_indexed
    ),
}

#: Maps the kind of a calendar entry to the type of the record that changes at that instant.
HOLDERS: Mapping[str, type[Record]] = {
    "order": Order,
    "retry": Order,
    "transfer": Transfer,
    "scheduled": ScheduledAction,
    **dict.fromkeys(PROMOTIONS, Zone),
}


Key = TypeVar("Key", bound=tuple[Any, ...])

_WIDEST = 256
_NARROWEST = _WIDEST // 4
_FILLED = _WIDEST * 3 // 4

_Leaves = tuple[tuple[Any, ...], ...]


def _cut(keys: Sequence[object]) -> _Leaves:
    """Split ``keys`` into leaves (tuples) of at most ``_WIDEST`` keys."""
    if len(keys) <= _WIDEST:
        return (tuple(keys),) if keys else ()
    width = -(-len(keys) // -(-len(keys) // _FILLED))
    return tuple(tuple(keys[at : at + width]) for at in range(0, len(keys), width))


class Ordered(Generic[Key]):
    """An immutable sorted set of tuples, for lists in pages and for the calendar.

    The set is a sorted tuple of leaves, and each leaf is a sorted tuple of keys. Adding or removing a key
    copies one leaf and the tuple of leaves. Older sets therefore stay valid, and a snapshot is one reference.
    """

    __slots__ = ("_leaves", "_starts")

    def __init__(self, keys: Iterable[Key] = ()) -> None:
        # Do not deduplicate with a set: that loses the sorted runs which make ``sorted`` fast.
        ordered = sorted(keys)
        unique = [key for key, before in zip(ordered, [None, *ordered], strict=False) if key != before]
        self._leaves = _cut(unique)
        #: The rank of the first key of each leaf, then the number of all keys. None until a caller needs
        #: ranks.
        self._starts: list[int] | None = None

    def _place(self, key: object) -> int:
        """Return the index of the leaf where ``key`` is, or where it would be added."""
        at = bisect_left(self._leaves, (key,))
        begins_with_key = self._leaves[at : at + 1] and self._leaves[at][0] == key
        return at if begins_with_key else max(at - 1, 0)

    def _ranks(self) -> list[int]:
        if self._starts is None:
            self._starts = list(accumulate(map(len, self._leaves), initial=0))
        return self._starts

    def _changed(self, key: Key, *, added: bool) -> Ordered[Key]:
        at = self._place(key)
        (leaf,) = self._leaves[at : at + 1] or ((),)
        place = bisect_left(leaf, key)
        present = leaf[place : place + 1] == (key,)
        if present is added:
            return self
        keys = (*leaf[:place], *((key,) if added else ()), *leaf[place + present :])
        first = at - 1 if at and len(keys) < _NARROWEST else at
        new: Ordered[Key] = Ordered.__new__(Ordered)
        new._leaves = (
            *self._leaves[:first],
            *_cut((*chain.from_iterable(self._leaves[first:at]), *keys)),
            *self._leaves[at + 1 :],
        )
        new._starts = None
        return new

    def add(self, key: Key) -> Ordered[Key]:
        """Return a set that also contains ``key``."""
        return self._changed(key, added=True)

    def remove(self, key: Key) -> Ordered[Key]:
        """Return a set without ``key``. If ``key`` is absent, return this set."""
        return self._changed(key, added=False)

    def rank(self, key: tuple[object, ...]) -> int:
        """Return the number of keys that are smaller than ``key``."""
        at = self._place(key)
        return self._ranks()[at] + bisect_left(self._leaves[at], key) if self._leaves else 0

    def walk(self, start: int = 0) -> Iterator[Key]:
        """Return an iterator over the keys in order, from offset ``start``."""
        starts = self._ranks()
        if start >= starts[-1]:
            return iter(())
        at = bisect_right(starts, start) - 1
        leaves = islice(self._leaves, at, None)
        return islice(chain.from_iterable(leaves), start - starts[at], None)

    def count(self, prefix: tuple[Any, ...]) -> int:
        """Return the number of keys that begin with ``prefix``.

        The last part of ``prefix`` must be an integer.
        """
        return self.rank((*prefix[:-1], prefix[-1] + 1)) - self.rank(prefix)

    def first(self) -> Key | None:
        """Return the smallest key, or None if the set is empty."""
        return self._leaves[0][0] if self._leaves else None

    def beginning(self, prefix: tuple[object, ...], start: int = 0) -> Iterator[Key]:
        """Yield the keys that begin with ``prefix``, in order. Skip the first ``start`` of these keys."""
        width = len(prefix)
        for key in self.walk(self.rank(prefix) + start):
            if key[:width] != prefix:
                return
            yield key

    def __contains__(self, key: Key) -> bool:
        return next(self.walk(self.rank(key)), None) == key

    def __iter__(self) -> Iterator[Key]:
        return self.walk()

    def __len__(self) -> int:
        return self._ranks()[-1]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ordered):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]
