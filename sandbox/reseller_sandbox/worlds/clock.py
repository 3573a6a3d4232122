"""A world's clock, to hold: read, freeze, run, set, advance, and see what is coming."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple

from dateutil.relativedelta import relativedelta

from reseller_sandbox.core import events
from reseller_sandbox.core.clock import later, parse_duration, parse_instant
from reseller_sandbox.core.happenings import Happening
from reseller_sandbox.core.model import OUTSIDE, Order, Stage
from reseller_sandbox.core.names import to_unicode
from reseller_sandbox.core.refusals import NOT_HELD, Refused
from reseller_sandbox.core.state import Draft, State
from reseller_sandbox.core.terms import account_called
from reseller_sandbox.core.values import nearest
from reseller_sandbox.core.zones import parse_name
from reseller_sandbox.worlds.moment import (
    BY_ITSELF,
    Journey,
    Moment,
    to,
    to_next_due,
    until_event,
    until_stage,
)
from reseller_sandbox.worlds.world import World

Length = timedelta | relativedelta | str | int

#: ``next``; an order (``domain``, and ``account`` where several have one) and a ``stage`` to reach; or an
#: ``event`` by name, perhaps of one ``domain`` or ``account``.
Until = str | Mapping[str, str]


class Preview(NamedTuple):
    """What a move of the clock would come to: the instant it would show, and what would fire."""

    now: datetime
    fired: list[Happening]


class ClockControl:
    """The world's clock, for a test to hold."""

    def __init__(self, world: World) -> None:
        self._world = world

    @property
    def now(self) -> datetime:
        """The instant the world stands at."""
        return self._world.now()

    @property
    def frozen(self) -> bool:
        """Whether it moves only when told."""
        return self._world.clock.frozen

    def freeze(self) -> None:
        """Let it stand still."""
        self._world.freeze()

    def run(self) -> None:
        """Let it move with the machine's clock."""
        self._world.run()

    def set(self, to: datetime | str) -> list[Happening]:
        """Move to an instant that is not past; answers what came due on the way, in order.

        Raises ``SetBack``.
        """
        return self.advance(to=to)

    def advance(
        self,
        by: Length | None = None,
        *,
        to: datetime | str | None = None,
        until: Until | None = None,
        dry_run: bool = False,
    ) -> list[Happening]:
        """Move on, one of three ways; answers what came due, in order, each at its own instant.

        ``by`` a length of time (``"P30D"``, ``"90m"``, seconds), ``to`` an instant, or ``until`` something
        happens: ``"next"`` is the next due event, ``{"domain": "x.com", "stage": "overdue"}`` the
        moment an order reaches a stage, ``{"event": "expiry"}`` the next event of that name, of a
        ``domain`` or an ``account`` where one is given. A dry run only answers what would come due. Raises
        ``SetBack``, ``NothingDue``, ValueError for what is neither,
        and ``Refused`` with ``not_held`` or ``unknown_account``.
        """
        return self._world.travel(self._way(by, to, until), dry=dry_run)[1]

    def preview(
        self, by: Length | None = None, *, to: datetime | str | None = None, until: Until | None = None
    ) -> Preview:
        """What ``advance`` would do. Nothing changes."""
        reached, fired = self._world.travel(self._way(by, to, until), dry=True)
        return Preview(reached.clock.now(), fired)

    def due(self, limit: int = 100, domain: str | None = None) -> list[Happening]:
        """What is coming, the soonest first: each event as it would be if nothing else happened before.

        At most ``limit`` of them, or those of ``domain`` alone. Refuses with ``invalid_name``.
        """
        with self._world.lock:
            self._world.settle()
            moment = self._world.moment
        known = moment.state.calendar if domain is None else events.about(moment.state, parse_name(domain))
        return [fired for due in islice(known, limit) for fired in _foreseen(moment, due)]

    def _way(self, by: Length | None, instant: datetime | str | None, until: Until | None) -> Journey:
        if sum(choice is not None for choice in (by, instant, until)) != 1:
            raise ValueError("takes exactly one of by, to and until")
        if by is not None:
            length: Any = parse_duration(str(by)) if isinstance(by, str | int) else by
            return to(lambda now: later(now, length))
        if instant is not None:
            target = parse_instant(instant if isinstance(instant, str) else instant.isoformat())
            return to(lambda _: target)
        return to_next_due if until == "next" else self._until(until)

    def _until(self, until: Any) -> Journey:
        given = until if isinstance(until, Mapping) else {}
        known = {"event", "domain", "account"} if "event" in given else {"domain", "stage", "account"}
        if not {"event"} <= set(given) <= known and not {"domain", "stage"} <= set(given) <= known:
            raise ValueError(
                "until is next, or has a domain, a stage and perhaps an account, or an event and perhaps a "
                "domain and an account"
            )
        return self._until_event(given) if "event" in given else self._until_stage(given)

    def _until_event(self, until: Mapping[str, str]) -> Journey:
        event, domain, account = until["event"], until.get("domain"), until.get("account")
        if event not in events.names():
            raise ValueError(
                f"until.event is one of {', '.join(events.names())}{nearest(event, events.names())}"
            )
        client = account_called(self._world.state, account).client_id if account is not None else None
        return until_event(event, parse_name(domain) if domain is not None else None, client)

    def _until_stage(self, until: Mapping[str, str]) -> Journey:
        stages = [stage.value for stage in Stage]
        if until["stage"] not in stages:
            raise ValueError(f"until.stage is one of {', '.join(stages)}{nearest(until['stage'], stages)}")
        order = _order(self._world.state, parse_name(until["domain"]), until.get("account"))
        return until_stage(order.id, Stage(until["stage"]))


def _foreseen(moment: Moment, due: events.Due) -> list[Happening]:
    """What ``due`` would be if it came next: it is carried out on a draft that nobody commits."""
    return events.fire(Draft(moment.state, due[0], moment.assumptions, "", BY_ITSELF), due)


def _order(state: State, name: str, account: str | None) -> Order:
    """The order for ``name``: the account's, or that of the one account which has one, or a stranger's."""
    numbers = sorted(state.accounts) if account is None else [account_called(state, account).client_id]
    found = {owner: state.own_order[owner, name] for owner in numbers if (owner, name) in state.own_order}
    here = {owner: number for owner, number in found.items() if owner != OUTSIDE} or found
    if not here:
        raise Refused(NOT_HELD, name=to_unicode(name))
    if len(here) > 1:
        owners = ", ".join(state.accounts[owner].name for owner in here)
        raise ValueError(f"until.account is missing: {to_unicode(name)} has orders of {owners}")
    return state.orders[next(iter(here.values()))]
