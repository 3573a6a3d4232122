"""Third parties: what strangers, other registrars, registries and the service's own staff do, or will do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Concatenate, ParamSpec, Self, cast

from msgspec.structs import replace

from reseller_sandbox.control.local_transport import local_transport
from reseller_sandbox.control.resource import Operation, Resource, method_for, read, write
from reseller_sandbox.control.results import Number, RegistryEventRecord, Result, event_record, match_of
from reseller_sandbox.registry import refusals, scheduled_actions, third_parties
from reseller_sandbox.registry.events import RegistryEvent
from reseller_sandbox.registry.matching import MATCH, Matching
from reseller_sandbox.registry.model import ScheduledAction
from reseller_sandbox.registry.parameters import Parameter, declared, documented_parameters
from reseller_sandbox.registry.refusals import INVALID_PARAMETER, UNKNOWN_SCHEDULED_ACTION, Refused, Rule
from reseller_sandbox.registry.state import Draft
from reseller_sandbox.registry.stepwise import in_order
from reseller_sandbox.registry.values import TEXT, When, either
from reseller_sandbox.worlds.redact import masked

P = ParamSpec("P")

#: What the first parameter of an action is.
_SUBJECTS = {"domain": "The name.", "zone": "The zone.", "account": "The account's name, or its client id."}

Wait = Annotated[str | Matching, either(TEXT, MATCH)]


class ScheduledRecord(Result, frozen=True, kw_only=True):
    """Something that the rest of the world will do: at an instant, or ``after`` the request that is meant.

    ``applied`` is when that happened, or failed: then ``refused`` says why.
    """

    id: int
    action: str
    given: Mapping[str, Any]
    at: datetime | None
    after: Mapping[str, Any] | None
    applied: datetime | None
    refused: str


class ScheduledFound(Result, frozen=True, kw_only=True):
    """Every scheduled action, in the order of their making."""

    scheduled: tuple[ScheduledRecord, ...]


class Scheduled(Resource):
    """What third parties are planned to do, and what came of it."""

    @read()
    def list(self) -> ScheduledFound:
        """Return every scheduled action: those to come, and the result of the others."""
        known = local_transport(self).world.state.scheduled
        return ScheduledFound(
            scheduled=tuple(scheduled_record(scheduled) for _, scheduled in in_order(known))
        )

    @write(UNKNOWN_SCHEDULED_ACTION)
    def remove(self, scheduled: Number, /) -> ScheduledRecord:
        """Cancel a scheduled action, or delete one that has been carried out; return it.

        Args:
            scheduled action: The scheduled action's number.
        """

        def work(draft: Draft) -> ScheduledAction:
            found = scheduled_actions.find(draft.state, scheduled)
            draft.remove(found)
            return found

        outcome = local_transport(self).world.transact("scheduled.remove", work, operation="scheduled.remove")
        if outcome.refused is not None:
            raise outcome.refused
        assert outcome.result is not None
        return scheduled_record(outcome.result)


def scheduled_record(scheduled: ScheduledAction) -> ScheduledRecord:
    """Return a scheduled action as it is shown."""
    told = dict(scheduled.given)
    known = (one for one in third_parties.parameters(scheduled.action) if one.name in told)
    return ScheduledRecord(
        id=scheduled.id,
        action=scheduled.action,
        given=masked({one.name: one.kind.write(told[one.name]) for one in known}),
        at=scheduled.at,
        after=MATCH.write(scheduled.after) if scheduled.after is not None else None,
        applied=scheduled.applied,
        refused=scheduled.refused,
    )


class Simulated(Result, frozen=True, kw_only=True):
    """What happened at once, or what is planned."""

    now: datetime
    events: tuple[RegistryEventRecord, ...]
    scheduled: ScheduledRecord | None


class SimulatedAction(Operation):
    """An action of third parties: it takes the action's parameters, and when it is to happen."""

    result = Simulated

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Return the parameters of the action and those of ``Simulate.when``."""
        planned = (replace(one, place="option") for one in declared(Simulate.when))
        return *declared(self.body), *planned

    @cached_property
    def told(self) -> Mapping[str, str]:
        """Return what the docstrings of the two say of each parameter."""
        said = {**_SUBJECTS, **super().told, **documented_parameters(Simulate.when)}
        return {one.name: said[one.name] for one in self.parameters if one.name in said}

    def call(self, resource: Resource, told: Mapping[str, Any]) -> Simulated:
        """Carry the action out now, or scheduled action it."""
        given = dict(told)
        at, after = given.pop("at", None), given.pop("after", None)
        if at is not None and after is not None:
            raise Refused(INVALID_PARAMETER, problems="at and after do not go together")
        world = local_transport(resource).world

        def work(draft: Draft) -> RegistryEvent | ScheduledAction:
            if at is None and after is None:
                return third_parties.carry_out(draft, self.name, given)
            wanted: Any = {"operation": after} if isinstance(after, str) else after
            wait = match_of(resource, wanted, "after") if after is not None else None
            return scheduled_actions.make(draft, self.name, given, at=at, after=wait)

        with world.lock, world.acting(self.id) as action:
            outcome = world.transact(self.id, work, operation=self.id)
            if outcome.refused is not None:
                raise outcome.refused
            done = outcome.result
            if isinstance(done, ScheduledAction):
                action.effect["scheduled"] = done.id
                return Simulated(now=world.now(), events=(), scheduled=scheduled_record(done))
            assert done is not None
            action.registry_event = done
            return Simulated(now=world.now(), events=(event_record(world.state, done),), scheduled=None)


def happens(
    *refuses: Rule,
) -> Callable[
    [Callable[Concatenate[Draft, P], RegistryEvent]], Callable[Concatenate[Simulate, P], Simulated]
]:
    """Declare an action of ``core.simulate``, and the rules by which it may refuse when it happens at
    once."""

    def declare(
        action: Callable[Concatenate[Draft, P], RegistryEvent],
    ) -> Callable[Concatenate[Simulate, P], Simulated]:
        operation = SimulatedAction(action, "write", refuses, long=False)
        return cast("Callable[Concatenate[Simulate, P], Simulated]", method_for(operation))

    return declare


_NAME = (refusals.INVALID_NAME, refusals.ZONE_NOT_SUPPORTED)
_HELD = (*_NAME, refusals.NOT_HELD)
_ZONE, _ACCOUNT = refusals.UNKNOWN_ZONE, refusals.UNKNOWN_ACCOUNT


class Simulate(Resource):
    """The rest of the world, to play: strangers, other registrars, registries, the service's own staff.

    Each action happens at once, or becomes a scheduled action.

    >>> sandbox.simulate.register("example.com")
    >>> sandbox.simulate.when("P3D").adjust_balance("main", to=0)
    >>> sandbox.simulate.when(after="v3.checkAvailability").register("example.net")
    """

    def when(self, at: When | None = None, *, after: Wait | None = None) -> Self:
        """Return this resource with its actions planned for later; one that can never succeed is refused now.

        Args:
            at: When it is to happen, where not at once: an instant, or a length of time ahead.
            after: The request of any client after which it is to happen, told as to ``journal.find``, or its
                operation alone. Where that leaves open what comes of the request, it is to be carried out.
        """
        planned = copy(self)
        planned._always = {"at": at, "after": after}
        return planned

    register = happens(
        *_NAME,
        refusals.ZONE_OUT_OF_SERVICE,
        refusals.PERIOD_TOO_SHORT,
        refusals.PERIOD_TOO_LONG,
        refusals.NAME_TAKEN,
        refusals.NAME_RESERVED,
    )(third_parties.register)
    hold = happens(*_HELD)(third_parties.hold)
    release_hold = happens(*_HELD)(third_parties.release_hold)
    drop = happens(
        *_HELD, refusals.WRONG_STATE, refusals.TRANSFER_PENDING, refusals.LOCKED, refusals.HOST_IN_USE
    )(third_parties.drop)
    release = happens(*_HELD)(third_parties.release)
    request_transfer = happens(
        *_HELD,
        refusals.HELD_OUTSIDE,
        refusals.TRANSFERS_NOT_SUPPORTED,
        refusals.ZONE_OUT_OF_SERVICE,
        refusals.WRONG_STATE,
        refusals.TRANSFER_PENDING,
        refusals.LOCKED,
        refusals.TOO_YOUNG,
    )(third_parties.request_transfer)
    approve_transfer = happens(*_NAME, refusals.NO_TRANSFER_IN)(third_parties.approve_transfer)
    reject_transfer = happens(*_NAME, refusals.NO_TRANSFER_IN)(third_parties.reject_transfer)
    cancel_transfer = happens(*_NAME, refusals.NO_TRANSFER_OUT)(third_parties.cancel_transfer)
    complete_transfer = happens(*_NAME, refusals.NO_TRANSFER_PENDING)(third_parties.complete_transfer)
    set_prices = happens(_ZONE)(third_parties.set_prices)
    set_promotion = happens(_ZONE)(third_parties.set_promotion)
    set_premium = happens(*_NAME)(third_parties.set_premium)
    set_service = happens(_ZONE)(third_parties.set_service)
    adjust_balance = happens(_ACCOUNT)(third_parties.adjust_balance)
    revoke_credentials = happens(_ACCOUNT)(third_parties.revoke_credentials)
    restore_credentials = happens(_ACCOUNT)(third_parties.restore_credentials)
