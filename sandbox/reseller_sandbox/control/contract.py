"""The contract: what it leaves open, how much of it was exercised, and what requests would have cost."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, cast

from reseller_sandbox.advice.finding import Finding, Severity
from reseller_sandbox.advice.rules import RULES, advise
from reseller_sandbox.control.local_transport import LocalTransport, local_transport
from reseller_sandbox.control.resource import Resource, read, write
from reseller_sandbox.control.results import Keyed, Limit, Result, record_of
from reseller_sandbox.coverage import figures, gaps, marks
from reseller_sandbox.coverage.figures import AreaCovered, ItemCovered
from reseller_sandbox.coverage.gaps import Gap
from reseller_sandbox.coverage.items import AREAS, COUNTS, Item
from reseller_sandbox.coverage.items import items as items_there
from reseller_sandbox.registry import assumptions
from reseller_sandbox.registry.contract import Contract
from reseller_sandbox.registry.patterns import Glob
from reseller_sandbox.registry.refusals import INVALID_PARAMETER, Refused
from reseller_sandbox.registry.text_checks import nearest
from reseller_sandbox.registry.values import TEXT, Record, Switch, choice
from reseller_sandbox.worlds import World

#: How many of the requests that were the first of their kind are told of an item.
MOST_TOLD = 3

Area = Annotated[str, choice(*AREAS), "The area to look at; all of them, unless given."]
Of = Annotated[str, TEXT, "A pattern of the operations to look at, such as ``v3.*``; all, unless given."]
Everywhere = Annotated[Switch, "Look at all worlds of the server together, and at those that are gone."]


class Assumption(Result, frozen=True, kw_only=True):
    """One silence of the contract: what it means in this world, and what else it can mean."""

    name: str
    value: Any
    default: Any
    takes: str
    observed: Any
    about: str


class Assumed(Result, frozen=True, kw_only=True):
    """Every assumption of a world."""

    assumptions: tuple[Assumption, ...]

    def __getitem__(self, name: str) -> Any:
        """Return the value of the assumption of that name; raise KeyError where there is none."""
        return {one.name: one.value for one in self.assumptions}[name]


class Assumptions(Keyed[Assumption]):
    """What the silences of the contract are taken to mean: each is named, and can be set."""

    def __getitem__(self, name: str) -> Any:
        """Return the value of the assumption of that name."""
        return self.list()[name]

    @read()
    def list(self) -> Assumed:
        """Return every assumption with its value, its default, what it takes and what it decides."""
        return _assumed(local_transport(self).world)

    @write()
    def set(
        self,
        assume: Record | None = None,
        *,
        profile: Annotated[str, choice(*assumptions.PROFILES)] | None = None,
    ) -> Assumed:
        """Change what silences of the contract mean in this world, from the next request on.

        What neither parameter names stays.

        Args:
            assume: The assumptions to set, by name.
            profile: The set of assumptions to begin with: it sets all of them.
        """
        world = local_transport(self).world
        try:
            base = assumptions.profile(profile) if profile is not None else world.assumptions
            world.assume(base.with_values(assume or {}))
        except assumptions.BadAssumption as problem:
            raise Refused(INVALID_PARAMETER, problems=str(problem)) from None
        return _assumed(world)


def _assumed(world: World) -> Assumed:
    return Assumed(
        assumptions=tuple(
            Assumption(**cast(dict[str, Any], told)) for told in assumptions.catalogue(world.assumptions)
        )
    )


class LookedFor(Result, frozen=True, kw_only=True):
    """One thing that advice looks for; ``about`` says what it is, ``instead`` what to do instead."""

    rule: str
    severity: Severity
    about: str
    instead: str


class AdviceGiven(Result, frozen=True, kw_only=True):
    """What was found and what was looked for, in how many requests; ``dropped`` counts forgotten ones."""

    requests: int
    dropped: int
    looked_for: tuple[LookedFor, ...]
    findings: tuple[Finding, ...]  # last, so that a terminal ends with them


class Advice(Resource):
    """What your program did that would have cost money, names or secrets in production."""

    @read(long=True)
    def list(self) -> AdviceGiven:
        """Return what was found, each finding with the requests that show it."""
        world = local_transport(self).world
        return AdviceGiven(
            findings=tuple(advise(world)),
            looked_for=tuple(record_of(LookedFor, one, rule=one.name) for one in RULES),
            requests=len(world.journal),
            dropped=world.journal.dropped,
        )


class Covered(Result, frozen=True, kw_only=True):
    """How much of the contract has been exercised, whole and area by area; ``counts`` says what counts."""

    percentage: float
    covered: int
    total: int
    counts: str
    areas: tuple[AreaCovered, ...]


class ItemsCovered(Result, frozen=True, kw_only=True):
    """Items of the contract, area by area, and what has been seen of each.

    ``by`` of an item are the requests by which it was first exercised: their worlds and their names.
    """

    items: tuple[ItemCovered, ...]


class GapsFound(Result, frozen=True, kw_only=True):
    """The gaps that tell most, and how many there are in all."""

    gaps: tuple[Gap, ...]
    total: int


class Coverage(Resource):
    """How much of the contract has been exercised: its operations, errors, stages, events, faults, silences.

    Neither a rewind nor a reset takes anything from it, nor that the journal drops what is old.
    """

    @read(long=True)
    def show(self, *, operation: Of | None = None, everywhere: Everywhere = False) -> Covered:
        """Return how much has been exercised, in percent, area by area."""
        found = _found(local_transport(self), operation, everywhere)
        count = sum(one.covered for one in found)
        return Covered(
            percentage=figures.percentage(count, len(found)),
            covered=count,
            total=len(found),
            counts=COUNTS,
            areas=tuple(figures.areas(found)),
        )

    @read(long=True)
    def items(
        self,
        *,
        area: Area | None = None,
        operation: Of | None = None,
        seen: Switch | None = None,
        everywhere: Everywhere = False,
    ) -> ItemsCovered:
        """Return the items of the contract, each with what has been seen of it.

        Args:
            seen: Whether to list those alone of which something has been seen, or nothing.
        """
        found = _found(local_transport(self), operation, everywhere, seen)
        return ItemsCovered(items=tuple(one for one in found if area in (None, one.area)))

    @read(long=True)
    def missing(
        self,
        *,
        area: Area | None = None,
        operation: Of | None = None,
        everywhere: Everywhere = False,
        limit: Limit = 20,
    ) -> GapsFound:
        """Return what has not been exercised, the most telling first, and how to exercise it."""
        contract = local_transport(self).worlds.contract()
        found = gaps.missing(_found(local_transport(self), operation, everywhere), contract)
        mine = [one for one in found if area in (None, one.area)]
        return GapsFound(gaps=tuple(mine[:limit]), total=len(mine))

    @write()
    def clear(self, *, everywhere: Everywhere = False) -> Covered:
        """Forget what has been exercised in this world; return how much there is to exercise."""
        transport = local_transport(self)
        if everywhere:
            transport.worlds.forget_exercises()
        else:
            transport.world.tally.clear()
        return self.show(everywhere=everywhere)


def _found(
    transport: LocalTransport, operation: str | None, everywhere: bool, seen: bool | None = None
) -> list[ItemCovered]:
    contract = transport.worlds.contract()
    met = marks.read(transport.worlds.exercised() if everywhere else transport.world.tally, contract)
    wanted = (one for one in items_of(contract, operation) if seen in (None, one.key in met))
    return figures.covered(wanted, met, MOST_TOLD)


@lru_cache(maxsize=16)
def items_of(contract: Contract, operation: str | None) -> tuple[Item, ...]:
    """Return the items of operations like ``operation``; refuse with ``invalid_parameter`` where none is."""
    like = Glob(operation) if operation is not None else None
    if like is not None and not any(like.matches(one.id) for one in contract):
        hint = nearest(like.text, [one.id for one in contract])
        raise Refused(INVALID_PARAMETER, problems=f"operation matches no operation{hint}")
    return tuple(items_there(contract, like))
