"""Edits of a domain: statuses, contacts and name servers in one request."""

from __future__ import annotations

from typing import Any

from marshmallow import post_load

from reseller_sandbox import refusals as r
from reseller_sandbox.refusals import MISSING_PARAMETER, Refused
from reseller_sandbox.registry import orders
from reseller_sandbox.registry.model import Flag
from reseller_sandbox.v2 import errors
from reseller_sandbox.v2.bodies import AddAndDelete, Bit
from reseller_sandbox.v2.shapes import (
    FOUND,
    NAME_PATH,
    Done,
    done,
    own_order,
    requested_handles,
    requested_servers,
)
from reseller_sandbox.web.fields import Shape, String
from reseller_sandbox.web.interface import Call, refuses, route


class Changes(Shape):
    """The changes to a domain, at least one."""

    client_delete_prohibited = Bit()
    client_hold = Bit()
    client_renew_prohibited = Bit()
    client_transfer_prohibited = Bit()
    client_update_prohibited = Bit()
    contact_admin = String()
    contact_billing = String()
    contact_registrant = String()
    contact_tech = String()
    ns = AddAndDelete(requested_servers, {"type": "array", "items": {"type": "string"}})

    @post_load
    def require_change(self, values: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Refuse a body that changes nothing."""
        if all(value == {} for value in values.values()):
            raise Refused(MISSING_PARAMETER, field="client_*, contact_* or ns")
        return values


@refuses(
    *errors.BODY,
    *FOUND,
    r.WRONG_STATE,
    r.LOCKED,
    r.HELD_BY_REGISTRY,
    r.TRANSFER_PENDING,
    r.INVALID_NAMESERVER,
    r.CONTACT_NOT_FOUND,
    r.INSUFFICIENT_FUNDS,
)
@route("v2.domain.edit", "PUT", NAME_PATH, body=Changes(), answer=Done())
def edit(call: Call) -> dict[str, Any]:
    """Change a domain's statuses, contacts and name servers, all or nothing.

    A new registrant costs the zone's fee, if any. While updates are prohibited, the same changes are
    forbidden as in v3.
    """
    servers = call.arguments.get("ns", {})
    changes = orders.Edit(
        flags={flag: bool(call.arguments[flag]) for flag in Flag if flag in call.arguments},
        contacts=requested_handles(call.arguments),
        add=servers.get("add", ()),
        remove=servers.get("del", ()),
    )
    orders.edit(call.draft, own_order(call), changes)
    return done()
