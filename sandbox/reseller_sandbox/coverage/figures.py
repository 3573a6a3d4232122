"""The coverage figures: the counts of each item, and the shares of exercised items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from reseller_sandbox.coverage.items import AREAS, COUNTS, Item, checks_stage, event_name, transitions
from reseller_sandbox.coverage.situations import SITUATIONS
from reseller_sandbox.registry.assumptions import spelt
from reseller_sandbox.registry.contract import ApiOperation, Contract
from reseller_sandbox.registry.lifecycle import TIMED
from reseller_sandbox.worlds.journal import Counted, Exercise, Tally

S = TypeVar("S")

#: The area of an item, and its name in the area, such as ``("errors", "v3.renewDomain locked")``.
Key = tuple[str, str]

#: The fields of ``Mark`` that are numbers.
_NUMBERS = ("times", "carried_out", "refused", "injected")


class Mark(Struct):
    """How often an item of the contract was seen: ``times`` in total.

    For an operation, ``carried_out`` and ``refused`` count the outcomes. ``injected`` counts errors that a
    fault injected. ``values`` are the values of an assumption, and ``by`` the requests or tests that first
    exercised the item, each in order of appearance.
    """

    times: int = 0
    carried_out: int = 0
    refused: int = 0
    injected: int = 0
    values: dict[str, None] = field(default_factory=dict)
    by: dict[str, None] = field(default_factory=dict)

    def add(self, other: Mark) -> None:
        """Add the counts of ``other`` to this mark."""
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.values |= other.values
        self.by |= other.by

    def since(self, earlier: Mark) -> Mark:
        """Return the counts since ``earlier``. If the counts were reset after that, return all of them."""
        if self.times < earlier.times:
            return self
        counted = {name: getattr(self, name) - getattr(earlier, name) for name in _NUMBERS}
        return replace(self, by={}, **counted)


Marks = dict[Key, Mark]


def total(counts: Iterable[tuple[Key, Mark]]) -> Marks:
    """Add up the counts of each item."""
    marks: Marks = {}
    for key, mark in counts:
        marks.setdefault(key, Mark()).add(mark)
    return marks


def marks_of(tally: Tally, contract: Contract) -> Marks:
    """Return how often each item was seen, from the usage counts in ``tally``."""
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
        for situation in SITUATIONS:
            if event in situation.events:
                yield ("situations", situation.name), Mark(times=seen.times)


def _mark(seen: Counted, carried_out: int = 0, refused: int = 0, injected: int = 0) -> Mark:
    return Mark(seen.times, carried_out, refused, injected, by={seen.first: None})


def _exercised_by(
    exercise: Exercise, seen: Counted, operation: ApiOperation | None
) -> Iterator[tuple[Key, Mark]]:
    """Yield the items that a request exercised, except transitions. Each item comes with its counts."""
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
    for situation in SITUATIONS:
        if situation.met_by(exercise, operation):
            yield ("situations", situation.name), _mark(seen)


def _shows_stage(operation: ApiOperation, exercise: Exercise) -> bool:
    """Whether a request passed the check of the name's stage, or was refused by that check."""
    if exercise.carried_out:
        return True
    begin = checks_stage(operation)
    return begin is not None and exercise.rule in [rule.code for rule in operation.refuses[begin:]]


class _Share(Struct, frozen=True, kw_only=True):
    """The number and the percentage of covered items in a set of items, which ``about`` describes."""

    covered: int
    total: int
    percentage: float
    about: str

    def __str__(self) -> str:
        """Return the share as a line, such as ``all: 120 of 400, 30 %``."""
        name = getattr(self, self.__struct_fields__[0])
        return f"{name}: {self.covered} of {self.total}, {self.percentage:g} %"


class AreaCovered(_Share, frozen=True):
    """The coverage of one area, such as ``errors``.

    ``about`` describes the items of the area, and when an item counts as exercised.
    """

    area: str


class Figure(_Share, frozen=True):
    """The coverage of one set of items. ``name`` names the set, and ``about`` describes the items."""

    name: str


#: The figures, each with a description of its items. A minimum without a name, such as ``90``, is for the
#: first figure.
FIGURES: Mapping[str, str] = {
    "used": "operations that you use, and the stages of names for them",
    "used-errors": "documented errors of the operations that you use",
    "all": "the whole contract",
}


class ItemCovered(Struct, frozen=True, kw_only=True):
    """One item of the contract, with its counts.

    ``times`` counts all requests that exercised the item. For an operation, ``carried_out`` and ``refused``
    count the outcomes. For an error, ``injected`` counts the errors that a fault injected. ``values`` lists
    the values of an assumption.
    """

    area: str
    item: str
    operation: str | None
    covered: bool
    times: int
    carried_out: int
    refused: int
    injected: int
    values: tuple[str, ...]
    by: tuple[str, ...]

    @property
    def key(self) -> Key:
        """The area and the name, which identify the item."""
        return self.area, self.item

    @property
    def mark(self) -> Mark:
        """The counts of the item."""
        seen = {name: getattr(self, name) for name in Mark.__struct_fields__}
        return Mark(**{**seen, "values": dict.fromkeys(self.values), "by": dict.fromkeys(self.by)})

    @property
    def only_injected(self) -> bool:
        """Whether this is an error that faults caused, but never a rule of the registry."""
        return self.area == "errors" and self.covered and self.injected == self.times


def covered(items: Iterable[Item], marks: Mapping[Key, Mark], most: int | None = None) -> list[ItemCovered]:
    """Return every item with its counts, and whether it counts as exercised.

    With ``most``, an item lists at most that many of its requests or tests.
    """
    nothing = Mark()
    return [
        ItemCovered(
            area=item.area,
            item=item.name,
            operation=item.operation or None,
            # An operation must be carried out, any other item only seen.
            covered=(mark.carried_out if item.area == "operations" else mark.times) > 0,
            **{**asdict(mark), "values": tuple(mark.values), "by": tuple(mark.by)[:most]},
        )
        for item, mark in ((item, marks.get(item.key, nothing)) for item in items)
    ]


def summary(items: Sequence[ItemCovered]) -> dict[str, Any]:
    """Return the coverage of ``items`` in total, by figure and by area, as fields of a record.

    An operation is used if a request has called it.
    """
    used = {item.operation for item in items if item.area == "operations" and item.times}
    of_used = [item for item in items if item.operation in used]
    counted = {
        "used": [item for item in of_used if item.area != "errors"],
        "used-errors": [item for item in of_used if item.area == "errors"],
        "all": items,
    }
    by_area = {area: own for area in AREAS if (own := [item for item in items if item.area == area])}
    return {
        **_share(items),
        "counts": COUNTS,
        "figures": tuple(Figure(each, about=FIGURES[each], **_share(own)) for each, own in counted.items()),
        "areas": tuple(AreaCovered(area, about=AREAS[area], **_share(own)) for area, own in by_area.items()),
    }


def _share(items: Sequence[ItemCovered]) -> dict[str, Any]:
    """Return the coverage of ``items``. The percentage is rounded down, so that only full coverage is 100."""
    covered, total = sum(item.covered for item in items), len(items)
    return {"covered": covered, "total": total, "percentage": covered * 1000 // (total or 1) / 10}
