"""Worlds: each a registry with its own accounts, clock and assumptions, found by its credentials."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Generic, TypeVar

from sandbox.core import events
from sandbox.core.assumptions import Assumptions, watched
from sandbox.core.clock import Clock, wire
from sandbox.core.events import Fired
from sandbox.core.model import Account
from sandbox.core.refusals import Refused
from sandbox.core.state import Change, Draft, State

T = TypeVar("T")

DEFAULT = "default"


class SetBack(ValueError):
    """A clock that shows ``now`` was asked to go back ``to`` an earlier instant."""

    def __init__(self, now: datetime, to: datetime) -> None:
        super().__init__(f"the clock shows {wire(now)} and does not go back to {wire(to)}")
        self.now = now
        self.to = to


@dataclass(slots=True)
class Outcome(Generic[T]):
    """What came of one request: its result or its refusal, and what it changed."""

    result: T | None = None
    refused: Refused | None = None
    changes: list[Change] = field(default_factory=list)
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """Everything of a world that a moment in it consists of; all of it immutable."""

    state: State
    clock: Clock
    assumptions: Assumptions
    requests: int = 0


class World:
    """A registry in time. Operations take effect one after another, each whole or not at all."""

    def __init__(self, name: str, state: State, clock: Clock, assumptions: Assumptions) -> None:
        self.name = name
        self.origin = Moment(state, clock, assumptions)
        self.moment = self.origin
        self.lock = threading.RLock()

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
        """The instant the world stands at."""
        return self.moment.clock.now()

    def next_request(self) -> str:
        """The name of the next request: ``r1``, ``r2``, …"""
        with self.lock:
            self.moment = replace(self.moment, requests=self.moment.requests + 1)
            return f"r{self.moment.requests}"

    def transact(self, cause: str, work: Callable[[Draft], T], assumed: set[str] | None = None) -> Outcome[T]:
        """Carry out ``work`` on a draft and commit it, or drop the draft when ``work`` refuses.

        What has come due by now happens first. The assumptions that ``work`` reads are added to
        ``assumed``. Anything that ``work`` raises beside
        :class:`Refused` drops the draft too, and is raised on.
        """
        with self.lock:
            now = self.now()
            self._fire_until(now)
            outcome: Outcome[T] = Outcome(at=now)
            read = assumed if assumed is not None else set()
            draft = Draft(self.state, now, watched(self.assumptions, read), cause)
            try:
                outcome.result = work(draft)
            except Refused as refused:
                outcome.refused = refused
            else:
                outcome.changes = draft.changes()
                if draft.state is not draft.base:
                    self._commit(draft.state)
            return outcome

    def settle(self) -> list[Fired]:
        """Let everything happen that a running clock has made due; answers what did."""
        with self.lock:
            return self._fire_until(self.now())

    def move_clock(self, target: Callable[[datetime], datetime]) -> list[Fired]:
        """Move to the instant that ``target`` makes of the present one.

        Everything that comes due on the way happens at its own instant; answers it in order.
        Raises :class:`SetBack` when the world is past the instant already.
        """
        with self.lock:
            now = self.now()
            instant = target(now)
            if instant < now:
                raise SetBack(now, instant)
            fired = self._fire_until(instant)
            self.moment = replace(self.moment, clock=self.clock.at(instant))
            return fired

    def freeze(self) -> None:
        """Stop the clock where it is."""
        with self.lock:
            self.moment = replace(self.moment, clock=self.clock.freeze())

    def run(self) -> None:
        """Let the clock move with the machine's."""
        with self.lock:
            self.moment = replace(self.moment, clock=self.clock.run())

    def reset(self) -> None:
        """Go back to the moment the world began at: registry, clock, counters and assumptions."""
        with self.lock:
            begun = self.origin.clock
            clock = Clock(begun.instant) if begun.frozen else Clock(begun.instant).run()
            self.moment = replace(self.origin, clock=clock)

    def _fire_until(self, instant: datetime) -> list[Fired]:
        fired: list[Fired] = []
        while (due := events.next_due(self.state)) is not None and due[0] <= instant:
            draft = Draft(self.state, due[0], self.assumptions, "")
            draft.cause = f"event:{due[1]}:{due[2]}"
            fired.append(events.fire(draft, due))
            self._commit(draft.state)
        return fired

    def _commit(self, state: State) -> None:
        self.moment = replace(self.moment, state=state)


class Worlds:
    """The worlds of one server, by name, and which of them a credential belongs to."""

    def __init__(self, default: World) -> None:
        self._by_name = {default.name: default}
        self.default = default

    def __iter__(self) -> Iterator[World]:
        return iter(list(self._by_name.values()))

    def get(self, name: str) -> World | None:
        """The world of that name."""
        return self._by_name.get(name)

    def by_key(self, key: str) -> tuple[World, Account] | None:
        """The account with this API key, and its world."""
        return self._find(lambda state: state.account_by_key.get(key))

    def by_token(self, token: str) -> tuple[World, Account] | None:
        """The account with this v2.0 token, and its world."""
        return self._find(lambda state: state.account_by_token.get(token))

    def _find(self, look_up: Callable[[State], int | None]) -> tuple[World, Account] | None:
        for world in self:
            client_id = look_up(world.state)
            if client_id is not None:
                return world, world.state.accounts[client_id]
        return None
