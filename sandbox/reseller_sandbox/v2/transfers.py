"""Transfers: to ask for another registrar's name, to follow it, and to decide about one of the account's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reseller_sandbox.core import orders, refusals, transfers
from reseller_sandbox.core.assumptions import Assumptions
from reseller_sandbox.core.model import Account, Transfer, TransferStatus
from reseller_sandbox.core.refusals import Rule
from reseller_sandbox.core.state import Draft
from reseller_sandbox.core.zones import parse_name
from reseller_sandbox.v2 import errors
from reseller_sandbox.v2.bodies import BodyAsked, Number
from reseller_sandbox.v2.shapes import NAME_PATH, Done, done, reseller_customer
from reseller_sandbox.web.endpoint import Call, Endpoint
from reseller_sandbox.web.fields import Shaped, Text, TextOrNumber


class TransferWanted(BodyAsked):
    """The code of a name that another registrar holds, and the customer it is for."""

    customer_id = Number()
    transfer_code = TextOrNumber(required=True)


#: The plain words for EPP's.
_PLAIN = {
    TransferStatus.PENDING: "pending",
    TransferStatus.CLIENT_APPROVED: "approved",
    TransferStatus.SERVER_APPROVED: "approved",
    TransferStatus.CLIENT_CANCELLED: "cancelled",
    TransferStatus.SERVER_CANCELLED: "cancelled",
    TransferStatus.CLIENT_REJECTED: "rejected",
}


class TransferWord(Text):
    """How a transfer stands, in a word."""

    def shape_under(self, assumed: Assumptions) -> Shaped:
        """Return the words that ``v2.transfer_status`` chooses."""
        words = _PLAIN.values() if assumed.transfer_status == "plain" else map(str, _PLAIN)
        return {"enum": list(dict.fromkeys(words))}


class Standing(Done):
    """How a transfer stands."""

    transfer_status = TransferWord()


def request(call: Call) -> dict[str, Any]:
    """Ask for a name that another registrar holds; the price is taken from the balance at once."""
    wish = transfers.Wish(
        name=_name(call),
        code=call.arguments["transfer_code"],
        cost=orders.WHATEVER,
        customer_id=reseller_customer(call),
    )
    transfers.request(call.draft, call.account, wish)
    return done()


def status(call: Call) -> dict[str, Any]:
    """Return how the latest transfer of a name stands, for those who are or were a party to it."""
    transfer = transfers.latest(call.draft, call.account, _name(call))
    plain = call.assumed.transfer_status == "plain"
    return done(transfer_status=_PLAIN[transfer.status] if plain else str(transfer.status))


def cancel(call: Call) -> dict[str, Any]:
    """Take back a request for another registrar's name; it is refunded."""
    return _decide(call, transfers.cancel)


def approve(call: Call) -> dict[str, Any]:
    """Let a name go to the registrar that asked for it."""
    return _decide(call, transfers.approve)


def reject(call: Call) -> dict[str, Any]:
    """Refuse to let a name go to the registrar that asked for it."""
    return _decide(call, transfers.reject)


def _decide(call: Call, decide: Callable[[Draft, Account, str], Transfer]) -> dict[str, Any]:
    decide(call.draft, call.account, _name(call))
    return done()


def _name(call: Call) -> str:
    return parse_name(call.arguments["domain_name"])


_ONE = f"{NAME_PATH}/transfer"


def _row(word: str, method: str, path: str, handle: Callable[[Call], Any], *more: Rule) -> Endpoint:
    return Endpoint(
        id=f"v2.transfer.{word}",
        method=method,
        paths=(path,),
        handle=handle,
        answer=Standing() if word == "status" else Done(),
        refuses=(
            *((refusals.INVALID_PARAMETER,) if method == "PUT" else ()),
            refusals.INVALID_NAME,
            refusals.DOMAIN_NOT_FOUND,
            refusals.NO_TRANSFER,
            *more,
        ),
    )


ENDPOINTS = (
    Endpoint(
        id="v2.transfer.request",
        method="POST",
        paths=(_ONE,),
        handle=request,
        body=TransferWanted(),
        answer=Done(),
        refuses=(
            *errors.BODY,
            refusals.INVALID_NAME,
            refusals.ZONE_NOT_SUPPORTED,
            refusals.TRANSFERS_NOT_SUPPORTED,
            refusals.ZONE_OUT_OF_SERVICE,
            refusals.CUSTOMER_NOT_FOUND,
            refusals.NOT_REGISTERED,
            refusals.ALREADY_YOURS,
            refusals.WRONG_STATE,
            refusals.TRANSFER_PENDING,
            refusals.LOCKED,
            refusals.TOO_YOUNG,
            refusals.WRONG_AUTH_CODE,
            refusals.PREMIUM_NOT_TAKEN,
            refusals.INSUFFICIENT_FUNDS,
        ),
    ),
    _row("status", "GET", _ONE, status),
    _row("cancel", "DELETE", _ONE, cancel, refusals.WRONG_STATE),
    _row("approve", "PUT", f"{_ONE}/approve", approve, refusals.WRONG_STATE),
    _row("reject", "PUT", f"{_ONE}/reject", reject, refusals.WRONG_STATE),
)
