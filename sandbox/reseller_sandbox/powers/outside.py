"""The other side: what strangers, other registrars, registries and the service's own staff do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Concatenate, ParamSpec, Self, cast

from msgspec.structs import replace

from reseller_sandbox.core import outside, plans, refusals
from reseller_sandbox.core.happenings import Happening
from reseller_sandbox.core.matching import MATCH, Match, Matching
from reseller_sandbox.core.model import Plan
from reseller_sandbox.core.refusals import INVALID_PARAMETER, Refused, Rule
from reseller_sandbox.core.signatures import Parameter, declared, told_of
from reseller_sandbox.core.state import Draft
from reseller_sandbox.core.values import TEXT, When, either
from reseller_sandbox.powers.here import here
from reseller_sandbox.powers.matching import match_of
from reseller_sandbox.powers.plans import PlanRecord, plan_record
from reseller_sandbox.powers.power import Door, Operation, Power, method_for
from reseller_sandbox.powers.records import Fired, fired
from reseller_sandbox.powers.result import Result

P = ParamSpec("P")

#: What the first parameter of an action is.
_SUBJECTS = {"domain": "The name.", "zone": "The zone.", "account": "The account's name, or its client id."}


Wait = Annotated[str | Matching, either(TEXT, MATCH)]


class Played(Result, frozen=True, kw_only=True):
    """What happened at once, or what is planned."""

    now: datetime
    fired: tuple[Fired, ...]
    plan: PlanRecord | None


class ActionPlayed(Operation):
    """An action of the other side: it takes the action's parameters, and when it is to happen."""

    result = Played

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Return the parameters of the action and those of ``Outside.when``."""
        planned = (replace(one, place="option") for one in declared(Outside.when))
        return *declared(self.body), *planned

    @cached_property
    def told(self) -> Mapping[str, str]:
        """Return what the docstrings of the two say of each parameter."""
        said = {**_SUBJECTS, **super().told, **told_of(Outside.when)}
        return {one.name: said[one.name] for one in self.parameters if one.name in said}

    def call(self, power: Power, told: Mapping[str, Any]) -> Played:
        """Carry the action out now, or plan it."""
        given = dict(told)
        at, after = given.pop("at", None), given.pop("after", None)
        if at is not None and after is not None:
            raise Refused(INVALID_PARAMETER, problems="at and after do not go together")
        world = here(power).world

        def work(draft: Draft) -> Happening | Plan:
            if at is None and after is None:
                return outside.carry_out(draft, self.name, given)
            wait = _wait(power, after) if after is not None else None
            return plans.make(draft, self.name, given, at=at, after=wait)

        with world.lock, world.acting(self.id) as deed:
            outcome = world.transact(self.id, work, operation=self.id)
            if outcome.refused is not None:
                raise outcome.refused
            done = outcome.result
            if isinstance(done, Plan):
                deed.effect["plan"] = done.id
                return Played(now=world.now(), fired=(), plan=plan_record(done))
            assert done is not None
            deed.happening = done
            return Played(now=world.now(), fired=fired(world.state, [done]), plan=None)


def happens(
    *refuses: Rule,
) -> Callable[[Callable[Concatenate[Draft, P], Happening]], Callable[Concatenate[Outside, P], Played]]:
    """Declare an action of ``core.outside``, and the rules by which it may refuse when it happens at once."""

    def declare(
        action: Callable[Concatenate[Draft, P], Happening],
    ) -> Callable[Concatenate[Outside, P], Played]:
        operation = ActionPlayed(action, "act", refuses, long=False)
        return cast("Callable[Concatenate[Outside, P], Played]", method_for(operation))

    return declare


def _wait(power: Power, after: str | Matching) -> Match:
    """Return the request to wait for; refuse with ``invalid_parameter``."""
    told: Matching = {"operation": after} if isinstance(after, str) else after
    return match_of(power, told, "after")


class Later:
    """A door for actions that are to happen later."""

    def __init__(self, door: Door, told: Mapping[str, Any]) -> None:
        self._door = door
        self._told = told

    def carry_out(self, operation: Operation, given: Mapping[str, Any]) -> Any:
        """Return what ``operation`` answers when it is planned."""
        return self._door.carry_out(operation, {**given, **self._told})


_NAME = (refusals.INVALID_NAME, refusals.ZONE_NOT_SUPPORTED)
_HELD = (*_NAME, refusals.NOT_HELD)
_ZONE, _ACCOUNT = refusals.UNKNOWN_ZONE, refusals.UNKNOWN_ACCOUNT


class Outside(Power):
    """The rest of the world, to play: strangers, other registrars, registries, the service's own staff.

    Each action happens at once, or becomes a plan.

    >>> sandbox.outside.register("example.com")
    >>> sandbox.outside.when("P3D").adjust_balance("main", to=0)
    >>> sandbox.outside.when(after="v3.checkAvailability").register("example.net")
    """

    def when(self, at: When | None = None, *, after: Wait | None = None) -> Self:
        """Return this power with its actions planned for later; one that can never succeed is refused now.

        Args:
            at: When it is to happen, where not at once: an instant, or a length of time ahead.
            after: The request of any client after which it is to happen, told as to ``journal.find``, or its
                operation alone. Where that leaves open what comes of the request, it is to be carried out.
        """
        return type(self)(Later(self._door, {"at": at, "after": after}))

    register = happens(
        *_NAME,
        refusals.ZONE_OUT_OF_SERVICE,
        refusals.PERIOD_TOO_SHORT,
        refusals.PERIOD_TOO_LONG,
        refusals.NAME_TAKEN,
        refusals.NAME_RESERVED,
    )(outside.register)
    hold = happens(*_HELD)(outside.hold)
    release_hold = happens(*_HELD)(outside.release_hold)
    drop = happens(
        *_HELD, refusals.WRONG_STATE, refusals.TRANSFER_PENDING, refusals.LOCKED, refusals.HOST_IN_USE
    )(outside.drop)
    release = happens(*_HELD)(outside.release)
    request_transfer = happens(
        *_HELD,
        refusals.HELD_OUTSIDE,
        refusals.TRANSFERS_NOT_SUPPORTED,
        refusals.ZONE_OUT_OF_SERVICE,
        refusals.WRONG_STATE,
        refusals.TRANSFER_PENDING,
        refusals.LOCKED,
        refusals.TOO_YOUNG,
    )(outside.request_transfer)
    approve_transfer = happens(*_NAME, refusals.NO_TRANSFER_IN)(outside.approve_transfer)
    reject_transfer = happens(*_NAME, refusals.NO_TRANSFER_IN)(outside.reject_transfer)
    cancel_transfer = happens(*_NAME, refusals.NO_TRANSFER_OUT)(outside.cancel_transfer)
    complete_transfer = happens(*_NAME, refusals.NO_TRANSFER_PENDING)(outside.complete_transfer)
    set_prices = happens(_ZONE)(outside.set_prices)
    set_promotion = happens(_ZONE)(outside.set_promotion)
    set_premium = happens(*_NAME)(outside.set_premium)
    set_service = happens(_ZONE)(outside.set_service)
    adjust_balance = happens(_ACCOUNT)(outside.adjust_balance)
    revoke_credentials = happens(_ACCOUNT)(outside.revoke_credentials)
    restore_credentials = happens(_ACCOUNT)(outside.restore_credentials)
