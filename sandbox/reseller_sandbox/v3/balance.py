"""The account's balance."""

from __future__ import annotations

from reseller_sandbox.v3.shapes import identifier, number
from reseller_sandbox.web.fields import Amount, Shape, SpacedInstant, String
from reseller_sandbox.web.interface import Call, route


class Balance(Shape):
    """The account's balance and the time of the server."""

    client_id = identifier("client-id")
    serverTime = SpacedInstant()
    balance = Amount()
    currency = String()


@route("v3.balance", "GET", "/v3/balance", answer=Balance(many=True))
def read_balance(call: Call) -> list[dict[str, object]]:
    """Return the balance, as an array with one object."""
    return [
        {
            "client_id": number(call, call.account.client_id),
            "serverTime": call.local(call.draft.now),
            "balance": call.account.balance,
            "currency": call.account.currency,
        }
    ]
