"""Glue records: name servers below a name, with their addresses."""

from __future__ import annotations

from typing import Any

from marshmallow import post_load

from reseller_sandbox.core import hosts, refusals
from reseller_sandbox.core.lifecycle import Action, require
from reseller_sandbox.core.model import Host, Order
from reseller_sandbox.v3 import errors
from reseller_sandbox.v3.domains import FOUND, own_order
from reseller_sandbox.v3.shapes import shown, under_one_name
from reseller_sandbox.web.endpoint import Call, Endpoint
from reseller_sandbox.web.fields import InnerObject, Listed, Shape, Text


class AddressesWanted(Shape):
    """The addresses of a host; the list may be called ``ip`` as well."""

    spelt = ("ips", "ip")

    ips = Listed(Text())
    ip = Listed(Text())

    @post_load
    def as_ips(self, found: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Return the list as ``ips``, whatever it was called."""
        return under_one_name(found, self.spelt)


class GlueWanted(AddressesWanted):
    """A host below the name, as a label."""

    hostname = Text(required=True)


class HostName(Shape):
    """A host, fully qualified."""

    domainName = Text()
    hostname = Text()


class GlueRecord(HostName):
    """A host with its addresses."""

    ips = Listed(Text())


class GlueList(Shape):
    """The hosts below a name."""

    glueRecords = Listed(InnerObject(HostName))


def create(call: Call) -> dict[str, Any]:
    """Add a host below a name."""
    order = _changeable(call)
    return _record(call, hosts.create(call.draft, order, call.arguments["hostname"], call.arguments["ips"]))


def update(call: Call) -> dict[str, Any]:
    """Give a host other addresses."""
    order = _changeable(call)
    return _record(call, hosts.update(call.draft, order, call.arguments["hostname"], call.arguments["ips"]))


def delete(call: Call) -> dict[str, Any]:
    """Remove a host."""
    return _record(call, hosts.delete(call.draft, _changeable(call), call.arguments["hostname"]))


def read(call: Call) -> dict[str, Any]:
    """Return a host with its addresses."""
    return _record(call, hosts.get(call.draft, _readable(call), call.arguments["hostname"]))


def read_all(call: Call) -> dict[str, Any]:
    """Return the hosts below a name, without their addresses; a zone that keeps no hosts has none."""
    found = hosts.of_domain(call.draft.state, _readable(call).name)
    return {"glueRecords": [_record(call, host) for host in found]}


def _readable(call: Call) -> Order:
    order = own_order(call)
    require(call.draft, order, Action.READ_HOSTS)
    return order


def _changeable(call: Call) -> Order:
    order = own_order(call)
    hosts.require_support(call.draft, order, Action.CHANGE_HOSTS)
    return order


def _record(call: Call, host: Host) -> dict[str, Any]:
    asked = call.arguments["domainName"]
    return {
        "domainName": shown(call, host.domain, asked),
        "hostname": shown(call, host.name, asked),
        "ips": list(host.ips),
    }


_ALL = "/v3/domains/glueRecords/{domainName}"
_ONE = "/v3/domains/glueRecords/{domainName}/{hostname}"
_READ = (*FOUND, refusals.WRONG_STATE)
_CHANGE = (*FOUND, refusals.HOSTS_NOT_SUPPORTED, refusals.WRONG_STATE, refusals.LOCKED)

ENDPOINTS = (
    Endpoint(
        id="v3.createGlueRecord",
        method="POST",
        paths=(_ALL,),
        handle=create,
        body=GlueWanted(),
        answer=GlueRecord(),
        refuses=(
            *errors.BODY,
            *_CHANGE,
            refusals.INVALID_HOSTNAME,
            refusals.INVALID_IP,
            refusals.HOST_EXISTS,
        ),
    ),
    Endpoint(
        id="v3.updateGlueRecord",
        method="PUT",
        paths=(_ONE,),
        handle=update,
        body=AddressesWanted(),
        answer=GlueRecord(),
        refuses=(
            *errors.BODY,
            *_CHANGE,
            refusals.INVALID_HOSTNAME,
            refusals.HOST_NOT_FOUND,
            refusals.INVALID_IP,
        ),
    ),
    Endpoint(
        id="v3.deleteGlueRecord",
        method="DELETE",
        paths=(_ONE,),
        handle=delete,
        answer=HostName(),
        refuses=(*_CHANGE, refusals.INVALID_HOSTNAME, refusals.HOST_NOT_FOUND, refusals.HOST_IN_USE),
    ),
    Endpoint(
        id="v3.listGlueRecords",
        method="GET",
        paths=(_ALL,),
        handle=read_all,
        answer=GlueList(),
        refuses=_READ,
    ),
    Endpoint(
        id="v3.getGlueRecord",
        method="GET",
        paths=(_ONE,),
        handle=read,
        answer=GlueRecord(),
        refuses=(*_READ, refusals.INVALID_HOSTNAME, refusals.HOST_NOT_FOUND),
    ),
)
