"""What several powers answer alike: events with the names that people know, and what has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar, cast

from reseller_sandbox.core.happenings import Happening
from reseller_sandbox.core.names import to_unicode
from reseller_sandbox.core.signatures import field_names
from reseller_sandbox.core.state import Change, State
from reseller_sandbox.powers.result import Result
from reseller_sandbox.worlds import plain

T = TypeVar("T")


def record_of(kind: type[T], source: object, /, **told: Any) -> T:
    """Return a record of ``kind``: what is ``told``, and the other fields as ``source`` has them."""
    made: Any = kind
    names, values = _others(made, tuple(told))
    return cast(T, made(**dict(zip(names, values(source), strict=True)), **told))


@cache
def _others(kind: Any, told: tuple[str, ...]) -> tuple[tuple[str, ...], Callable[[object], tuple[Any, ...]]]:
    """Return the fields of ``kind`` beside those ``told``, two at the least, and what gets their values."""
    names = tuple(name for name in field_names(kind) if name not in told)
    return names, attrgetter(*names)


class Fired(Result, frozen=True, kw_only=True):
    """Something that happened: when, what, to which name, zone or account, and whom it concerned.

    ``charged`` is what the account paid for it (below zero: what it got back), ``balance`` what it has
    left, ``note`` why something that was to happen did not.
    """

    at: datetime
    event: str
    subject: str
    account: str | None
    order: int | None
    charged: Decimal
    balance: Decimal | None
    note: str


class RecordChange(Result, frozen=True, kw_only=True):
    """What became of one record: each field of it that changed, before and after. Secrets are masked."""

    table: str
    key: Any
    name: str | None
    change: str
    fields: Mapping[str, Any]


def record_change(change: Change) -> RecordChange:
    """Return a change as it is shown."""
    return RecordChange(**plain.shown(change))


class Setting(Result, frozen=True, kw_only=True):
    """Something about the world that is no record and was changed: the clock, an assumption."""

    name: str
    before: Any
    after: Any


def settings_of(pairs: Iterable[tuple[str, Any, Any]]) -> tuple[Setting, ...]:
    """Return what has changed beside records, as JSON values."""
    return tuple(
        Setting(name=name, before=plain.plain(old), after=plain.plain(new)) for name, old, new in pairs
    )


def fired(state: State, happenings: Iterable[Happening]) -> tuple[Fired, ...]:
    """Return what happened with the names that people know: accounts by name, names in Unicode."""
    return tuple(fired_one(state, one) for one in happenings)


def fired_one(state: State, one: Happening) -> Fired:
    """Return one thing that happened with the names that people know."""
    return record_of(Fired, one, subject=to_unicode(one.subject), account=account_name(state, one.account))


def account_name(state: State, number: int | None) -> str | None:
    """Return the name of the account with this client id, or None where there is none."""
    account = state.accounts.get(number) if number is not None else None
    return account.name if account is not None else None
