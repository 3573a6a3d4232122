"""The rows of the control interface: one for each operation of a power, and one for the documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple

from marshmallow import INCLUDE, RAISE, Schema, fields

from reseller_sandbox.core.assumptions import Assumptions
from reseller_sandbox.core.refusals import INVALID_PARAMETER, MALFORMED_BODY, UNKNOWN_DOCUMENT, Refused, Rule
from reseller_sandbox.core.signatures import Parameter
from reseller_sandbox.powers.here import Here
from reseller_sandbox.powers.power import ROOT, Operation, Power
from reseller_sandbox.powers.words import spoken
from reseller_sandbox.web.context import RequestContext
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.fields import Shape
from reseller_sandbox.web.interface import Interface
from reseller_sandbox.web.records import schema_of

#: How many documents are kept; they are drawn again in a twentieth of a second.
_MOST_KEPT = 12


class ControlCall(NamedTuple):
    """What a row is handed: the door to the world that a request acts on, what was asked, and the request."""

    door: Here
    arguments: dict[str, Any]
    incoming: RequestContext


class Nothing(Schema):
    """An empty object, which need not be sent."""

    error_messages = Shape.error_messages

    class Meta:
        unknown = RAISE


_NOTHING = Nothing()


class ToldParameter(fields.Raw):
    """A parameter as its kind describes it; the power itself reads the value."""

    def __init__(self, operation: Operation, parameter: Parameter, *, is_spoken: bool) -> None:
        about = operation.told.get(parameter.name, "")
        metadata = {"description": about} if about else {}
        super().__init__(required=parameter.required, data_key=parameter.name, metadata=metadata)
        self.shape = dict(parameter.kind.shape)
        self.is_spoken = is_spoken
        if parameter.place == "segment" and operation.takes_slashes:
            self.route = "rest"

    def value(self, given: Any) -> Any:
        """Return the value as JSON; in a path or a query string it is a word."""
        return spoken(self.shape, given) if self.is_spoken and isinstance(given, str) else given


class OperationAsked(Schema):
    """The parameters of an operation, for documents; the power itself finds every mistake in the values.

    Exactly one of those that ``one_of`` names is told, if it names some.
    """

    one_of: tuple[str, ...] = ()

    def load(self, data: Any, **_: Any) -> Any:
        """Return the values as JSON, unread."""
        known: Mapping[str, Any] = self.fields
        return {name: known[name].value(given) if name in known else given for name, given in data.items()}


class OperationRow(Endpoint):
    """The row of an operation. Each of its schemas is made when it is first asked for.

    To make all of them takes 60 ms, most of the first request to the control interface.
    """

    operation: Operation

    def __init__(self, operation: Operation) -> None:
        changes = operation.method != "GET"
        super().__init__(
            id=f"control.{operation.id}",
            method=operation.method,
            paths=(operation.path,),
            handle=_handler(operation),
            answer=_NOTHING,
            refuses=(*((MALFORMED_BODY,) if changes else ()), INVALID_PARAMETER, *operation.refuses),
            status=201 if operation.name in ("add", "fork") else 200,
            lengthy_from=0 if operation.long else None,
            streams=operation.sort == "stream",
            subject=operation.power,
        )
        for name in ("answer", "path", "query", "body"):
            del vars(self)[name]
        vars(self)["operation"] = operation

    @cached_property
    def answer(self) -> Schema:
        """The schema of the result."""
        return schema_of(self.operation.result)()

    @cached_property
    def path(self) -> Schema:
        """The schema of the parameters in the path."""
        return self._asked(in_path=True, is_spoken=True)

    @cached_property
    def query(self) -> Schema:
        """The schema of the query."""
        return self._asked(in_path=False, is_spoken=True) if self.method == "GET" else _NOTHING

    @cached_property
    def body(self) -> Schema | None:
        """The schema of the body, which a GET has not."""
        return None if self.method == "GET" else self._asked(in_path=False, is_spoken=False)

    def _asked(self, *, in_path: bool, is_spoken: bool) -> Schema:
        operation: Operation = self.operation
        told: Any = {
            one.name: ToldParameter(operation, one, is_spoken=is_spoken)
            for one in operation.parameters
            if (one.place == "segment") is in_path
        }
        name = "".join(part.title() for part in operation.id.replace(".", "_").split("_"))
        asked = OperationAsked.from_dict(told, name=f"{name}Asked")()
        assert isinstance(asked, OperationAsked)
        asked.one_of = operation.one_of
        return asked

    def routes(self) -> dict[str, str]:
        """Return the converters of the placeholders that take more than a segment of the path."""
        segments = self.operation.segments
        return dict.fromkeys(segments, "rest") if segments and self.operation.takes_slashes else {}


@cache  # a row holds nothing of a world, so every sandbox has the same
def row(operation: Operation) -> Endpoint:
    """Return the row of an operation."""
    return OperationRow(operation)


def _handler(operation: Operation) -> Callable[[ControlCall], Any]:
    def handle(call: ControlCall) -> Any:
        given = dict(call.arguments)
        for one in operation.parameters:
            if one.place == "segment":
                given[one.name] = spoken(one.kind.shape, given[one.name])
        return call.door.carry_out(operation, given)

    handle.__doc__ = operation.description
    return handle


def endpoints(powers: Iterable[type[Power]]) -> tuple[Endpoint, ...]:
    """Return the rows of ``powers``: one for each of their operations."""
    return tuple(row(operation) for power in powers for operation in power.operations())


class Document(Schema):
    """An OpenAPI document."""

    class Meta:
        unknown = INCLUDE

    def dump(self, obj: Any, *, many: bool | None = None) -> Any:  # noqa: ARG002
        """Return the document, which is ready as it is."""
        return obj


class DocumentRows:
    """The OpenAPI documents of the interfaces, as the sandbox itself serves them.

    Each is made when it is first asked for. Worlds that assume other things have other documents.
    """

    name = "documents"

    def __init__(self, interfaces: Callable[[], Sequence[Interface]]) -> None:
        self._interfaces = interfaces
        self._described = lru_cache(maxsize=_MOST_KEPT)(self._describe)

    def show(self, call: ControlCall) -> Any:
        """Return the OpenAPI document of one interface, as the world's assumptions have it."""
        document = self._described(call.arguments["document"], call.door.world.assumptions)
        incoming = call.incoming
        server = f"{incoming.scheme}://{incoming.headers.get('Host', '')}{incoming.prefix}"
        return {**document, "servers": [{"url": server}]}

    def _describe(self, asked: str, assumed: Assumptions) -> dict[str, Any]:
        from reseller_sandbox.web import openapi  # apispec is loaded for those who ask

        by_name = {f"{interface.name}.json": interface for interface in self._interfaces()}
        if asked not in by_name:
            raise Refused(UNKNOWN_DOCUMENT, document=asked[:80], known=", ".join(by_name))
        return openapi.describe(by_name[asked], assumed)

    def rows(self) -> tuple[Endpoint, ...]:
        """Return the one row."""
        path = f"{ROOT}/openapi/{{document}}"
        told: dict[str, Any] = {"answer": Document(), "lengthy_from": 0, "subject": self}
        return (extra_row("openapi", path, self.show, UNKNOWN_DOCUMENT, **told),)


def extra_row(
    name: str, path: str, handle: Callable[[ControlCall], Any], /, *refuses: Rule, **told: Any
) -> Endpoint:
    """Return a row that is no operation of a power: a GET without a query, unless ``told`` otherwise."""
    method = told.get("method", "GET")
    usual = {
        "method": method,
        "answer": _NOTHING,
        "query": _NOTHING,
        "body": None if method == "GET" else _NOTHING,
        "refuses": (*(() if method == "GET" else (MALFORMED_BODY,)), INVALID_PARAMETER, *refuses),
    }
    return Endpoint(id=f"control.{name}", paths=(path,), handle=handle, **{**usual, **told})
