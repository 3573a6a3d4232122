"""The layout of the picture of a name's life.

The stages stand in a line; what requests do goes above it, and what time does below.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from reseller_sandbox.core.lifecycle import STAGES, TIMED, Edge, edges
from reseller_sandbox.core.model import Stage
from reseller_sandbox.core.state import State

#: How far stages stand apart, and how high an arc rises for each of them that it passes.
_APART, _RISE = 150, 40

#: The half size of a stage's box.
_WIDE, _HIGH = 62, 24


class Box(NamedTuple):
    """A stage, and where it stands."""

    name: str
    x: int


@dataclass(frozen=True)
class Arc:
    """A way between two stages: the path to draw, its label and where that stands, what there is to say."""

    path: str
    label: str
    x: float
    y: float
    words: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Picture:
    """What a page needs to draw it, with the line at 0; it reaches from ``top`` to ``top + height``."""

    boxes: list[Box]
    arcs: list[Arc]
    ends: tuple[int, int]
    width: int
    top: float
    height: float
    wide: int = _WIDE
    high: int = _HIGH


def picture() -> Picture:
    """Return the layout of every stage and of every way between two."""
    arcs = [*_by_request(), *_by_time()]
    heights = [arc.y for arc in arcs]
    ends = (_x(None, begins=True), _x(None))
    top = min(heights) - 24
    return Picture(
        [Box(stage.value, _x(stage)) for stage in STAGES],
        arcs,
        ends,
        width=ends[1] + _APART // 2,
        top=top,
        height=max(heights) + 24 - top,
    )


def _x(stage: Stage | None, *, begins: bool = False) -> int:
    at = STAGES.index(stage) + 1 if stage is not None else 0 if begins else len(STAGES) + 1
    return _APART // 2 + at * _APART


def _by_request() -> Iterator[Arc]:
    ways: dict[tuple[Stage | None, Stage | None], list[Edge]] = {}
    for edge in edges(State()):
        ways.setdefault((edge.before, edge.after), []).append(edge)
    for (before, after), own in ways.items():
        words = [edge.words for edge in own]
        label = words[0] if len(words) == 1 else f"{words[0]}, …"
        yield _arc(before, after, label, words, side=-1)


def _by_time() -> Iterator[Arc]:
    for row in TIMED:
        after = None if row.target is Stage.RELEASED else row.target
        yield _arc(row.stage, after, row.event, [row.period.words], side=1)


def _arc(before: Stage | None, after: Stage | None, label: str, words: list[str], *, side: int) -> Arc:
    """Return the arc from one stage to another, above the line (``side`` -1) or below; back, it is higher."""
    left, right, edge = _x(before, begins=True), _x(after), side * _HIGH
    if left == right:
        rise, begin, end, out = side * 150, left - 20, left + 20, 46
    else:
        back = right < left
        rise = side * (_RISE * abs(right - left) // _APART + 24 + 36 * back)
        begin, end, out = (left - 16, right + 16, 0) if back else (left + 16, right - 16, 0)
    path = f"M {begin} {edge} C {begin - out} {edge + rise}, {end + out} {edge + rise}, {end} {edge}"
    return Arc(path, label, (begin + end) / 2, edge + rise * 0.75, words)
