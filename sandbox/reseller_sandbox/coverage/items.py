"""What there is to exercise: the items of each area, which follow from the rows, the tables and the kinds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from reseller_sandbox.faults.kinds import KINDS
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.contract import ApiOperation, Contract
from reseller_sandbox.registry.lifecycle import TIMED, Edge, TimedTransition, edges
from reseller_sandbox.registry.model import Stage
from reseller_sandbox.registry.patterns import Glob
from reseller_sandbox.registry.refusals import ALREADY_YOURS, NO_TRANSFER, WRONG_STATE
from reseller_sandbox.registry.state import State
from reseller_sandbox.worlds.journal import Move

#: The areas, each with what an item of it is and when that counts as exercised.
AREAS: Mapping[str, str] = {
    "operations": "An operation of v3 or v2.0, once it has been carried out.",
    "errors": "A documented error of an operation, once a client was told it.",
    "stages": "An operation at a stage of its name, once that stage has let it pass or refused it.",
    "transitions": "A change of a name's stage by a request, once one has made it.",
    "events": "What time does to a name by itself, once it has happened.",
    "faults": "A kind of fault in a phase, once it was applied to a request.",
    "assumptions": "A silence of the contract, once an answer has rested on what it is taken to mean.",
}

#: The assumptions that no answer can rest on, because time alone goes by them.
OF_TIME_ALONE = frozenset({"lifecycle.autorenew.tries"})

#: What comes before an order, and after it.
START, END = "nothing", "nothing more"

#: What a percentage is of.
COUNTS = (
    "Each operation, documented error of an operation, operation at a stage, transition, timed event, kind "
    "of fault in a phase and assumption is one item, and counts when it has been exercised at least once; an "
    "error that a fault injected counts, too, and says so."
)


class Item(NamedTuple):
    """One thing to exercise: its ``name`` within its area, and the operation that it belongs to, if any."""

    area: str
    name: str
    operation: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The area and the name, which say which item it is."""
        return self.area, self.name


def items(contract: Contract, like: Glob | None = None) -> Iterator[Item]:
    """Yield every item, area by area; with ``like`` only what belongs to operations that it matches.

    The assumptions are then those about the interfaces of these operations, and those about none.
    """
    operations = [one for one in contract if like is None or like.matches(one.id)]
    yield from (Item("operations", one.id, one.id) for one in operations)
    yield from (Item("errors", f"{one.id} {error}", one.id) for one in operations for error in one.errors)
    yield from (Item("stages", f"{one.id} {stage}", one.id) for one in operations for stage in stages(one))
    yield from (Item("transitions", name) for name in transitions().values())
    yield from (Item("events", event_name(row)) for row in TIMED)
    yield from (Item("faults", f"{kind.name} {phase}") for kind in KINDS.values() for phase in kind.phases)
    left = {one.interface for one in contract} - {one.interface for one in operations}
    names = [name for name in Assumptions().values() if name not in OF_TIME_ALONE]
    yield from (Item("assumptions", name) for name in names if name.partition(".")[0] not in left)


def checks_stage(operation: ApiOperation) -> int | None:
    """Return from which of its rules on an operation knows its name's stage; None if that never matters."""
    found = [at for at, rule in enumerate(operation.refuses) if rule in (NO_TRANSFER, WRONG_STATE)]
    return found[0] if found and WRONG_STATE in operation.refuses else None


def stages(operation: ApiOperation) -> Sequence[Stage]:
    """Return the stages that matter to an operation: all, if it may be refused for one or tells it, or none.

    A name of somebody else's is never on its way there.
    """
    if checks_stage(operation) is None and not operation.shows_status:
        return ()
    never = {Stage.RELEASED, *((Stage.ARRIVING,) if ALREADY_YOURS in operation.refuses else ())}
    return [stage for stage in Stage if stage not in never]


@cache
def transitions() -> Mapping[Move, str]:
    """Return the name of each change of stage that requests make, by the stages: before it, and after."""
    return {(one.before, one.after): transition_name(one) for one in edges(State())}


def transition_name(edge: Edge) -> str:
    """Return the name of a change of stage, in whatever way it comes about."""
    return f"{edge.before or START} to {edge.after or END}"


def event_name(row: TimedTransition) -> str:
    """Return the name of a row of what time does: its event, and the stage where there are several such."""
    several = sum(one.event == row.event for one in TIMED) > 1
    return f"{row.event} at {row.stage}" if several else row.event
