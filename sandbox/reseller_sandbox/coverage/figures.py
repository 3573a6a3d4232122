"""The coverage figures: three in total, one of each area, and the counts of each item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import asdict

from reseller_sandbox.coverage.items import AREAS, Item
from reseller_sandbox.coverage.marks import Key, Mark, exercised


class AreaCovered(Struct, frozen=True, kw_only=True):
    """The coverage of one area.

    ``about`` describes its items and when an item counts as exercised.
    """

    area: str
    covered: int
    total: int
    percentage: float
    about: str

    def __str__(self) -> str:
        """Return the figures in one line."""
        return f"{self.area}: {self.covered} of {self.total}, {self.percentage:g} %"


class Figure(Struct, frozen=True, kw_only=True):
    """One of the three figures of a report, called ``name``. ``about`` says which items it counts."""

    name: str
    covered: int
    total: int
    percentage: float
    about: str

    def __str__(self) -> str:
        """Return the figure in one line."""
        return f"{self.about}: {self.covered} of {self.total}, {self.percentage:g} %"


#: The figures, the default of a minimum first, each with the items that it counts.
FIGURES: Mapping[str, str] = {
    "used": "operations that you use, and the stages of names for them",
    "used-errors": "documented errors of the operations that you use",
    "all": "the whole contract",
}


class ItemCovered(Struct, frozen=True, kw_only=True):
    """One item with its counts. For the fields, see ``Mark``."""

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
        """Whether this is an error that only faults caused, never a rule."""
        return self.area == "errors" and self.covered and self.injected == self.times


def covered(items: Iterable[Item], marks: Mapping[Key, Mark], most: int | None = None) -> list[ItemCovered]:
    """Return every item with its counts.

    With ``most``, an item lists at most that many of its requests or tests.
    """
    nothing = Mark()
    return [
        ItemCovered(
            area=item.area,
            item=item.name,
            operation=item.operation or None,
            covered=exercised(item.area, mark),
            **{**asdict(mark), "values": tuple(mark.values), "by": tuple(mark.by)[:most]},
        )
        for item, mark in ((item, marks.get(item.key, nothing)) for item in items)
    ]


def areas(items: Sequence[ItemCovered]) -> list[AreaCovered]:
    """Return the figures of each area that has items."""
    flags = {area: [item.covered for item in items if item.area == area] for area in AREAS}
    return [
        AreaCovered(
            area=area,
            covered=sum(covered),
            total=len(covered),
            percentage=percentage(sum(covered), len(covered)),
            about=AREAS[area],
        )
        for area, covered in flags.items()
        if covered
    ]


def figures(items: Sequence[ItemCovered]) -> list[Figure]:
    """Return the three figures. An operation is used if a request has called it."""
    used = {item.operation for item in items if item.area == "operations" and item.times}
    of_used = [item for item in items if item.operation in used]
    counted = {
        "used": [item for item in of_used if item.area != "errors"],
        "used-errors": [item for item in of_used if item.area == "errors"],
        "all": items,
    }
    return [
        Figure(
            name=name,
            covered=(covered := sum(item.covered for item in counted[name])),
            total=len(counted[name]),
            percentage=percentage(covered, len(counted[name]) or 1),
            about=about,
        )
        for name, about in FIGURES.items()
    ]


def percentage(count: int, total: int) -> float:
    """Return the share in percent, rounded down to one digit, so that only complete coverage is 100."""
    return count * 1000 // total / 10 if total else 100.0
