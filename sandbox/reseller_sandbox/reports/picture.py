"""The life of a name as a picture in SVG, coloured by what has been walked of it.

The stages stand in a line; what requests do goes above it, and what time does below.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import NamedTuple

from reseller_sandbox.core.dataclass import dataclass
from reseller_sandbox.core.lifecycle import STAGES, TIMED, Edge, edges
from reseller_sandbox.core.model import Stage
from reseller_sandbox.core.state import State
from reseller_sandbox.coverage.figures import ItemCovered
from reseller_sandbox.coverage.items import event_name, transition_name

#: How far stages stand apart, and how high an arc rises for each of them that it passes.
_APART, _RISE = 150, 40

#: The half size of a stage's box.
_WIDE, _HIGH = 62, 24


class Box(NamedTuple):
    """A stage: where it stands, and how many of the operations that matter there were tried."""

    name: str
    x: int
    covered: int
    total: int


@dataclass(frozen=True)
class Arc:
    """A way between two stages: the path to draw, its label and where that stands, what there is to say."""

    path: str
    label: str
    x: float
    y: float
    walked: bool
    words: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Picture:
    """What a page needs to draw it, with the line at 0; it reaches from ``top`` to ``top + height``."""

    boxes: Sequence[Box]
    arcs: Sequence[Arc]
    ends: tuple[int, int]
    width: int
    top: float
    height: float
    wide: int = _WIDE
    high: int = _HIGH


def picture(found: Sequence[ItemCovered]) -> Picture:
    """Return the picture of what has been exercised."""
    walked = {one.item for one in found if one.covered and one.area in ("transitions", "events")}
    arcs = [*_by_request(walked), *_by_time(walked)]
    heights = [arc.y for arc in arcs]
    ends = (_x(None, begins=True), _x(None))
    top = min(heights) - 24
    return Picture(
        [_box(stage, found) for stage in STAGES],
        arcs,
        ends,
        width=ends[1] + _APART // 2,
        top=top,
        height=max(heights) + 24 - top,
    )


def _box(stage: Stage, found: Sequence[ItemCovered]) -> Box:
    tried = [one.covered for one in found if one.area == "stages" and one.item.endswith(f" {stage}")]
    return Box(stage.value, _x(stage), sum(tried), len(tried))


def _x(stage: Stage | None, *, begins: bool = False) -> int:
    at = STAGES.index(stage) + 1 if stage is not None else 0 if begins else len(STAGES) + 1
    return _APART // 2 + at * _APART


def _by_request(walked: set[str]) -> Iterator[Arc]:
    ways: dict[tuple[Stage | None, Stage | None], list[Edge]] = {}
    for edge in edges(State()):
        ways.setdefault((edge.before, edge.after), []).append(edge)
    for (before, after), own in ways.items():
        words = [edge.words for edge in own]
        label = words[0] if len(words) == 1 else f"{words[0]}, …"
        yield _arc(before, after, label, transition_name(own[0]) in walked, words, side=-1)


def _by_time(walked: set[str]) -> Iterator[Arc]:
    for row in TIMED:
        after = None if row.target is Stage.RELEASED else row.target
        yield _arc(row.stage, after, row.event, event_name(row) in walked, [row.period.words], side=1)


def _arc(
    before: Stage | None, after: Stage | None, label: str, walked: bool, words: list[str], *, side: int
) -> Arc:
    """Return the arc from one stage to another, above the line (``side`` -1) or below; back, it is higher."""
    left, right, edge = _x(before, begins=True), _x(after), side * _HIGH
    if left == right:
        rise, begin, end, out = side * 150, left - 20, left + 20, 46
    else:
        back = right < left
        rise = side * (_RISE * abs(right - left) // _APART + 24 + 36 * back)
        begin, end, out = (left - 16, right + 16, 0) if back else (left + 16, right - 16, 0)
    path = f"M {begin} {edge} C {begin - out} {edge + rise}, {end + out} {edge + rise}, {end} {edge}"
    return Arc(path, label, (begin + end) / 2, edge + rise * 0.75, walked, words)
