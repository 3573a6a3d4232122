"""Records of answers: frozen, with a repr for people; and those that several powers share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Any, ClassVar, TypeVar, cast

from msgspec import Struct

from reseller_sandbox.core.clock import wire
from reseller_sandbox.core.happenings import Happening
from reseller_sandbox.core.names import to_unicode
from reseller_sandbox.core.signatures import field_names
from reseller_sandbox.core.state import Change, State
from reseller_sandbox.worlds import plain

T = TypeVar("T")

#: How many items of a list, and how much of a text, a repr shows.
_ITEMS, _LONGEST = 20, 400


class Result(Struct, frozen=True, kw_only=True):
    """A record of an answer: frozen, its fields given by name, with a repr that leaves out empty fields."""

    #: The fields that the repr leaves out.
    hidden: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        shown = {name: getattr(self, name) for name in self.__struct_fields__ if name not in self.hidden}
        inner = ", ".join(
            f"{name.removesuffix('_')}={_shown(value)}"
            for name, value in shown.items()
            if value is not False and value not in (None, "", (), [], {})
        )
        return f"{type(self).__name__}({inner})"


def _shown(value: Any) -> str:
    if isinstance(value, datetime):
        return wire(value)
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, str) and len(value) > _LONGEST:
        return repr(f"{value[:_LONGEST]}…")
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {_shown(one)}' for key, one in value.items())}}}"
    if isinstance(value, list | tuple):
        more = [f"and {len(value) - _ITEMS} more"] if len(value) > _ITEMS else []
        return f"[{', '.join([*map(_shown, value[:_ITEMS]), *more])}]"
    return repr(value)


def record_of(kind: type[T], source: object, /, **told: Any) -> T:
    """Return a record of ``kind``: the fields ``told``, and the others as ``source`` has them."""
    made: Any = kind
    others = {name: getattr(source, name) for name in field_names(kind) if name not in told}
    return cast(T, made(**others, **told))


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


class Setting(Result, frozen=True, kw_only=True):
    """Something about the world that is no record and was changed: the clock, an assumption."""

    name: str
    before: Any
    after: Any


def record_change(change: Change) -> RecordChange:
    """Return a change as it is shown."""
    return RecordChange(**plain.shown(change))


def settings_of(pairs: Iterable[tuple[str, Any, Any]]) -> tuple[Setting, ...]:
    """Return the changed settings, with JSON values."""
    return tuple(
        Setting(name=name, before=plain.plain(old), after=plain.plain(new)) for name, old, new in pairs
    )


def fired(state: State, one: Happening) -> Fired:
    """Return an event with the names that people know: accounts by name, names in Unicode."""
    account = state.accounts.get(one.account) if one.account is not None else None
    return record_of(
        Fired, one, subject=to_unicode(one.subject), account=account.name if account is not None else None
    )
