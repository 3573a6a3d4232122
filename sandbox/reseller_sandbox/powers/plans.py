"""The plans of a world: what the other side will do, and what it has done as planned."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from reseller_sandbox.core import outside, plans
from reseller_sandbox.core.matching import MATCH
from reseller_sandbox.core.model import Plan
from reseller_sandbox.core.refusals import UNKNOWN_PLAN
from reseller_sandbox.core.state import Draft
from reseller_sandbox.core.stepwise import in_order
from reseller_sandbox.powers.here import here
from reseller_sandbox.powers.pages import Number
from reseller_sandbox.powers.power import Power, act, look
from reseller_sandbox.powers.result import Result
from reseller_sandbox.worlds.redact import masked


class PlanRecord(Result, frozen=True, kw_only=True):
    """Something that the rest of the world will do: at an instant, or ``after`` the request that is meant.

    ``struck`` is when that happened, or failed: then ``refused`` says why.
    """

    id: int
    action: str
    given: Mapping[str, Any]
    at: datetime | None
    after: Mapping[str, Any] | None
    struck: datetime | None
    refused: str


class PlansFound(Result, frozen=True, kw_only=True):
    """Every plan, in the order of their making."""

    plans: tuple[PlanRecord, ...]


class Plans(Power):
    """What the other side is planned to do, and what came of it."""

    @look()
    def list(self) -> PlansFound:
        """Return every plan: those to come, and the result of the others."""
        known = here(self).world.state.plans
        return PlansFound(plans=tuple(plan_record(plan) for _, plan in in_order(known)))

    @act(UNKNOWN_PLAN)
    def remove(self, plan: Number, /) -> PlanRecord:
        """Cancel a plan, or delete one that has been carried out; return it.

        Args:
            plan: The plan's number.
        """

        def work(draft: Draft) -> Plan:
            found = plans.find(draft.state, plan)
            draft.remove(found)
            return found

        outcome = here(self).world.transact("plans.remove", work, operation="plans.remove")
        if outcome.refused is not None:
            raise outcome.refused
        assert outcome.result is not None
        return plan_record(outcome.result)


def plan_record(plan: Plan) -> PlanRecord:
    """Return a plan as it is shown."""
    told = dict(plan.given)
    known = (one for one in outside.parameters(plan.action) if one.name in told)
    return PlanRecord(
        id=plan.id,
        action=plan.action,
        given=masked({one.name: one.kind.write(told[one.name]) for one in known}),
        at=plan.at,
        after=MATCH.write(plan.after) if plan.after is not None else None,
        struck=plan.struck,
        refused=plan.refused,
    )
