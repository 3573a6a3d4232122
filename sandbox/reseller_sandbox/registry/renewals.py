"""Renewals, by request and by the clock: their cost and their obstacles."""

from __future__ import annotations

from datetime import date

from msgspec.structs import replace

from reseller_sandbox import refusals
from reseller_sandbox.refusals import Refused
from reseller_sandbox.registry import ledger, zones
from reseller_sandbox.registry.lifecycle import Action, enter, leaving, require
from reseller_sandbox.registry.model import LONGEST_TERM, Flag, Order, Purpose, Stage
from reseller_sandbox.registry.orders import (
    Agreed,
    Cost,
    Placed,
    renewal_cost,
    require_cost,
    zone_and_premium,
)
from reseller_sandbox.registry.state import Draft
from reseller_sandbox.values import money
from reseller_sandbox.values.clock import days, years_later
from reseller_sandbox.values.names import to_unicode

_TOO_FAR_AHEAD = f", because a term ends at most {LONGEST_TERM} years from now"


def renew(
    draft: Draft,
    order: Order,
    years: int,
    agreed: Agreed = None,
    expected: date | None = None,
    end: date | None = None,
) -> Placed:
    """Add ``years`` to a domain's term.

    ``expected`` is the current end of the term as the client knows it, and ``end`` the new end that the
    client expects. Refuse as ``require`` does, then with ``zone_out_of_service``, ``expiry_mismatch``,
    ``period_too_short``, ``period_too_long``, ``end_mismatch``, ``premium_cost_required``,
    ``premium_not_taken``, ``price_mismatch``, ``insufficient_funds``.
    """
    move = require(draft, order, Action.RENEW)
    zone, special = zone_and_premium(draft.state, order)
    zones.require_in_service(zone)
    if expected not in (None, order.expires.date()):
        expires = order.expires.date()
        raise Refused(refusals.EXPIRY_MISMATCH, name=to_unicode(order.name), expires=expires, given=expected)
    require_period(draft, order, years)
    later = years_later(order.expires, years).date()
    if end not in (None, later):
        raise Refused(refusals.END_MISMATCH, name=to_unicode(order.name), years=years, end=later, given=end)
    price = renewal_cost(draft, order, years)
    require_cost(draft, order.name, special is not None, agreed, price.price)
    ledger.require_funds(draft.state.accounts[order.account], price.total)
    assert move.target is not None
    return _carried_out(draft, order, years, price, move.target)


def renew_itself(draft: Draft, order: Order, years: int, stage: Stage) -> Placed:
    """Renew a domain automatically for ``years`` and enter ``stage``.

    The caller has checked with ``blocked_by`` that the renewal is possible.
    """
    return _carried_out(draft, order, years, renewal_cost(draft, order, years), stage)


def _carried_out(draft: Draft, order: Order, years: int, price: Cost, stage: Stage) -> Placed:
    paid = price.charge(draft, order, Purpose.RENEWAL, years)
    grace = days(draft.state.zones[order.zone].policy.add_grace)
    renewals = order.renewals + paid if draft.now < order.created + grace else ()
    renewed = replace(order, expires=years_later(order.expires, years), renewals=renewals)
    return Placed(enter(draft, renewed, stage), ledger.total(draft, paid))


def blocked_by(draft: Draft, order: Order, years: int) -> str:
    """Return why an automatic renewal for ``years`` is not possible, or an empty text."""
    account = draft.state.accounts[order.account]
    if Flag.RENEW_PROHIBITED in order.flags:
        return f"{Flag.RENEW_PROHIBITED} is set"
    if leaving(draft.state, order):
        return "it is being transferred"
    if not draft.state.zones[order.zone].in_service:
        return f"the zone {to_unicode(order.zone)} is out of service"
    needed = renewal_cost(draft, order, years).total
    if not ledger.can_pay(account, needed):
        have, currency = money.write(account.balance), account.currency
        return f"{money.write(needed)} {currency} are needed and the balance is {have} {currency}"
    return ""


def years_left(draft: Draft, order: Order) -> int:
    """Return the number of years that can be added before the longest term is reached."""
    furthest = years_later(draft.now, LONGEST_TERM)
    return sum(years_later(order.expires, count) <= furthest for count in range(1, LONGEST_TERM + 1))


def require_period(draft: Draft, order: Order, years: int, always: int = 0) -> None:
    """Refuse years that cannot be added to a domain's term.

    The refusals are ``period_too_short`` and ``period_too_long``. Up to ``always`` years are allowed in any
    case, even beyond the longest term.
    """
    longest = draft.state.zones[order.zone].max_years
    limit = max(always, min(longest, years_left(draft, order)))
    zones.require_period(order.name, years, 1, limit, _TOO_FAR_AHEAD if limit < longest else "")
