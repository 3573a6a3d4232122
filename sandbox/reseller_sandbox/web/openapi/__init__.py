"""OpenAPI documents, drawn from the rows, the schemas and the declared refusals; nothing is said twice.

The words that no declaration has are in the ``glossary.yaml`` of each interface, the examples in its
``examples.json``. A document is true under the assumptions that it is drawn for. It is of OpenAPI 3.1, whose
schemas are JSON Schema as any validator reads it. Begin with ``describe``.
"""

from __future__ import annotations

import json
import warnings
from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin

from reseller_sandbox.core.assumptions import Assumptions
from reseller_sandbox.web.interface import Interface
from reseller_sandbox.web.openapi.glossary import Examples, Glossary
from reseller_sandbox.web.openapi.operations import Operations, operation_id
from reseller_sandbox.web.openapi.schemas import Converter, asked, name_of, resources

#: What a reader looks for first.
_FIRST = ("openapi", "info", "servers", "security", "tags", "paths")


def describe(interface: Interface, assumed: Assumptions, server: str = "/") -> dict[str, Any]:
    """Return the OpenAPI document of an interface that is served at ``server``."""
    words, plugin = Glossary.of(type(interface)), MarshmallowPlugin(schema_name_resolver=name_of)
    plugin.Converter = Converter
    security = interface.security(assumed)
    spec = APISpec(
        title=words.title,
        version=words.version,
        openapi_version="3.1.0",
        plugins=[plugin],
        info={"description": words.about},
        tags=[{"name": name, "description": told} for name, told in resources(interface.endpoints).items()],
        servers=[{"url": server}],
        security=[{name: [] for name in security}],
    )
    for name, told in security.items():
        scheme = {"type": "apiKey", "in": "header", "name": name, "description": told}
        spec.components.security_scheme(name, scheme)
    converter: Any = plugin.converter
    converter.assume(assumed, asked(interface.endpoints))
    operations = Operations(interface, assumed, spec, converter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a schema used as one and as many is one schema
        for endpoint in interface.endpoints:
            for path in endpoint.paths:
                operation = operations.drawn(endpoint, path)
                spec.path(path, operations={endpoint.method.lower(): operation})
    document: dict[str, Any] = json.loads(json.dumps(spec.to_dict()))  # parts are the declarations' own
    words.put_into(document)
    if assumed == Assumptions():  # others answer otherwise
        Examples.of(type(interface)).put_into(document)
    return {key: document[key] for key in (*_FIRST, *document)}


__all__ = ["describe", "operation_id"]
