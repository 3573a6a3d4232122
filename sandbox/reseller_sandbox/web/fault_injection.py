"""Fault injection: applies a world's faults before and after the operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from reseller_sandbox.faults import Effects, Phase, Strike
from reseller_sandbox.faults.kind import Instead, NamedError
from reseller_sandbox.refusals import INTERNAL_ERROR, PERIOD_TOO_LONG, PERIOD_TOO_SHORT
from reseller_sandbox.registry.state import Change
from reseller_sandbox.server.delivery import Again, Env, TcpClose
from reseller_sandbox.values import money
from reseller_sandbox.values.clock import later
from reseller_sandbox.values.matching import FAULT
from reseller_sandbox.values.names import shown, suffixes
from reseller_sandbox.web.context import RequestContext
from reseller_sandbox.web.interface import Answer
from reseller_sandbox.worlds import Entry, World
from reseller_sandbox.worlds.journal import Arrival
from reseller_sandbox.worlds.snapshot import to

#: The errors about a term in years. Each has the name of the zone field that holds the limit.
_LIMITS = {PERIOD_TOO_LONG.code: "max_years", PERIOD_TOO_SHORT.code: "min_years"}

#: The answer in the journal entry of a request that gets no response.
NO_ANSWER = Answer(0, b"")


class Postponed(Exception):
    """Raised to postpone the request as ``again`` describes."""

    def __init__(self, again: Again) -> None:
        super().__init__()
        self.again = again


def before(request: RequestContext, world: World) -> Effects:
    """Apply the faults that act before the operation, under the world's lock.

    Return the effects of the faults. If the world was rewound while the request waited, the connection
    closes. Raise ``Postponed`` if the operation takes effect only after a delay.
    """
    world.settle()
    request.before = world.snapshot
    apply, faults = request.held, world.snapshot.faults
    if apply is None:
        apply = _applied("before", request, world, Effects())
        if apply.effects.wait:
            _delay(apply, request, world)
            raise Postponed(Again(apply.effects.wait, apply))
    elif apply in faults.waiting:
        faults = replace(faults, waiting=faults.waiting.remove(apply))
        world.snapshot = replace(world.snapshot, faults=faults)
        # If the world is rewound to this state, the counts of its faults must not include this request.
        request.before = replace(world.snapshot, faults=faults.without(apply))
    else:
        return Effects(cut=TcpClose())
    effects = apply.effects
    request.begin(world)
    request.faults += apply.rules
    request.held_up = effects.wait
    return replace(effects, wait=0.0)


def after(request: RequestContext, world: World, answer: Answer) -> Answer:
    """Apply the faults that act after the operation. Return the resulting response."""
    request.status = answer.status
    apply = _applied("after", request, world, Effects(answer=answer.body))
    request.faults += apply.rules
    passes = apply.effects.passes
    if passes is not None:
        world.travel(to(lambda now: later(now, passes)), cause=request.step)
    return deliver(apply.effects, answer, request, world)


def twice(request: RequestContext, returned: str, execute: Callable[[], Answer]) -> Answer:
    """Run the operation twice. Return the first or the second response, as ``returned`` says."""
    first, cause = execute(), request.cause
    changes, refused, headers_out = request.changes, request.refused, dict(request.headers_out)
    request.changes, request.refused, request.cause = (), None, f"{cause}:duplicate"
    try:
        second = execute()
    finally:
        request.cause = cause
    request.changes = _joined(changes, request.changes)
    if returned == "second":
        return second
    request.refused, request.headers_out = refused, headers_out
    return first


def _delay(apply: Strike, request: RequestContext, world: World) -> None:
    """Delay a request, and store the data with which the server can resume the request."""
    snapshot, faults = world.snapshot, world.snapshot.faults
    matched = sum(count.matched for count in faults.counts.values())
    arrival = Arrival(snapshot.log.number, matched, request.at)
    apply.request = replace(request.entry(), arrived=arrival)
    world.snapshot = replace(snapshot, faults=replace(faults, waiting=faults.waiting.insert(apply)))


def _applied(phase: Phase, request: RequestContext, world: World, effects: Effects) -> Strike:
    """Apply the fault rules of ``world`` for ``phase``, and update the counts of the rules."""
    snapshot = world.snapshot
    faults, apply = snapshot.faults.apply(phase, request, request.at, snapshot.state.seed, effects)
    if faults is not snapshot.faults:
        world.snapshot = replace(snapshot, faults=faults)
    return apply


def past(world: World, commits: int, max_age: float | None = None) -> World:
    """Return ``world`` as it was ``commits`` commits ago, or before its first commit.

    With ``max_age``, the commit is at most that many seconds old, and the clock did not move after it. If
    there is no such commit, return the present world.
    """
    entries = [entry for entry in reversed(world.journal.entries) if entry.changes]
    if max_age is not None:
        entries = [
            entry
            for entry in entries
            if (world.now() - entry.at).total_seconds() <= max_age and not _clock_moved_since(entry, world)
        ]
    if not entries:
        return world
    entry = entries[: min(commits, len(entries))][-1]
    return World(world.name, entry.before.at(entry.at), world.limits, world.number)


def _clock_moved_since(entry: Entry, world: World) -> bool:
    events = world.snapshot.log.since(entry.before.log)
    return any(event.kind == "control" and event.name.startswith("clock.") for event in events)


def _joined(first: Sequence[Change], second: Sequence[Change]) -> list[Change]:
    """Return the changes of two transactions as one list. Leave out changes that the second reverted."""
    changes = {(change.table, change.key): change for change in first}
    for change in second:
        at = (change.table, change.key)
        changes[at] = replace(change, before=changes[at].before) if at in changes else change
    return [change for change in changes.values() if change.before != change.after]


def deliver(effects: Effects, answer: Answer, request: RequestContext, world: World) -> Answer:
    """Return the response to send after ``effects``, and set the way in which the server delivers it."""
    request.after = world.snapshot
    if effects.delivery is not None:
        request.environ[Env.DELIVERY] = effects.delivery
    if effects.instead is not None:
        outcome, replacement = _replacement(effects.instead, request, world)
        request.client_outcome = outcome if effects.cut is None else FAULT
        return replacement
    if effects.cut is not None:
        request.client_outcome = FAULT
    changed = effects.answer is not None and effects.answer is not answer.body
    return replace(answer, body=effects.answer) if changed else answer


def _replacement(instead: Instead, request: RequestContext, world: World) -> tuple[str, Answer]:
    """Return an outcome, and the response that replaces the operation's response."""
    interface = request.interface
    request.headers_out |= dict(instead.headers)
    if isinstance(instead, NamedError):
        facts = {**_facts(request, world, instead.error), **instead.facts}
        answer = interface.inject(request, instead.error, facts)
        outcome = instead.error if instead.error in interface.known_errors() else INTERNAL_ERROR.code
        return outcome, replace(answer, status=instead.status or answer.status)
    body, content_type = instead.body, instead.content_type
    if isinstance(body, str) or body is None:
        raw = (body or "").encode("utf-8", "backslashreplace")
        return FAULT, Answer(instead.status, raw, content_type or "text/html; charset=utf-8")
    return FAULT, Answer(instead.status, body, content_type or "")


def _facts(request: RequestContext, world: World, error: str) -> dict[str, object]:
    """Return facts about a request for the placeholders in the message of ``error``."""
    names, account, zones = request.domains, request.sender, world.state.zones
    facts: dict[str, object] = {}
    if names:
        facts["name"] = request.interface.reword(request, shown(names[0]))
    if account is not None:
        balance = money.write(account.balance)
        facts |= {"amount": f"More than {balance}", "balance": balance, "currency": account.currency}
    zone = next((zones[end] for name in names for end in suffixes(name) if end in zones), None)
    if zone is not None and error in _LIMITS:
        facts["limit"] = getattr(zone, _LIMITS[error])
    return facts
