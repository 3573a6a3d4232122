"""The way of a request through the faults of its world."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from reseller_sandbox.core import money
from reseller_sandbox.core.matching import FAULT
from reseller_sandbox.core.model import Account
from reseller_sandbox.core.names import suffixes
from reseller_sandbox.core.refusals import INTERNAL_ERROR, PERIOD_TOO_LONG, PERIOD_TOO_SHORT, Refused
from reseller_sandbox.core.state import Change
from reseller_sandbox.faults import Effects, Phase, Strike
from reseller_sandbox.faults.kind import Instead, NamedError
from reseller_sandbox.server.delivery import ENV_DELIVERY, Again, Delivery, TcpClose
from reseller_sandbox.web.exchange import Exchange
from reseller_sandbox.web.incoming import Incoming
from reseller_sandbox.web.interface import Answer
from reseller_sandbox.worlds import World
from reseller_sandbox.worlds.journal import Arrival

#: The errors about a number of years, each with what a zone calls its limit.
_LIMITS = {PERIOD_TOO_LONG.code: "max_years", PERIOD_TOO_SHORT.code: "min_years"}

#: What stands in the journal where there was no answer.
NO_ANSWER = Answer(0, b"")


class Postponed(Exception):
    """The request is to be taken up again, as ``again`` says."""

    def __init__(self, again: Again) -> None:
        super().__init__()
        self.again = again


def perform(exchange: Exchange, world: World, account: Account | None, why: Refused | None) -> Answer:
    """Answer a request as the faults of ``world`` will have it; under its lock.

    ``why`` is for what reason it reaches no operation, if it does not. Raise ``Postponed`` when the
    operation is to take effect only after a delay.
    """
    world.settle()
    exchange.before = world.moment
    held = exchange.held
    before = _taken_up(held, world) if held else _struck("before", exchange, world, Effects())
    if before is None:
        exchange.incoming.environ[ENV_DELIVERY] = Delivery(cut=TcpClose())
        return NO_ANSWER
    if held is not None:  # a rewind to before the request restores the counts from before its arrival
        moment = world.moment
        exchange.before = replace(moment, faults=moment.faults.without(held))
    effects = before.effects
    if effects.wait and held is None:
        _hold(before, exchange, world)
        raise Postponed(Again(effects.wait, before))
    exchange.begin(world)
    exchange.faults += before.rules
    exchange.held_up = effects.wait
    if effects.decided:
        return _sent(replace(effects, wait=0.0), NO_ANSWER, exchange, world)
    answer = _answered(exchange, world, account, effects, why)
    exchange.status = answer.status
    after = _struck("after", exchange, world, Effects(answer=answer.body))
    exchange.faults += after.rules
    return _sent(after.effects, answer, exchange, world)


def _hold(strike: Strike, exchange: Exchange, world: World) -> None:
    """Let a request wait, and remember of it what it takes to have it come again."""
    moment = world.moment
    matched = sum(count.matched for count in moment.faults.counts.values())
    strike.request = exchange.entry()
    strike.arrived = Arrival(moment.log.number, matched, exchange.at)
    world.moment = replace(moment, faults=moment.faults.holding(strike))


def _struck(phase: Phase, exchange: Exchange, world: World, effects: Effects) -> Strike:
    """Let the rules of ``world`` have their turn; their counts change with that."""
    moment = world.moment
    faults, strike = moment.faults.strike(phase, exchange, exchange.at, moment.state.seed, effects)
    if faults is not moment.faults:
        world.moment = replace(moment, faults=faults)
    return strike


def _taken_up(held: Strike, world: World) -> Strike | None:
    """Release a request that has waited; return None where the world has gone back to before it came."""
    faults = world.moment.faults
    if held not in faults.waiting:
        return None
    world.moment = replace(world.moment, faults=faults.released(held))
    return held


def _answered(
    exchange: Exchange, world: World, account: Account | None, effects: Effects, why: Refused | None
) -> Answer:
    """Return the operation's answer: of now, of the past, or of one time of two; or why there is none."""
    if why is not None:
        return exchange.refuse(why)
    endpoint = exchange.endpoint
    assert endpoint is not None

    def attempt(there: World, cause: str) -> Answer:
        try:
            return exchange.act(endpoint, there, account, cause)
        except Refused as refused:
            return exchange.refuse(refused)

    if effects.commits:
        return attempt(_past(world, effects.commits), exchange.cause)
    first = attempt(world, exchange.cause)
    if effects.again is None:
        return first
    kept = exchange.changes, exchange.refused, dict(exchange.incoming.headers_out)
    exchange.changes, exchange.refused = (), None
    second = attempt(world, f"{exchange.cause}:duplicate")
    exchange.changes = _together(kept[0], exchange.changes)
    if effects.again == "second":
        return second
    _, exchange.refused, exchange.incoming.headers_out = kept
    return first


