"""The gaps of coverage, the most important first, and how to exercise them.

A gap has a request and the calls that must come before it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reseller_sandbox.coverage.figures import ItemCovered
from reseller_sandbox.coverage.items import event_name, transition_name
from reseller_sandbox.coverage.samples import DAILY, NAME, SLOW, Sample, Step, name_at, samples
from reseller_sandbox.faults.kinds import KINDS
from reseller_sandbox.refusals import Category, Rule
from reseller_sandbox.registry.assumptions import Assumptions, catalogue
from reseller_sandbox.registry.contract import ApiOperation, Contract
from reseller_sandbox.registry.lifecycle import TIMED, edges
from reseller_sandbox.registry.model import Stage
from reseller_sandbox.registry.state import State
from reseller_sandbox.values.parameters import docstring

#: The order in which the areas take turns.
_TURNS = ("errors", "faults", "stages", "events", "transitions", "operations", "assumptions")

#: The most important errors come first: those that cost money or a name, before those about syntax.
_TELLING = (Category.PAYMENT, Category.CONFLICT, Category.FORBIDDEN, Category.UNAVAILABLE, Category.NOT_FOUND)


class RequestToMake(Struct, frozen=True, kw_only=True):
    """A request of the reseller API.

    It needs the credentials of the account ``main``.
    """

    method: str
    path: str
    body: Any


class Gap(Struct, frozen=True, kw_only=True):
    """A missing item, and how to exercise it in words (``how``).

    After the calls in ``needs``, ``request`` exercises the item. For an error, ``request`` succeeds until it
    is changed as ``how`` describes. ``inject`` is the fault that injects the error.
    """

    area: str
    item: str
    operation: str | None
    how: str
    needs: tuple[Step, ...] = ()
    request: RequestToMake | None = None
    inject: Step | None = None


def missing(found: Sequence[ItemCovered], contract: Contract) -> list[Gap]:
    """Return the gaps, one of each area in turn.

    In each area, operations that have been carried out come first.
    """
    known = {one.id: one for one in contract}
    used = {one.item for one in found if one.area == "operations" and one.covered}

    def ranked(area: str) -> list[ItemCovered]:
        own = (one for one in found if one.area == area and not one.covered)
        return sorted(own, key=lambda one: (one.operation not in used, _rank(one, known)))

    turns = chain.from_iterable(zip_longest(*map(ranked, _TURNS)))
    return [gap(one, known) for one in turns if one is not None]


def _rank(item: ItemCovered, known: Mapping[str, ApiOperation]) -> int:
    if item.area != "errors" or item.operation is None:
        return 0
    rules = known[item.operation].errors[_detail(item)]
    ranks = [_TELLING.index(rule.category) for rule in rules if rule.category in _TELLING]
    return min(ranks, default=len(_TELLING))


def _detail(item: ItemCovered) -> str:
    return item.item.removeprefix(f"{item.operation} ")


def gap(item: ItemCovered, known: Mapping[str, ApiOperation]) -> Gap:
    """Return the gap for an item, with a way to exercise it."""
    made = Gap(area=item.area, item=item.item, operation=item.operation, how="")
    if item.operation is not None:
        return _of_operation(made, known[item.operation], _detail(item))
    match item.area:
        case "events":
            return _of_event(made)
        case "faults":
            return _of_fault(made, known)
        case "transitions":
            return _of_transition(made, known)
    about = {str(one["name"]): f"{one['about']} It takes {one['takes']}." for one in catalogue(Assumptions())}
    return replace(made, how=about[item.item])


def _of_operation(made: Gap, operation: ApiOperation, detail: str) -> Gap:
    sample = _sample(operation.id)
    request, needs = _request(operation, sample), _needs(operation, sample)
    if made.area == "errors":
        return replace(
            made,
            how=_how_to_be_refused(operation, operation.errors[detail]),
            needs=needs,
            request=request,
            inject=_fault("error", operation, {"error": detail, "when": {"times": 1}}),
        )
    if made.area == "stages" and detail != sample.stage:
        how = f"Ask for it while the name is at the stage {detail}."
        people = (step for step in sample.needs if step.call in ("customers.add", "contacts.add"))
        return replace(made, how=how, needs=(*name_at(detail, sample.holder), *people), request=request)
    return replace(made, how="Ask for it, and let it be carried out.", needs=needs, request=request)


def _sample(operation: str) -> Sample:
    return samples().operations.get(operation, Sample())


def _request(operation: ApiOperation, sample: Sample) -> RequestToMake:
    places = {**samples().places, "domainName": sample.about, "domain_name": sample.about}
    path = re.sub(r"\{(\w+)\}", lambda found: places[found[1]], operation.path)
    return RequestToMake(method=operation.method, path=path, body=sample.body)


def _needs(operation: ApiOperation, sample: Sample) -> tuple[Step, ...]:
    written = operation.path + str(sample.body)
    is_about_one = sample.about == NAME and ("{domain" in written or NAME in written)
    if is_about_one:
        return *name_at(sample.stage, sample.holder), *sample.needs
    return *((SLOW,) if sample.stage is Stage.REQUESTED else ()), *sample.needs


def _how_to_be_refused(operation: ApiOperation, rules: Sequence[Rule]) -> str:
    """Return the message and the remedy of each rule that causes an error."""

    def plain(template: str) -> str:
        return _PLACE.sub(r"<\1>", _APPENDED.sub("", operation.wording.with_words(template))).rstrip(".")

    ways = [f"“{plain(rule.sentence)}”; to avoid it, {plain(rule.remedy)}" for rule in rules]
    return f"It says {'. Or: '.join(ways)}."


#: A placeholder in a message. An appended placeholder follows a word without a space and is often empty.
_PLACE = re.compile(r"\{(\w+)[^}]*\}")
_APPENDED = re.compile(r"(?<=[\w})])\{\w+\}")


def _of_event(made: Gap) -> Gap:
    row = next(row for row in TIMED if event_name(row) == made.item)
    until = {"domain": NAME, "event": row.event}
    again = (DAILY,) if row.tried_again else ()
    advance = Step(call="clock.advance", given={"until": until})
    how = f"Let a name be {row.stage} until this ends: {row.period.words}."
    return replace(made, how=how, needs=(*again, *name_at(row.stage, autorenew=row.years > 0), advance))


def _of_fault(made: Gap, known: Mapping[str, ApiOperation]) -> Gap:
    name, _, phase = made.item.partition(" ")
    kind = KINDS[name]
    first = " ".join(docstring(kind).split("\n\n")[0].split())
    operation = next((one for one in known.values() if one.shows_status), None)
    if operation is None:
        return replace(made, how=first)
    sample = _sample(operation.id)
    rule = _fault(name, operation, {**samples().faults.get(name, {}), "when": {"phase": phase, "times": 1}})
    return replace(
        made, how=first, needs=(*_needs(operation, sample), rule), request=_request(operation, sample)
    )


def _fault(kind: str, operation: ApiOperation, parameters: Mapping[str, Any]) -> Step:
    return Step(call="faults.add", given={"kind": kind, "match": {"operation": operation.id}, **parameters})


def _of_transition(made: Gap, known: Mapping[str, ApiOperation]) -> Gap:
    ways = [edge.words for edge in edges(State()) if transition_name(edge) == made.item]
    made = replace(made, how=f"It comes by: {'; '.join(ways)}.")
    name, stage = samples().transitions.get(made.item, ("", Stage.ACTIVE))
    if name not in known:
        return made
    sample = replace(_sample(name), stage=stage)
    return replace(made, needs=_needs(known[name], sample), request=_request(known[name], sample))
