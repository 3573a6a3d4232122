"""The declarations that the page needs: of each operation its row and its parameters, and a name's life.

The picture of a name's life has its stages in a line; what requests do goes above it, and what time does
below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reseller_sandbox.core.lifecycle import STAGES, TIMED, edges
from reseller_sandbox.core.model import Stage
from reseller_sandbox.core.signatures import Parameter
from reseller_sandbox.core.state import State
from reseller_sandbox.powers.power import Operation, Power
from reseller_sandbox.v2.interface import V2
from reseller_sandbox.v3.interface import V3
from reseller_sandbox.web.openapi.glossary import Examples

#: How far stages stand apart, and how high an arc rises for each of them that it passes.
_APART, _RISE = 150, 40

#: The half size of a stage's box.
_WIDE, _HIGH = 62, 24


def lifecycle() -> Mapping[str, Any]:
    """Return the layout of every stage and of every way between two.

    The line of the stages is at 0; the picture reaches from ``top`` to ``top + height``.
    """
    arcs = [*_by_request(), *_by_time()]
    heights = [arc["y"] for arc in arcs]
    ends = (_x(None, begins=True), _x(None))
    top = min(heights) - 24
    return {
        "boxes": [(stage.value, _x(stage)) for stage in STAGES],
        "arcs": arcs,
        "ends": ends,
        "width": ends[1] + _APART // 2,
        "top": top,
        "height": max(heights) + 24 - top,
        "wide": _WIDE,
        "high": _HIGH,
    }


def recorded() -> Mapping[str, Any]:
    """Return a recorded request of each operation: what stands in its path, and its body."""
    return {
        interface.name: {
            name: {part: one[part] for part in ("parameters", "body") if part in one}
            for name, one in Examples.of(interface).operations.items()
        }
        for interface in (V3, V2)
    }


def operations(powers: Iterable[type[Power]]) -> Mapping[str, Any]:
    """Return the declaration of each operation: what it takes to call it, and what a form shows."""
    return {
        one.id: {
            "method": one.method,
            "path": one.path,
            "about": one.description,
            "parameters": [_parameter(one, parameter) for parameter in one.parameters],
        }
        for power in powers
        for one in power.operations()
    }


def _parameter(operation: Operation, one: Parameter) -> Mapping[str, Any]:
    return {
        "name": one.name,
        "place": one.place,
        "required": one.required,
        "shape": one.kind.shape,
        "about": operation.told.get(one.name, ""),
    }


def _x(stage: Stage | None, *, begins: bool = False) -> int:
    at = STAGES.index(stage) + 1 if stage is not None else 0 if begins else len(STAGES) + 1
    return _APART // 2 + at * _APART


def _by_request() -> Iterator[dict[str, Any]]:
    ways: dict[tuple[Stage | None, Stage | None], list[str]] = {}
    for edge in edges(State()):
        ways.setdefault((edge.before, edge.after), []).append(edge.words)
    for (before, after), words in ways.items():
        label = words[0] if len(words) == 1 else f"{words[0]}, …"
        yield _arc(before, after, label, words, side=-1)


def _by_time() -> Iterator[dict[str, Any]]:
    for row in TIMED:
        after = None if row.target is Stage.RELEASED else row.target
        yield _arc(row.stage, after, row.event, [row.period.words], side=1)


def _arc(
    before: Stage | None, after: Stage | None, label: str, words: list[str], *, side: int
) -> dict[str, Any]:
    """Return the arc from one stage to another, above the line (``side`` -1) or below; back, it is higher."""
    left, right, edge = _x(before, begins=True), _x(after), side * _HIGH
    if left == right:
        rise, begin, end, out = side * 150, left - 20, left + 20, 46
    else:
        back = right < left
        rise = side * (_RISE * abs(right - left) // _APART + 24 + 36 * back)
        begin, end, out = (left - 16, right + 16, 0) if back else (left + 16, right - 16, 0)
    path = f"M {begin} {edge} C {begin - out} {edge + rise}, {end + out} {edge + rise}, {end} {edge}"
    return {"path": path, "label": label, "x": (begin + end) / 2, "y": edge + rise * 0.75, "words": words}
