"""Third parties: actions of other registrars, registries and the service's staff."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Concatenate, ParamSpec, Self, cast

from msgspec.structs import replace

from reseller_sandbox import refusals
from reseller_sandbox.control.resource import Operation, Resource, dumped, method_for, read, write
from reseller_sandbox.control.results import (
    Number,
    RegistryEventRecord,
    Result,
    event_record,
    parse_match,
    record_of,
)
from reseller_sandbox.refusals import INVALID_PARAMETER, UNKNOWN_SCHEDULED_ACTION, Refused, Rule
from reseller_sandbox.registry import third_parties, timers
from reseller_sandbox.registry.events import RegistryEvent
from reseller_sandbox.registry.model import ScheduledAction
from reseller_sandbox.registry.state import Draft
from reseller_sandbox.registry.stepwise import in_order
from reseller_sandbox.server.secrecy import Secrecy
from reseller_sandbox.values.kinds import TEXT, When, either
from reseller_sandbox.values.matching import MATCH, Matching
from reseller_sandbox.values.parameters import Parameter, declared
from reseller_sandbox.worlds.redact import masked

P = ParamSpec("P")

#: Descriptions of the parameters that name the subject of an action.
_SUBJECTS = {
    "domain": "The domain name.",
    "zone": "The zone.",
    "account": "The account's name, or its client id.",
}

RequestOrMatch = Annotated[str | Matching, either(TEXT, MATCH)]


class ScheduledRecord(Result, frozen=True, kw_only=True):
    """A scheduled action of a third party.

    The action happens at the instant ``at``, or after a request that matches ``after``. ``applied`` is the
    time at which the action happened or failed. If the action failed, ``refused`` is the reason.
    """

    id: int
    action: str
    parameters: Mapping[str, Any]
    at: datetime | None
    after: Mapping[str, Any] | None
    applied: datetime | None
    refused: str


class ScheduledList(Result, frozen=True, kw_only=True):
    """Every scheduled action, in order of creation."""

    scheduled: tuple[ScheduledRecord, ...]


class Scheduled(Resource):
    """The scheduled actions of third parties, and their results."""

    @read("GET scheduled")
    def list(self) -> ScheduledList:
        """Return every scheduled action. An action that has happened stays in the list, with its result."""
        world = self._world
        actions = in_order(world.state.scheduled)
        return ScheduledList(
            scheduled=tuple(scheduled_record(action, world.secrecy) for _, action in actions)
        )

    @write("DELETE scheduled/{scheduled}", UNKNOWN_SCHEDULED_ACTION)
    def remove(self, scheduled: Number, /) -> ScheduledRecord:
        """Cancel a scheduled action, or delete an action that has happened. Return the action.

        Args:
            scheduled: The number of the scheduled action.
        """

        def work(draft: Draft) -> ScheduledAction:
            action = timers.find_scheduled(draft.state, scheduled)
            draft.remove(action)
            return action

        action, _ = self._world.transact("scheduled.remove", work, operation="scheduled.remove")
        return scheduled_record(action, self._world.secrecy)


def scheduled_record(scheduled: ScheduledAction, secrecy: Secrecy) -> ScheduledRecord:
    """Convert a scheduled action to a ``ScheduledRecord``, with secrets masked."""
    known = declared(third_parties.ACTIONS[scheduled.action])
    return record_of(
        ScheduledRecord,
        scheduled,
        parameters=masked(dumped(known, dict(scheduled.parameters)), secrecy),
        after=MATCH.write(scheduled.after) if scheduled.after is not None else None,
    )


class SimulationResult(Result, frozen=True, kw_only=True):
    """The result of a simulated action.

    If the action happened at once, ``events`` lists its events. Otherwise ``scheduled`` is the scheduled
    action.
    """

    now: datetime
    events: tuple[RegistryEventRecord, ...]
    scheduled: ScheduledRecord | None


@dataclass(eq=False)
class SimulatedAction(Operation):
    """An operation that carries out or schedules an action of a third party.

    The subject of the action is its first parameter. The path can contain the subject.
    """

    result = SimulationResult

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Return the parameters of the action, then the parameters of ``ActingResource.when``."""
        subject, *others = declared(self.body)
        place = "segment" if f"{{{subject.name}}}" in self.path else subject.place
        subject = replace(subject, words=_SUBJECTS[subject.name], place=place)
        planned = (replace(each, place="option") for each in declared(ActingResource.when))
        return subject, *others, *planned

    def call(self, resource: Resource, values: Mapping[str, Any]) -> SimulationResult:
        """Carry out the action now, or schedule it."""
        parameters = dict(values)
        at, after = parameters.pop("at", None), parameters.pop("after", None)
        if at is not None and after is not None:
            raise Refused(INVALID_PARAMETER, problems="at and after cannot be combined")
        world = resource._world

        def work(draft: Draft) -> RegistryEvent | ScheduledAction:
            if at is None and after is None:
                return third_parties.act(draft, self.name, parameters)
            match: Any = {"operation": after} if isinstance(after, str) else after
            match_after = parse_match(resource, match, "after", to_come=True) if after is not None else None
            return timers.schedule(draft, self.name, parameters, at=at, after=match_after)

        with world.acting(self.id) as log:
            result, _ = world.transact(self.id, work, operation=self.id)
            if isinstance(result, ScheduledAction):
                log.effect["scheduled"] = result.id
                return SimulationResult(
                    now=world.now(), events=(), scheduled=scheduled_record(result, world.secrecy)
                )
            log.registry_event = result
            world.tally.note_events((result,))
            return SimulationResult(
                now=world.now(), events=(event_record(world.state, result, world.secrecy),), scheduled=None
            )


