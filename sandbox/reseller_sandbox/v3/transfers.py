"""Transfers from and to other registrars, and the authorization codes of domains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from marshmallow import validate

from reseller_sandbox import refusals as r
from reseller_sandbox.registry import orders, transfers, zones
from reseller_sandbox.registry.lifecycle import Action, require
from reseller_sandbox.registry.model import Account, Order, Purpose, Transfer
from reseller_sandbox.registry.state import Draft
from reseller_sandbox.registry.zones import parse_name
from reseller_sandbox.v3.domains import note_unused_keys
from reseller_sandbox.v3.shapes import (
    BODY,
    FOUND,
    PERIOD,
    PRICED,
    STATUSES,
    AlternativeKeys,
    DomainRequest,
    Message,
    identifier,
    number,
    on_name,
    own_order,
    render_name,
    requested_order,
    status,
)
from reseller_sandbox.web.fields import Amount, InnerObject, Price, Shape, String, StringOrNumber, Years
from reseller_sandbox.web.interface import Call, refuses, route


class CodeRequest(AlternativeKeys):
    """An authorization code, under the key ``authCode`` or ``authcode``."""

    alternatives = ("authCode", "authcode")

    authCode = StringOrNumber()
    authcode = StringOrNumber()


class TransferRequest(CodeRequest):
    """A domain of another registrar, with its authorization code."""

    domain = InnerObject(DomainRequest, required=True)
    purchaseCost = Price()
    years = Years()


class TransferOrder(Shape):
    """The order of a requested transfer, and the price paid."""

    domainName = String()
    order_id = identifier("order-id")
    totalPaid = Amount()
    status = String(validate=validate.OneOf(STATUSES))


@refuses(
    *BODY,
    r.INVALID_NAME,
    r.ZONE_NOT_SUPPORTED,
    r.TRANSFERS_NOT_SUPPORTED,
    r.ZONE_OUT_OF_SERVICE,
    r.PRIVACY_NOT_OFFERED,
    r.INVALID_CONTACT,
    r.INVALID_NAMESERVER,
    r.NOT_REGISTERED,
    r.ALREADY_YOURS,
    r.WRONG_STATE,
    r.TRANSFER_PENDING,
    r.LOCKED,
    r.TOO_YOUNG,
    r.REGISTRANT_CHANGED,
    r.WRONG_AUTH_CODE,
    *PERIOD,
    *PRICED,
)
@route(
    "v3.requestTransfer",
    "POST",
    "/v3/domains/requestTransfer",
    body=TransferRequest(),
    answer=TransferOrder(),
    orders=Purpose.TRANSFER,
    price=("purchaseCost",),
)
def request_transfer(call: Call) -> dict[str, object]:
    """Request the transfer of a domain from another registrar. The price is charged immediately."""
    domain = call.arguments["domain"]
    placed = transfers.request(
        call.draft,
        call.account,
        transfers.TransferRequest(
            **requested_order(call),
            code=call.arguments["authCode"],
            nameservers=domain.get("nameservers") or (),
            autorenew=domain.get("autorenewEnabled", False),
            transfer_lock=domain.get("lockedEnabled", False),
        ),
    )
    note_unused_keys(call, placed.order)
    zone = call.draft.state.zones[placed.order.zone]
    added = zones.added_years(zone, zone.min_transfer_years)
    if "years" in call.arguments and (added == 0 or call.assumed.transfer_years == "one"):
        count = {0: "no year", 1: "one year"}.get(added, f"{added} years")
        call.ignore("years", f"a transfer adds {count}", contradicted=call.arguments["years"] != added)
    return {
        "domainName": render_name(call, placed.order.name, domain["domainName"]),
        "order_id": number(call, placed.order.id),
        "totalPaid": placed.paid,
        "status": status(call, placed.order),
    }


@on_name("rejectTransfer", Message(), r.NO_TRANSFER, r.WRONG_STATE)
def reject_transfer(call: Call) -> dict[str, object]:
    """Reject another registrar's request to transfer your domain."""
    return _decide(call, transfers.reject, "rejected")


@on_name("cancelTransfer", Message(), r.NO_TRANSFER, r.WRONG_STATE)
def cancel_transfer(call: Call) -> dict[str, object]:
    """Cancel your request to transfer a domain from another registrar. The price is refunded."""
    return _decide(call, transfers.cancel, "cancelled")


@on_name("approveTransfer", Message(), r.NO_TRANSFER, r.WRONG_STATE)
def approve_transfer(call: Call) -> dict[str, object]:
    """Approve another registrar's request to transfer your domain."""
    return _decide(call, transfers.approve, "approved")


def _decide(call: Call, decide: Callable[[Draft, Account, str], Transfer], word: str) -> dict[str, object]:
    domain = call.arguments["domainName"]
    _ = call.assumed.transfer_outcome  # Read the assumption, so that the response header lists it.
    transfer = decide(call.draft, call.account, parse_name(domain))
    name = render_name(call, transfer.name, domain)
    return {"domainName": name, "message": f"The transfer of {name} is {word}."}


# Authorization codes, which another registrar needs to request the transfer of a domain


class Code(Shape):
    """The authorization code of a domain."""

    domainName = String()
    authCode = String()


@on_name("setAuthcode", Code(), r.WRONG_STATE, r.LOCKED, r.INVALID_AUTH_CODE, body=CodeRequest())
def set_code(call: Call) -> dict[str, object]:
    """Set the authorization code of a domain."""
    return _answer(call, orders.set_auth_code(call.draft, own_order(call), call.arguments["authCode"]))


@refuses(*FOUND, r.WRONG_STATE)
@route("v3.getAuthcode", "GET", "/v3/domains/getAuthcode/{domainName}", answer=Code())
def get_code(call: Call) -> dict[str, object]:
    """Return the authorization code of a domain."""
    order = own_order(call)
    require(call.draft, order, Action.READ_AUTH_CODE)
    return _answer(call, order)


def _answer(call: Call, order: Order) -> dict[str, Any]:
    name = call.arguments["domainName"]
    return {"domainName": render_name(call, order.name, name), "authCode": order.auth_code}
