"""The request journal of a world, the feed for clients that follow the world, and the usage counts.

The usage counts only grow: neither a rewind nor a dropped journal entry reduces them.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from itertools import islice
from threading import Condition
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl, unquote

from msgspec import Struct, field
from msgspec.structs import replace

from reseller_sandbox.faults import FaultRule, Phase
from reseller_sandbox.refusals import UNKNOWN_REQUEST, Refusal, Refused
from reseller_sandbox.registry.events import RegistryEvent
from reseller_sandbox.registry.lifecycle import AUTOMATIC_RENEWAL, RENEWAL_FAILED
from reseller_sandbox.registry.limits import Limits
from reseller_sandbox.registry.model import LedgerEntry, Order, Stage
from reseller_sandbox.registry.state import Change
from reseller_sandbox.registry.zones import particulars
from reseller_sandbox.server.json_text import load_json
from reseller_sandbox.server.log import masked
from reseller_sandbox.server.secrecy import Secrecy, secrecy_of
from reseller_sandbox.values.matching import CANNED
from reseller_sandbox.values.parameters import Quiet
from reseller_sandbox.worlds import redact
from reseller_sandbox.worlds.snapshot import Event, Snapshot

T = TypeVar("T")


#: The first word of the reason in ``Entry.ignored`` if nobody checked the value of the key.
UNCHECKED = "unchecked"


class Arrival(NamedTuple):
    """When a delayed request arrived, and its place in the sequence of the world.

    ``after`` is the last number used in the world at that time. ``matched`` is how many requests the fault
    rules had matched by then. It gives the order of several arrivals after the same number.
    """

    after: int
    matched: int
    at: datetime


class Entry(Quiet, frozen=True, kw_only=True):
    """One request and its result.

    ``id`` is the name of the request (``r12``) and ``step`` its number in the sequence of the world. ``at``
    is the time of the world, and ``duration`` is in seconds of machine time. ``raw_target`` is the target as
    sent. ``target`` is the same with its secrets masked. ``scheme`` and ``port`` are those on which the
    server received the request. Bodies are stored as received and as sent. ``body_size`` and ``answer_size``
    are the sizes in bytes of bodies that were cut, or None. ``before`` and ``after`` are the snapshots around
    the request. ``held_up`` is the delay by faults in seconds, if the client waited for the whole response.

    Three results are separate. ``carried_out`` is whether the operation was done, for reads and writes.
    ``outcome`` is the result for the client: ``ok``, the name of the error, or ``fault`` if a fault left no
    response of the API. ``faults`` are the rules that applied. ``lost`` is whether these faults kept the
    response of the operation from the client. If no response was sent, ``status`` is that of the lost
    response, or 0.

    ``error`` is the error in the response, by its name in fault rules. ``stage`` is the stage of the domain
    before the request.

    ``arrived`` is the arrival of a request that a fault deferred.

    ``sent`` holds the headers as received, long ones cut. ``headers`` holds them without secrets.
    ``answer_headers`` are the headers of the response, also if a fault kept it from the client. ``ignored``
    holds the keys that had no effect, each with a reason after a semicolon. ``secret_names`` are the names of
    secrets that the setting adds. ``registry.matching`` can match an entry.
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
    answer_headers: Mapping[str, str] = field(default_factory=dict)
    secret_names: tuple[str, ...] = ()

    @property
    def secrecy(self) -> Secrecy:
        """The secrecy of the server that received the request."""
        return secrecy_of(self.secret_names)

    @property
    def number(self) -> int:
        """The number in the id of the request: 12 for ``r12``."""
        return int(self.id[1:])

    @property
    def target(self) -> str:
        """The request target (path and query) with secrets masked."""
        return masked(self.raw_target, self.secrecy)

    @property
    def path(self) -> str:
        """The request path without a prefix such as ``/_worlds/w1`` and without the query."""
        path = unquote(self.target.partition("?")[0])
        return "/" + path.split("/", 3)[-1] if path.startswith("/_worlds/") else path

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The request headers with secrets masked."""
        longest = redact.LONGEST_HEADER
        masked = self.secrecy.header_masked
        return tuple((name, masked(name, value)[:longest]) for name, value in self.sent.items())

    @property
    def query(self) -> list[tuple[str, str]]:
        """The query parameters as pairs of name and value, with secrets masked."""
        return parse_qsl(self.target.partition("?")[2], keep_blank_values=True)

    @property
    def json(self) -> object:
        """The body as JSON, or None if it is not JSON or was too long to keep."""
        try:
            return load_json(self.body, parse_float=Decimal) if self.body.strip() else None
        except ValueError:
            return None

    @property
    def changed(self) -> bool:
        """Whether the request changed a record."""
        return bool(self.changes)

    @property
    def fault_names(self) -> tuple[str, ...]:
        """The names of the fault rules that applied."""
        return tuple(rule.name for rule in self.faults)

    @property
    def fault(self) -> str | None:
        """The names of the fault rules that applied, separated by commas, or None."""
        return ", ".join(self.fault_names) or None

    @property
    def fault_kind(self) -> str | None:
        """The kinds of the fault rules that applied, separated by commas, or None."""
        return ", ".join(rule.kind.name for rule in self.faults) or None

    @property
    def fault_effects(self) -> tuple[str, ...]:
        """The effects of the fault rules on the response, such as ``injected`` or ``delayed``."""
        return tuple(dict.fromkeys(rule.kind.effect for rule in self.faults))

    @property
    def charges(self) -> tuple[LedgerEntry, ...]:
        """The ledger entries that the request created."""
        return tuple(change.after for change in self.changes if isinstance(change.after, LedgerEntry))

    @property
    def event(self) -> Event:
        """This request as an event, for lists of all events of the world."""
        effect = {
            "request": self.id,
            "account": self.account,
            "domains": list(self.domains),
            "carried_out": self.carried_out,
            "outcome": self.outcome,
            "status": self.status,
            "changes": len(self.changes),
        }
        return Event(number=self.step, at=self.at, kind="request", name=self.operation, effect=effect)


#: The stage of an order before and after a change. None means that the order did not exist.
Move = tuple[Stage | None, Stage | None]


class Exercise(NamedTuple):
    """The properties of a request that matter to the usage counts. Equal requests are counted together.

    ``stage`` is the stage of the domain before the request. ``rule`` is the rule that refused it. ``error``
    is the error in the response, by its name in fault rules. ``injected`` is whether a fault made up this
    error. ``particulars`` are the special rules of the zone that mattered to the request.
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
    particulars: tuple[str, ...] = ()