def simulates(
    action: Callable[Concatenate[Draft, P], RegistryEvent], *refuses: Rule, route: str = ""
) -> Callable[Concatenate[ActingResource, P], SimulationResult]:
    """Return a method of an ``ActingResource`` for ``action``, a function of ``registry.third_parties``.

    ``refuses`` are the rules by which the action can refuse if it happens at once. The default ``route`` has
    the name of the action, such as ``POST simulate/hold``.
    """
    method = method_for(
        SimulatedAction(action, "write", route or f"POST simulate/{action.__name__}", refuses)
    )
    return cast("Callable[Concatenate[ActingResource, P], SimulationResult]", method)


class ActingResource(Resource):
    """A resource with actions of third parties."""

    def when(self, at: When | None = None, *, after: RequestOrMatch | None = None) -> Self:
        """Return a copy of this resource whose actions happen later.

        An action that can never succeed is refused now.

        Args:
            at: The time of the action: an instant, or a duration from now. By default the action happens at
                once.
            after: The request after which the action happens, from any client: a match as in
                ``journal.list``, or only the operation. If the match has no condition on the response, the
                action waits for a request that is carried out.
        """
        planned = copy(self)
        planned._always = {"at": at, "after": after}
        return planned


_NAME = (refusals.INVALID_NAME, refusals.ZONE_NOT_SUPPORTED)
_HELD = (*_NAME, refusals.NOT_HELD)
_LEAVES = (refusals.WRONG_STATE, refusals.TRANSFER_PENDING, refusals.LOCKED)
_ZONE, _ACCOUNT = refusals.UNKNOWN_ZONE, refusals.UNKNOWN_ACCOUNT


class Simulate(ActingResource):
    """Actions of third parties: other registrars, registries and the service's staff.

    An action happens at once, unless you schedule the action with ``when``. The actions on the balance of an
    account are in ``accounts``.

    >>> sandbox.simulate.register("example.com")
    >>> sandbox.simulate.when("P3D").drop("example.com")
    >>> sandbox.simulate.when(after="v3.checkAvailability").register("example.net")
    """

    register = simulates(
        third_parties.register,
        *_NAME,
        refusals.ZONE_OUT_OF_SERVICE,
        refusals.PERIOD_TOO_SHORT,
        refusals.PERIOD_TOO_LONG,
        refusals.NAME_TAKEN,
        refusals.NAME_RESERVED,
    )
    hold = simulates(third_parties.hold, *_HELD)
    release_hold = simulates(third_parties.release_hold, *_HELD)
    drop = simulates(third_parties.drop, *_HELD, *_LEAVES, refusals.HOST_IN_USE)
    release = simulates(third_parties.release, *_HELD)
    request_transfer = simulates(
        third_parties.request_transfer,
        *_HELD,
        refusals.HELD_OUTSIDE,
        refusals.TRANSFERS_NOT_SUPPORTED,
        refusals.ZONE_OUT_OF_SERVICE,
        *_LEAVES,
        refusals.TOO_YOUNG,
        refusals.REGISTRANT_CHANGED,
        refusals.WRONG_AUTH_CODE,
    )
    approve_transfer = simulates(third_parties.approve_transfer, *_NAME, refusals.NO_TRANSFER_IN)
    reject_transfer = simulates(third_parties.reject_transfer, *_NAME, refusals.NO_TRANSFER_IN)
    cancel_transfer = simulates(third_parties.cancel_transfer, *_NAME, refusals.NO_TRANSFER_OUT)
    complete_transfer = simulates(third_parties.complete_transfer, *_NAME, refusals.NO_TRANSFER_PENDING)
    change = simulates(
        third_parties.change,
        *_HELD,
        refusals.PRIVACY_NOT_OFFERED,
        _ACCOUNT,
        refusals.TRANSFER_PENDING,
        refusals.CONTACT_NOT_FOUND,
        refusals.CUSTOMER_NOT_FOUND,
        refusals.INSUFFICIENT_FUNDS,
    )
    renew = simulates(
        third_parties.renew,
        *_HELD,
        *_LEAVES,
        refusals.ZONE_OUT_OF_SERVICE,
        refusals.PERIOD_TOO_SHORT,
        refusals.PERIOD_TOO_LONG,
        refusals.INSUFFICIENT_FUNDS,
    )
    refuse_registration = simulates(
        third_parties.refuse_registration, *_HELD, refusals.NO_REGISTRATION_PENDING
    )
    expire_auth_code = simulates(third_parties.expire_auth_code, *_HELD)
    set_prices = simulates(third_parties.set_prices, _ZONE)
    set_promotion = simulates(third_parties.set_promotion, _ZONE)
    set_premium = simulates(third_parties.set_premium, *_NAME)
    set_service = simulates(third_parties.set_service, _ZONE)
    revoke_credentials = simulates(third_parties.revoke_credentials, _ACCOUNT)
    restore_credentials = simulates(third_parties.restore_credentials, _ACCOUNT)
