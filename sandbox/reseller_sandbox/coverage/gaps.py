"""The gaps of coverage, the most important first, and how to exercise each item.

A gap has a request and the calls that must come before it. The requests come from the ``samples.yaml`` of
each interface.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import chain, zip_longest
from typing import Any

from msgspec import Struct, yaml
from msgspec.structs import replace

from reseller_sandbox.coverage.figures import ItemCovered
from reseller_sandbox.coverage.items import event_name, transition_name
from reseller_sandbox.coverage.situations import SITUATIONS
from reseller_sandbox.faults.kinds import KINDS
from reseller_sandbox.refusals import Category, Rule
from reseller_sandbox.registry.assumptions import Assumptions, catalogue, public_name
from reseller_sandbox.registry.contract import ApiOperation, Contract
from reseller_sandbox.registry.lifecycle import TIMED, edges
from reseller_sandbox.registry.model import Stage
from reseller_sandbox.registry.state import State
from reseller_sandbox.values.parameters import docstring

#: The domain of most sample requests, its authorization code and its expiry date, as in ``samples.yaml``.
NAME, CODE, EXPIRES = "to-cover.com", "Code-To-Cover", "2030-06-01"


class Step(Struct, frozen=True, kw_only=True):
    """A control operation to call before a request, such as ``names.add``, with its parameters."""

    call: str
    parameters: Mapping[str, Any]


class Sample(Struct, frozen=True, kw_only=True):
    """A sample request for an operation, with its preconditions.

    ``body`` is its body, ``about`` its domain name. ``holder`` and ``stage`` are the state of the name, and
    ``needs`` the other calls to make first.
    """

    body: Any = None
    holder: str = "main"
    stage: Stage = Stage.ACTIVE
    needs: tuple[Step, ...] = ()
    about: str = NAME


class Samples(Struct, frozen=True, kw_only=True):
    """The content of a file ``samples.yaml``. The comments in that file explain the fields, all optional."""

    places: Mapping[str, str] = {}
    operations: Mapping[str, Sample] = {}
    transitions: Mapping[str, tuple[str, Stage]] = {}


@cache
def samples(package: str) -> Samples:
    """Return the samples of the interface in ``package``, empty if it has no ``samples.yaml``."""
    file = files(package) / "samples.yaml" if package else None
    text = file.read_text("utf-8") if file is not None and file.is_file() else "{}"
    return yaml.decode(text, type=Samples)


#: Sample parameters for each kind of fault that requires parameters.
FAULTS: Mapping[str, Mapping[str, object]] = {
    "error": {"error": "internal_error"},
    "latency": {"seconds": 0.1},
    "hang": {"seconds": 0.1},
    "bandwidth": {"rate": 100000},
    "mutate": {"path": "status", "value": "mutated"},
    "rate_limit": {"limit": 0},
    "time_passes": {"by": "P1D"},
}


def name_at(stage: str, holder: str = "main", *, autorenew: bool = False) -> tuple[Step, ...]:
    """Return the calls that add the sample domain ``NAME`` at a lifecycle stage.

    At the stage ``arriving``, a transfer of the domain to ``main`` is pending.
    """
    if stage == Stage.ARRIVING:
        transfer = Step(call="transfers.add", parameters={"domain": NAME, "to": "main"})
        return *name_at(Stage.ACTIVE, "outside"), transfer
    parameters: dict[str, Any] = {"name": NAME, "account": holder, "stage": str(stage), "auth_code": CODE}
    if autorenew:
        parameters["autorenew"] = True
    if stage == Stage.ACTIVE:
        parameters["expires"] = EXPIRES
    added = Step(call="names.add", parameters=parameters)
    return (SLOW, added) if stage in (Stage.REQUESTED, Stage.PROCESSING) else (added,)


#: The call that makes orders take an hour. Without it, a name leaves the stages of an order at once.
SLOW = Step(call="assumptions.set", parameters={"assume": {public_name("order_processing"): 3600}})

#: The call that makes the registry retry a failed automatic renewal each day.
DAILY = Step(call="assumptions.set", parameters={"assume": {"lifecycle.autorenew.tries": "daily"}})


#: The order of the areas. The list of gaps contains one gap of each area, then the next of each, and so on.
_TURNS = ("errors", "faults", "situations", "stages", "events", "transitions", "operations", "assumptions")

#: The most important errors come first: errors that cost money or a name, before errors of syntax.
_IMPORTANT = (
    Category.PAYMENT,
    Category.CONFLICT,
    Category.FORBIDDEN,
    Category.UNAVAILABLE,
    Category.NOT_FOUND,
)


class RequestToMake(Struct, frozen=True, kw_only=True):
    """A request of the reseller API that exercises an item.

    The request needs the credentials of the account ``main``.
    """

    method: str
    path: str
    body: Any


class Gap(Struct, frozen=True, kw_only=True):
    """An item that no request has exercised. ``how`` describes in words how to exercise the item.

    To exercise the item, make the control calls in ``needs``, and then send ``request``. For an error, first
    change ``request`` as ``how`` describes, because the unchanged request succeeds. ``inject`` is the fault
    that injects the error.
    """

    area: str
    item: str
    operation: str | None
    how: str
    needs: tuple[Step, ...] = ()
    request: RequestToMake | None = None
    inject: Step | None = None


def missing(items: Sequence[ItemCovered], contract: Contract) -> list[Gap]:
    """Return the gaps, the most important first: one gap of each area in turn.

    In each area, operations that have been carried out come first.
    """
    operations = {operation.id: operation for operation in contract}
    used = {item.item for item in items if item.area == "operations" and item.covered}

    def ranked(area: str) -> list[ItemCovered]:
        uncovered = (item for item in items if item.area == area and not item.covered)
        return sorted(uncovered, key=lambda item: (item.operation not in used, _rank(item, operations)))

    turns = chain.from_iterable(zip_longest(*map(ranked, _TURNS)))
    return [_gap(item, operations) for item in turns if item is not None]


def _rank(item: ItemCovered, operations: Mapping[str, ApiOperation]) -> int:
    if item.area != "errors" or item.operation is None:
        return 0
    rules = operations[item.operation].errors[_detail(item)]
    ranks = [_IMPORTANT.index(rule.category) for rule in rules if rule.category in _IMPORTANT]
    return min(ranks, default=len(_IMPORTANT))


def _detail(item: ItemCovered) -> str:
    return item.item.removeprefix(f"{item.operation} ")


def _gap(item: ItemCovered, operations: Mapping[str, ApiOperation]) -> Gap:
    """Return the gap for an item that was not exercised, with a way to exercise the item."""
    gap = Gap(area=item.area, item=item.item, operation=item.operation, how="")
    if item.operation is not None:
        return _operation_gap(gap, operations[item.operation], _detail(item))
    match item.area:
        case "events":
            return _event_gap(gap)
        case "faults":
            return _fault_gap(gap, operations)
        case "transitions":
            return _transition_gap(gap, operations)
        case "situations":
            situation = next(situation for situation in SITUATIONS if situation.name == gap.item)
            return replace(gap, how=f"{situation.about} To make it: {situation.how.replace('`', '')}")
    return replace(gap, how=_assumption_texts()[item.item])


@cache
def _assumption_texts() -> Mapping[str, str]:
    """Return, by assumption name, a description of the assumption and of its accepted values."""
    return {
        str(row["name"]): f"{row['about']} The value is {row['takes']}." for row in catalogue(Assumptions())
    }


def _operation_gap(gap: Gap, operation: ApiOperation, detail: str) -> Gap:
    sample = _sample(operation)
    gap = _with_request(gap, operation, sample)
    if gap.area == "errors":
        inject = _fault("error", operation, {"error": detail, "when": {"times": 1}})
        return replace(gap, how=_how_to_be_refused(operation, operation.errors[detail]), inject=inject)
    if gap.area == "stages" and detail != sample.stage:
        how = f"Send the request while the name is at the stage {detail}."
        contact_steps = (step for step in sample.needs if step.call in ("customers.add", "contacts.add"))
        return replace(gap, how=how, needs=(*name_at(detail, sample.holder), *contact_steps))
    return replace(gap, how="Send the request, and let the sandbox carry it out.")


def _sample(operation: ApiOperation) -> Sample:
    return samples(operation.package).operations.get(operation.id, Sample())


def _with_request(gap: Gap, operation: ApiOperation, sample: Sample) -> Gap:
    """Return ``gap`` with a sample request, and with the calls that must come before the request."""
    places = {"domainName": sample.about, "domain_name": sample.about, **samples(operation.package).places}
    path = re.sub(r"\{(\w+)\}", lambda match: places.get(match[1], sample.about), operation.path)
    request = RequestToMake(method=operation.method, path=path, body=sample.body)
    written = operation.path + str(sample.body)
    needs = sample.needs
    if sample.about == NAME and ("{domain" in written or NAME in written):
        needs = *name_at(sample.stage, sample.holder), *needs
    elif sample.stage is Stage.REQUESTED:
        needs = SLOW, *needs
    return replace(gap, needs=needs, request=request)


def _how_to_be_refused(operation: ApiOperation, rules: Sequence[Rule]) -> str:
    """Describe in words how to cause an error: the message and the remedy of each rule with this error."""

    def plain(template: str) -> str:
        return _PLACE.sub(r"<\1>", _APPENDED.sub("", operation.wording.with_words(template))).rstrip(".")

    ways = [f"“{plain(rule.sentence)}”; to avoid this error, {plain(rule.remedy)}" for rule in rules]
    return f"The message is {'. Or: '.join(ways)}."


#: A placeholder in a message, such as ``{name}``. A placeholder right after a word is appended to that word,
#: and is often empty.
_PLACE = re.compile(r"\{(\w+)[^}]*\}")
_APPENDED = re.compile(r"(?<=[\w})])\{\w+\}")


def _event_gap(gap: Gap) -> Gap:
    row = next(row for row in TIMED if event_name(row) == gap.item)
    until = {"domain": NAME, "event": row.event}
    retries = (DAILY,) if row.renews and row.stage is Stage.OVERDUE else ()
    advance = Step(call="clock.advance", parameters={"until": until})
    how = f"Keep a name at the stage {row.stage} until the end of this period: {row.period.words}."
    return replace(gap, how=how, needs=(*retries, *name_at(row.stage, autorenew=row.renews), advance))


def _fault_gap(gap: Gap, operations: Mapping[str, ApiOperation]) -> Gap:
    name, _, phase = gap.item.partition(" ")
    gap = replace(gap, how=" ".join(docstring(KINDS[name]).split("\n\n")[0].split()))
    operation = next((candidate for candidate in operations.values() if candidate.shows_status), None)
    if operation is None:
        return gap
    gap = _with_request(gap, operation, _sample(operation))
    rule = _fault(name, operation, {**FAULTS.get(name, {}), "when": {"phase": phase, "times": 1}})
    return replace(gap, needs=(*gap.needs, rule))


def _fault(kind: str, operation: ApiOperation, parameters: Mapping[str, object]) -> Step:
    return Step(
        call="faults.add", parameters={"kind": kind, "match": {"operation": operation.id}, **parameters}
    )


def _transition_gap(gap: Gap, operations: Mapping[str, ApiOperation]) -> Gap:
    ways = [edge.words for edge in edges(State()) if transition_name(edge) == gap.item]
    gap = replace(gap, how=f"Causes of this transition: {'; '.join(ways)}.")
    for package in dict.fromkeys(operation.package for operation in operations.values()):
        if gap.item in (transitions := samples(package).transitions):
            operation = operations[transitions[gap.item][0]]
            sample = replace(_sample(operation), stage=transitions[gap.item][1])
            return _with_request(gap, operation, sample)
    return gap
