"""Operations on hosts: name servers below a domain, with their IP addresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from marshmallow import ValidationError, fields

from reseller_sandbox import refusals as r
from reseller_sandbox.refusals import MISSING_PARAMETER, Refused
from reseller_sandbox.registry import hosts
from reseller_sandbox.registry.hosts import TypedAddress, parse_typed
from reseller_sandbox.registry.lifecycle import Action, require
from reseller_sandbox.registry.model import Order
from reseller_sandbox.v2 import errors
from reseller_sandbox.v2.bodies import AddAndDelete, text
from reseller_sandbox.v2.shapes import FOUND, NAME_PATH, Checked, Done, done, own_order, render_name
from reseller_sandbox.web.fields import Array, InnerObject, Shape, Shaped, String
from reseller_sandbox.web.interface import Call, refuses, route

_ONE = f"{NAME_PATH}/host/{{host_name}}"
_READ = (*FOUND, r.HOSTS_NOT_SUPPORTED, r.WRONG_STATE)


def _address(entry: object) -> TypedAddress:
    """Read an address: an object or ``type=>v4,ip=>192.0.2.1``. A missing part becomes ""."""
    if isinstance(entry, str) and "=>" in entry:
        entry = dict(part.strip().split("=>", 1) for part in entry.split(",", 1) if "=>" in part)
    if not isinstance(entry, Mapping):
        return TypedAddress(text(entry), "")
    type_, ip = (entry.get(key) for key in ("type", "ip"))
    return TypedAddress("" if type_ is None else text(type_), "" if ip is None else text(ip))


def _addresses(value: object) -> list[TypedAddress]:
    if not isinstance(value, list):
        raise ValidationError("must be an array of addresses")
    return [_address(entry) for entry in value]


_ENTRIES: Shaped = {
    "type": "array",
    "items": {
        "oneOf": [
            {"type": "string", "pattern": r"^type=>v[46],ip=>.+$"},
            {
                "type": "object",
                "properties": {"ip": {"type": "string"}, "type": {"type": "string", "enum": ["v4", "v6"]}},
                "required": ["ip", "type"],
            },
        ]
    },
}


class Addresses(fields.Field[list[TypedAddress]]):
    """Field for the addresses of a new host. Each must have a type and an IP address."""

    shape: ClassVar[Shaped] = _ENTRIES

    def _deserialize(self, value: Any, attr: object, data: object, **kwargs: object) -> list[TypedAddress]:  # noqa: ARG002
        addresses = _addresses(value)
        if any(isinstance(entry, str) and "=>" not in entry for entry in value):
            raise ValidationError("must be an array of objects with ip and type")
        for address in addresses:
            for key, part in address._asdict().items():
                if not part:
                    raise Refused(MISSING_PARAMETER, field=key)
        return addresses


class HostRequest(Shape):
    """The addresses of a new host."""

    ip = Addresses(required=True)


class HostChange(Shape):
    """The IP addresses to add to a host and to remove from it."""

    ip = AddAndDelete(_addresses, _ENTRIES, required=True)


class HostShown(Shape):
    """The fully qualified name of a host, and its IP addresses."""

    ip = Array(String())
    name = String()


class HostFound(Done):
    """Response of host info: the host and its addresses."""

    data = InnerObject(HostShown)


@refuses(*_READ, r.INVALID_HOSTNAME)
@route("v2.host.check", "GET", f"{_ONE}/check", answer=Checked())
def check(call: Call) -> dict[str, object]:
    """Return whether a host can be created below a domain."""
    order = _order(call, Action.CHECK_HOST)
    return done(avail=hosts.parse_host(order.name, call.arguments["host_name"]) not in call.draft.state.hosts)


@refuses(*errors.BODY, *_READ, r.LOCKED, r.INVALID_HOSTNAME, r.UNKNOWN_IP_TYPE, r.INVALID_IP, r.HOST_EXISTS)
@route("v2.host.create", "POST", _ONE, body=HostRequest(), answer=Done())
def create(call: Call) -> dict[str, object]:
    """Add a host below a domain."""
    order = _order(call, Action.CHANGE_HOSTS)
    name = hosts.parse_host(order.name, call.arguments["host_name"])
    hosts.create(call.draft, order, name, parse_typed(call.arguments["ip"]))
    return done()


@refuses(
    *errors.BODY, *_READ, r.LOCKED, r.INVALID_HOSTNAME, r.HOST_NOT_FOUND, r.UNKNOWN_IP_TYPE, r.INVALID_IP
)
@route("v2.host.edit", "PUT", _ONE, body=HostChange(), answer=Done())
def edit(call: Call) -> dict[str, object]:
    """Add and remove addresses of a host. At least one address must remain."""
    order = _order(call, Action.CHANGE_HOSTS)
    changes = call.arguments["ip"]
    host = call.arguments["host_name"]
    hosts.change(call.draft, order, host, changes.get("add", ()), changes.get("del", ()))
    return done()


@refuses(*FOUND, r.WRONG_STATE, r.INVALID_HOSTNAME, r.HOST_NOT_FOUND)
@route("v2.host.info", "GET", _ONE, answer=HostFound())
def info(call: Call) -> dict[str, object]:
    """Return a host with its addresses."""
    order = own_order(call)
    require(call.draft, order, Action.READ_HOSTS)
    host = hosts.get(call.draft, order, call.arguments["host_name"])
    return done(data={"ip": host.ips, "name": render_name(call, host.name, call.arguments["domain_name"])})


@refuses(*FOUND, r.WRONG_STATE, r.LOCKED, r.INVALID_HOSTNAME, r.HOST_NOT_FOUND, r.HOST_IN_USE)
@route("v2.host.delete", "DELETE", _ONE, answer=Done())
def delete(call: Call) -> dict[str, object]:
    """Delete a host that no domain uses as a name server."""
    order = own_order(call)
    require(call.draft, order, Action.CHANGE_HOSTS)
    hosts.delete(call.draft, order, call.arguments["host_name"])
    return done()


def _order(call: Call, action: Action) -> Order:
    """Return the account's order. Refuse if its zone or its state does not allow ``action``."""
    order = own_order(call)
    hosts.require_support(call.draft, order, action)
    return order
