"""RDAP: its responses and errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rdap_sandbox import objects
from reseller_sandbox.refusals import Refused, Rule
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.web.context import RequestContext
from reseller_sandbox.web.errors import ErrorEntry, sentence, status_of
from reseller_sandbox.web.interface import Answer, Endpoint, Interface, endpoints_of


class Rdap(Interface):
    """Registration data of domains, name servers and contacts, for anybody, without credentials."""

    name = "rdap"
    owner = "RDAP"
    content_type = "application/rdap+json"
    endpoints = endpoints_of(objects)
    error_shape: Mapping[str, object] = {
        "type": "object",
        "properties": {
            "rdapConformance": {"type": "array", "items": {"type": "string"}},
            "errorCode": {"type": "integer"},
            "title": {"type": "string"},
            "description": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["rdapConformance", "errorCode", "title", "description"],
    }

    def accept(self, request: RequestContext, endpoint: Endpoint, result: Any) -> Answer:
        """Return the object with the conformance and a link to itself."""
        url = f"{request.scheme}://{request.headers.get('Host', '')}{request.prefix}{request.path}"
        link = {"value": url, "rel": "self", "href": url, "type": self.content_type}
        request.headers_out["Access-Control-Allow-Origin"] = "*"
        return super().accept(request, endpoint, {**objects.CONFORMANCE, **result, "links": [link]})

    def error(self, request: RequestContext, refused: Refused) -> Answer:
        """Return the error as RFC 9083, section 6, describes it."""
        status, code = status_of(refused.rule), refused.rule.code
        body = {"errorCode": int(status), "title": code, "description": [refused.message]}
        return Answer(status, {**objects.CONFORMANCE, **body}, error=code)

    def documented_errors(self, endpoint: Endpoint, rule: Rule, assumed: Assumptions) -> Iterable[ErrorEntry]:
        """Return the error of ``rule``."""
        line = f"`{rule.code}`: {sentence(rule, self.wording)}"
        return [ErrorEntry(status_of(rule), {"title": rule.code}, line)]