#: The name of an event, and the stage of the order before the event.
Passed = tuple[str, Stage | None]


class Counted(Struct):
    """How often a kind of request or event occurred, and its first request (``default/r12``)."""

    times: int
    first: str


class Tally(Struct):
    """Usage counts of the world called ``world``, or of several worlds.

    ``requests`` counts requests by kind. ``events`` counts timed events, and actions of third parties with
    the prefix ``simulate.``.
    """

    world: str = ""
    requests: dict[Exercise, Counted] = {}
    events: dict[Passed, Counted] = {}

    @classmethod
    def of(cls, *others: Tally) -> Tally:
        """Return the sum of the counts of ``others``."""
        whole = cls()
        for other in others:
            whole.take(other)
        return whole

    def note(self, entry: Entry) -> None:
        """Count a request, with the moves of its orders and the rules of their zones that mattered."""
        zones, moves, rules = entry.after.state.zones, list[Move](), dict[str, None]()
        for change in entry.changes:
            before = change.before if isinstance(change.before, Order) else None
            after = change.after if isinstance(change.after, Order) else None
            move = (before.stage if before else None, after.stage if after else None)
            if move[0] is not move[1]:
                moves.append(move)
            if after is not None and after.zone in zones:
                rules |= dict.fromkeys(particulars(zones[after.zone], before, after))
        exercise = Exercise(
            entry.operation,
            entry.stage,
            entry.carried_out,
            entry.refused.rule.code if entry.refused is not None else "",
            entry.error,
            entry.lost and bool(entry.error),
            tuple(moves),
            tuple((rule.kind.name, rule.phase) for rule in entry.faults) if entry.faults else (),
            entry.assumed,
            tuple(rules),
        )
        _count(self.requests, exercise, 1, entry.id, self.world)

    def note_events(self, events: Iterable[RegistryEvent]) -> None:
        """Count timed events and actions of third parties."""
        for event in events:
            # The timed event of a release and a third party's action have the same name.
            name = f"simulate.{event.event}" if event.actor else event.event
            _count(self.events, (name, event.stage), 1)
            if event.note.startswith(f"no {AUTOMATIC_RENEWAL}"):
                _count(self.events, (RENEWAL_FAILED, event.stage), 1)

    def take(self, other: Tally) -> None:
        """Add the counts of ``other``."""
        for exercise, seen in list(other.requests.items()):
            _count(self.requests, exercise, seen.times, seen.first)
        for event, seen in list(other.events.items()):
            _count(self.events, event, seen.times)

    @property
    def canned(self) -> int:
        """The number of requests that got a canned answer."""
        counts = list(self.requests.items())
        return sum(count.times for exercise, count in counts if exercise.operation.startswith(CANNED))

    def clear(self) -> None:
        """Remove all counts."""
        self.requests.clear()
        self.events.clear()


