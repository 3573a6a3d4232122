"""Transfers: to ask for another registrar's name, and to answer when one of the account's is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from marshmallow import validate

from reseller_sandbox.core import refusals, transfers
from reseller_sandbox.core.model import Account, Transfer
from reseller_sandbox.core.refusals import Rule
from reseller_sandbox.core.state import Draft
from reseller_sandbox.core.zones import parse_name
from reseller_sandbox.v3 import errors
from reseller_sandbox.v3.authcodes import CodeWanted
from reseller_sandbox.v3.domains import FOUND, PERIOD, PRICED, note_privacy
from reseller_sandbox.v3.shapes import (
    STATUSES,
    DomainWanted,
    Message,
    contacts_asked,
    identifier,
    named_below,
    number,
    shown,
    status,
)
from reseller_sandbox.web.endpoint import Call, Endpoint
from reseller_sandbox.web.fields import Amount, InnerObject, Price, Shape, Text, Years


class TransferWanted(CodeWanted):
    """A name that another registrar holds, and its code."""

    domain = InnerObject(DomainWanted, required=True)
    purchaseCost = Price()
    years = Years()


class TransferOrder(Shape):
    """The order that waits for the name."""

    domainName = Text()
    order_id = identifier("order-id")
    totalPaid = Amount()
    status = Text(validate=validate.OneOf(STATUSES))


def request_transfer(call: Call) -> dict[str, Any]:
    """Ask for a name that another registrar holds; the price is taken from the balance at once."""
    asked = call.arguments["domain"]
    names = named_below("domain.contacts")
    contacts = contacts_asked(call, asked.get("contacts"), names)
    placed = transfers.request(
        call.draft,
        call.account,
        transfers.Wish(
            name=parse_name(asked["domainName"]),
            code=call.arguments["authCode"],
            years=call.arguments.get("years", 1),
            cost=call.arguments.get("purchaseCost"),
            contacts=contacts,
            wire_names=names,
            nameservers=asked.get("nameservers") or (),
            autorenew=asked.get("autorenewEnabled", False),
            privacy=asked.get("privacyEnabled", False),
            transfer_lock=asked.get("lockedEnabled", False),
        ),
    )
    note_privacy(call, asked, placed.order)
    return {
        "domainName": shown(call, placed.order.name, asked["domainName"]),
        "order_id": number(call, placed.order.id),
        "totalPaid": placed.paid,
        "status": status(call, placed.order),
    }


def reject_transfer(call: Call) -> dict[str, Any]:
    """Refuse to let a name go to the registrar that asked for it."""
    return _decide(call, transfers.reject, "rejected")


def cancel_transfer(call: Call) -> dict[str, Any]:
    """Take back a request for another registrar's name; it is refunded."""
    return _decide(call, transfers.cancel, "cancelled")


def approve_transfer(call: Call) -> dict[str, Any]:
    """Let a name go to the registrar that asked for it."""
    return _decide(call, transfers.approve, "approved")


def _decide(call: Call, decide: Callable[[Draft, Account, str], Transfer], word: str) -> dict[str, Any]:
    asked = call.arguments["domainName"]
    _ = call.assumed.transfer_outcome  # read, so that the answer names it: it rests on that
    transfer = decide(call.draft, call.account, parse_name(asked))
    name = shown(call, transfer.name, asked)
    return {"domainName": name, "message": f"The transfer of {name} is {word}."}


def _row(name: str, handle: Callable[[Call], Any], *more: Rule) -> Endpoint:
    return Endpoint(
        id=f"v3.{name}",
        method="POST",
        paths=(f"/v3/domains/{name}/{{domainName}}",),
        handle=handle,
        answer=Message(),
        refuses=(*errors.BODY, *FOUND, refusals.NO_TRANSFER, *more),
    )


ENDPOINTS = (
    Endpoint(
        id="v3.requestTransfer",
        method="POST",
        paths=("/v3/domains/requestTransfer",),
        handle=request_transfer,
        body=TransferWanted(),
        answer=TransferOrder(),
        refuses=(
            *errors.BODY,
            refusals.INVALID_NAME,
            refusals.ZONE_NOT_SUPPORTED,
            refusals.TRANSFERS_NOT_SUPPORTED,
            refusals.ZONE_OUT_OF_SERVICE,
            refusals.PRIVACY_NOT_OFFERED,
            refusals.INVALID_CONTACT,
            refusals.INVALID_NAMESERVER,
            refusals.NOT_REGISTERED,
            refusals.ALREADY_YOURS,
            refusals.WRONG_STATE,
            refusals.TRANSFER_PENDING,
            refusals.LOCKED,
            refusals.TOO_YOUNG,
            refusals.WRONG_AUTH_CODE,
            *PERIOD,
            *PRICED,
        ),
    ),
    _row("rejectTransfer", reject_transfer, refusals.WRONG_STATE),
    _row("cancelTransfer", cancel_transfer, refusals.WRONG_STATE),
    _row("approveTransfer", approve_transfer, refusals.WRONG_STATE),
)
