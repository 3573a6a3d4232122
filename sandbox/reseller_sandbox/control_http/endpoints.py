"""The endpoints of the control interface: one for each operation, and extra endpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from marshmallow import RAISE, Schema, fields

from reseller_sandbox.control.local_transport import LocalTransport
from reseller_sandbox.control.parameter_text import parse_text
from reseller_sandbox.control.resource import ROOT, Operation, Resource
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

    def load(self, data: Any, **_: Any) -> Any:
        """Return the values unchanged."""
        return data


# All sandboxes share the endpoints, because an endpoint does not depend on a world.
@cache
def endpoint_of(operation: Operation) -> Endpoint:
    """Return the endpoint of a control operation.

    The schemas of an endpoint are made at their first use, because the schemas of all endpoints take 60 ms.
    """
    changes = operation.method != "GET"
    return Endpoint(
        id=f"control.{operation.id}",
        method=operation.method,
        paths=(operation.path,),
        handle=_handler(operation),
        make_schemas=partial(_schemas, operation),
        converters=dict.fromkeys(operation.segments, "rest") if operation.takes_slashes else {},
        refuses=(*((MALFORMED_BODY,) if changes else ()), INVALID_PARAMETER, *operation.refuses),
        status=201 if operation.name in ("add", "fork") else 200,
        lengthy_from=0 if operation.long else None,
        streams=operation.sort == "stream",
        subject=operation.resource,
    )


def _schemas(operation: Operation) -> Schemas:
    """Return the schemas of an endpoint: the result, the path, and the query (for GET) or the body."""
    in_path, others = (_schema(operation, in_path=in_path) for in_path in (True, False))
    answer = schema_of(operation.result)()
    if operation.method == "GET":
        return Schemas(answer, query=others, path=in_path)
    return Schemas(answer, others, _NOTHING, in_path)


def _schema(operation: Operation, *, in_path: bool) -> Schema:
    fields_by_name: Any = {
        parameter.name: ParameterField(parameter)
        for parameter in operation.parameters
        if (parameter.place == "segment") is in_path
    }
    name = "".join(part.title() for part in operation.id.replace(".", "_").split("_"))
    return OperationParameters.from_dict(fields_by_name, name=f"{name}Asked")()


def _handler(operation: Operation) -> Callable[[ControlCall], Any]:
    def handle(call: ControlCall) -> Any:
        values = dict(call.arguments)
        # Paths and queries carry text, not JSON.
        for parameter in operation.parameters:
            is_word = parameter.place == "segment" or operation.method == "GET"
            if is_word and isinstance(word := values.get(parameter.name), str):
                values[parameter.name] = parse_text(parameter.kind.shape, word)
        return call.transport.carry_out(operation, values)

    handle.__doc__ = operation.description
    return handle


def operation_endpoints(resources: Iterable[type[Resource]]) -> tuple[Endpoint, ...]:
    """Return one endpoint for each operation of ``resources``."""
    return tuple(endpoint_of(operation) for resource in resources for operation in resource.operations())


def extra_endpoint(
    name: str, path: str, /, *refuses: Rule, method: str = "GET", **options: Any
) -> Callable[[Callable[[ControlCall], Any]], Endpoint]:
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
