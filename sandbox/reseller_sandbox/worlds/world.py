"""A world: a registry with a clock, and the history of its state."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import datetime
from decimal import Decimal
from threading import RLock, local
from time import sleep
from typing import NamedTuple, TypeVar
from weakref import WeakMethod

from msgspec.structs import replace

from reseller_sandbox.refusals import OVER_SPEND_LIMIT, UNKNOWN_WORLD, Refused
from reseller_sandbox.registry.assumptions import Assumptions, watched
from reseller_sandbox.registry.events import RegistryEvent
from reseller_sandbox.registry.ledger import total_charged
from reseller_sandbox.registry.limits import Limits
from reseller_sandbox.registry.state import Change, Draft, State
from reseller_sandbox.registry.stepwise import ENDING
from reseller_sandbox.server.secrecy import secrecy_of
from reseller_sandbox.values.clock import WorldClock, stopwatch
from reseller_sandbox.values.parameters import Quiet
from reseller_sandbox.worlds.credentials import Inherited
from reseller_sandbox.worlds.journal import Feed, RequestJournal, Requests, Tally
from reseller_sandbox.worlds.snapshot import (
    Advance,
    Event,
    EventLog,
    LoggedAction,
    Snapshot,
    changed_settings,
)

T = TypeVar("T")

#: Above this number of due events, a world takes noticeable time to apply them.
MANY_DUE = 200


_HURRIED: ContextVar[bool] = ContextVar("hurried", default=False)


class Busy(Exception):
    """Another thread holds the lock of the world, and the caller cannot wait."""

    def __init__(self, lock: WorldLock) -> None:
        super().__init__()
        self.lock = lock


_SPEND_LIMIT: ContextVar[Decimal | None] = ContextVar("spend_limit", default=None)


@contextmanager
def spending_at_most(limit: Decimal | None) -> Iterator[None]:
    """Refuse and undo a call in this block that raises the charges of a world above ``limit``.

    The charges are the sum of all charges in its ledger, whatever caused them.
    """
    token = _SPEND_LIMIT.set(limit)
    try:
        yield
    finally:
        _SPEND_LIMIT.reset(token)


@contextmanager
def hurried() -> Iterator[None]:
    """Raise ``Busy`` in this block instead of waiting for the lock of a world.

    Use it on the event loop, which serves all worlds and must not wait for one of them.
    """
    token = _HURRIED.set(True)
    try:
        yield
    finally:
        _HURRIED.reset(token)


#: Poll interval in seconds of ``WorldLock.committed``. A holder of the lock that does no long work is fast.
_SOON = 0.001


class WorldLock:
    """A reentrant lock. A caller that cannot wait registers a function with ``when_free``.

    ``read`` returns the present content of the world. ``committed`` calls it between two changes.
    """

    def __init__(self, read: WeakMethod[Callable[[], Content]]) -> None:
        self._lock = RLock()
        self._waiting: deque[Callable[[], None]] = deque()
        self._read = read
        self._depth = 0
        #: The content of the world when the long work that holds the lock began, or None without such work.
        self.before: Content | None = None

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            if _HURRIED.get():
                raise Busy(self)
            self._lock.acquire()
        self._depth += 1
        if self._depth == 1 and ENDING.get() is not None:
            self.before = self._content()

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            self.before = None
        self._lock.release()
        if self._waiting:
            with suppress(IndexError):  # Another thread may take the last function.
                while True:
                    self._waiting.popleft()()

    def when_free(self, call: Callable[[], None]) -> None:
        """Run ``call`` as soon as the lock may be free. Several functions run in order of registration."""
        self._waiting.append(call)
        # The lock may be free already. Otherwise the thread that holds the lock runs the functions.
        with suppress(Busy), hurried(), self:
            pass

    def committed(self) -> Content:
        """Return the last committed content of the world, without waiting for long work."""
        while (before := self.before) is None:
            with suppress(Busy), hurried(), self:
                return self._content()
            sleep(_SOON)
        return before

    def _content(self) -> Content:
        read = self._read()
        assert read is not None, "a world outlives the use of its lock"
        return read()


class Checkpoint(Quiet, frozen=True):
    """A state that a world can go back to, and the requests until then.

    Snapshots and branches are checkpoints.
    """

    name: str
    snapshot: Snapshot
    requests: Requests


class History(Quiet, frozen=True):
    """The points that a world can go back to.

    ``first`` is its very first state, and ``origin`` that of the latest fixture. ``snapshots`` and
    ``branches`` are its checkpoints by name. ``left`` counts the branches that it has left.
    """

    first: Snapshot
    origin: Snapshot
    snapshots: Mapping[str, Checkpoint] = {}
    branches: Mapping[str, Checkpoint] = {}
    left: int = 0


class Content(NamedTuple):
    """The past and the present of a world, as values that belong together."""

    history: History
    snapshot: Snapshot
    inherited: Inherited
    requests: Requests


class World:
    """A registry with a clock. Operations are serial and atomic.

    ``number`` is the number of the world on its server. ``used`` is the time of the latest access, by the
    stopwatch of the machine. ``when_credentials_change`` is called with the world after any change to
    credentials of its accounts. ``inherited`` holds the credentials from its source world.
    """

    def __init__(self, name: str, snapshot: Snapshot, limits: Limits, number: int = 0) -> None:
        self.name = name
        self.number = number
        #: Whether this world is a view of the past, made by ``timeline.seen``. A view refuses changes.
        self.is_past = False
        self.limits = limits
        self.secrecy = secrecy_of(limits.secret_names)
        self.used = stopwatch()
        if snapshot.log.limit != limits.max_events:
            snapshot = replace(snapshot, log=replace(snapshot.log, limit=limits.max_events))
        self.history = History(snapshot, snapshot)
        self.inherited = Inherited()
        self.feed = Feed()
        self.tally = Tally(name)
        self.journal = RequestJournal(limits, self.feed, self.tally)
        # A reference to the method itself would be a cycle: deleted worlds would wait for the collector.
        self.lock = WorldLock(WeakMethod(self._content))
        self.when_credentials_change: Callable[[World], None] | None = None
        #: Makes the draft of each request. ``explore`` replaces this function to record all reads.
        self.drafts: Callable[[State, datetime, Assumptions, str, str], Draft] = Draft
        self._snapshot = snapshot
        self._current = local()

    def _content(self) -> Content:
        return Content(self.history, self._snapshot, self.inherited, self.journal.requests)

    @property
    def snapshot(self) -> Snapshot:
        """The present state of the world."""
        return self._snapshot

    @snapshot.setter
    def snapshot(self, snapshot: Snapshot) -> None:
        earlier, later = self._snapshot.state, snapshot.state
        self._snapshot = snapshot
        changed = (
            later.account_by_key is not earlier.account_by_key
            or later.account_by_token is not earlier.account_by_token
        )
        if changed and self.when_credentials_change is not None:
            self.when_credentials_change(self)

    @property
    def state(self) -> State:
        """The present state of the registry."""
        return self._snapshot.state

    @property
    def assumptions(self) -> Assumptions:
        """The assumptions about points that the contract leaves open."""
        return self._snapshot.assumptions

    @property
    def clock(self) -> WorldClock:
        """The clock of the world."""
        return self._snapshot.clock

    def now(self) -> datetime:
        """Return the time of the world. A later call never returns an earlier time."""
        return self._followed().clock.now()

    def _followed(self) -> Snapshot:
        """Return the present snapshot with its clock caught up. Store it unless the world is locked."""
        followed = self._snapshot.followed()
        if followed is not self._snapshot:
            with suppress(Busy), hurried(), self.lock:
                followed = self.snapshot = self._snapshot.followed()
        return followed

    def next_request(self) -> str:
        """Return the id of the next request: ``r1``, ``r2``, …"""
        with self.lock:
            snapshot = self._snapshot
            number = snapshot.requests + 1
            self._snapshot = replace(
                snapshot, requests=number, log=replace(snapshot.log, number=snapshot.log.number + 1)
            )
            return f"r{number}"

    def transact(
        self,
        cause: str,
        work: Callable[[Draft], T],
        assumed: set[str] | None = None,
        operation: str = "",
        *,
        settled: bool = False,
    ) -> tuple[T, list[Change]]:
        """Run ``work`` on a draft, and commit the draft. Return the result of ``work``, and the changes.

        Due events take effect first, unless ``settled`` says that they have. The assumptions that ``work``
        reads are added to ``assumed``. Ledger entries name ``operation``. Any exception drops the draft and
        propagates.
        """
        with self.lock:
            if not settled:
                self.settle()
            read = assumed if assumed is not None else set()
            snapshot = self._snapshot
            assumptions = watched(snapshot.assumptions, read)
            draft = self.drafts(snapshot.state, snapshot.clock.instant, assumptions, cause, operation)
            result = work(draft)
            if draft.state is not draft.base:
                self.snapshot = replace(self._snapshot, state=draft.result())
            return result, draft.changes()

    @contextmanager
    def undoing(self, *expected: type[Exception], journal: bool = False) -> Iterator[None]:
        """Hold the lock. Roll back the world if the block raises an exception not in ``expected``.

        A signal handler can raise an exception anywhere. Without a rollback, an effect could remain without
        its entry in the journal or the event log. Set ``journal`` if the block removes journal entries.

        Roll back and refuse with ``over_spend_limit`` if the block spends too much (see
        ``spending_at_most``).
        """
        with self.lock:
            snapshot, history = self._snapshot, self.history
            requests = self.journal.requests if journal else None

            def undo() -> None:
                self.history = history
                if requests is None:
                    self.journal.forget_after(snapshot.requests)
                else:
                    self.journal.replace(requests)
                self.snapshot = snapshot

            try:
                yield
            except expected:
                raise
            except GeneratorExit:  # an exception after the end of the block, whose effects remain
                raise
            except BaseException:
                undo()
                raise
            limit, ledger = _SPEND_LIMIT.get(), self._snapshot.state.ledger
            if limit is not None and ledger is not snapshot.state.ledger:
                charged = total_charged(ledger.values())
                if charged > max(limit, total_charged(snapshot.state.ledger.values())):
                    undo()
                    raise Refused(OVER_SPEND_LIMIT, charged=charged, limit=limit)

    @property
    def is_far_behind(self) -> bool:
        """Whether a running clock has more than ``MANY_DUE`` due events to catch up with."""
        clock, calendar = self._snapshot.clock, self._snapshot.state.calendar
        if clock.frozen or (first := calendar.first()) is None or first[0] > (now := clock.now()):
            return False
        return calendar.rank((now,)) > MANY_DUE

    def settle(self) -> list[RegistryEvent]:
        """Apply the events that a running clock has made due. Return them."""
        with self.lock:
            followed = self._snapshot.followed()
            reached, events = followed.settled(followed.clock.instant)
            if reached is not self._snapshot:
                earlier, self.snapshot = self._snapshot.log, reached
                self.tally.note_events(events)
                self._publish(earlier)
            return events

    @property
    def action(self) -> LoggedAction | None:
        """The control call that this thread runs, for the event log."""
        action: LoggedAction | None = getattr(self._current, "action", None)
        return action

    def leave_unlogged(self) -> None:
        """Leave the current control call out of the event log."""
        if self.action is not None:
            self.action.forgotten = True

    def _publish(self, earlier: EventLog) -> None:
        """Pass the events since ``earlier`` to the followers of the world."""
        if self.feed.followers:
            self.feed.put(self._snapshot.log.since(earlier))

    @contextmanager
    def acting(self, name: str, /, **parameters: object) -> Iterator[LoggedAction]:
        """Log a control call and its effects when the block ends. Do not log a refused call.

        ``name`` is its operation and ``parameters`` are JSON. A control call inside the block is part of this
        one.
        """
        if self.action is not None:
            yield self.action
            return
        action, before = LoggedAction(name, parameters), self._followed()
        self._current.action = action
        try:
            yield action
        finally:
            self._current.action = None
        if not action.forgotten:
            with self.lock:
                self._note(action, before)

    def note(self, name: str, parameters: Mapping[str, object]) -> None:
        """Log the control call that created the world."""
        with self.lock:
            self._note(LoggedAction(name, parameters), self._snapshot)

    def _note(self, action: LoggedAction, before: Snapshot) -> None:
        snapshot = self._snapshot
        event = Event(
            number=action.number or snapshot.log.number + 1,
            at=min(before.clock.now(), snapshot.clock.instant),
            kind="control",
            name=action.name,
            parameters=action.parameters,
            changed=tuple(changed_settings(before, snapshot)),
            registry_event=action.registry_event,
            effect=action.effect,
        )
        self.snapshot = replace(snapshot, log=snapshot.log.noted([event]))
        self._publish(snapshot.log)

    def travel(
        self, advance: Advance, *, dry: bool = False, cause: int | None = None
    ) -> tuple[Snapshot, list[RegistryEvent]]:
        """Apply ``advance`` to the world. Return the snapshot that it reaches and the events.

        With ``dry``, change nothing. ``cause`` is the number of the causing request, if the cause is not a
        control call. If ``advance`` raises an error, raise it and change nothing.
        """
        if dry:
            return advance(self._snapshot)
        with self.lock:
            action, begun = self.action, self._snapshot
            number = begun.log.number
            if action is not None and cause is None:
                cause = number = number + 1
            begun = replace(begun, log=replace(begun.log, number=number, cause=cause))
            reached, events = advance(begun)
            if reached is not begun:
                if action is not None:
                    action.number = cause
                self.snapshot = replace(reached, log=replace(reached.log, cause=None))
                self.tally.note_events(events)
                self._publish(begun.log)
            return reached, events

    def change(self, **settings: object) -> None:
        """Replace settings of the present snapshot: its clock, assumptions, faults or answers."""
        with self.lock:
            self.snapshot = replace(self._snapshot, **settings)

    def present(self) -> Snapshot:
        """Return the present snapshot with all due events applied. The world does not change."""
        snapshot = self._followed()
        now = snapshot.clock.now()
        return snapshot.settled(now)[0].at(now)

    def require_present(self) -> None:
        """Refuse with ``unknown_world`` if this world is a view of the past."""
        if self.is_past:
            reason = (
                ": what is past can be looked at and not changed; go back there, or fork a world from there"
            )
            raise Refused(UNKNOWN_WORLD, world=self.name[:80], elsewhere=reason)

    def forget_requests(self) -> int:
        """Clear the journal. Return the number of removed requests."""
        with self.lock, self.acting("journal.clear") as action:
            action.effect["cleared"] = count = len(self.journal)
            self.journal.replace(Requests())
            return count