def _count(counts: dict[T, Counted], key: T, times: int, request: str = "", world: str = "") -> None:
    seen = counts.get(key)
    if seen is None:
        counts[key] = Counted(times, f"{world}/{request}" if world else request)
    else:
        seen.times += times


#: The maximum number of records that wait for a slow follower. More would use much memory, because a record
#: refers to two states of the world. ``Follower.missed`` counts the dropped records.
MOST_WAITING = 1000


class FeedRecord(Struct, eq=False):
    """A record in a feed, with its rendered bytes. The server renders it once for all followers."""

    record: Any
    shown: dict[Any, Any] = {}


class Feed:
    """The latest records of a world, shared by all followers. A feed without followers is empty."""

    def __init__(self) -> None:
        self.changed = Condition()
        self.kept: deque[FeedRecord] = deque(maxlen=MOST_WAITING)
        self.count = 0
        self.followers: set[Follower] = set()

    def put(self, records: Iterable[object]) -> None:
        """Pass ``records`` to the followers. Do not call this method without followers."""
        with self.changed:
            for record in records:
                self.kept.append(FeedRecord(record))
                self.count += 1
            self._wake()

    def follow(self) -> Follower:
        """Return a new follower. It gets all records from now on."""
        with self.changed:
            follower = Follower(self)
            self.followers.add(follower)
            return follower

    def end(self) -> None:
        """End all followers, because the world is deleted."""
        with self.changed:
            for follower in self.followers:
                follower.ended = True
            self._wake()
            self.followers.clear()

    def _wake(self) -> None:
        self.changed.notify_all()
        for follower in self.followers:
            if follower.asleep and follower.when_news is not None:
                follower.asleep = False
                follower.when_news()


class Follower:
    """The reading position of one client in a feed. Each client reads at its own speed.

    ``missed`` counts the records that were dropped before the client read them. ``when_news`` is called when
    there are new records. ``ended`` is whether the feed has ended.
    """

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._at = feed.count
        self._past: list[FeedRecord] = []
        self._new = 0
        self.missed = 0
        self.ended = False
        self.asleep = True
        self.when_news: Callable[[], None] | None = None

    def begin(self, past: Iterable[Any]) -> None:
        """Let the next ``take`` return the records in ``past`` before all others."""
        self._past = list(map(FeedRecord, past))

    def take(self) -> list[FeedRecord]:
        """Return the records since the previous call."""
        feed, past, self._past = self._feed, self._past, []
        with feed.changed:
            self.asleep = True
            oldest = feed.count - len(feed.kept)
            self.missed += max(oldest - self._at, 0)
            new = list(islice(feed.kept, max(self._at - oldest, 0), None)) if self._at < feed.count else []
            self._at = feed.count
            self._new = len(new)
            return past + new

    def put_back(self, records: list[FeedRecord]) -> None:
        """Put back ``records`` that were not delivered. The next ``take`` returns them again."""
        with self._feed.changed:
            new = min(len(records), self._new)
            self._at -= new
            self._past = records[: len(records) - new]
            self.asleep = False
        if self.when_news is not None:
            self.when_news()

    def wait(self) -> None:
        """Wait until there are new records or the feed has ended."""
        with self._feed.changed:
            self._feed.changed.wait_for(lambda: self.ended or self._at < self._feed.count)

    def pause(self, seconds: float) -> None:
        """Wait for ``seconds``, or until the feed has ended."""
        if seconds:
            with self._feed.changed:
                self._feed.changed.wait_for(lambda: self.ended, seconds)

    @property
    def count(self) -> int:
        """The number of followers of this feed."""
        return len(self._feed.followers)

    def close(self) -> None:
        """Stop following. Without followers, the feed drops its records."""
        with self._feed.changed:
            self.ended = True
            self._feed.followers.discard(self)
            if not self._feed.followers:
                self._feed.kept.clear()
            self._feed.changed.notify_all()


class DroppedRequest(NamedTuple):
    """The properties of a dropped request that the journal still counts. Their names are those of ``Entry``.

    Equal requests are counted together. So the properties have few values: no domains, for example.
    """

    operation: str
    account: str | None
    status: int
    outcome: str
    carried_out: bool
    changed: bool


