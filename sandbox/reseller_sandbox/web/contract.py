"""The operations of interfaces as a contract."""

from __future__ import annotations

from collections.abc import Iterable

from marshmallow import fields

from reseller_sandbox.registry.contract import ApiOperation, Contract
from reseller_sandbox.web.interface import Endpoint, Interface


def contract(interfaces: Iterable[type[Interface]]) -> Contract:
    """Return the operations of ``interfaces``, in the order of their declaration."""
    return tuple(_operation(api, endpoint) for api in interfaces for endpoint in api.endpoints)


def _operation(interface: type[Interface], endpoint: Endpoint) -> ApiOperation:
    status = getattr(endpoint.answer, "fields", {}).get("status")
    return ApiOperation(
        id=endpoint.id,
        method=endpoint.method,
        path=min(endpoint.paths, key=lambda path: path.count("{")),
        refuses=endpoint.refuses,
        errors=interface.documented(endpoint),
        wording=interface.wording,
        shows_status=endpoint.reads and status is not None and not isinstance(status, fields.Boolean),
    )
