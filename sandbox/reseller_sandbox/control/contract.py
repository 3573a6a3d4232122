"""The contract: its assumptions, its coverage, and advice about your requests."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any

from reseller_sandbox.advice.finding import Finding, Severity
from reseller_sandbox.advice.rules import RULES, advise
from reseller_sandbox.control.local_transport import LocalTransport
from reseller_sandbox.control.resource import Resource, read, write
from reseller_sandbox.control.results import Keyed, Limit, Result, record_of
from reseller_sandbox.coverage import gaps
from reseller_sandbox.coverage.figures import AreaCovered, Figure, ItemCovered, covered, marks_of, summary
from reseller_sandbox.coverage.gaps import Gap
from reseller_sandbox.coverage.items import AREAS, Item
from reseller_sandbox.coverage.items import items as items_there
from reseller_sandbox.refusals import INVALID_PARAMETER, Refused
from reseller_sandbox.registry import assumptions
from reseller_sandbox.registry.contract import Contract
from reseller_sandbox.values.kinds import TEXT, Record, Switch, Within, choice
from reseller_sandbox.values.parameters import refused
from reseller_sandbox.values.patterns import Glob
from reseller_sandbox.values.text_checks import nearest
from reseller_sandbox.worlds.journal import Tally
from reseller_sandbox.worlds.redact import plain

#: For each item, at most this many requests are listed: the first that exercised the item.
MOST_REQUESTS = 3

Area = Annotated[str, choice(*AREAS), "Area of the contract. Default: all areas."]
OperationPattern = Annotated[str, TEXT, "Pattern of operations, such as ``*renew*``. Default: all."]
Everywhere = Annotated[Switch, "Whether to include all worlds of the server, also deleted worlds."]


class Assumption(Result, frozen=True, kw_only=True):
    """A behaviour that the contract leaves open, with its value in this world and its possible values."""

    name: str
    value: Any
    default: Any
    takes: str
    observed: Any
    about: str


class AssumptionList(Result, frozen=True, kw_only=True):
    """Every assumption of a world."""

    assumptions: tuple[Assumption, ...]

    def __getitem__(self, name: str) -> Any:
        """Return the value of an assumption. Raise KeyError for an unknown name."""
        return {assumption.name: assumption.value for assumption in self.assumptions}[name]


class Assumptions(Keyed[Assumption]):
    """A named setting for each behaviour that the contract leaves open."""

    def __getitem__(self, name: str) -> Any:
        """Return the value of an assumption. Raise KeyError for an unknown name."""
        return self.list()[name]

    @read("GET assumptions")
    def list(self) -> AssumptionList:
        """Return every assumption with its value, default, accepted values and meaning."""
        catalogue = assumptions.catalogue(self._world.assumptions)
        return AssumptionList(assumptions=tuple(Assumption(**plain(fields)) for fields in catalogue))

    @write("POST assumptions/set")
    def set(
        self,
        assume: Record | None = None,
        *,
        profile: Annotated[str, choice(*assumptions.PROFILES)] | None = None,
    ) -> AssumptionList:
        """Set assumptions of this world. The new values apply from the next request on.

        All other assumptions keep their values.

        Args:
            assume: The assumptions to set, by name.
            profile: A profile, which sets every assumption. The values in ``assume`` are set afterwards.
        """
        world = self._world
        try:
            base = assumptions.profile(profile) if profile is not None else world.assumptions
            world.change(assumptions=base.with_values(assume or {}))
        except Within as invalid:
            raise refused(invalid.problems) from None
        return self.list()


class AdviceRule(Result, frozen=True, kw_only=True):
    """A rule that advice checks. ``about`` is the meaning of the rule, and ``instead`` is the remedy."""

    rule: str
    severity: Severity
    about: str
    instead: str


class AdviceReport(Result, frozen=True, kw_only=True):
    """The findings of advice, and the rules that were checked (``looked_for``).

    ``requests`` counts the checked requests. ``dropped`` counts the requests that the journal no longer has.
    """

    requests: int
    dropped: int
    looked_for: tuple[AdviceRule, ...]
    # The findings are the last field, so that they end the output in a terminal.
    findings: tuple[Finding, ...]


class Advice(Resource):
    """Findings about requests that would lose money, names or secrets in production."""

    @read("GET advice", long=True)
    def list(self) -> AdviceReport:
        """Return the findings. Each finding lists the requests that show the problem."""
        transport = self._local
        world = transport.world
        return AdviceReport(
            findings=tuple(advise(world, transport.worlds.contract())),
            looked_for=tuple(record_of(AdviceRule, rule, rule=rule.name) for rule in RULES),
            requests=len(world.journal),
            dropped=world.journal.dropped,
        )


class CoverageSummary(Result, frozen=True, kw_only=True):
    """The share of the contract that requests have exercised, in total and by area.

    ``figures`` has the coverage of the operations that you use, of their documented errors, and of the whole
    contract. ``percentage``, ``covered`` and ``total`` describe the whole contract. ``counts`` describes how
    items are counted. ``canned`` counts the requests that got a canned answer. These requests belong to no
    item.
    """

    percentage: float
    covered: int
    total: int
    counts: str
    figures: tuple[Figure, ...]
    canned: int
    areas: tuple[AreaCovered, ...]


class CoverageItems(Result, frozen=True, kw_only=True):
    """Items of the contract, ordered by area, with the number of requests for each item.

    For each item, ``by`` lists the first requests that exercised the item, and the world of each request.
    """

    items: tuple[ItemCovered, ...]


class GapList(Result, frozen=True, kw_only=True):
    """The most important gaps (items that no request has exercised), and the number of all gaps."""

    gaps: tuple[Gap, ...]
    total: int


class Coverage(Resource):
    """The share of the contract that your requests have exercised.

    The contract consists of operations, errors, stages, transitions, events, faults, assumptions and
    situations. Coverage survives a rewind, a reset, and the removal of old requests from the journal.
    """

    @read("GET coverage", long=True)
    def show(
        self, *, operation: OperationPattern | None = None, everywhere: Everywhere = False
    ) -> CoverageSummary:
        """Return the coverage in percent, in total and by area."""
        tally = _exercised(self._local, everywhere)
        items = _covered_items(self._local.worlds.contract(), tally, operation)
        return CoverageSummary(canned=tally.canned, **summary(items))

    @read("GET coverage/items", long=True)
    def items(
        self,
        *,
        area: Area | None = None,
        operation: OperationPattern | None = None,
        seen: Switch | None = None,
        everywhere: Everywhere = False,
    ) -> CoverageItems:
        """Return the items of the contract, with the number of requests for each item.

        Args:
            seen: Whether to list only items that a request has reached (true) or has not reached (false).
                Default: all items.
        """
        contract = self._local.worlds.contract()
        items = _covered_items(contract, _exercised(self._local, everywhere), operation, seen)
        return CoverageItems(items=tuple(item for item in items if area in (None, item.area)))

    @read("GET coverage/missing", long=True)
    def missing(
        self,
        *,
        area: Area | None = None,
        operation: OperationPattern | None = None,
        everywhere: Everywhere = False,
        limit: Limit = 20,
    ) -> GapList:
        """Return the most important items that no request has exercised, and how to exercise each item."""
        contract = self._local.worlds.contract()
        items = _covered_items(contract, _exercised(self._local, everywhere), operation)
        listed = [gap for gap in gaps.missing(items, contract) if area in (None, gap.area)]
        return GapList(gaps=tuple(listed[:limit]), total=len(listed))

    @write("DELETE coverage")
    def clear(self, *, everywhere: Everywhere = False) -> CoverageSummary:
        """Reset the coverage of this world. Return the new coverage."""
        transport = self._local
        if everywhere:
            transport.worlds.forget_exercises()
        else:
            transport.world.tally.clear()
        return self.show(everywhere=everywhere)


def _exercised(transport: LocalTransport, everywhere: bool) -> Tally:
    return transport.worlds.exercised() if everywhere else transport.world.tally


def _covered_items(
    contract: Contract, tally: Tally, operation: str | None, seen: bool | None = None
) -> list[ItemCovered]:
    exercised = marks_of(tally, contract)
    items = (item for item in matching_items(contract, operation) if seen in (None, item.key in exercised))
    return covered(items, exercised, MOST_REQUESTS)


@lru_cache(maxsize=16)
def matching_items(contract: Contract, operation: str | None) -> tuple[Item, ...]:
    """Return the items of all operations whose id matches the pattern ``operation``.

    Refuse with ``invalid_parameter`` if no operation matches.
    """
    pattern = Glob(operation) if operation is not None else None
    if pattern is not None and not any(pattern.matches(endpoint.id) for endpoint in contract):
        hint = nearest(pattern.text, [endpoint.id for endpoint in contract])
        raise Refused(
            INVALID_PARAMETER, problems=f"the parameter operation matches no operation of the contract{hint}"
        )
    return tuple(items_there(contract, pattern))
