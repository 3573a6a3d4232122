"""The OpenAPI documents of the interfaces, as the sandbox itself serves them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from marshmallow import INCLUDE, Schema

from reseller_sandbox.control.rows import ControlCall, Nothing
from reseller_sandbox.core.assumptions import Assumptions
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
    """Return the row that serves the documents of ``interfaces``, each made when it is first asked for.

    Worlds that assume other things have other documents.
    """
    made: dict[tuple[str, Assumptions], dict[str, Any]] = {}

    def show(call: ControlCall) -> Any:
        """Return the OpenAPI document of one interface, as the world's assumptions have it."""
        from reseller_sandbox.web import openapi  # apispec is loaded for those who ask

        by_name = {f"{interface.name}.json": interface for interface in interfaces()}
        asked = call.arguments["document"]
        if asked not in by_name:
            raise Refused(UNKNOWN_DOCUMENT, document=asked[:80], known=", ".join(by_name))
        key = asked, call.door.world.assumptions
        if key not in made:
            if len(made) >= _MOST_KEPT:
                made.clear()
            made[key] = openapi.describe(by_name[asked], key[1])
        incoming = call.incoming
        server = f"{incoming.scheme}://{incoming.headers.get('Host', '')}{incoming.prefix}"
        return {**made[key], "servers": [{"url": server}]}

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


#: How many documents are kept; they are drawn again in a twentieth of a second.
_MOST_KEPT = 12
