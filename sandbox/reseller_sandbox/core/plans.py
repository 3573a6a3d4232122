"""Plans: what the rest of the world will do at an instant, or between two requests of a client."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from reseller_sandbox.core import outside
from reseller_sandbox.core.clock import wire
from reseller_sandbox.core.globs import Glob
from reseller_sandbox.core.happenings import Happening
from reseller_sandbox.core.model import After, Plan
from reseller_sandbox.core.outside import HOPELESS
from reseller_sandbox.core.refusals import INVALID_PARAMETER, UNKNOWN_PLAN, Refused
from reseller_sandbox.core.state import Draft, State
from reseller_sandbox.core.values import instant

#: What a plan is about, for people: the first of these that its action is told.
_SUBJECTS = ("domain", "zone", "account")


def make(
    draft: Draft, action: str, given: Mapping[str, Any], *, at: str | None = None, after: After | None = None
) -> Plan:
    """Plan an action ``at`` an instant or a length of time ahead, or ``after`` a client's next such request.

    ``given`` is as ``read`` answers it. Refuses with ``invalid_parameter`` when
    the instant is past, and as the action does where waiting would not mend it.
    """
    if (at is None) is (after is None):
        raise Refused(INVALID_PARAMETER, problems="a plan has either at or after")
    _require_hope(draft, action, given)
    plan = Plan(id=draft.next("plan"), action=action, given=tuple(sorted(given.items())), after=after)
    if at is not None:
        plan = replace(plan, at=_ahead(draft, at))
    draft.put(plan)
    return plan


def _require_hope(draft: Draft, action: str, given: Mapping[str, Any]) -> None:
    trial = Draft(draft.state, draft.now, draft.assumed, draft.cause)
    try:
        outside.carry_out(trial, action, given)
    except Refused as refused:
        if refused.rule in HOPELESS:
            raise


def _ahead(draft: Draft, at: str) -> Any:
    try:
        found = instant(at, draft.now)
    except ValueError as problem:
        raise Refused(INVALID_PARAMETER, problems=f"at: {problem}") from None
    if found < draft.now:
        raise Refused(
            INVALID_PARAMETER, problems=f"at is {at}, and the clock shows {wire(draft.now)} already"
        )
    return found


def strike(draft: Draft, plan: Plan) -> Happening:
    """Do what was planned, or note why it came to nothing."""
    refused = ""
    try:
        fired = draft.attempt(lambda inner: outside.carry_out(inner, plan.action, dict(plan.given)))
    except Refused as problem:
        refused = str(problem)
        fired = Happening(at=draft.now, event=f"{plan.action} refused", subject=subject(plan), note=refused)
    draft.put(replace(plan, struck=draft.now, refused=refused))
    return fired


def subject(plan: Plan) -> str:
    """The name, zone or account that a plan is about."""
    given = dict(plan.given)
    return str(next(given[name] for name in _SUBJECTS if name in given))


def waiting_for(state: State, operation: str, names: Collection[str], *, accepted: bool) -> Iterator[Plan]:
    """The plans that wait for such a request: ``operation`` about ``names``, accepted or refused."""
    for (number,) in state.waiting:
        plan = state.plans[number]
        after = plan.after
        assert after is not None
        if (
            Glob(after.operation).matches(operation)
            and (not after.name or after.name in names)
            and after.answer in ("any", "accepted" if accepted else "refused")
        ):
            yield plan


def find(state: State, number: int) -> Plan:
    """The plan of that id; refuses with ``unknown_plan``."""
    plan = state.plans.get(number)
    if plan is None:
        raise Refused(UNKNOWN_PLAN, plan=number)
    return plan