class Requests(Quiet, frozen=True):
    """The requests in a history of a world, in the order of their arrival.

    ``entries`` are the latest ones. ``older`` are earlier ones that changed a record, as events. ``dropped``
    is the number of all earlier ones, and ``totals`` counts them by their properties.
    """

    entries: tuple[Entry, ...] = ()
    older: tuple[Event, ...] = ()
    dropped: int = 0
    totals: Mapping[DroppedRequest, int] = {}


class RequestJournal:
    """The latest journal entries, at most ``limits.journal``, and the number of dropped entries.

    The journal keeps a dropped request that changed a record as an event, so that the history of a domain
    stays complete. It keeps at most ``limits.max_events`` of them. ``totals`` counts all dropped requests.
    """

    def __init__(self, limits: Limits, feed: Feed, tally: Tally) -> None:
        self._limits = limits
        self._feed = feed
        self._tally = tally
        self._entries: deque[Entry] = deque(maxlen=limits.journal)
        self._older: deque[Event] = deque(maxlen=limits.max_events)
        self._lock = threading.Lock()
        self.dropped = 0
        self.totals: dict[DroppedRequest, int] = {}

    def add(self, entry: Entry) -> None:
        """Add an entry with its long bodies cut. Drop the oldest entry beyond the limit."""
        limit, cut = self._limits.journal_body, dict[str, object]()
        for body, size in (("body", "body_size"), ("answer", "answer_size")):
            raw: bytes = getattr(entry, body)
            if len(raw) > limit:
                cut |= {body: redact.shortened(raw, limit, entry.secrecy), size: len(raw)}
        entry = replace(entry, **cut) if cut else entry
        with self._lock:
            self._tally.note(entry)
            if len(self._entries) == self._limits.journal:
                self._drop(self._entries[0] if self._entries else entry)
            later = []
            while self._entries and self._entries[-1].number > entry.number:
                # Requests on several threads can finish in another order than they arrived.
                later.append(self._entries.pop())
            self._entries.append(entry)
            self._entries.extend(reversed(later))
            if self._feed.followers:
                self._feed.put((entry,))

    def follow(self) -> tuple[Follower, tuple[Entry, ...]]:
        """Return a follower for the later records of the world, and all entries until now."""
        with self._lock:
            return self._feed.follow(), tuple(self._entries)

    def get(self, name: str) -> Entry:
        """Return the entry of the request ``name``, ``last`` for the latest.

        Refuse with ``unknown_request``.
        """
        for entry in reversed(self.entries):
            if name in (entry.id, "last"):
                return entry
        raise Refused(UNKNOWN_REQUEST, request=name[:40], held=self._held())

    def _held(self) -> str:
        entries, limit = self.entries, f"it keeps the latest {self._limits.journal} requests (--journal)"
        if not entries:
            return f"{limit} and is empty"
        dropped = f", and has dropped {self.dropped} older ones" if self.dropped else ""
        return f"{limit}, now {entries[0].id} to {entries[-1].id}{dropped}"

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries in the order in which their requests arrived."""
        with self._lock:
            return tuple(self._entries)

    @property
    def requests(self) -> Requests:
        """The content of the journal as an immutable value."""
        with self._lock:
            return Requests(tuple(self._entries), tuple(self._older), self.dropped, dict(self.totals))

    @property
    def events(self) -> list[Event]:
        """All requests of the journal as events. The list includes dropped requests that changed a record."""
        with self._lock:
            return [*self._older, *(entry.event for entry in self._entries)]

    def replace(self, requests: Requests) -> None:
        """Replace all requests by ``requests``. Drop the oldest entries beyond the limit."""
        surplus = requests.entries[: max(len(requests.entries) - self._limits.journal, 0)]
        names = self._limits.secret_names  # The requests may be from a server with other names.
        entries = (
            entry if entry.secret_names == names else replace(entry, secret_names=names)
            for entry in requests.entries
        )
        with self._lock:
            self._entries = deque(entries, maxlen=self._limits.journal)
            self._older = deque(requests.older, maxlen=self._limits.max_events)
            self.dropped, self.totals = requests.dropped, dict(requests.totals)
            for entry in surplus:
                self._drop(entry)

    def _drop(self, entry: Entry) -> None:
        """Count a request that the journal drops. Keep it as an event if it changed a record."""
        kind = DroppedRequest(*(getattr(entry, name) for name in DroppedRequest._fields))
        self.dropped += 1
        self.totals[kind] = self.totals.get(kind, 0) + 1
        if entry.changes:
            self._older.append(entry.event)

    def forget_after(self, number: int) -> None:
        """Remove the entries of all requests after request ``number``."""
        with self._lock:
            while self._entries and self._entries[-1].number > number:
                self._entries.pop()

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self._entries)
