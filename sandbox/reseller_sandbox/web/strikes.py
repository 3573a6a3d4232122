"""The way of a request through the faults of its world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flask import request

from reseller_sandbox.core.model import Account
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.core.state import Change
from reseller_sandbox.server.delivery import ENV_DELIVERY, Again, Close, Delivery
from reseller_sandbox.web.exchange import Exchange
from reseller_sandbox.web.generation import Answer, Endpoint
from reseller_sandbox.web.struck import Seen, Struck
from reseller_sandbox.worlds import World

#: What stands in the journal where there was no answer.
NO_ANSWER = Answer(0, b"")


class Postponed(Exception):
    """The request is to be taken up again, as ``again`` says."""

    def __init__(self, again: Again) -> None:
        super().__init__()
        self.again = again


def perform(exchange: Exchange, endpoint: Endpoint, world: World, account: Account | None) -> Answer:
    """Answer a request as the faults of ``world`` will have it; under its lock.

    Raises ``Postponed`` when the operation is to take effect only after a delay.
    """
    world.settle()
    arrived, seen = world.moment, Seen(endpoint, exchange.incoming)
    before = _taken_up(exchange.held, world) if exchange.held else Struck.by("before", seen, world)
    if before is None:
        request.environ[ENV_DELIVERY] = Delivery(cut=Close())
        return NO_ANSWER
    if before.wait:
        world.moment = replace(world.moment, faults=world.moment.faults.holding(before))
        raise Postponed(Again(before.wait, before))
    exchange.begin(world)
    exchange.before = arrived
    if before.decided:
        return _sent(before, exchange, endpoint, world)
    answer = _carried_out(exchange, endpoint, world, account, before)
    exchange.faults += before.rules
    seen.changed = bool(exchange.changes)
    after = Struck.by("after", seen, world, answer)
    exchange.after = world.moment
    return _sent(after, exchange, endpoint, world)


def _taken_up(held: Struck, world: World) -> Struck | None:
    """A request that has waited, unless the world has gone back to before it came: then it never did."""
    faults = world.moment.faults
    if held not in faults.waiting:
        return None
    world.moment = replace(world.moment, faults=faults.released(held))
    held.wait = 0.0
    return held


def _carried_out(
    exchange: Exchange, endpoint: Endpoint, world: World, account: Account | None, before: Struck
) -> Answer:
    """The operation's answer: of now, of the past, or of one time of two."""

    def attempt(there: World, cause: str) -> Answer:
        try:
            return exchange.act(endpoint, there, account, cause)
        except Refused as refused:
            return exchange.refuse(refused)

    if before.commits:
        return attempt(_past(world, before.commits), exchange.cause)
    first = attempt(world, exchange.cause)
    if before.again is None:
        return first
    kept = exchange.changes, exchange.refused, dict(exchange.incoming.headers_out)
    exchange.changes, exchange.refused = (), None
    second = attempt(world, f"{exchange.cause}:duplicate")
    exchange.changes = _together(kept[0], exchange.changes)
    if before.again == "second":
        return second
    _, exchange.refused, exchange.incoming.headers_out = kept
    return first


def _past(world: World, commits: int) -> World:
    """A world as ``world`` was before its last ``commits`` commits, or as many as the journal knows of."""
    entries = [entry for entry in reversed(world.journal.entries) if entry.changes]
    if not entries:
        return world
    entry = entries[: min(commits, len(entries))][-1]
    return World(world.name, entry.before.at(entry.at), world.limits, world.number)


def _together(first: Sequence[Change], second: Sequence[Change]) -> list[Change]:
    """The changes of two transactions as those of one."""
    changes = {(change.table, change.key): change for change in first}
    for change in second:
        at = (change.table, change.key)
        changes[at] = change._replace(before=changes[at].before) if at in changes else change
    return [change for change in changes.values() if change.before != change.after]


def _sent(struck: Struck, exchange: Exchange, endpoint: Endpoint, world: World) -> Answer:
    """The answer as it goes out, which is on the way that the faults have left it."""
    exchange.faults += struck.rules
    exchange.instead = struck.told(exchange.generation)
    exchange.after = world.moment
    if struck.delivery is not None:
        request.environ[ENV_DELIVERY] = struck.delivery
    if struck.instead is not None:
        return struck.instead(exchange.generation, exchange.incoming, world, endpoint)
    return struck.answer or NO_ANSWER
