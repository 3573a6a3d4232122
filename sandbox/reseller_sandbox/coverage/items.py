"""The items of coverage: operations, errors, stages, transitions, events, faults, assumptions, situations.

They follow from the rows of the interfaces, the lifecycle tables and the kinds of faults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from reseller_sandbox.coverage.situations import SITUATIONS
from reseller_sandbox.faults.kinds import KINDS
from reseller_sandbox.refusals import ALREADY_YOURS, NO_TRANSFER, WRONG_STATE
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.contract import ApiOperation, Contract
from reseller_sandbox.registry.lifecycle import TIMED, Edge, TimedTransition, edges
from reseller_sandbox.registry.model import Stage
from reseller_sandbox.registry.state import State
from reseller_sandbox.values.patterns import Glob
from reseller_sandbox.worlds.journal import Move

#: The areas, each with a description of its items and of when an item counts as exercised.
AREAS: Mapping[str, str] = {
    "operations": "Operations of the interfaces. An operation counts when it has been carried out.",
    "errors": "Documented errors of operations. An error counts when a client has received it.",
    "stages": "Operations at the stages of a name. A stage counts when it has decided the request.",
    "transitions": "Changes of a name's stage by requests. A transition counts when a request has made it.",
    "events": "Timed events of names. An event counts when it has happened.",
    "faults": "Kinds of faults in a phase. A fault counts when it has been applied to a request.",
    "assumptions": "Behaviour that the contract leaves open. An assumption counts when an answer used it.",
    "situations": "Cases in which registrar modules go wrong. A situation counts when a request has met it.",
}

#: The assumptions on which only timed transitions depend. Coverage omits them, because no response uses them.
TIMED_ONLY = frozenset({"lifecycle.autorenew.tries"})

#: The names that replace a stage: ``START`` before an order exists, ``END`` after the order has ended.
START, END = "nothing", "nothing more"

#: How items are counted.
COUNTS = (
    "Each operation, documented error of an operation, operation at a stage, transition, timed event, kind "
    "of fault in a phase, assumption and situation is one item. An item counts when it has been exercised at "
    "least once. An error that a fault injected counts, too, and is marked."
)


class Item(NamedTuple):
    """One item of the contract: its area, its name in the area, and its operation, if any."""

    area: str
    name: str
    operation: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The area and the name, which identify the item."""
        return self.area, self.name


def items(contract: Contract, like: Glob | None = None) -> Iterator[Item]:
    """Yield every item of the contract, area by area.

    With ``like``, yield only items of matching operations. Assumptions are left out if they are about an
    interface without a matching operation.
    """
    operations = [operation for operation in contract if like is None or like.matches(operation.id)]
    yield from (Item("operations", operation.id, operation.id) for operation in operations)
    for operation in operations:
        yield from (Item("errors", f"{operation.id} {error}", operation.id) for error in operation.errors)
    for operation in operations:
        yield from (Item("stages", f"{operation.id} {stage}", operation.id) for stage in stages(operation))
    yield from (Item("transitions", name) for name in transitions().values())
    yield from (Item("events", event_name(row)) for row in TIMED)
    yield from (Item("faults", f"{kind.name} {phase}") for kind in KINDS.values() for phase in kind.phases)
    matched = {operation.interface for operation in operations}
    unmatched = {operation.interface for operation in contract} - matched
    names = [name for name in Assumptions().values() if name not in TIMED_ONLY]
    yield from (Item("assumptions", name) for name in names if name.partition(".")[0] not in unmatched)
    yield from (Item("situations", situation.name) for situation in SITUATIONS)


def checks_stage(operation: ApiOperation) -> int | None:
    """Return the index of an operation's first rule that depends on the name's stage.

    Return None if the stage never matters.
    """
    positions = [at for at, rule in enumerate(operation.refuses) if rule in (NO_TRANSFER, WRONG_STATE)]
    return positions[0] if positions and WRONG_STATE in operation.refuses else None


def stages(operation: ApiOperation) -> Sequence[Stage]:
    """Return the stages that matter to an operation.

    These are all stages if the operation can be refused because of the stage or returns the stage, and
    otherwise none. ``released`` never counts. ``arriving`` does not count for operations on names that the
    account does not hold yet.
    """
    if checks_stage(operation) is None and not operation.shows_status:
        return ()
    never = {Stage.RELEASED, *((Stage.ARRIVING,) if ALREADY_YOURS in operation.refuses else ())}
    return [stage for stage in Stage if stage not in never]


@cache
def transitions() -> Mapping[Move, str]:
    """Return the names of the transitions that requests cause, keyed by the stages before and after."""
    return {(edge.before, edge.after): transition_name(edge) for edge in edges(State())}


def transition_name(edge: Edge) -> str:
    """Return the name of a transition, such as ``nothing to active``. Its cause is not in the name."""
    return f"{edge.before or START} to {edge.after or END}"


def event_name(row: TimedTransition) -> str:
    """Return the name of a timed transition, such as ``expiry``.

    It includes the stage only if several transitions have the same event.
    """
    several = sum(timed.event == row.event for timed in TIMED) > 1
    return f"{row.event} at {row.stage}" if several else row.event
