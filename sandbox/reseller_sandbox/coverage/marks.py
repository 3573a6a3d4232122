"""The counts of exercised items, read from a world's tally or merged from runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from reseller_sandbox.coverage.items import checks_stage, event_name, transitions
from reseller_sandbox.registry.assumptions import spelt
from reseller_sandbox.registry.contract import ApiOperation, Contract
from reseller_sandbox.registry.lifecycle import TIMED
from reseller_sandbox.worlds.journal import Counted, Exercise, Tally

#: An item's area and its name in the area.
Key = tuple[str, str]

#: The numeric fields of a mark.
_NUMBERS = ("times", "carried_out", "refused", "injected")


class Mark(Struct):
    """How often an item was seen: ``times`` in total.

    For an operation, ``carried_out`` and ``refused`` count the outcomes. ``injected`` counts errors that a
    fault injected. ``values`` are the values of an assumption. ``by`` lists the requests or tests that first
    exercised the item. Both are in order of appearance.
    """

    times: int = 0
    carried_out: int = 0
    refused: int = 0
    injected: int = 0
    values: dict[str, None] = field(default_factory=dict)
    by: dict[str, None] = field(default_factory=dict)

    def add(self, other: Mark) -> None:
        """Add the counts of ``other``."""
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.values |= other.values
        self.by |= other.by

    def since(self, earlier: Mark) -> Mark:
        """Return the counts since ``earlier``, or all counts after a reset."""
        if self.times < earlier.times:
            return self
        counted = {name: getattr(self, name) - getattr(earlier, name) for name in _NUMBERS}
        return replace(self, by={}, **counted)


Marks = dict[Key, Mark]


def total(counts: Iterable[tuple[Key, Mark]]) -> Marks:
    """Return the sum of the counts of each item."""
    marks: Marks = {}
    for key, mark in counts:
        marks.setdefault(key, Mark()).add(mark)
    return marks


def exercised(area: str, mark: Mark) -> bool:
    """Whether an item with this mark counts as exercised."""
    return (mark.carried_out if area == "operations" else mark.times) > 0


def read(tally: Tally, contract: Contract) -> Marks:
    """Return the counts of a tally by item."""
    return total(_counts(tally, {operation.id: operation for operation in contract}))


def _counts(tally: Tally, operations: Mapping[str, ApiOperation]) -> Iterator[tuple[Key, Mark]]:
    moves = transitions()
    for exercise, seen in list(tally.requests.items()):
        yield from _exercised_by(exercise, seen, operations.get(exercise.operation))
        yield from ((("transitions", moves[move]), _mark(seen)) for move in exercise.moves if move in moves)
    rows = {(row.event, stage): row for row in TIMED for stage in (row.stage, None)}
    for (event, stage), seen in list(tally.events.items()):
        if (row := rows.get((event, stage)) or rows.get((event, None))) is not None:
            yield ("events", event_name(row)), Mark(times=seen.times)


def _mark(seen: Counted, carried_out: int = 0, refused: int = 0, injected: int = 0) -> Mark:
    return Mark(seen.times, carried_out, refused, injected, by={seen.first: None})


def _exercised_by(
    exercise: Exercise, seen: Counted, operation: ApiOperation | None
) -> Iterator[tuple[Key, Mark]]:
    """Yield the items that a request exercised, except for transitions."""
    times = seen.times
    if operation is not None:
        name = operation.id
        done, refused = times * exercise.carried_out, times * bool(exercise.rule)
        yield ("operations", name), _mark(seen, carried_out=done, refused=refused)
        if exercise.error:
            yield ("errors", f"{name} {exercise.error}"), _mark(seen, injected=times * exercise.injected)
        if exercise.stage is not None and _shows_stage(operation, exercise):
            yield ("stages", f"{name} {exercise.stage}"), _mark(seen, carried_out=done, refused=refused)
    for kind, phase in exercise.faults:
        yield ("faults", f"{kind} {phase}"), _mark(seen)
    for assumption, value in exercise.assumed:
        mark = _mark(seen)
        mark.values[spelt(value)] = None
        yield ("assumptions", assumption), mark


def _shows_stage(operation: ApiOperation, exercise: Exercise) -> bool:
    """Whether a request passed the check of the stage, or was refused by it."""
    if exercise.carried_out:
        return True
    begin = checks_stage(operation)
    return begin is not None and exercise.rule in [rule.code for rule in operation.refuses[begin:]]
