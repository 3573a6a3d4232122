"""What has been exercised, item by item: read from a world's tally, and put together from several runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from reseller_sandbox.coverage.items import checks_stage, event_name, transitions
from reseller_sandbox.registry.assumptions import spelt
from reseller_sandbox.registry.contract import ApiOperation, Contract
from reseller_sandbox.registry.lifecycle import TIMED
from reseller_sandbox.worlds.journal import Counted, Exercise, Tally

#: An item's area and its name in that.
Key = tuple[str, str]

#: The fields of a mark that are added up.
_NUMBERS = ("times", "carried_out", "refused", "injected")


class Mark(Struct):
    """How often an item was met: ``times`` in all; of an operation, how often it was carried out or refused.

    ``injected`` is how often a fault made it up. ``values`` are those that an assumption had, and ``by`` the
    requests that were the first of their kind, or the tests; both in the order in which they came.
    """

    times: int = 0
    carried_out: int = 0
    refused: int = 0
    injected: int = 0
    values: dict[str, None] = field(default_factory=dict)
    by: dict[str, None] = field(default_factory=dict)

    def add(self, other: Mark) -> None:
        """Add what ``other`` has counted."""
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.values |= other.values
        self.by |= other.by

    def since(self, earlier: Mark) -> Mark:
        """Return what has been counted since ``earlier``, or all of it where counting has begun again."""
        if self.times < earlier.times:
            return self
        counted = {name: getattr(self, name) - getattr(earlier, name) for name in _NUMBERS}
        return replace(self, by={}, **counted)


Marks = dict[Key, Mark]


def merged(runs: Iterable[Mapping[Key, Mark]]) -> Marks:
    """Return what several runs have exercised together."""
    whole: Marks = {}
    for run in runs:
        for key, mark in run.items():
            whole.setdefault(key, Mark()).add(mark)
    return whole


def exercised(area: str, mark: Mark) -> bool:
    """Whether an item with such a mark counts as exercised."""
    return (mark.carried_out if area == "operations" else mark.times) > 0


def read(tally: Tally, contract: Contract) -> Marks:
    """Return what a tally has counted, as items."""
    known = {one.id: one for one in contract}
    rows = {(row.event, stage): row for row in TIMED for stage in (row.stage, None)}
    moves = transitions()
    marks: Marks = {}
    for exercise, seen in list(tally.requests.items()):
        for key, one in _met(exercise, seen, known.get(exercise.operation)):
            marks.setdefault(key, Mark()).add(one)
        for move in exercise.moves:
            if move in moves:
                marks.setdefault(("transitions", moves[move]), Mark()).add(_mark(seen))
    for (event, stage), seen in list(tally.events.items()):
        row = rows.get((event, stage)) or rows.get((event, None))
        if row is not None:
            marks.setdefault(("events", event_name(row)), Mark()).add(Mark(times=seen.times))
    return marks


def _mark(seen: Counted, carried_out: int = 0, refused: int = 0, injected: int = 0) -> Mark:
    return Mark(seen.times, carried_out, refused, injected, by={seen.first: None})


def _met(exercise: Exercise, seen: Counted, operation: ApiOperation | None) -> Iterator[tuple[Key, Mark]]:
    """Yield the items that a request met, but for the transitions."""
    times = seen.times
    if operation is not None:
        name = operation.id
        done, refused = times * exercise.carried_out, times * bool(exercise.rule)
        yield ("operations", name), _mark(seen, carried_out=done, refused=refused)
        if exercise.error:
            yield ("errors", f"{name} {exercise.error}"), _mark(seen, injected=times * exercise.injected)
        if exercise.stage is not None and _knew_stage(operation, exercise):
            yield ("stages", f"{name} {exercise.stage}"), _mark(seen, carried_out=done, refused=refused)
    for kind, phase in exercise.faults:
        yield ("faults", f"{kind} {phase}"), _mark(seen)
    for assumption, value in exercise.assumed:
        one = _mark(seen)
        one.values[spelt(value)] = None
        yield ("assumptions", assumption), one


def _knew_stage(operation: ApiOperation, exercise: Exercise) -> bool:
    """Whether a request came as far as to pass its name's stage, or to be refused for it."""
    if exercise.carried_out:
        return True
    begin = checks_stage(operation)
    return begin is not None and exercise.rule in [rule.code for rule in operation.refuses[begin:]]
