"""Which objects a file of worlds may hold: each kind is declared here, and no other is written or read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from http import HTTPStatus
from operator import attrgetter
from typing import Any

from rpds import HashTrieMap, HashTrieSet, Queue

from reseller_sandbox.core import model
from reseller_sandbox.core.assumptions import Assumptions
from reseller_sandbox.core.clock import WorldClock
from reseller_sandbox.core.happenings import Happening
from reseller_sandbox.core.matching import Match
from reseller_sandbox.core.model import Action
from reseller_sandbox.core.ordered import Ordered
from reseller_sandbox.core.patterns import Glob, Path
from reseller_sandbox.core.refusals import PLAIN, RULES, Possible, Refusal, Rule, Term, Wording
from reseller_sandbox.core.signatures import field_names
from reseller_sandbox.core.state import Change, State
from reseller_sandbox.core.tables import TABLES
from reseller_sandbox.faults import FaultBook, FaultRule
from reseller_sandbox.faults.book import Strike
from reseller_sandbox.faults.kind import Effects
from reseller_sandbox.faults.kinds import KINDS
from reseller_sandbox.faults.kinds.answers import Window
from reseller_sandbox.faults.rule import Count, When
from reseller_sandbox.keeping.codec import Body, Columns, Records, Sort
from reseller_sandbox.keeping.collections import HashMaps, Lists, Maps, Sets
from reseller_sandbox.keeping.states import Queues, StateChanges
from reseller_sandbox.v2.errors import WORDING as V2_WORDING
from reseller_sandbox.v2.forms import FormText
from reseller_sandbox.v3.errors import WORDING as V3_WORDING
from reseller_sandbox.worlds import Checkpoint, Entry, Moment
from reseller_sandbox.worlds.eventlog import Event, EventLog
from reseller_sandbox.worlds.inherited import Inherited
from reseller_sandbox.worlds.journal import Arrival
from reseller_sandbox.worlds.kept import KeptWorld, KeptWorlds
from reseller_sandbox.worlds.tally import Exercise

#: The records, with the fields that are made anew instead. A request that a fault holds back ends with the
#: server; that it came stays part of the past.
RECORDS: Mapping[Any, Mapping[str, Callable[[], Any]]] = {
    **{kind: {} for kind in (*TABLES, model.Card, model.RoleHandles, model.Promotion, model.Premium)},
    **{kind: {} for kind in (model.Prices, model.Policy, Match, Path, When, FaultRule, Count, Window)},
    **{
        kind: {}
        for kind in (*KINDS.values(), WorldClock, Assumptions, Event, EventLog, Happening, Change, State)
    },
    **{
        kind: {}
        for kind in (
            Moment,
            Inherited,
            Refusal,
            Possible,
            Arrival,
            Entry,
            Checkpoint,
            KeptWorld,
            KeptWorlds,
            Exercise,
        )
    },
    FaultBook: {},
    Strike: {"rules": tuple, "effects": Effects, "counted": dict},
}

ENUMS = (model.Stage, model.Flag, model.TransferStatus, model.Purpose, Action, Term)

WORDINGS = {"plain": PLAIN, "v2": V2_WORDING, "v3": V3_WORDING}

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)


class Plain(Sort):
    """A kind of values that are written as JSON, ``of`` which they are made again."""

    def __init__(
        self,
        name: str,
        told: type,
        write: Callable[[Any], Any] | None = None,
        of: Callable[[Any], Any] | None = None,
        key: Callable[[Any], Any] | None = None,
    ) -> None:
        self.name = name
        self.key = key
        self._told = told
        self._write = write
        self._of = of

    def fill(self, values: Sequence[Any], body: Body) -> None:
        told = values if self._write is None else list(map(self._write, values))
        body.raw(json.dumps(told, separators=(",", ":")).encode())

    def read(self, columns: Columns) -> list[Any]:
        found = json.loads(columns.raw())
        if not isinstance(found, list) or set(map(type, found)) - {self._told}:
            raise ValueError(f"a list of {self._told.__name__} is wanted")
        return found if self._of is None else list(map(self._of, found))


class Waiting(Lists):
    """The kind of sets of requests that wait, which are written in the order in which they came."""

    def __init__(self) -> None:
        super().__init__("waiting", HashTrieSet)

    def fill(self, values: Sequence[Any], body: Body) -> None:
        super().fill([sorted(one, key=attrgetter("arrived")) for one in values], body)


def _named(name: str, values: Mapping[str, Any], key: Callable[[Any], Any]) -> Plain:
    """Return the kind of those constants, which are written by their names."""
    names = {key(value): called for called, value in values.items()}
    return Plain(name, str, lambda value: names[key(value)], values.__getitem__, key)


def _instant(ticks: int) -> datetime:
    return _EPOCH + timedelta(microseconds=ticks)


class Sorts(dict[type, Sort]):
    """Every kind of objects, by type, for one file that is written or read."""

    def __init__(self) -> None:
        super().__init__(
            {
                str: Plain("text", str),
                FormText: Plain("text of a form", str, of=FormText),
                int: Plain("number", int),
                float: Plain("float", float, key=repr),
                bytes: Plain(
                    "bytes", str, lambda one: one.decode("latin-1"), lambda one: one.encode("latin-1")
                ),
                datetime: Plain("instant", int, lambda one: (one - _EPOCH) // _TICK, _instant),
                date: Plain("day", int, date.toordinal, date.fromordinal),
                Decimal: Plain("decimal", str, str, Decimal, str),
                Glob: Plain("glob", str, lambda glob: glob.text, Glob),
                Rule: _named("rule", RULES, lambda rule: rule.code),
                Wording: _named("wording", WORDINGS, id),
                tuple: Lists("tuple", tuple),
                list: Lists("list", list),
                frozenset: Lists("set", frozenset),
                Ordered: Sets(),
                HashTrieSet: Waiting(),
                dict: Maps("object", dict),
                HashTrieMap: HashMaps("map", HashTrieMap),
                Queue: Queues(),
                StateChanges: StateChanges(),
                HTTPStatus: Plain("status", int, int, HTTPStatus),
                **{one: Plain(one.__name__, str, lambda value: value.value, one) for one in ENUMS},
                **{one: Records(one, field_names(one), left_out) for one, left_out in RECORDS.items()},
            }
        )

    @property
    def shape(self) -> list[str]:
        """Every record with its fields, as a file says with which it was written."""
        return [kind.shape for kind in self.values() if isinstance(kind, Records)]
