"""Writes the worlds of a server to a file, and reads them back. Only listed types are pickled.

Pickle writes each object once, even if many others refer to it, and restores the same graph. Reading a file
runs no code from the file: the reader finds only the types below, by their names. The file begins with the
fields of each record, so that a program with more fields can read the file.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from functools import partial
from http import HTTPStatus
from importlib import import_module
from inspect import get_annotations
from itertools import chain, islice
from operator import is_
from pathlib import Path
from types import FunctionType
from typing import Any, get_type_hints

from dateutil.relativedelta import relativedelta
from msgspec import ValidationError, convert
from msgspec.structs import replace
from rpds import HashTrieMap, HashTrieSet, Queue

from reseller_sandbox.faults.kind import Effects
from reseller_sandbox.faults.kinds import KINDS
from reseller_sandbox.faults.rule import Strike
from reseller_sandbox.persistence import file
from reseller_sandbox.persistence.file import BadFile, Checked
from reseller_sandbox.refusals import RULES, Rule
from reseller_sandbox.registry.indexes import TABLES
from reseller_sandbox.registry.state import Change, State, changed, filled
from reseller_sandbox.registry.stepwise import stepwise
from reseller_sandbox.values.extras import program_version
from reseller_sandbox.values.matching import Match
from reseller_sandbox.values.parameters import field_names, is_record
from reseller_sandbox.values.patterns import Glob
from reseller_sandbox.worlds import Checkpoint
from reseller_sandbox.worlds.snapshot import Event, changes
from reseller_sandbox.worlds.world_dump import EngineDump, WorldDump

#: The version of the format. Increase it if the meaning of a file changes. Fields of records have no version.
VERSION = 8

#: The maximum number of objects written in one call. No other thread runs during such a call.
PIECE = 1000

#: The modules whose records, named tuples and enumerations can be in a file.
_MODULES = (
    *("answers", "faults.kind", "faults.rule", "refusals.refusal"),
    *("registry.assumptions", "registry.events", "registry.model", "registry.state"),
    *("values.clock", "values.matching", "values.patterns"),
    *("worlds.credentials", "worlds.journal", "worlds.snapshot"),
    *("worlds.world", "worlds.world_dump"),
)
_NAMES = [*(f"reseller_sandbox.{name}" for name in _MODULES), *{kind.__module__ for kind in KINDS.values()}]
_OURS = [
    kind
    for name in _NAMES
    for kind in vars(import_module(name)).values()
    if isinstance(kind, type) and kind.__module__ == name
]

#: The types of records. A state file names their fields.
RECORDS = [kind for kind in _OURS if is_record(kind) or issubclass(kind, tuple)]

#: The other types in a file that pickle has to find by their names.
VALUES = (
    *(kind for kind in _OURS if issubclass(kind, Enum)),
    *(HTTPStatus, datetime, date, timedelta, timezone, relativedelta, Decimal),
    *(Glob, Match, HashTrieMap, HashTrieSet),
)

#: The fields of a state except its records and the indexes built from them.
_OWN = ("seed", "contact_params", "permits", "counters")

_TABLES = tuple(table.name for table in TABLES.values())

Made = tuple[Callable[..., Any], tuple[Any, ...]]


def save(path: Path, dump: EngineDump, put_in_place: Callable[[Path, Path], object]) -> None:
    """Write worlds to a new file. When it is complete, move it with ``put_in_place``. Raise OSError."""
    file.write(path, VERSION, lambda to: _Writer(to).write(dump), put_in_place)


def opened(path: Path) -> EngineDump:
    """Return the worlds in a file. Raise ``BadFile`` and OSError."""
    reader = _Reader(file.read(path, VERSION))
    writer = "an unknown version"
    try:
        header = reader.load()
        writer, reader.written = f"version {header['version']}", header["fields"]
        while True:
            if isinstance(part := reader.load(), EngineDump):
                return part
    except _Differs as problem:
        raise BadFile(f"{path}: {problem}. The file is from {writer} of the sandbox") from None
    except Exception:
        raise BadFile(f"{path}: the file is damaged: its content is invalid") from None


class _Differs(ValueError):
    """A file has a record that this program cannot represent."""


class _Reader(pickle.Unpickler):
    """Reads one object after the other. An object can refer to parts of earlier objects.

    ``written`` has the fields of each record in the file, with their types.
    """

    written: Mapping[str, Mapping[str, str]] = {}

    def find_class(self, _module: str, name: str) -> object:
        """Return the listed type or function ``name``, or a function that restores records of that type."""
        kind = _KINDS.get(name)
        if kind is None:
            raise _Differs(f"{name} is not a record of this version")
        if isinstance(kind, type) and issubclass(kind, Enum):
            return partial(_member, kind)
        written = self.written.get(name)
        return kind if written is None or written == fields_of(kind) else _Restored(kind, written)


class _Restored:
    """Restores records of the type ``kind`` from the fields that another version wrote.

    A field that has a default may be missing. Raise ``_Differs`` if a field is unknown, or if a value does
    not fit the present type of its field.
    """

    def __init__(self, kind: type, written: Mapping[str, str]) -> None:
        self._kind, self._written = kind, tuple(written)
        present = fields_of(kind)
        for name in written:
            if name not in present:
                raise _Differs(f"{kind.__name__} has no field {name} in this version")
        self._changed = {name: text for name, text in written.items() if text != present[name]}

    def __call__(self, *values: object) -> object:
        """Return the record with ``values`` in the order of the written fields."""
        return self.named(dict(zip(self._written, values, strict=True)))

    def named(self, values: Mapping[str, object]) -> object:
        """Return the record with named values."""
        changed = {name: self._fitting(name, values[name]) for name in self._changed if name in values}
        try:
            return self._kind(**{**values, **changed})
        except TypeError as problem:
            raise _Differs(f"{self._kind.__name__} differs in this version: {problem}") from None

    def _fitting(self, name: str, value: object) -> object:
        """Return ``value`` as a value of the present type of a field."""
        with suppress(TypeError, NameError):
            present: Any = _type_of(self._kind, name)
            with suppress(ValidationError, TypeError):  # convert does not take a union of records
                if (fitting := convert(value, present)) == value:
                    return fitting
            if isinstance(value, present):
                return value
        before, now = self._changed[name], fields_of(self._kind)[name]
        raise _Differs(f"{self._kind.__name__}.{name} has the type {now} in this version, and had {before}")


def fields_of(kind: type) -> dict[str, str]:
    """Return the names of the fields of a record type, each with its annotation."""
    texts = {name: text for base in reversed(kind.__mro__) for name, text in get_annotations(base).items()}
    # The annotations of a named tuple are references.
    return {name: str(getattr(texts[name], "__forward_arg__", texts[name])) for name in field_names(kind)}


def _type_of(kind: type, name: str) -> object:
    """Return the type of a field. Raise NameError and TypeError if it exists only for type checkers."""
    base = next(base for base in kind.__mro__ if name in get_annotations(base))
    annotations = {name: fields_of(kind)[name]}
    holder = type(base.__name__, (), {"__module__": base.__module__, "__annotations__": annotations})
    return get_type_hints(holder)[name]


def _member(kind: type[Enum], value: object) -> Enum:
    try:
        return kind(value)
    except ValueError:
        raise _Differs(f"{value!r} is not a {kind.__name__} of this version") from None


class _Writer(pickle.Pickler):
    """Writes one object after the other. An object can refer to parts of earlier objects."""

    def __init__(self, to: Checked) -> None:
        super().__init__(to, protocol=5)
        self._reduce: Mapping[type, Callable[[Any], Made]] = {
            State: self._state,
            Queue: self._queue,
            Rule: lambda rule: (_rule, (rule.code,)),
            Strike: lambda strike: (_apply, (strike.request,)),
        }
        #: The call that restores each state, by the identity of the state.
        self._states: dict[int, Made] = {}
        #: For each table, by its identity: a state that has this table.
        self._holding: dict[int, State] = {}
        self._last: tuple[Queue[Event] | None, Sequence[Event]] = (None, ())

    def write(self, dump: EngineDump) -> None:
        """Write worlds: first their states and entries in pieces, then the rest."""
        fields = {kind.__name__: fields_of(kind) for kind in RECORDS}
        self.dump({"version": program_version(), "fields": fields})
        for world in dump.worlds:
            self._write_states(world)
            for point in _points(world):
                self._dump_pieces(point.requests.entries)
        self.dump(dump)

    def _dump_pieces(self, values: Iterable[object]) -> None:
        rest = iter(values)
        while piece := list(islice(rest, PIECE)):
            self.dump(piece)

    def reducer_override(self, value: Any) -> Any:
        """Return the call that restores ``value``. Raise TypeError for a type that is not listed."""
        if isinstance(value, Enum):
            return type(value), (value.value,)
        if isinstance(value, str):  # Write a subclass of str as a plain string.
            return str, (str(value),)
        reduce = self._reduce.get(type(value))
        if reduce is not None:
            return reduce(value)
        kind = value if isinstance(value, type | FunctionType) else type(value)
        known = _KINDS.get(kind.__name__)
        if known is None or (isinstance(kind, type) and known is not kind):
            raise TypeError(f"{kind.__qualname__} objects cannot be saved")
        if isinstance(value, tuple):
            return kind, tuple(value)
        if is_dataclass(value) and not isinstance(value, type):
            return rebuild, (kind, {name: getattr(value, name) for name in field_names(kind)})
        return NotImplemented

    def _write_states(self, world: WorldDump) -> None:
        """Write each state of a world as its changes since another state.

        States share most records. Between the states before and after a request the changes are known. Other
        states are compared, and shared tables cost nothing.
        """
        new: list[State] = []
        before: State | None = None
        for state, led in _states(world):
            if id(state) not in self._states:
                self._states[id(state)] = self._made(state, before, led)
                new.append(state)
                for name in _TABLES:
                    self._holding.setdefault(id(getattr(state, name)), state)
            before = state
        self._dump_pieces(new)

    def _made(self, state: State, before: State | None, led: Sequence[Change] | None) -> Made:
        own = _own(state)
        if led is None or before is None:
            largest = max((getattr(state, name) for name in _TABLES), key=len)
            before = self._holding.get(id(largest), before)
            led = None if before is None else list(changes(before, state))
        if before is None or led is None or 2 * len(led) > sum(len(getattr(state, name)) for name in _TABLES):
            records = list(stepwise(_records(state)))
            self._dump_pieces(records)
            return _whole, (own, records)
        gone = [change.before for change in led if change.after is None]
        return _changed, (before, gone, [change.after for change in led if change.after is not None], own)

    def _state(self, state: State) -> Made:
        """Return the call that restores a state.

        A state to which only a waiting request refers is written in full here.
        """
        return self._states.get(id(state)) or (_whole, (_own(state), list(_records(state))))

    def _queue(self, queue: Queue[Event]) -> Made:
        """Return the call that restores ``queue``. If possible, it changes the previous queue in the file."""
        events = tuple(queue)
        base, earlier = self._last
        self._last = queue, events
        dropped = next(
            (at for at, event in enumerate(earlier) if events and event is events[0]), len(earlier)
        )
        common = earlier[dropped:]
        if common and len(common) <= len(events) and all(map(is_, common, events)):
            return _queue, (base, dropped, events[len(common) :])
        return _queue, (None, 0, events)


def _points(world: WorldDump) -> tuple[Checkpoint | WorldDump, ...]:
    return (*world.history.snapshots.values(), *world.history.branches.values(), world)


def _states(world: WorldDump) -> Iterator[tuple[State, Sequence[Change] | None]]:
    """Yield the states of a world, each with its changes since the previous state.

    The changes are None if they are not known.
    """
    yield world.history.first.state, None
    yield world.history.origin.state, None
    for point in _points(world):
        for entry in point.requests.entries:
            before, after = entry.before, entry.after
            alone = after.requests == before.requests + 1 and after.log.kept is before.log.kept
            yield before.state, None
            yield after.state, entry.changes if alone and not entry.faults else None
        yield point.snapshot.state, None


def _own(state: State) -> dict[str, object]:
    return {name: getattr(state, name) for name in _OWN}


def _records(state: State) -> Iterator[object]:
    return chain.from_iterable(getattr(state, name).values() for name in _TABLES)


def _whole(own: Mapping[str, object], records: Iterable[Any]) -> State:
    return replace(filled(State(), records), **own)


def _changed(base: State, gone: Iterable[Any], new: Iterable[Any], own: Mapping[str, object]) -> State:
    return replace(changed(base, gone, new), **own)


def _queue(base: Queue[Event] | None, dropped: int, new: Iterable[Event]) -> Queue[Event]:
    if base is None:
        return Queue(new)
    for _ in range(dropped):
        base = base.dequeue()  # type: ignore[call-arg]  # the stubs want a value
    for event in new:
        base = base.enqueue(event)
    return base


def rebuild(kind: Any, fields: Mapping[str, object]) -> object:
    """Return a record from named fields.

    Msgspec pickles a record as a call of a function with this name.
    """
    return kind.named(fields) if isinstance(kind, _Restored) else kind(**fields)


def _rule(code: str) -> Rule:
    if code not in RULES:
        raise _Differs(f"{code!r} is not a refusal of this version")
    return RULES[code]


def _apply(request: object) -> Strike:
    """Restore a delayed request.

    The request never takes effect after a restart, but it stays in the history.
    """
    return Strike((), Effects(), {}, request)


#: The types and functions that a state file can name.
_NAMED: tuple[Any, ...] = (
    *(*RECORDS, *VALUES, str, Queue),
    *(_whole, _changed, _queue, _rule, _apply, rebuild),
)

#: The types and functions of ``_NAMED``, by their names.
_KINDS: Mapping[str, Any] = {kind.__name__: kind for kind in _NAMED}
