"""The lifecycle of a domain as a Mermaid state diagram."""

from __future__ import annotations

from reseller_sandbox.registry import lifecycle
from reseller_sandbox.registry.lifecycle import MOVES, TimedTransition, edges, permits
from reseller_sandbox.registry.model import Stage
from reseller_sandbox.registry.state import State


def mermaid(state: State | None = None) -> str:
    """Return the Mermaid diagram of the lifecycle under ``state``. The sign ⏱ marks timed transitions.

    Actions that do not change the stage are in a note beside it.
    """
    state = state or State()
    lines = ["stateDiagram-v2", "    direction TB"]
    lines += [f"    {_name(edge.before)} --> {_name(edge.after)}: {edge.words}" for edge in edges(state)]
    lines += [
        f"    {row.stage} --> {_name(row.target)}: ⏱ {row.event} ({when(row)})" for row in lifecycle.TIMED
    ]
    for stage in Stage:
        actions = [
            str(move.action)
            for move in MOVES
            if permits(state, stage, move.action) and (move.target is None or move.target is stage)
        ]
        if actions:
            lines += [
                f"    note right of {stage}",
                *(f"        {action}" for action in actions),
                "    end note",
            ]
    return "\n".join(lines)


def _name(stage: Stage | None) -> str:
    return "[*]" if stage in (None, Stage.RELEASED) else str(stage)


def when(row: TimedTransition) -> str:
    """Return the period after which a stage ends, with the conditions of the transition."""
    return f"{row.period.words}, with auto-renewal and funds" if row.renews else row.period.words
