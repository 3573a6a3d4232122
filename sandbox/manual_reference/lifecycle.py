"""The reference page of the lifecycle: stages, possible actions and transitions by time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from manual_reference.markdown import block, code, prose, table
from reseller_sandbox.manual.diagram import mermaid, when
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.lifecycle import MOVES, STAGES, TIMED, Move, TimedTransition, permits
from reseller_sandbox.registry.model import HOLDS, Flag, Stage
from reseller_sandbox.registry.state import State
from reseller_sandbox.v2.domains import status as v2_status
from reseller_sandbox.v3.shapes import status as v3_status

#: Assumptions that change a status, each with the value that is not the default.
_ASSUMED = {"v3.expired_status": "active", "v2.arriving_status": "requested"}


def page() -> Iterator[str]:
    """Yield the parts of the page."""
    yield "# The life of a name"
    yield "The possible actions at each stage of a domain, and the transitions that the clock makes."
    yield "This page applies to v3 and to v2.0."
    yield "## Timed transitions"
    yield (
        "The clock ends a stage after a period. Periods in days, such as the `overdue` days, are in the "
        "`policy` of each zone in the fixture."
    )
    yield table(("stage", "period", "event", "next stage"), map(_timed, TIMED))
    yield (
        "Besides funds, an automatic renewal needs a zone in service. The flag `client_renew_prohibited` and "
        "a pending transfer to another registrar also prevent it. The event of the expiry names the reason."
    )
    yield "## Possible actions"
    yield (
        "A dot marks a possible action at a stage. The sandbox refuses an action without a dot, usually with "
        "[`wrong_state`](errors.md#wrong_state). A fixture can replace the actions of a stage, for example "
        "with `lifecycle: {overdue: [renew, read_auth_code]}`. This list must contain all possible actions "
        "of the stage. Write each action as in the first column."
    )
    yield table(("action", "description", *map(code, STAGES), "next stage"), map(_possible, MOVES))
    yield "## Statuses in responses"
    yield (
        "The stage of an order determines its status in the responses of v3 and of v2.0. Some statuses also "
        "depend on [assumptions](assumptions.md)."
    )
    yield table(("stage", "v3 status", "v2.0 status"), map(_statuses, STAGES))
    yield "## As a diagram"
    yield (
        "`reseller-sandbox lifecycle` prints the diagram in Mermaid syntax. With `--fixture FILE`, it "
        "prints the diagram for a fixture, with the actions that the fixture sets."
    )
    yield block("text", mermaid())


def _timed(row: TimedTransition) -> Sequence[str]:
    return code(row.stage), prose(when(row)), row.event, code(row.target)


def _possible(move: Move) -> Sequence[str]:
    default = State()
    dots = ("●" if permits(default, stage, move.action) else "" for stage in STAGES)
    leads = code(move.target) if move.target is not None else ""
    return code(move.action.name.lower()), str(move.action), *dots, leads


def _statuses(stage: Stage) -> Sequence[str]:
    """Return a stage with its v3 status and its v2.0 status."""
    return code(stage), *(_status(stage, status) for status in (v3_status, v2_status))


def _status(stage: Stage, status: Callable[[Any, Any], str]) -> str:
    """Return the status of orders at a stage. Other statuses follow, each with its condition."""

    def of(assumed: Mapping[str, str], flags: frozenset[Flag]) -> str:
        call = SimpleNamespace(assumed=Assumptions().with_values(assumed))
        return code(status(call, SimpleNamespace(stage=stage, flags=flags)))

    default = of({}, frozenset())
    cases = (
        ("if the domain has a hold", of({}, HOLDS)),
        *(
            (f"with the assumption {code(f'{name}={value}')}", of({name: value}, frozenset()))
            for name, value in _ASSUMED.items()
        ),
    )
    return ", or ".join((default, *(f"{other} {words}" for words, other in cases if other != default)))
