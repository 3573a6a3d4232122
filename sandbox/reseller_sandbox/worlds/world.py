"""A world: a registry in time, with the memory of how it came to be as it is."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import datetime
from threading import RLock, local
from typing import Any, Generic, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from reseller_sandbox.registry.assumptions import Assumptions, watched
from reseller_sandbox.registry.clock import WorldClock, stopwatch
from reseller_sandbox.registry.limits import Limits
from reseller_sandbox.registry.parameters import Quiet
from reseller_sandbox.registry.refusals import Refused
from reseller_sandbox.registry.state import Change, Draft, State
from reseller_sandbox.registry.timers import RegistryEvent
from reseller_sandbox.worlds.credentials import Inherited
from reseller_sandbox.worlds.eventlog import Event, EventLog, LoggedAction
from reseller_sandbox.worlds.feed import Feed
from reseller_sandbox.worlds.journal import Entry, RequestJournal, Tally
from reseller_sandbox.worlds.snapshot import Journey, Snapshot, changed_settings

T = TypeVar("T")

#: From how many events on to catch up with them takes noticeable time.
MANY_DUE = 200


_HURRIED: ContextVar[bool] = ContextVar("hurried", default=False)


class Busy(Exception):
    """Another thread is changing the world, and whoever asks has no time to wait for it."""

    def __init__(self, turn: WorldLock) -> None:
        super().__init__()
        self.turn = turn


class hurried:  # noqa: N801  # a context, for every request
    """Raise ``Busy`` in this block wherever a turn would have to be waited for.

    It is meant for the event loop, which serves every world and cannot wait for one of them.
    """

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        self._token = _HURRIED.set(True)

    def __exit__(self, *_: object) -> None:
        _HURRIED.reset(self._token)


class WorldLock:
    """A lock that its holder may take again, and that tells those who could not wait when to come back."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._waiting: deque[Callable[[], None]] = deque()

    def __enter__(self) -> None:
        if self._lock.acquire(blocking=False):
            return
        if _HURRIED.get():
            raise Busy(self)
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
        if self._waiting:
            self._call_back()

    def when_free(self, call: Callable[[], None]) -> None:
        """Call ``call`` as soon as it is worth trying again, in the order in which this was asked for."""
        self._waiting.append(call)
        if self._lock.acquire(blocking=False):  # it has been freed since; otherwise its holder calls
            self.__exit__()

    def _call_back(self) -> None:
        with suppress(IndexError):  # another thread may take the last one
            while True:
                self._waiting.popleft()()


class Outcome(Struct, Generic[T]):
    """What came of one request: its result or its refusal, and what it changed."""

    result: T | None = None
    refused: Refused | None = None
    changes: list[Change] = field(default_factory=list)


class Checkpoint(Quiet, frozen=True):
    """A moment that can be gone back to, and the requests that led there.

    A snapshot is one, and so is the branch that a rewind leaves behind.
    """

    name: str
    snapshot: Snapshot
    entries: tuple[Entry, ...]


