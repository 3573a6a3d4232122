"""The rows of interfaces as the contract that they serve."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from marshmallow import fields

from reseller_sandbox.core.contract import ApiOperation, Contract
from reseller_sandbox.core.refusals import Rule, Wording
from reseller_sandbox.web.endpoint import Endpoint


class SelfDescribed(Protocol):
    """What an interface says of its operations."""

    endpoints: tuple[Endpoint, ...]
    wording: Wording

    @classmethod
    def documented(cls, endpoint: Endpoint) -> Mapping[str, Sequence[Rule]]:
        """Return the errors documented for an operation, each with the rules that become it."""


def contract(interfaces: Iterable[type[SelfDescribed]]) -> Contract:
    """Return the operations of ``interfaces``, in the order of their rows."""
    return tuple(_operation(one, endpoint) for one in interfaces for endpoint in one.endpoints)


def _operation(interface: type[SelfDescribed], endpoint: Endpoint) -> ApiOperation:
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
