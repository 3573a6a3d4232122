"""The endpoints of the control interface: one for each operation, and extra endpoints."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from marshmallow import RAISE, Schema, fields

from reseller_sandbox.control.local_transport import LocalTransport
from reseller_sandbox.control.parameter_text import parse_text
from reseller_sandbox.control.resource import ROOT, Operation
from reseller_sandbox.refusals import INVALID_PARAMETER, MALFORMED_BODY, Rule
from reseller_sandbox.web.context import RequestContext
from reseller_sandbox.web.fields import ParameterField, Shape, schema_of
from reseller_sandbox.web.interface import Endpoint, Schemas, route

if TYPE_CHECKING:
    from reseller_sandbox.control_http.interface import Control


class ControlCall(NamedTuple):
    """The input of an endpoint's function: a transport to the world, the arguments, and the request."""

    transport: LocalTransport
    arguments: dict[str, Any]
    request: RequestContext
    control: Control


class Nothing(Schema):
    """An empty JSON object. A request can leave out such a body."""

    error_messages = Shape.error_messages

    class Meta:
        unknown = RAISE


_NOTHING = Nothing()


class PathName(fields.Raw):
    """A name at the end of a path. The name can contain slashes."""

    shape: Mapping[str, object] = {"type": "string"}
    route = "rest"


class OperationParameters(Schema):
    """A schema that only documents the parameters of an operation.

    The operation itself checks the values and reports every mistake.
    """

    def load(self, data: object, **_: object) -> object:
        """Return the values unchanged."""
        return data


# All sandboxes share the endpoints, because an endpoint does not depend on a world.
@cache
def endpoint_of(operation: Operation) -> Endpoint:
    """Return the endpoint of a control operation.

    The schemas of an endpoint are made at their first use, because the schemas of all endpoints take 60 ms.
    """
    changes = operation.method != "GET"
    in_path = [parameter for parameter in operation.parameters if parameter.place == "segment"]
    # Paths and queries carry text, not JSON.
    words = in_path if changes else operation.parameters

    def handle(call: ControlCall) -> object:
        values = dict(call.arguments)
        for parameter in words:
            if isinstance(word := values.get(parameter.name), str):
                values[parameter.name] = parse_text(parameter.kind.shape, word)
        return call.transport.carry_out(operation, values)

    handle.__doc__ = operation.description
    return Endpoint(
        id=f"control.{operation.id}",
        method=operation.method,
        paths=(operation.path,),
        handle=handle,
        make_schemas=partial(_schemas, operation),
        converters=dict.fromkeys(re.findall(r"{(\w+):path}", operation.route), "rest"),
        refuses=(*((MALFORMED_BODY,) if changes else ()), INVALID_PARAMETER, *operation.refuses),
        status=201 if operation.name in ("add", "fork") else 200,
        lengthy_from=0 if operation.long else None,
        streams=operation.sort == "stream",
        subject=operation.resource,
    )


def _schemas(operation: Operation) -> Schemas:
    """Return the schemas of an endpoint: the result, the path, and the query (for GET) or the body."""
    in_path: dict[str, fields.Field[Any]] = {}
    asked: dict[str, fields.Field[Any]] = {}
    for parameter in operation.parameters:
        place = in_path if parameter.place == "segment" else asked
        place[parameter.name] = ParameterField(parameter)
    name = "".join(part.title() for part in operation.id.replace(".", "_").split("_"))
    path, others = (OperationParameters.from_dict(each, name=f"{name}Asked")() for each in (in_path, asked))
    answer = schema_of(operation.result)()
    if operation.method == "GET":
        return Schemas(answer, query=others, path=path)
    return Schemas(answer, others, _NOTHING, path)


def extra_endpoint(
    name: str, path: str, /, *refuses: Rule, method: str = "GET", **options: Any
) -> Callable[[Callable[[ControlCall], object]], Endpoint]:
    """Declare a function as an endpoint that is not an operation of a resource.

    The endpoint has no query and an empty body unless ``options`` sets them.
    """
    has_body = method != "GET"
    default = {
        "answer": _NOTHING,
        "query": _NOTHING,
        "body": _NOTHING if has_body else None,
        "refuses": (*((MALFORMED_BODY,) if has_body else ()), INVALID_PARAMETER, *refuses),
    }
    return route(f"control.{name}", method, f"{ROOT}/{path}", **{**default, **options})


def about(words: str) -> dict[str, str]:
    """Return field metadata with ``words`` as the description in the OpenAPI document."""
    return {"description": words}
