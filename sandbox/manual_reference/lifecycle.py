"""The reference page of the lifecycle: stages, possible actions and transitions by time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from manual_reference.markdown import block, code, prose, table
from reseller_sandbox.manual.diagram import mermaid, when
from reseller_sandbox.registry.lifecycle import MOVES, STAGES, TIMED, Move, TimedTransition, permits
from reseller_sandbox.registry.state import State


def page() -> Iterator[str]:
    """Yield the parts of the page."""
    yield "# The life of a name"
    yield "The possible actions at each stage of a domain, and the transitions that the clock makes."
    yield "One table decides it for both generations. The periods are each zone's own, in days."
    yield "## Timed transitions"
    yield table(("at", "after", "happens", "and then the name is"), map(_timed, TIMED))
    yield "## Possible actions"
    yield (
        "A dot marks a possible action at a stage. A fixture can override a stage: `lifecycle: {overdue: "
        "[renew, read_auth_code]}` lists all possible actions. Refusals, explanations and both interfaces "
        "follow this list. Fixtures use the first word of each line."
    )
    yield table(("action", *map(code, STAGES), "leads to"), map(_possible, MOVES))
    yield "## Stages in responses"
    yield (
        "v3 shows requested, processing and arriving orders as `pending`, active ones as `active` (or "
        "`suspended`, when locked), and all others as `suspended`. v2.0 shows `0`, `1`, `2`, `3` for overdue "
        "and `6` for removal."
    )
    yield "## As a diagram"
    yield (
        "`reseller-sandbox lifecycle` prints the diagram in Mermaid syntax. With `--fixture FILE`, it prints "
        "the diagram of a fixture."
    )
    yield block("text", mermaid())


def _timed(row: TimedTransition) -> Sequence[str]:
    return code(row.stage), prose(when(row)), row.event, code(row.target)


def _possible(move: Move) -> Sequence[str]:
    default = State()
    dots = ("●" if permits(default, stage, move.action) else "" for stage in STAGES)
    leads = code(move.target) if move.target is not None else ""
    return f"{code(move.action.name.lower())} {move.action}", *dots, leads
