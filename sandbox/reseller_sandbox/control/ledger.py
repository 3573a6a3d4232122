"""The ledger of a world: every charge and refund, its cause, and the totals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, TypedDict, Unpack

from reseller_sandbox.control.local_transport import local_transport
from reseller_sandbox.control.records import as_kept
from reseller_sandbox.control.resource import Resource, read
from reseller_sandbox.control.results import Number, Result, latest, record_of
from reseller_sandbox.registry.ledger import request_of
from reseller_sandbox.registry.model import LedgerEntry, Purpose
from reseller_sandbox.registry.money import NOTHING
from reseller_sandbox.registry.patterns import Glob
from reseller_sandbox.registry.refusals import UNKNOWN_ACCOUNT
from reseller_sandbox.registry.state import State, own_accounts
from reseller_sandbox.registry.stepwise import keys_in_order
from reseller_sandbox.registry.third_parties import account_called
from reseller_sandbox.registry.values import TEXT, Instant, choice, whole

#: How many movements are listed at the most, and by default; totals are of all of them.
MOST, LISTED = 10_000, 1000


class Movement(Result, frozen=True, kw_only=True):
    """One movement of money: a charge, a refund of one (``refunds``), or a credit from elsewhere.

    ``amount`` is below zero when the balance went down. ``cause`` is the request, or the event of time,
    that made it; ``request`` is set where it was a request.
    """

    # in the order in which a table has room for them
    id: int
    at: datetime
    account: str
    amount: Decimal
    purpose: str
    domain: str | None
    kind: Literal["charge", "refund", "credit"]
    operation: str
    cause: str
    request: str | None
    order: int | None
    years: int | None
    refunds: int | None


class Total(Result, frozen=True, kw_only=True):
    """The total of some movements; ``balance`` is by how much they changed the balance."""

    key: Any
    entries: int
    charged: Decimal
    refunded: Decimal
    added: Decimal
    balance: Decimal


class Totals(Result, frozen=True, kw_only=True):
    """The totals by operation, purpose and account of all movements found; by order, of the orders listed."""

    order: tuple[Total, ...]
    operation: tuple[Total, ...]
    purpose: tuple[Total, ...]
    account: tuple[Total, ...]


class AccountBalance(Result, frozen=True, kw_only=True):
    """An account's money at the beginning of its ledger, and now."""

    account: str
    currency: str
    opening: Decimal
    balance: Decimal


class MovementsFound(Result, frozen=True, kw_only=True):
    """The latest matching movements, oldest first; ``matching`` and the totals count all of them."""

    entries: tuple[Movement, ...]
    matching: int
    totals: Totals
    balances: tuple[AccountBalance, ...]


class MovementFilter(TypedDict, total=False):
    """Which movements match."""

    account: Annotated[str, TEXT, "The name of the account whose money it is, or its client id."]
    order: Annotated[Number, "The id of the order that was paid for."]
    domain: Annotated[str, TEXT, "The name that was paid for."]
    operation: Annotated[
        str, TEXT, "A pattern of operations, with * and ?; what time does by itself is ``time``."
    ]
    purpose: Annotated[str, choice(*map(str, Purpose)), "What it was for."]
    request: Annotated[
        str, TEXT, "The request that caused it, both times where a fault had it carried out twice."
    ]
    since: Annotated[Instant, "The instant at which it was made at the earliest."]


class Ledger(Resource):
    """Every movement of money, its cause, and the totals."""

    @read(UNKNOWN_ACCOUNT, long=True)
    def find(
        self,
        *,
        before: Number | None = None,
        limit: Annotated[int, whole(0, MOST)] = LISTED,
        **sought: Unpack[MovementFilter],
    ) -> MovementsFound:
        """Return the matching movements, with totals by order, operation, purpose and account.

        Args:
            before: List only what came before the movement of this id, to turn pages back; of the totals
                only those by order change.
            limit: How many of the latest to list.
        """
        state = local_transport(self).world.present().state
        found = _found(state, sought)
        listed = latest([entry for entry in found if before is None or entry.id < before], limit)
        orders = {entry.order for entry in listed}
        return MovementsFound(
            entries=tuple(movement(entry, state) for entry in listed),
            matching=len(found),
            totals=Totals(
                order=_totals((entry for entry in found if entry.order in orders), lambda entry: entry.order),
                operation=_totals(found, _operation),
                purpose=_totals(found, lambda entry: str(entry.purpose)),
                account=_totals(found, lambda entry: state.accounts[entry.account].name),
            ),
            balances=tuple(record_of(AccountBalance, one, account=one.name) for one in own_accounts(state)),
        )


def _found(state: State, sought: MovementFilter) -> list[LedgerEntry]:
    """Return the matching movements, oldest first; refuse with ``unknown_account``."""
    numbers: Iterable[int] = keys_in_order(state.ledger)
    if "account" in sought:
        owner = account_called(state, sought["account"]).client_id
        numbers = (number for _, number in state.ledger_of_account.beginning((owner,)))
    name = as_kept(sought["domain"]) if "domain" in sought else None
    pattern = Glob(sought.get("operation", "*"))
    since: Any = sought.get("since")
    return [
        entry
        for entry in map(state.ledger.__getitem__, numbers)
        if sought.get("order") in (None, entry.order)
        and name in (None, entry.name)
        and pattern.matches(_operation(entry))
        and sought.get("purpose") in (None, entry.purpose)
        and sought.get("request") in (None, entry.cause, request_of(entry.cause))
        and (since is None or entry.at >= since)
    ]


def movement(entry: LedgerEntry, state: State) -> Movement:
    """Return a movement of money as it is shown."""
    return record_of(
        Movement,
        entry,
        account=state.accounts[entry.account].name,
        kind="refund" if entry.refunds is not None else "charge" if entry.amount < 0 else "credit",
        purpose=str(entry.purpose),
        operation=_operation(entry),
        request=request_of(entry.cause),
        domain=entry.name or None,
        years=entry.years or None,
    )


def _operation(entry: LedgerEntry) -> str:
    """Return the operation that made an entry, or else its cause."""
    return entry.operation or entry.cause


def _totals(entries: Iterable[LedgerEntry], key: Callable[[LedgerEntry], Any]) -> tuple[Total, ...]:
    """Return the total for each ``key``, in its order; movements without one are left out."""
    by_key: dict[Any, list[LedgerEntry]] = {}
    for entry in entries:
        by_key.setdefault(key(entry), []).append(entry)
    by_key.pop(None, None)
    return tuple(_total(one, by_key[one]) for one in sorted(by_key))


def _total(key: Any, entries: list[LedgerEntry]) -> Total:
    sums = {"refunded": NOTHING, "charged": NOTHING, "added": NOTHING}
    for one in entries:
        if one.refunds is not None:
            sums["refunded"] += one.amount
        elif one.amount < 0:
            sums["charged"] -= one.amount
        else:
            sums["added"] += one.amount
    balance = sums["refunded"] - sums["charged"] + sums["added"]
    return Total(key=key, entries=len(entries), balance=balance, **sums)
