"""The endpoint that serves the OpenAPI documents of all interfaces.

Each document is built at its first request. Worlds with different assumptions have different documents.
"""

from __future__ import annotations

from marshmallow import INCLUDE, Schema, fields, validate

from reseller_sandbox.control_http.endpoints import ControlCall, about, extra_endpoint
from reseller_sandbox.refusals import UNKNOWN_DOCUMENT
from reseller_sandbox.web.interface import Answer
from reseller_sandbox.web.openapi_versions import VERSIONS


class Document(Schema):
    """An OpenAPI document."""

    class Meta:
        unknown = INCLUDE

    def dump(self, obj: object, *, many: bool | None = None) -> object:  # noqa: ARG002
        """Return the document unchanged."""
        return obj


class DocumentChoice(Schema):
    """The version of an OpenAPI document."""

    version = fields.String(
        load_default="3.1",
        validate=validate.OneOf(VERSIONS),
        metadata=about("The version of OpenAPI: 3.1, or 3.0 for tools that read no other."),
    )


@extra_endpoint(
    "openapi",
    "openapi/{document}",
    UNKNOWN_DOCUMENT,
    answer=Document(),
    query=DocumentChoice(),
    lengthy_from=0,
)
def show(call: ControlCall) -> Answer:
    """Return the OpenAPI document of one interface under the world's assumptions.

    Its servers are the public URLs of the server, or the address of the request.
    """
    name, version = call.arguments["document"], call.arguments["version"]
    bases = call.control.settings.public_urls or (call.request.base,)
    servers = tuple(f"{base.rstrip('/')}{call.request.prefix}" for base in bases)
    document = call.control.document(name, call.transport.world.assumptions, servers, version)
    return Answer(200, document)
