"""A world: a registry in time, with the memory of how it came to be as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import local
from typing import Any, Generic, TypeVar

from reseller_sandbox.core.assumptions import Assumptions, watched
from reseller_sandbox.core.clock import Clock, stopwatch
from reseller_sandbox.core.events import Happening
from reseller_sandbox.core.refusals import TOO_MANY_SNAPSHOTS, UNKNOWN_BRANCH, UNKNOWN_SNAPSHOT, Refused
from reseller_sandbox.core.state import Change, Draft, State
from reseller_sandbox.limits import Limits
from reseller_sandbox.worlds import redact
from reseller_sandbox.worlds.diff import settings
from reseller_sandbox.worlds.eventlog import Deed, Event, EventLog
from reseller_sandbox.worlds.inherited import Inherited
from reseller_sandbox.worlds.journal import Entry, Journal
from reseller_sandbox.worlds.moment import Journey, Moment
from reseller_sandbox.worlds.turn import Busy, Turn, hurried

T = TypeVar("T")


@dataclass(slots=True)
class Outcome(Generic[T]):
    """What came of one request: its result or its refusal, and what it changed."""

    result: T | None = None
    refused: Refused | None = None
    changes: list[Change] = field(default_factory=list)
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A line of events that can be taken up again: the moment it came to, and the entries that led there.

    A snapshot is one, and so is the future that a rewind leaves behind.
    """

    name: str
    tip: Moment
    entries: tuple[Entry, ...] = field(repr=False)


