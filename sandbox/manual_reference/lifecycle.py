"""The page of the lifecycle: stages, possible actions and transitions by time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from manual_reference.markdown import block, code, prose, table
from manual_reference.pages import Resources
from reseller_sandbox.manual.diagram import mermaid, when
from reseller_sandbox.registry.lifecycle import MOVES, STAGES, TIMED, Move, TimedTransition, permits
from reseller_sandbox.registry.state import State


def page(_: Resources) -> Iterator[str]:
    """Yield the parts of the page."""
    yield "# The life of a name"
    yield "What is possible at which stage of a name, and what time does by itself."
    yield "One table decides it for both generations. The periods are each zone's own, in days."
    yield "## What time does"
    yield table(("at", "after", "happens", "and then the name is"), map(_timed, TIMED))
    yield "## What is possible"
    yield (
        "A dot marks what is possible at a stage. A fixture can have it otherwise: `lifecycle: {overdue: "
        "[renew, read_auth_code]}` lists all that is possible there, and refusals, explanations and both "
        "interfaces follow it. The first word of each line is the fixture's."
    )
    yield table(("action", *map(code, STAGES), "leads to"), map(_possible, MOVES))
    yield "## How it is shown"
    yield (
        "v3 shows requested, processing and arriving orders as `pending`, active ones as `active` (or "
        "`suspended`, when locked), and all others as `suspended`. v2.0 shows `0`, `1`, `2`, `3` for overdue "
        "and `6` for removal."
    )
    yield "## As a diagram"
    yield (
        "`reseller-sandbox lifecycle` prints it in the language of Mermaid, for whatever draws that; with "
        "`--fixture FILE`, the one of a fixture."
    )
    yield block("text", mermaid())


def _timed(row: TimedTransition) -> Sequence[str]:
    return code(row.stage), prose(when(row)), row.event, code(row.target)


def _possible(move: Move) -> Sequence[str]:
    default = State()
    dots = ("●" if permits(default, stage, move.action) else "" for stage in STAGES)
    leads = code(move.target) if move.target is not None else ""
    return f"{code(move.action.name.lower())} {move.action}", *dots, leads
