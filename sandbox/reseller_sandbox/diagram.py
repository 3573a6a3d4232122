"""The life of a name as a picture: a Mermaid state diagram drawn from the tables of the lifecycle."""

from __future__ import annotations

from reseller_sandbox.core import lifecycle
from reseller_sandbox.core.lifecycle import BEGINNINGS, MOVES, Action, Passage, permits
from reseller_sandbox.core.model import Stage
from reseller_sandbox.core.state import State

_VERBS = {Action.APPROVE_TRANSFER: "approves", Action.REJECT_TRANSFER: "rejects"}


def mermaid(state: State | None = None) -> str:
    """Return the state diagram; what time does by itself stands after ⏱.

    Actions that leave the stage as it is stand in a note beside it. What is possible is as in ``state``.
    """
    state = state or State()
    lines = ["stateDiagram-v2", "    direction TB"]
    lines += [f"    [*] --> {begun.stage}: {begun.action}" for begun in BEGINNINGS]
    for move in MOVES:
        if move.target is not None:
            lines += [
                f"    {stage} --> {_name(move.target)}: {move.action}"
                for stage in Stage
                if stage is not move.target and permits(state, stage, move.action)
            ]
        if move.in_grace is not None and permits(state, Stage.ACTIVE, move.action):
            lines += [f"    active --> {_name(move.in_grace)}: {move.action} within the add grace days"]
        if move.counterpart is not None:
            lines += [f"    arriving --> {_name(move.counterpart)}: the other side {_VERBS[move.action]}"]
    lines += [
        f"    {row.stage} --> {_name(row.target)}: ⏱ {row.event} ({_when(row)})" for row in lifecycle.TIMED
    ]
    for stage in Stage:
        staying = [
            str(move.action)
            for move in MOVES
            if permits(state, stage, move.action) and (move.target is None or move.target is stage)
        ]
        if staying:
            lines += [
                f"    note right of {stage}",
                *(f"        {action}" for action in staying),
                "    end note",
            ]
    return "\n".join(lines)


def _name(stage: Stage) -> str:
    return "[*]" if stage is Stage.RELEASED else stage.value


def _when(row: Passage) -> str:
    return f"{row.period.words}, with auto-renewal and funds" if row.years else row.period.words
