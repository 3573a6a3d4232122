"""Scheduled actions of third parties, at an instant or after a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from reseller_sandbox.refusals import INVALID_PARAMETER, UNKNOWN_SCHEDULED_ACTION, Refused
from reseller_sandbox.registry import third_parties
from reseller_sandbox.registry.events import RegistryEvent
from reseller_sandbox.registry.model import ScheduledAction
from reseller_sandbox.registry.state import Draft, State
from reseller_sandbox.registry.third_parties import PERMANENT, instant_ahead
from reseller_sandbox.values.clock import wire
from reseller_sandbox.values.matching import Match, Request

#: The parameters that name the subject of a scheduled action. The first one present counts.
_SUBJECTS = ("domain", "zone", "account")


def make(
    draft: Draft,
    action: str,
    arguments: Mapping[str, Any],
    *,
    at: str | None = None,
    after: Match | None = None,
) -> ScheduledAction:
    """Schedule an action ``at`` an instant or ``after`` a request.

    ``at`` can be a duration from now. ``arguments`` are values of the action's parameters. Refuse with
    ``invalid_parameter`` if the instant is past. Also raise those refusals of the action that waiting cannot
    resolve.
    """
    if (at is None) is (after is None):
        raise Refused(INVALID_PARAMETER, problems="a scheduled action requires either at or after")
    _require_possible(draft, action, arguments)
    after = None if after is None else awaited(after)
    scheduled = ScheduledAction(
        id=draft.next("scheduled"), action=action, parameters=tuple(sorted(arguments.items())), after=after
    )
    if at is not None:
        scheduled = replace(scheduled, at=_ahead(draft, at))
    return draft.put(scheduled)


def _require_possible(draft: Draft, action: str, arguments: Mapping[str, Any]) -> None:
    trial = Draft(draft.state, draft.now, draft.assumed, draft.cause)
    try:
        third_parties.ACTIONS[action](trial, **arguments)
    except Refused as refused:
        if refused.rule in PERMANENT:
            raise


def _ahead(draft: Draft, at: str) -> datetime:
    instant = instant_ahead(draft.now, "at", at)
    if instant < draft.now:
        raise Refused(
            INVALID_PARAMETER, problems=f"at is {at}, but the clock already shows {wire(draft.now)}"
        )
    return instant


def apply(draft: Draft, scheduled: ScheduledAction) -> RegistryEvent:
    """Carry out a scheduled action, or record why it was refused."""
    refused = ""
    try:
        events = draft.attempt(
            lambda inner: third_parties.ACTIONS[scheduled.action](inner, **dict(scheduled.parameters))
        )
    except Refused as problem:
        refused = str(problem)
        events = RegistryEvent(
            at=draft.now, event=f"{scheduled.action} refused", subject=subject(scheduled), note=refused
        )
    draft.put(replace(scheduled, applied=draft.now, refused=refused))
    return events


def subject(scheduled: ScheduledAction) -> str:
    """Return the domain, zone or account of a scheduled action."""
    parameters = dict(scheduled.parameters)
    return str(next(parameters[name] for name in _SUBJECTS if name in parameters))


#: The conditions of a match on the result of a request.
_RESULTS = frozenset({"outcome", "carried_out", "changed", "fault"})


def awaited(match: Match) -> Match:
    """Return the condition on which a scheduled action waits.

    If ``match`` has no condition on results, the request must also be carried out. Refuse with
    ``invalid_parameter`` if ``match`` is only for past requests.
    """
    if "since" in match:
        raise Refused(INVALID_PARAMETER, problems="after.since is only for past requests")
    return match if match.keys() & _RESULTS else Match(match, carried_out=True)


def waiting_for(state: State, request: Request) -> Iterator[ScheduledAction]:
    """Yield the scheduled actions that wait for ``request``, which has been answered."""
    for (number,) in state.waiting:
        scheduled = state.scheduled[number]
        if scheduled.after is not None and scheduled.after(request):
            yield scheduled


def find(state: State, number: int) -> ScheduledAction:
    """Return the scheduled action with that id.

    Refuse with ``unknown_scheduled_action``.
    """
    scheduled = state.scheduled.get(number)
    if scheduled is None:
        raise Refused(UNKNOWN_SCHEDULED_ACTION, scheduled=number)
    return scheduled
