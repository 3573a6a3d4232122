"""Operations on transfers: request, read, cancel, approve and reject a transfer."""

from __future__ import annotations

from collections.abc import Callable

from reseller_sandbox import refusals as r
from reseller_sandbox.refusals import Rule
from reseller_sandbox.registry import purchases, transfers
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.model import Account, Purpose, Transfer, TransferStatus
from reseller_sandbox.registry.state import Draft
from reseller_sandbox.registry.zones import parse_name
from reseller_sandbox.v2 import errors
from reseller_sandbox.v2.bodies import Number
from reseller_sandbox.v2.shapes import NAME_PATH, Done, done, reseller_customer
from reseller_sandbox.web.fields import Shape, Shaped, String, StringOrNumber
from reseller_sandbox.web.interface import Call, Endpoint, refuses, route

_ONE = f"{NAME_PATH}/transfer"


_KNOWN = (r.INVALID_NAME, r.DOMAIN_NOT_FOUND, r.NO_TRANSFER)


def _decision(word: str, method: str, path: str, *first: Rule) -> Callable[..., Endpoint]:
    rules = (*first, *_KNOWN, r.WRONG_STATE)
    return route(f"v2.transfer.{word}", method, path, answer=Done(), refuses=rules)


class TransferRequest(Shape):
    """Request to transfer a domain: its authorization code, and the id of the customer."""

    customer_id = Number()
    transfer_code = StringOrNumber(required=True)


#: The plain words for EPP's transfer statuses.
_PLAIN = {
    TransferStatus.PENDING: "pending",
    TransferStatus.CLIENT_APPROVED: "approved",
    TransferStatus.SERVER_APPROVED: "approved",
    TransferStatus.CLIENT_CANCELLED: "cancelled",
    TransferStatus.SERVER_CANCELLED: "cancelled",
    TransferStatus.CLIENT_REJECTED: "rejected",
}


class TransferWord(String):
    """The status of a transfer, as a word."""

    def shape_under(self, assumed: Assumptions) -> Shaped:
        """Return the possible words, which the assumption ``v2.transfer_status`` chooses."""
        words = _PLAIN.values() if assumed.transfer_status == "plain" else map(str, _PLAIN)
        return {"enum": list(dict.fromkeys(words))}


class Standing(Done):
    """Response of transfer status: the status of the transfer."""

    transfer_status = TransferWord()


@refuses(
    *errors.BODY,
    r.INVALID_NAME,
    r.ZONE_NOT_SUPPORTED,
    r.TRANSFERS_NOT_SUPPORTED,
    r.ZONE_OUT_OF_SERVICE,
    r.CUSTOMER_NOT_FOUND,
    r.NOT_REGISTERED,
    r.ALREADY_YOURS,
    r.WRONG_STATE,
    r.TRANSFER_PENDING,
    r.LOCKED,
    r.TOO_YOUNG,
    r.REGISTRANT_CHANGED,
    r.WRONG_AUTH_CODE,
    r.PREMIUM_NOT_TAKEN,
    r.INSUFFICIENT_FUNDS,
)
@route("v2.transfer.request", "POST", _ONE, body=TransferRequest(), answer=Done(), orders=Purpose.TRANSFER)
def request(call: Call) -> dict[str, object]:
    """Request the transfer of a domain from another registrar. The price is charged immediately."""
    purchase = transfers.TransferRequest(
        name=_name(call),
        code=call.arguments["transfer_code"],
        cost=purchases.ANY_PRICE,
        customer_id=reseller_customer(call),
    )
    transfers.request(call.draft, call.account, purchase)
    return done()


@refuses(*_KNOWN)
@route("v2.transfer.status", "GET", _ONE, answer=Standing())
def status(call: Call) -> dict[str, object]:
    """Return the status of a domain's latest transfer. The account must be a party to this transfer."""
    transfer = transfers.latest(call.draft, call.account, _name(call))
    plain = call.assumed.transfer_status == "plain"
    return done(transfer_status=_PLAIN[transfer.status] if plain else str(transfer.status))


@_decision("cancel", "DELETE", _ONE)
def cancel(call: Call) -> dict[str, object]:
    """Cancel your request to transfer a domain from another registrar. The price is refunded."""
    return _decide(call, transfers.cancel)


@_decision("approve", "PUT", f"{_ONE}/approve", r.INVALID_PARAMETER)
def approve(call: Call) -> dict[str, object]:
    """Approve another registrar's request to transfer your domain."""
    return _decide(call, transfers.approve)


@_decision("reject", "PUT", f"{_ONE}/reject", r.INVALID_PARAMETER)
def reject(call: Call) -> dict[str, object]:
    """Reject another registrar's request to transfer your domain."""
    return _decide(call, transfers.reject)


def _decide(call: Call, decide: Callable[[Draft, Account, str], Transfer]) -> dict[str, object]:
    decide(call.draft, call.account, _name(call))
    return done()


def _name(call: Call) -> str:
    return parse_name(call.arguments["domain_name"])
