"""Worlds as fixtures: first moments read from YAML, and any moment written back as YAML."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from reseller_sandbox import fixture
from reseller_sandbox.fixture import FixtureError, Seed
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.clock import WorldClock, wire
from reseller_sandbox.registry.contract import Vocabulary
from reseller_sandbox.registry.names import to_unicode
from reseller_sandbox.registry.refusals import INVALID_ENTRY, INVALID_FIXTURE, Refused
from reseller_sandbox.worlds.snapshot import Snapshot

#: How many fixtures are remembered once they have been read.
REMEMBERED = 16

#: How many worlds are remembered as they were written last.
EXPORTED = 4

_LONGEST = 4000


class Fixtures(Struct):
    """Reads fixtures into first moments; the latest ones read are remembered.

    ``base`` are the assumptions where a fixture names none, ``frozen`` is whether the clock stands still
    there. ``own`` is the fixture that the server was started with, a name or a path; ``words`` are those that
    the matches in a fixture may use, None for any.
    """

    base: Assumptions = field(default_factory=Assumptions)
    frozen: bool = False
    own: str = ""
    words: Vocabulary | None = None
    _read: dict[tuple[str, datetime | None], Seed] = field(default_factory=dict)
    _exported: tuple[tuple[Snapshot, str], ...] = ()

    def named(self, name: str, now: datetime | None = None) -> Snapshot:
        """Return the first moment of a packaged fixture, or of the server's own.

        ``now`` takes the place of the fixture's own instant. Refuse with ``invalid_fixture``.
        """
        path = fixture.packaged(name)
        if path is None and name != self.own:
            problem = f"{name[:80]!r} is no packaged fixture's name; send its YAML as state instead"
            raise Refused(INVALID_FIXTURE, problems=problem)
        try:
            return self.file(path or fixture.find(name), now)
        except (Refused, FixtureError):
            # What is wrong would quote the file, which nobody is to read from elsewhere.
            problem = (
                f"{name!r} was usable when the server started and is not now; see reseller-sandbox check"
            )
            raise Refused(INVALID_FIXTURE, problems=problem) from None

    def file(self, path: Path, now: datetime | None = None) -> Snapshot:
        """Return the first moment of the fixture in a file; refuse with ``invalid_fixture``."""
        try:
            version = path.stat().st_mtime_ns
        except OSError:
            version = 0
        read = partial(fixture.load, path, now=now, words=self.words)
        return self._snapshot_of(f"file {path} {version}", now, read)

    def text(self, text: str | Mapping[str, Any], now: datetime | None = None) -> Snapshot:
        """Return the first moment of a fixture: its text or a mapping; refuse with ``invalid_fixture``."""
        if not isinstance(text, str):
            return self._first(_usable(lambda: fixture.loads(text, now=now, words=self.words)))
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        read = partial(fixture.loads, text, name="state", now=now, words=self.words)
        return self._snapshot_of(f"text {digest}", now, read)

    def _snapshot_of(self, source: str, now: datetime | None, load: Callable[[], Seed]) -> Snapshot:
        found = self._read.get((source, now))
        if found is None:
            found = _usable(load)
            for oldest in list(self._read)[: -REMEMBERED + 1 or None]:
                self._read.pop(oldest, None)  # which another thread may have done
            self._read[source, now] = found
        return self._first(found)

    def _first(self, found: Seed) -> Snapshot:
        frozen = self.frozen if found.frozen is None else found.frozen
        clock = WorldClock(found.now) if frozen else WorldClock(found.now).run()
        return Snapshot(found.state, clock, self.base.with_values(found.assume), found.requests, found.faults)

    def written(self, snapshot: Snapshot) -> str:
        """Return ``snapshot`` as a fixture, which read again, by any server, leads to the same moment.

        The latest few are remembered, so that a world that has not changed is written once.
        """
        for known, text in self._exported:
            if _is_same(known, snapshot):
                return text
        text = self._written(snapshot)
        self._exported = ((snapshot, text), *self._exported[: EXPORTED - 1])
        return text

    def _written(self, snapshot: Snapshot) -> str:
        values = snapshot.assumptions.values()
        said = {**snapshot.assumptions.departures(), **self.base.departures()}
        return fixture.dumps(
            snapshot.state,
            snapshot.clock.instant,
            frozen=snapshot.clock.frozen,
            assume={name: values[name] for name in values if name in said},
            book=snapshot.faults,
            requests=snapshot.requests,
        )


def _is_same(one: Snapshot, other: Snapshot) -> bool:
    """Whether two moments are alike, as far as that can be told at once: by what they are made of."""
    if one.state is not other.state or one.faults is not other.faults or one.requests != other.requests:
        return False
    clocks = [(snapshot.clock.instant, snapshot.clock.frozen) for snapshot in (one, other)]
    return clocks[0] == clocks[1] and one.assumptions == other.assumptions


def _usable(load: Callable[[], Seed]) -> Seed:
    """Return what ``load`` does; refuse with ``invalid_fixture``, and what is wrong."""
    try:
        return load()
    except FixtureError as error:
        raise Refused(INVALID_FIXTURE, problems=told(error)) from None


def lasting(snapshot: Snapshot) -> Snapshot:
    """Return ``snapshot``, to which something has been added; refuse where time has let go of that by
    then."""
    reached, events = snapshot.settled(snapshot.clock.now())
    for one in reversed(events):
        if one.order is not None and one.subject not in reached.state.holding_order:
            gone = f"{to_unicode(one.subject)} is over: the {one.event} was on {wire(one.at)}"
            raise Refused(INVALID_ENTRY, problems=gone)
    return snapshot


def told(error: FixtureError) -> str:
    """Return what is wrong with a fixture, in one line."""
    line = "; ".join(str(error).splitlines()).rstrip(".")
    if len(line) <= _LONGEST:
        return line
    return f"{line[:_LONGEST]}… ({len(error.problems)} problems)"
