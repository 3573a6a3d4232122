"""Authorization codes, which another registrar needs to request a domain."""

from __future__ import annotations

from typing import Any

from reseller_sandbox import refusals as r
from reseller_sandbox.registry import orders
from reseller_sandbox.registry.lifecycle import Action, require
from reseller_sandbox.registry.model import Order
from reseller_sandbox.v3.shapes import BODY, FOUND, AlternativeKeys, own_order, render_name
from reseller_sandbox.web.fields import Shape, String, StringOrNumber
from reseller_sandbox.web.interface import Call, refuses, route


class CodeRequest(AlternativeKeys):
    """An authorization code. The key may also be spelt ``authcode``."""

    alternatives = ("authCode", "authcode")

    authCode = StringOrNumber()
    authcode = StringOrNumber()


class Code(Shape):
    """The authorization code of a domain."""

    domainName = String()
    authCode = String()


@refuses(*BODY, *FOUND, r.WRONG_STATE, r.LOCKED, r.INVALID_AUTH_CODE)
@route("v3.setAuthcode", "POST", "/v3/domains/setAuthcode/{domainName}", body=CodeRequest(), answer=Code())
def set_code(call: Call) -> dict[str, Any]:
    """Set the authorization code of a domain."""
    return _answer(call, orders.set_auth_code(call.draft, own_order(call), call.arguments["authCode"]))


@refuses(*FOUND, r.WRONG_STATE)
@route("v3.getAuthcode", "GET", "/v3/domains/getAuthcode/{domainName}", answer=Code())
def get_code(call: Call) -> dict[str, Any]:
    """Return the authorization code of a domain."""
    order = own_order(call)
    require(call.draft, order, Action.READ_AUTH_CODE)
    return _answer(call, order)


def _answer(call: Call, order: Order) -> dict[str, Any]:
    name = call.arguments["domainName"]
    return {"domainName": render_name(call, order.name, name), "authCode": order.auth_code}
