"""The journal, every request of a world with its answer and changes, and the tally of what they exercised.

The tally only grows: neither a rewind nor a journal that drops its oldest entries takes anything from it.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl, unquote

from msgspec import Struct, field
from msgspec.structs import replace

from reseller_sandbox.faults import FaultRule, Phase
from reseller_sandbox.registry.events import RegistryEvent
from reseller_sandbox.registry.limits import Limits
from reseller_sandbox.registry.model import LedgerEntry, Stage
from reseller_sandbox.registry.parameters import Quiet
from reseller_sandbox.registry.refusals import UNKNOWN_REQUEST, Refusal, Refused
from reseller_sandbox.registry.state import Change
from reseller_sandbox.server.log import masked
from reseller_sandbox.worlds import redact
from reseller_sandbox.worlds.feed import Feed, Follower
from reseller_sandbox.worlds.snapshot import Snapshot

T = TypeVar("T")


class Arrival(NamedTuple):
    """When a request came that takes effect only later: after which number of the world's line.

    ``matched`` is how many requests the rules in force had matched by then: of several that came between the
    same two numbers it tells the order.
    """

    after: int
    matched: int
    at: datetime


class Entry(Quiet, frozen=True, kw_only=True):
    """One request and what came of it.

    ``id`` is the request's name (``r12``), ``step`` its number among all that changed the world, ``at`` the
    world's time, ``duration`` in seconds of the machine's. ``raw_target`` is as it was sent, ``target`` the
    same with its secrets masked, ``scheme`` and ``port`` say where it came in; bodies are as they came and
    went. ``body_size`` and ``answer_size`` are None, or the sizes in bytes of bodies that were too long to be
    kept whole. ``before`` and ``after`` are the moments around it. ``held_up`` is for how many seconds faults
    kept the client from its answer, had it waited for all of it.

    Three things are told apart. ``carried_out`` is whether the operation was done, be it that it reads or
    that it changes something. ``outcome`` is what the client was told: ``ok``, the name of the error, or
    ``fault`` where a fault left no answer of the interface's own. ``faults`` are the rules that struck;
    ``lost`` is whether the operation's own answer did not arrive because of them. Where none at all was
    sent the status is that of the answer that was lost, or 0.

    ``error`` is the error that the client was told, as faults name it, and ``stage`` that of the name that
    it was about, before it.

    ``arrived`` is when it came, where a fault has put its effect off until later.

    ``sent`` are its headers as they came, long ones cut; ``headers`` are they without their secrets, and
    ``ignored`` the keys that had no effect. It can be matched by ``core.matching``.
    """

    id: str
    at: datetime
    operation: str
    account: str | None
    domains: tuple[str, ...]
    method: str
    raw_target: str
    body: bytes
    credentials_in_query: bool
    status: int
    answer: bytes
    duration: float
    changes: tuple[Change, ...]
    refused: Refusal | None
    assumed: tuple[tuple[str, object], ...]
    carried_out: bool
    outcome: str
    before: Snapshot
    after: Snapshot
    step: int = 0
    held_up: float = 0.0
    body_size: int | None = None
    answer_size: int | None = None
    faults: tuple[FaultRule, ...] = ()
    lost: bool = False
    error: str = ""
    stage: Stage | None = None
    sent: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    scheme: str = "http"
    port: str = ""
    arrived: Arrival | None = None

    @property
    def number(self) -> int:
        """The number in its id."""
        return int(self.id[1:])

    @property
    def target(self) -> str:
        """The request target without its secrets."""
        return masked(self.raw_target)

    @property
    def path(self) -> str:
        """The path, without the world's prefix and the query."""
        path = unquote(self.target.partition("?")[0])
        return "/" + path.split("/", 3)[-1] if path.startswith("/_worlds/") else path

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The headers without their secrets."""
        return tuple(redact.headers(self.sent))

    @property
    def query(self) -> list[tuple[str, str]]:
        """The elements of the query."""
        return parse_qsl(self.target.partition("?")[2], keep_blank_values=True)

    @property
    def json(self) -> Any:
        """The body as JSON; None where it is none, or was too long to be kept."""
        try:
            return json.loads(self.body, parse_float=Decimal) if self.body.strip() else None
        except (ValueError, RecursionError):
            return None

    @property
    def changed(self) -> bool:
        """Whether it changed anything."""
        return bool(self.changes)

    @property
    def fault_names(self) -> tuple[str, ...]:
        """The names of the rules that struck it."""
        return tuple(rule.name for rule in self.faults)

    @property
    def fault(self) -> str | None:
        """The names of the rules that struck it, in one line."""
        return ", ".join(self.fault_names) or None

    @property
    def fault_kind(self) -> str | None:
        """The kinds of the rules that struck it."""
        return ", ".join(rule.kind.name for rule in self.faults) or None

    @property
    def charges(self) -> tuple[LedgerEntry, ...]:
        """The movements of money that it caused."""
        return tuple(change.after for change in self.changes if change.table == "ledger" and change.after)


#: From which stage an order went to which; None is before it began, or after it ended.
Move = tuple[Stage | None, Stage | None]


class Exercise(NamedTuple):
    """What a request exercised; requests of which all this is the same are counted as one kind.

    ``stage`` is that of the name it was about, before it. ``rule`` is by what it was refused, ``error`` what
    the client was told, as faults name it, and ``injected`` whether a fault made that up.
    """

    operation: str
    stage: Stage | None
    carried_out: bool
    rule: str
    error: str
    injected: bool
    moves: tuple[Move, ...]
    faults: tuple[tuple[str, Phase], ...]
    assumed: tuple[tuple[str, object], ...]


#: What happened by itself, and the stage at which the order was before it.
Passed = tuple[str, Stage | None]


class Counted(Struct):
    """How often something was exercised, and by which request for the first time: ``default/r12``."""

    times: int
    first: str


class Tally(Struct):
    """What has been exercised in the world called ``world``, or in several.

    ``requests`` is what requests have exercised, ``events`` what has happened by itself.
    """

    world: str = ""
    requests: dict[Exercise, Counted] = {}
    events: dict[Passed, Counted] = {}

    @classmethod
    def of(cls, *others: Tally) -> Tally:
        """Return what all ``others`` have counted by now."""
        whole = cls()
        for one in others:
            whole.take(one)
        return whole

    def note(self, entry: Entry) -> None:
        """Count a request."""
        exercise = Exercise(
            entry.operation,
            entry.stage,
            entry.carried_out,
            entry.refused.rule.code if entry.refused is not None else "",
            entry.error,
            entry.lost and bool(entry.error),
            _moves(entry.changes) if entry.changes else (),
            tuple((rule.kind.name, rule.phase) for rule in entry.faults) if entry.faults else (),
            entry.assumed,
        )
        _count(self.requests, exercise, 1, entry.id, self.world)

    def note_events(self, events: Iterable[RegistryEvent]) -> None:
        """Count what has happened by itself."""
        for one in events:
            _count(self.events, (one.event, one.stage), 1)

    def take(self, other: Tally) -> None:
        """Add what ``other`` has counted."""
        for exercise, seen in list(other.requests.items()):
            _count(self.requests, exercise, seen.times, seen.first)
        for event, seen in list(other.events.items()):
            _count(self.events, event, seen.times)

    def clear(self) -> None:
        """Forget everything."""
        self.requests.clear()
        self.events.clear()


def _count(counts: dict[T, Counted], key: T, times: int, request: str = "", world: str = "") -> None:
    seen = counts.get(key)
    if seen is None:
        counts[key] = Counted(times, f"{world}/{request}" if world else request)
    else:
        seen.times += times


def _moves(changes: Sequence[Change]) -> tuple[Move, ...]:
    """Return between which stages orders have gone."""
    orders = [(change.before, change.after) for change in changes if change.table == "orders"]
    stages = [(before and before.stage, after and after.stage) for before, after in orders]
    return tuple([(earlier, later) for earlier, later in stages if earlier is not later])


class RequestJournal:
    """The latest entries, up to ``limits.journal`` of them; older ones are dropped, and counted."""

    def __init__(self, limits: Limits, feed: Feed | None = None, tally: Tally | None = None) -> None:
        self._limits = limits
        self._feed = feed or Feed()
        self._tally = tally or Tally()
        self._entries: deque[Entry] = deque(maxlen=limits.journal)
        self._lock = threading.Lock()
        self.dropped = 0

    def add(self, entry: Entry) -> None:
        """Take an entry, shorten what is too long of it, and drop the oldest when there are too many."""
        entry = _shortened(entry, self._limits.journal_body)
        with self._lock:
            self._tally.note(entry)
            if len(self._entries) == self._limits.journal:
                self.dropped += 1
            later = []
            while self._entries and self._entries[-1].number > entry.number:
                later.append(self._entries.pop())  # threads may finish in another order than they began
            self._entries.append(entry)
            self._entries.extend(reversed(later))
            self._feed.put((entry,))

    def follow(self) -> tuple[Follower, tuple[Entry, ...]]:
        """Return a follower of all that comes to the world from now on, and the entries before that."""
        with self._lock:
            return self._feed.follow(), tuple(self._entries)

    def get(self, name: str) -> Entry:
        """Return the entry of the request called ``name``; refuse with ``unknown_request``."""
        for entry in reversed(self.entries):
            if entry.id == name:
                return entry
        raise Refused(UNKNOWN_REQUEST, request=name[:40], held=self._held())

    def _held(self) -> str:
        entries = self.entries
        if not entries:
            return "it is empty"
        dropped = f" ({self.dropped} older ones were dropped)" if self.dropped else ""
        return f"it holds {entries[0].id} to {entries[-1].id}{dropped}"

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries in the order in which their requests came."""
        with self._lock:
            return tuple(self._entries)

    def replace(self, entries: Iterable[Entry]) -> None:
        """Hold ``entries`` instead."""
        with self._lock:
            self._entries = deque(entries, maxlen=self._limits.journal)

    def forget_after(self, number: int) -> None:
        """Forget the entries of requests with a higher number."""
        with self._lock:
            while self._entries and self._entries[-1].number > number:
                self._entries.pop()

    def clear(self) -> None:
        """Forget every entry."""
        with self._lock:
            self._entries.clear()
            self.dropped = 0

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self._entries)


def _shortened(entry: Entry, limit: int) -> Entry:
    """Return ``entry`` with bodies of at most ``limit`` bytes."""
    changed: dict[str, Any] = {}
    for body, size in (("body", "body_size"), ("answer", "answer_size")):
        raw: bytes = getattr(entry, body)
        if len(raw) > limit:
            changed |= {body: redact.shortened(raw, limit), size: len(raw)}
    return replace(entry, **changed) if changed else entry