class World:
    """A registry in time. Operations take effect one after another, each whole or not at all.

    It begins at ``snapshot``, which it can be taken back to whatever it has loaded since. ``number`` counts
    the worlds of a server, ``left`` the branches that it has left behind, ``used`` is when it was last asked
    for something, by the machine's stopwatch. ``when_credentials_change`` is called with the world after the
    credentials of its accounts have changed, by whatever means; ``inherited`` are those they had where it
    comes from.
    """

    #: Whether it is only to be looked at, as ``worlds.timeline`` has it.
    is_past = False

    def __init__(self, name: str, snapshot: Snapshot, limits: Limits | None = None, number: int = 0) -> None:
        limits = limits or Limits()
        self.name = name
        self.number = number
        self.limits = limits
        self.used = stopwatch()
        if snapshot.log.limit != limits.max_events:
            snapshot = replace(snapshot, log=replace(snapshot.log, limit=limits.max_events))
        self.first = self.origin = snapshot
        self.inherited = Inherited()
        self.feed = Feed()
        self.tally = Tally(name)
        self.journal = RequestJournal(limits, self.feed, self.tally)
        self.snapshots: dict[str, Checkpoint] = {}
        self.branches: dict[str, Checkpoint] = {}
        self.lock = WorldLock()
        self.when_credentials_change: Callable[[World], None] | None = None
        #: What makes the drafts of requests: others than the usual note what is read.
        self.drafts: Callable[[State, datetime, Assumptions, str, str], Draft] = Draft
        self._snapshot_of = snapshot
        self.left = 0
        self._doing = local()

    @property
    def snapshot(self) -> Snapshot:
        """What the world is now."""
        return self._snapshot_of

    @snapshot.setter
    def snapshot(self, snapshot: Snapshot) -> None:
        earlier, later = self._snapshot_of.state, snapshot.state
        self._snapshot_of = snapshot
        changed = (
            later.account_by_key is not earlier.account_by_key
            or later.account_by_token is not earlier.account_by_token
        )
        if changed and self.when_credentials_change is not None:
            self.when_credentials_change(self)

    @property
    def state(self) -> State:
        """The registry as it is now."""
        return self._snapshot_of.state

    @property
    def assumptions(self) -> Assumptions:
        """What the contract's silences are taken to mean here."""
        return self._snapshot_of.assumptions

    @property
    def clock(self) -> WorldClock:
        """The world's clock."""
        return self._snapshot_of.clock

    def now(self) -> datetime:
        """Return the instant the world stands at, which is never before one that it has shown."""
        return self._followed().clock.now()

    def _followed(self) -> Snapshot:
        """Catch the clock up with the machine's and return the moment; keep it unless the world is busy."""
        followed = self._snapshot_of.followed()
        if followed is not self._snapshot_of:
            with suppress(Busy), hurried(), self.lock:
                followed = self.snapshot = self._snapshot_of.followed()
        return followed

    def next_request(self) -> str:
        """Return the name of the next request: ``r1``, ``r2``, …"""
        with self.lock:
            snapshot = self._snapshot_of
            number = snapshot.requests + 1
            self._snapshot_of = replace(snapshot, requests=number, log=snapshot.log.counted())
            return f"r{number}"

    def transact(
        self,
        cause: str,
        work: Callable[[Draft], T],
        assumed: set[str] | None = None,
        operation: str = "",
        *,
        settled: bool = False,
    ) -> Outcome[T]:
        """Carry out ``work`` on a draft and commit it, or drop the draft when ``work`` refuses.

        What has come due by now happens first, unless ``settled`` says that it has. The assumptions that
        ``work`` reads are added to ``assumed``; the ledger names ``operation``. Anything it raises beside
        ``Refused`` drops the draft too, and is raised on.
        """
        with self.lock:
            if not settled:
                self.settle()
            outcome: Outcome[T] = Outcome()
            read = assumed if assumed is not None else set()
            snapshot = self._snapshot_of
            meant = watched(snapshot.assumptions, read)
            draft = self.drafts(snapshot.state, snapshot.clock.instant, meant, cause, operation)
            try:
                outcome.result = work(draft)
            except Refused as refused:
                outcome.refused = refused.with_traceback(None)  # whose frames hold the draft
            else:
                outcome.changes = draft.changes()
                if draft.state is not draft.base:
                    self.snapshot = replace(self._snapshot_of, state=draft.made())
            return outcome

    @contextmanager
    def undoing(self, *expected: type[Exception], journal: bool = False) -> Iterator[None]:
        """Hold the lock. Any exception but the ``expected`` ones takes back the changes of the block.

        A signal handler can raise at any place, so that an effect would stay without its entry in the
        journal or the event log. ``journal`` is for a block that does more to the journal than to add.
        """
        with self.lock:
            snapshot, origin, left = self._snapshot_of, self.origin, self.left
            kept = dict(self.snapshots), dict(self.branches), self.journal.entries if journal else None
            try:
                yield
            except expected:
                raise
            except BaseException:
                self.snapshots, self.branches, entries = kept
                self.origin, self.left = origin, left
                if entries is None:
                    self.journal.forget_after(snapshot.requests)
                else:
                    self.journal.replace(entries)
                self.snapshot = snapshot
                raise

    @property
    def is_far_behind(self) -> bool:
        """Whether a running clock has made so much due that to catch up takes noticeable time."""
        clock, calendar = self._snapshot_of.clock, self._snapshot_of.state.calendar
        if clock.frozen or (first := calendar.first()) is None or first[0] > (now := clock.now()):
            return False
        return calendar.rank((now,)) > MANY_DUE

    def settle(self) -> list[RegistryEvent]:
        """Let everything happen that a running clock has made due; return what did."""
        with self.lock:
            followed = self._snapshot_of.followed()
            reached, events = followed.settled(followed.clock.instant)
            if reached is not self._snapshot_of:
                earlier, self.snapshot = self._snapshot_of.log, reached
                self.tally.note_events(events)
                self._tell(earlier)
            return events

    @property
    def action(self) -> LoggedAction | None:
        """The control call that this thread is carrying out, for the event log."""
        found: LoggedAction | None = getattr(self._doing, "action", None)
        return found

    def leave_unlogged(self) -> None:
        """Keep the control call that is being carried out, if any, out of the event log."""
        if self.action is not None:
            self.action.forgotten = True

    def _tell(self, earlier: EventLog) -> None:
        """Let those who follow the world have what has been noted since ``earlier``."""
        if self.feed.followers:
            self.feed.put(self._snapshot_of.log.since(earlier))

    @contextmanager
    def acting(self, name: str, /, **given: Any) -> Iterator[LoggedAction]:
        """Keep in the event log what a control call does while the context lasts, unless it is refused.

        ``name`` is its operation, ``given`` what it is told, as JSON. What it does by way of other such calls
        is a part of it.
        """
        if self.action is not None:
            yield self.action
            return
        action, before = LoggedAction(name, given), self._followed()
        self._doing.action = action
        try:
            yield action
        finally:
            self._doing.action = None
        if not action.forgotten:
            with self.lock:
                self._note(action, before)

    def note(self, name: str, given: Mapping[str, Any]) -> None:
        """Keep in the event log a control call that has made the world."""
        with self.lock:
            self._note(LoggedAction(name, given), self._snapshot_of)

    def _note(self, action: LoggedAction, before: Snapshot) -> None:
        snapshot = self._snapshot_of
        log = snapshot.log if action.number is not None else snapshot.log.counted()
        event = Event(
            number=action.number or log.number,
            at=min(before.clock.now(), snapshot.clock.instant),
            kind="control",
            name=action.name,
            given=action.given,
            changed=tuple(changed_settings(before, snapshot)),
            registry_event=action.registry_event,
            effect=action.effect,
        )
        self.snapshot = replace(snapshot, log=log.noted([event]))
        self._tell(snapshot.log)

    def travel(
        self, journey: Journey, *, dry: bool = False, cause: int | None = None
    ) -> tuple[Snapshot, list[RegistryEvent]]:
        """Go where ``journey`` leads, or with ``dry`` only look; return the moment reached and what fired.

        ``cause`` is the number of the request that makes it so, where it is no control call. Raise what the
        journey raises, and then nothing has changed.
        """
        if dry:
            return journey(self._snapshot_of)
        with self.lock:
            action, begun = self.action, self._snapshot_of
            if action is not None and cause is None:
                begun = replace(begun, log=begun.log.counted())
                cause = begun.log.number
            begun = replace(begun, log=begun.log.during(cause))
            reached, events = journey(begun)
            if reached is not begun:
                if action is not None:
                    action.number = cause
                self.snapshot = replace(reached, log=reached.log.during(None))
                self.tally.note_events(events)
                self._tell(begun.log)
            return reached, events

    def freeze(self) -> None:
        """Stop the clock where it is."""
        with self.lock:
            self.snapshot = replace(self._snapshot_of, clock=self.clock.freeze())

    def run(self) -> None:
        """Let the clock move with the machine's."""
        with self.lock:
            self.snapshot = replace(self._snapshot_of, clock=self.clock.run())

    def assume(self, assumptions: Assumptions) -> None:
        """Take the contract's silences to mean something else from now on."""
        with self.lock:
            self.snapshot = replace(self._snapshot_of, assumptions=assumptions)

    def present(self) -> Snapshot:
        """Return the moment after all that a running clock has made due; change nothing."""
        snapshot = self._followed()
        now = snapshot.clock.now()
        return snapshot.settled(now)[0].at(now)

    def forget_requests(self) -> int:
        """Forget every request in the journal; return how many there were."""
        with self.lock, self.acting("journal.clear") as action:
            action.effect["cleared"] = count = len(self.journal)
            self.journal.clear()
            return count
