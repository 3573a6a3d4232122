"""The OpenAPI documents of the interfaces, as the sandbox itself serves them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from marshmallow import INCLUDE, Schema

from reseller_sandbox.control.call import ControlCall
from reseller_sandbox.core.refusals import UNKNOWN_DOCUMENT, Refused
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.interface import Interface


class Document(Schema):
    """An OpenAPI document."""

    class Meta:
        unknown = INCLUDE

    def dump(self, obj: Any, *, many: bool | None = None) -> Any:  # noqa: ARG002
        """The document, which is ready as it is."""
        return obj


def endpoint(interfaces: Callable[[], Sequence[Interface]]) -> Endpoint:
    """The row that serves the documents of ``interfaces``, each drawn when it is first asked for."""
    drawn: dict[str, Any] = {}

    def show(call: ControlCall) -> Any:
        """The OpenAPI document of one interface."""
        from reseller_sandbox.web.openapi import describe  # apispec is loaded for those who ask

        by_name = {f"{interface.name}.json": interface for interface in interfaces()}
        asked = call.arguments["document"]
        if asked not in by_name:
            raise Refused(UNKNOWN_DOCUMENT, document=asked[:80], known=", ".join(by_name))
        if asked not in drawn:
            drawn[asked] = describe(by_name[asked])
        return drawn[asked]

    return Endpoint(
        id="control.openapi",
        method="GET",
        paths=("/_sandbox/openapi/{document}",),
        handle=show,
        answer=Document(),
        refuses=(UNKNOWN_DOCUMENT,),
        lengthy_from=0,
    )
