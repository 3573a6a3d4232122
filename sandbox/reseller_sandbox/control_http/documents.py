"""The endpoint that serves the OpenAPI documents of all interfaces.

Each document is built at its first request. Worlds with different assumptions have different documents.
"""

from __future__ import annotations

from typing import Any

from marshmallow import INCLUDE, Schema

from reseller_sandbox.control_http.endpoints import ControlCall, extra_endpoint
from reseller_sandbox.refusals import UNKNOWN_DOCUMENT


class Document(Schema):
    """An OpenAPI document."""

    class Meta:
        unknown = INCLUDE

    def dump(self, obj: Any, *, many: bool | None = None) -> Any:  # noqa: ARG002
        """Return the document unchanged."""
        return obj


@extra_endpoint("openapi", "openapi/{document}", UNKNOWN_DOCUMENT, answer=Document(), lengthy_from=0)
def show(call: ControlCall) -> Any:
    """Return the OpenAPI document of one interface under the world's assumptions."""
    document = call.control.document(call.arguments["document"], call.transport.world.assumptions)
    server = call.request.base + call.request.prefix
    return {**document, "servers": [{"url": server}]}
