"""The OpenAPI documents of the interfaces, as the sandbox itself serves them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from marshmallow import INCLUDE, Schema

from reseller_sandbox.control.rows import ControlCall, Nothing
from reseller_sandbox.core.refusals import INVALID_PARAMETER, UNKNOWN_DOCUMENT, Refused
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.interface import Interface


class Document(Schema):
    """An OpenAPI document."""

    class Meta:
        unknown = INCLUDE

    def dump(self, obj: Any, *, many: bool | None = None) -> Any:  # noqa: ARG002
        """Return the document, which is ready as it is."""
        return obj


def endpoint(interfaces: Callable[[], Sequence[Interface]]) -> Endpoint:
    """Return the row that serves the documents of ``interfaces``, each made when it is first asked for."""
    made: dict[str, Any] = {}

    def show(call: ControlCall) -> Any:
        """Return the OpenAPI document of one interface."""
        from reseller_sandbox.web.openapi import describe  # apispec is loaded for those who ask

        by_name = {f"{interface.name}.json": interface for interface in interfaces()}
        asked = call.arguments["document"]
        if asked not in by_name:
            raise Refused(UNKNOWN_DOCUMENT, document=asked[:80], known=", ".join(by_name))
        if asked not in made:
            made[asked] = describe(by_name[asked])
        return made[asked]

    return Endpoint(
        id="control.openapi",
        method="GET",
        paths=("/_sandbox/openapi/{document}",),
        handle=show,
        answer=Document(),
        query=Nothing(),
        refuses=(INVALID_PARAMETER, UNKNOWN_DOCUMENT),
        lengthy_from=0,
    )
