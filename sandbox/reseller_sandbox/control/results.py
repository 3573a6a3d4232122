"""Base classes of results and of keyed resources, helpers for pages, and kinds of parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from enum import Enum
from itertools import islice
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar, cast

from msgspec import Struct, convert

from reseller_sandbox import refusals
from reseller_sandbox.control.resource import ReceivedRefusal, Resource
from reseller_sandbox.refusals import Refused
from reseller_sandbox.refusals.refusal import Category
from reseller_sandbox.registry.contract import read_match
from reseller_sandbox.registry.events import RegistryEvent
from reseller_sandbox.registry.state import Change, State
from reseller_sandbox.server.secrecy import Secrecy
from reseller_sandbox.values.clock import parse_instant, wire
from reseller_sandbox.values.kinds import Within, whole
from reseller_sandbox.values.matching import MATCH, Match, Matching
from reseller_sandbox.values.names import to_unicode
from reseller_sandbox.values.parameters import field_names, refused
from reseller_sandbox.worlds import redact

T = TypeVar("T")

#: The maximum number of items of a list, and of characters of a string, in a repr.
_ITEMS, _LONGEST = 20, 400


class Result(Struct, frozen=True, kw_only=True):
    """An immutable result of an operation. Its repr leaves out empty and hidden fields."""

    #: The fields that the repr leaves out.
    hidden: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        shown = {name: getattr(self, name) for name in self.__struct_fields__ if name not in self.hidden}
        inner = ", ".join(
            f"{name.removesuffix('_')}={_brief(value)}"
            for name, value in shown.items()
            if value is not False and value not in (None, "", (), [], {})
        )
        return f"{type(self).__name__}({inner})"

    @classmethod
    def received(cls, answer: Any) -> Self:
        """Return the result that a server sent as JSON. Raise ``msgspec.ValidationError``."""
        # msgspec does not know the class by which freezegun replaces ``datetime``.
        return convert(answer, cls, dec_hook=lambda _, text: parse_instant(text))


def changed_by(**operations: str) -> Callable[[type[T]], type[T]]:
    """Return a class decorator: who assigns a field of the result reads which operation changes it.

    ``operations`` has the operations by field. The key ``others`` stands for all other fields.
    """

    def decorate(result: type[T]) -> type[T]:
        def refuse(_: T, name: str, __: object) -> None:
            __tracebackhide__ = True
            operation = operations.get(name, operations.get("others"))
            hint = f"; call {operation}" if operation else ""
            raise AttributeError(f"{name} cannot be assigned, because a result is a copy{hint}")

        result.__setattr__ = refuse  # type: ignore[assignment, method-assign]
        return result

    return decorate


def _brief(value: object) -> str:
    if isinstance(value, datetime):
        return wire(value)
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, str) and len(value) > _LONGEST:
        return repr(f"{value[:_LONGEST]}…")
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {_brief(item)}' for key, item in value.items())}}}"
    if isinstance(value, list | tuple):
        rest = [f"and {len(value) - _ITEMS} more"] if len(value) > _ITEMS else []
        return f"[{', '.join([*map(_brief, value[:_ITEMS]), *rest])}]"
    return repr(value)


def record_of(kind: type[T], source: object, /, **values: Any) -> T:
    """Return a record of the class ``kind``. Copy the fields that ``values`` lacks from ``source``."""
    build: Any = kind
    copied = {name: getattr(source, name) for name in field_names(kind) if name not in values}
    return cast(T, build(**copied, **values))


class RegistryEventRecord(Result, frozen=True, kw_only=True):
    """An event in the registry: its time, kind, subject, account and charge.

    ``charged`` is the amount that the account paid. For a refund, the amount is negative. ``balance`` is the
    account's balance after the event. ``note`` is the reason why an expected event did not happen, or the
    reason of a third party. ``actor`` is the third party that acted: ``registrar`` (another registrar),
    ``registrant``, ``registry`` or ``staff``. ``changes`` has the fields of the order that the third party
    changed, each with its value before and after. Secrets are masked.
    """

    at: datetime
    event: str
    subject: str
    account: str | None
    order: int | None
    charged: Decimal
    balance: Decimal | None
    note: str
    actor: str
    changes: Mapping[str, Any]


class RecordChange(Result, frozen=True, kw_only=True):
    """The change of one record: the values of each changed field, before and after.

    Secrets are masked.
    """

    table: str
    key: Any
    name: str | None
    change: str
    fields: Mapping[str, Any]


class Setting(Result, frozen=True, kw_only=True):
    """A changed setting of the world, such as the clock or an assumption."""

    name: str
    before: Any
    after: Any


def record_change(change: Change, secrecy: Secrecy) -> RecordChange:
    """Convert a change of a record to a ``RecordChange``, with secrets masked."""
    return RecordChange(**redact.shown(change, secrecy))


def setting_records(pairs: Iterable[tuple[str, object, object]], secrecy: Secrecy) -> tuple[Setting, ...]:
    """Convert triples (name, old value, new value) to ``Setting`` records, with secrets masked."""

    def shown(value: object) -> Any:
        return redact.masked(redact.plain(value), secrecy)

    return tuple(Setting(name=name, before=shown(old), after=shown(new)) for name, old, new in pairs)


def event_record(state: State, event: RegistryEvent, secrecy: Secrecy) -> RegistryEventRecord:
    """Convert an event to a record with the account's name, and with domain names in Unicode.

    Secrets are masked.
    """
    account = state.accounts.get(event.account) if event.account is not None else None
    name = account.name if account is not None else None
    changes = redact.masked(
        {field: {"before": old, "after": new} for field, old, new in event.changes}, secrecy
    )
    subject = to_unicode(event.subject)
    return record_of(RegistryEventRecord, event, subject=subject, account=name, changes=changes)


Limit = Annotated[int, whole(1, 1000), "Number of records to list."]
Start = Annotated[int, whole(0, 10**9), "Start of the page: ``next`` of the previous page."]
#: The number of an event, a scheduled action, an order or a movement of money.
Number = Annotated[int, whole(1, 10**15)]

PerSecond = Annotated[
    int,
    whole(1, 10**6),
    "Largest number of records per second. Older records are left out and counted in ``missed``.",
]
Since = Annotated[
    int,
    whole(0, 10**15),
    "Number of an event. The stream begins with the later events that the world still has.",
]

#: A parameter that describes requests.
MatchParameter = Annotated[Matching, MATCH]


class MissingRecord(ReceivedRefusal, KeyError):
    """The exception of ``resource[key]`` for an unknown key: a ``Refused`` that is also a ``KeyError``."""

    __module__ = "reseller_sandbox"


class Keyed(Resource, Generic[T]):
    """Base class of a resource with records: ``names.list().names`` are the records of ``names``.

    Long lists come in pages. If the resource has a method ``get``, ``resource[key]`` calls this method. If
    not, the key is the ``name`` of a record.
    """

    def __iter__(self) -> Iterator[T]:
        """Yield every record of all pages."""
        resource: Any = self
        listed = resource.list()
        yield from getattr(listed, self.name)
        while getattr(listed, "next", None) is not None:
            listed = resource.list(start=listed.next)
            yield from getattr(listed, self.name)

    def __getitem__(self, key: Any) -> T:
        """Return the record with a key. If there is none, raise ``MissingRecord``."""
        __tracebackhide__ = True
        get: Any = getattr(self, "get", None)
        try:
            if get is None:
                return {getattr(record, "name", None): record for record in self}[key]
            return cast(T, get(key))
        except Refused as refused:
            # This refusal is about the missing world, not about a missing record.
            is_removed_world = refused.rule is refusals.UNKNOWN_WORLD and self.name != "worlds"
            if refused.rule.category is Category.NOT_FOUND and not is_removed_world:
                raise MissingRecord(refused.rule, refused.message, refused.remedy, **refused.facts) from None
            raise

    def __contains__(self, key: object) -> bool:
        """Whether a record has this key."""
        try:
            self[key]
        except KeyError:
            return False
        return True


def page(records: Iterable[T], limit: int, start: int) -> tuple[tuple[T, ...], int | None]:
    """Return ``limit`` items from ``start`` on, and the start of the next page."""
    rows = tuple(islice(records, start, start + limit + 1))
    return rows[:limit], start + limit if len(rows) > limit else None


def parse_match(resource: Resource, match: Matching, place: str = "", *, to_come: bool = False) -> Match:
    """Convert ``match``, which an operation of ``resource`` received, to a ``Match``.

    Refuse with ``invalid_parameter``. ``place`` is the name of the parameter in the message. ``to_come`` is
    that of ``read_match``.
    """
    try:
        return read_match(match, resource._local.words, to_come=to_come)
    except Within as error:
        raise refused(error.problems, place) from None