class World:
    """A registry in time. Operations take effect one after another, each whole or not at all.

    It begins at ``moment``, which it can be taken back to whatever it has loaded since. ``number`` counts
    the worlds of a server, ``used`` is when it was last asked for something, by the machine's stopwatch.
    ``when_credentials_change`` is called with the world after the credentials of its accounts have changed,
    by whatever means; ``inherited`` are those they had where it comes from.
    """

    def __init__(self, name: str, moment: Moment, limits: Limits | None = None, number: int = 0) -> None:
        limits = limits or Limits()
        self.name = name
        self.number = number
        self.limits = limits
        self.used = stopwatch()
        if moment.log.limit != limits.max_events:
            moment = replace(moment, log=replace(moment.log, limit=limits.max_events))
        self.first = self.origin = moment
        self.inherited = Inherited()
        self.journal = Journal(limits)
        self.snapshots: dict[str, Line] = {}
        self.branches: dict[str, Line] = {}
        self.lock = Turn()
        self.when_credentials_change: Callable[[World], None] | None = None
        self._moment = moment
        self._left = 0
        self._doing = local()

    @property
    def moment(self) -> Moment:
        """What the world is now."""
        return self._moment

    @moment.setter
    def moment(self, moment: Moment) -> None:
        earlier, later = self._moment.state, moment.state
        self._moment = moment
        changed = (
            later.account_by_key is not earlier.account_by_key
            or later.account_by_token is not earlier.account_by_token
        )
        if changed and self.when_credentials_change is not None:
            self.when_credentials_change(self)

    @property
    def state(self) -> State:
        """The registry as it is now."""
        return self.moment.state

    @property
    def assumptions(self) -> Assumptions:
        """What the contract's silences are taken to mean here."""
        return self.moment.assumptions

    @property
    def clock(self) -> Clock:
        """The world's clock."""
        return self.moment.clock

    def now(self) -> datetime:
        """The instant the world stands at: never before one that it has shown."""
        return self._followed().clock.now()

    def _followed(self) -> Moment:
        """The moment with its clock caught up with the machine's; kept, unless the world is busy just now."""
        followed = self.moment.followed()
        if followed is not self.moment:
            with suppress(Busy), hurried(), self.lock:
                followed = self.moment = self.moment.followed()
        return followed

    def next_request(self) -> str:
        """The name of the next request: ``r1``, ``r2``, …"""
        with self.lock:
            moment = self.moment
            self.moment = replace(moment, requests=moment.requests + 1, log=moment.log.counted())
            return f"r{self.moment.requests}"

    def transact(
        self, cause: str, work: Callable[[Draft], T], assumed: set[str] | None = None, operation: str = ""
    ) -> Outcome[T]:
        """Carry out ``work`` on a draft and commit it, or drop the draft when ``work`` refuses.

        What has come due by now happens first. The assumptions that ``work`` reads are added to
        ``assumed``; the ledger names ``operation``. Anything that ``work`` raises beside
        ``Refused`` drops the draft too, and is raised on.
        """
        with self.lock:
            self.settle()
            now = self.now()
            outcome: Outcome[T] = Outcome(at=now)
            read = assumed if assumed is not None else set()
            draft = Draft(self.state, now, watched(self.assumptions, read), cause, operation)
            try:
                outcome.result = work(draft)
            except Refused as refused:
                outcome.refused = refused.with_traceback(None)  # whose frames hold the draft
            else:
                outcome.changes = draft.changes()
                if draft.state is not draft.base:
                    self.moment = replace(self.moment, state=draft.state)
            return outcome

    def settle(self) -> list[Happening]:
        """Let everything happen that a running clock has made due; answers what did."""
        with self.lock:
            followed = self.moment.followed()
            reached, fired = followed.settled(followed.clock.instant)
            if reached is not self.moment:
                self.moment = reached
            return fired

    @contextmanager
    def acting(self, name: str, /, **given: Any) -> Iterator[Deed]:
        """Keep in the event log what a control call does while the context lasts, unless it is refused.

        ``name`` is its operation, ``given`` what it is told, as JSON. What it does by way of other such calls
        is a part of it.
        """
        outer: Deed | None = getattr(self._doing, "deed", None)
        if outer is not None:
            yield outer
            return
        deed, before = Deed(name, redact.masked(given)), self.moment
        self._doing.deed = deed
        try:
            yield deed
        finally:
            self._doing.deed = None
        if not deed.forgotten:
            with self.lock:
                self._note(deed, before)

    def _note(self, deed: Deed, before: Moment) -> None:
        moment = self.moment
        log = moment.log if deed.number is not None else moment.log.counted()
        event = Event(
            number=deed.number or log.number,
            at=min(before.clock.now(), moment.clock.now()),
            kind="control",
            name=deed.name,
            given=deed.given,
            changed=tuple(settings(before, moment)),
            happening=deed.happening,
            effect=deed.effect,
        )
        self.moment = replace(moment, log=log.noted([event]))

    def travel(
        self, journey: Journey, *, dry: bool = False, cause: int | None = None
    ) -> tuple[Moment, list[Happening]]:
        """Go where ``journey`` leads, or with ``dry`` only look; answers the moment reached and what fired.

        ``cause`` is the number of the request that makes it so, where it is no control call. Raises what the
        journey raises, and then nothing has changed.
        """
        if dry:
            return journey(self.moment)
        with self.lock:
            deed: Deed | None = getattr(self._doing, "deed", None)
            begun = self.moment
            if deed is not None and cause is None:
                begun = replace(begun, log=begun.log.counted())
                cause = begun.log.number
            begun = replace(begun, log=begun.log.during(cause))
            reached, fired = journey(begun)
            if reached is not begun:
                if deed is not None:
                    deed.number = cause
                self.moment = replace(reached, log=reached.log.during(None))
            return reached, fired

    def freeze(self) -> None:
        """Stop the clock where it is."""
        with self.lock, self.acting("clock.freeze"):
            self.moment = replace(self.moment, clock=self.clock.freeze())

    def run(self) -> None:
        """Let the clock move with the machine's."""
        with self.lock, self.acting("clock.run"):
            self.moment = replace(self.moment, clock=self.clock.run())

    def assume(self, assumptions: Assumptions) -> None:
        """Take the contract's silences to mean something else from now on."""
        with self.lock, self.acting("assumptions.set"):
            self.moment = replace(self.moment, assumptions=assumptions)

    def present(self) -> Moment:
        """The moment the world stands at, with all that a running clock has made due; it changes nothing."""
        moment = self._followed()
        now = moment.clock.now()
        return moment.settled(now)[0].at(now)

    def reset(self, *, original: bool = False) -> None:
        """Go back to the moment the world began at, with nothing to remember but that.

        Where it has loaded a fixture since, that is the fixture's, or with ``original`` its very first.
        """
        with self.lock, self.acting("reset") as deed:
            deed.forgotten = True
            self.origin = self.first if original else self.origin
            self.moment = _again(self.origin)
            self.journal.clear()
            self.snapshots.clear()
            self.branches.clear()
            self._left = 0

    def begin_again(self, origin: Moment) -> Line:
        """Go on from another beginning; answers the branch that keeps what the world was."""
        with self.lock, self.acting("import"):
            left = self._leave()
            origin = replace(origin, log=EventLog(self.limits.max_events))
            self.origin = origin
            self.moment = _again(origin)
            self.journal.clear()
            return left

    def snapshot(self, name: str) -> Line:
        """Keep this moment under ``name``, in place of what was kept there.

        Refuses with ``too_many_snapshots``.
        """
        with self.lock, self.acting("snapshots.create", name=name):
            if name not in self.snapshots and len(self.snapshots) >= self.limits.max_snapshots:
                raise Refused(
                    TOO_MANY_SNAPSHOTS,
                    count=len(self.snapshots),
                    limit=self.limits.max_snapshots,
                    setting="--max-snapshots",
                )
            kept = self.snapshots[name] = Line(name, self.present(), self.journal.entries)
            return kept

    def restore(self, name: str) -> Line:
        """Go back to the moment kept under ``name``; answers the branch that keeps what was left behind.

        Refuses with ``unknown_snapshot``.
        """
        with self.lock, self.acting("snapshots.restore", name=name):
            kept = self.kept(name)
            return self._go(kept.tip, kept.entries)

    def kept(self, name: str) -> Line:
        """The snapshot of that name; refuses with ``unknown_snapshot``."""
        if name not in self.snapshots:
            raise Refused(UNKNOWN_SNAPSHOT, name=name[:80], known=_listed(self.snapshots))
        return self.snapshots[name]

    def drop_snapshot(self, name: str) -> None:
        """Forget a snapshot; refuses with ``unknown_snapshot``."""
        with self.lock, self.acting("snapshots.delete", name=name):
            del self.snapshots[self.kept(name).name]

    def rewind(self, request: str, *, before: bool) -> Line:
        """Go back to the moment before or after a request; answers the branch that keeps its future.

        Refuses with ``unknown_request``.
        """
        with self.lock, self.acting("rewind", request=request, side="before" if before else "after"):
            entry = self.journal.get(request)
            last = entry.number - 1 if before else entry.number
            entries = [one for one in self.journal if one.number <= last]
            return self._go((entry.before if before else entry.after).at(entry.at), entries)

    def forget_requests(self) -> int:
        """Forget every request in the journal; answers how many there were."""
        with self.lock, self.acting("journal.clear") as deed:
            deed.effect["cleared"] = count = len(self.journal)
            self.journal.clear()
            return count

    def branch(self, name: str) -> Line:
        """The branch of that name; refuses with ``unknown_branch``."""
        if name not in self.branches:
            raise Refused(UNKNOWN_BRANCH, name=name[:80], known=_listed(self.branches))
        return self.branches[name]

    def switch(self, name: str) -> Line:
        """Take up a branch where it ended; answers the branch that what was left behind became.

        Refuses with ``unknown_branch``.
        """
        with self.lock, self.acting("branches.switch", name=name):
            wanted = self.branch(name)
            del self.branches[name]  # first, so that what is left behind takes its place, and no other's
            return self._go(wanted.tip, wanted.entries)

    def drop_branch(self, name: str) -> None:
        """Forget a branch; refuses with ``unknown_branch``."""
        with self.lock, self.acting("branches.delete", name=name):
            del self.branches[self.branch(name).name]

    def _go(self, moment: Moment, entries: Iterable[Entry]) -> Line:
        left = self._leave()
        self.journal.replace(entries)
        self.moment = _again(moment)
        return left

    def _leave(self) -> Line:
        """Keep the present as a branch; past the limit the oldest branch is dropped."""
        self._left += 1
        branch = Line(f"b{self._left}", self.moment.at(self.now()), self.journal.entries)
        self.branches[branch.name] = branch
        self._doing.deed.effect["branch"] = branch.name
        while len(self.branches) > self.limits.max_branches:
            del self.branches[next(iter(self.branches))]
        return branch


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _again(moment: Moment) -> Moment:
    """``moment`` lived again from its instant on, by a clock that runs if it ran."""
    return moment.at(moment.clock.instant)