def _past(world: World, commits: int) -> World:
    """Return ``world`` as it was before its last ``commits`` commits, or as many as the journal has."""
    entries = [entry for entry in reversed(world.journal.entries) if entry.changes]
    if not entries:
        return world
    entry = entries[: min(commits, len(entries))][-1]
    return World(world.name, entry.before.at(entry.at), world.limits, world.number)


def _together(first: Sequence[Change], second: Sequence[Change]) -> list[Change]:
    """Return the changes of two transactions as those of one."""
    changes = {(change.table, change.key): change for change in first}
    for change in second:
        at = (change.table, change.key)
        changes[at] = change._replace(before=changes[at].before) if at in changes else change
    return [change for change in changes.values() if change.before != change.after]


def _sent(effects: Effects, answer: Answer, exchange: Exchange, world: World) -> Answer:
    """Return the answer as it goes out, and put its delivery where the server looks for it."""
    exchange.after = world.moment
    if effects.delivery is not None:
        exchange.incoming.environ[ENV_DELIVERY] = effects.delivery
    if effects.instead is not None:
        made = _made(effects.instead, exchange, world)
        exchange.instead = made[0] if effects.cut is None else FAULT
        return made[1]
    if effects.cut is not None:
        exchange.instead = FAULT
    changed = effects.answer is not None and effects.answer is not answer.body
    return replace(answer, body=effects.answer) if changed else answer


def _made(instead: Instead, exchange: Exchange, world: World) -> tuple[str, Answer]:
    """Return what the client is told in place of the operation's answer, in a word and as it goes out."""
    incoming, interface = exchange.incoming, exchange.interface
    incoming.headers_out |= dict(instead.headers)
    if isinstance(instead, NamedError):
        facts = {**_known(incoming), **_limit(incoming, world, instead.error), **instead.facts}
        answer = interface.inject(instead.error, facts, incoming, exchange.endpoint)
        told = instead.error if instead.error in interface.known_errors else INTERNAL_ERROR.code
        return told, replace(answer, status=instead.status or answer.status)
    body, content_type = instead.body, instead.content_type
    if isinstance(body, str) or body is None:
        raw = (body or "").encode("utf-8", "backslashreplace")
        return FAULT, Answer(instead.status, raw, content_type or "text/html; charset=utf-8")
    return FAULT, Answer(instead.status, body, content_type or "")


def _limit(incoming: Incoming, world: World, error: str) -> dict[str, object]:
    """Return the zone's limit of years for the name that is asked for, where ``error`` is about one."""
    zones = world.state.zones
    found = [zones[end] for name in incoming.names for end in suffixes(name) if end in zones]
    if not found or error not in _LIMITS:
        return {}
    return {"limit": getattr(found[0], _LIMITS[error])}


def _known(incoming: Incoming) -> dict[str, object]:
    """Return what a refusal of this request could speak of."""
    names, account = incoming.names, incoming.account
    known: dict[str, object] = {"name": names[0]} if names else {}
    if account is not None:
        balance = money.write(account.balance)
        known |= {"amount": f"More than {balance}", "balance": balance, "currency": account.currency}
    return known
