"""Conversion of fixtures (YAML) to snapshots of worlds, and of snapshots to fixtures."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial

from msgspec import Struct, field

from reseller_sandbox import fixture
from reseller_sandbox.fixture import FixtureError, Seed
from reseller_sandbox.refusals import INVALID_ENTRY, INVALID_FIXTURE, Refused
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.contract import Vocabulary
from reseller_sandbox.values.clock import WorldClock, wire
from reseller_sandbox.values.names import to_unicode
from reseller_sandbox.worlds.snapshot import Snapshot

#: The number of fixtures kept in memory after reading.
REMEMBERED = 16

_LONGEST = 4000


class Fixtures(Struct):
    """Reads fixtures into snapshots, and caches the latest fixtures.

    ``base`` holds the assumptions that a fixture does not set. ``frozen`` is whether the clock is frozen if
    the fixture does not say so. ``own`` is the name or path of the fixture of the server. ``words`` is the
    vocabulary that matches in a fixture may use, or None for any.
    """

    base: Assumptions = field(default_factory=Assumptions)
    frozen: bool = False
    own: str = ""
    words: Vocabulary | None = None
    _read: dict[tuple[str, datetime | None], Seed] = field(default_factory=dict)

    def named(self, name: str, now: datetime | None = None) -> Snapshot:
        """Return the initial snapshot of a packaged fixture, or of the server's own fixture.

        ``now`` replaces the instant in the fixture. Refuse with ``invalid_fixture``.
        """
        path = fixture.packaged(name)
        if path is None and name != self.own:
            problem = f"{name[:80]!r} is not a packaged fixture; send the YAML as state instead"
            raise Refused(INVALID_FIXTURE, problems=problem)
        try:
            path = path or fixture.find(name)
            read = partial(fixture.load, path, now=now, words=self.words)
            return self._snapshot_of(f"file {path} {path.stat().st_mtime_ns}", now, read)
        except (OSError, Refused, FixtureError):
            # Hide the original problem: it quotes the file, and remote clients must not read the file.
            problem = f"{name!r} became invalid after the start. Run reseller-sandbox fixture validate"
            raise Refused(INVALID_FIXTURE, problems=problem) from None

    def text(self, text: str | Mapping[str, object], now: datetime | None = None) -> Snapshot:
        """Return the initial snapshot of a fixture that is YAML text or a mapping.

        Refuse with ``invalid_fixture``.
        """
        if not isinstance(text, str):
            return self._first(_usable(lambda: fixture.loads(text, now=now, words=self.words)))
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        read = partial(fixture.loads, text, name="state", now=now, words=self.words)
        return self._snapshot_of(f"text {digest}", now, read)

    def _snapshot_of(self, source: str, now: datetime | None, load: Callable[[], Seed]) -> Snapshot:
        loaded = self._read.get((source, now))
        if loaded is None:
            loaded = _usable(load)
            for oldest in list(self._read)[: -REMEMBERED + 1 or None]:
                self._read.pop(oldest, None)  # Another thread may have removed the key already.
            self._read[source, now] = loaded
        return self._first(loaded)

    def _first(self, seed: Seed) -> Snapshot:
        frozen = self.frozen if seed.frozen is None else seed.frozen
        return begun(seed, self.base.with_values(seed.assume), frozen)

    def written(self, snapshot: Snapshot) -> str:
        """Return ``snapshot`` as a fixture in YAML.

        Any server that reads it gets the same snapshot.
        """
        values = snapshot.assumptions.values()
        named = {**snapshot.assumptions.departures(), **self.base.departures()}
        seed = Seed(
            snapshot.state,
            snapshot.clock.instant,
            snapshot.clock.frozen,
            {name: values[name] for name in values if name in named},
            snapshot.faults,
            snapshot.answers,
            snapshot.requests,
        )
        return fixture.dumps(seed)


def begun(seed: Seed, assumed: Assumptions, frozen: bool) -> Snapshot:
    """Return the initial snapshot of a world from a fixture."""
    clock = WorldClock(seed.now) if frozen else WorldClock(seed.now).run()
    return Snapshot(seed.state, clock, assumed, seed.requests, seed.faults, seed.answers)


def _usable(load: Callable[[], Seed]) -> Seed:
    """Return the result of ``load``. Refuse with ``invalid_fixture`` and the problems."""
    try:
        return load()
    except FixtureError as error:
        raise Refused(INVALID_FIXTURE, problems=problems_line(error)) from None


def lasting(snapshot: Snapshot) -> Snapshot:
    """Return ``snapshot`` unless an event that is already due ends one of its orders.

    Refuse with ``invalid_entry`` in that case.
    """
    reached, events = snapshot.settled(snapshot.clock.now())
    for event in reversed(events):
        if event.order is not None and event.subject not in reached.state.holding_order:
            gone = f"{to_unicode(event.subject)} is over: the {event.event} was on {wire(event.at)}"
            raise Refused(INVALID_ENTRY, problems=gone)
    return snapshot


def problems_line(error: FixtureError) -> str:
    """Return the problems of a fixture in one line."""
    line = "; ".join(str(error).splitlines()).rstrip(".")
    if len(line) <= _LONGEST:
        return line
    return f"{line[:_LONGEST]}… ({len(error.problems)} problems)"
