"""The rows of the control interface, which follow from the powers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from marshmallow import RAISE, Schema, fields

from reseller_sandbox.core.refusals import INVALID_PARAMETER, MALFORMED_BODY
from reseller_sandbox.core.signatures import Parameter
from reseller_sandbox.powers.here import Here
from reseller_sandbox.powers.power import Operation, Power
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.fields import Shape
from reseller_sandbox.web.incoming import Incoming
from reseller_sandbox.web.records import schema_of
from reseller_sandbox.web.routes import method_of, path_of, status_of, takes_slashes
from reseller_sandbox.web.words import spoken


class ControlCall(NamedTuple):
    """What a row is handed: the door to the world that a request acts on, what was asked, and the request."""

    door: Here
    arguments: dict[str, Any]
    incoming: Incoming


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
        if parameter.place == "segment" and takes_slashes(operation):
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


def endpoints(powers: Iterable[type[Power]]) -> tuple[Endpoint, ...]:
    """Return the rows of ``powers``: one for each of their operations."""
    return tuple(_row(operation) for power in powers for operation in power.operations())


class OperationRow(Endpoint):
    """The row of an operation. Its schemas are made when the first of them is asked for: a sandbox whose
    control interface nobody calls has no use for them, and they would be most of what it takes to make it.
    """

    __slots__ = ("_operation",)

    def __init__(self, operation: Operation, **told: Any) -> None:
        super().__init__(answer=_NOTHING, **told)
        object.__setattr__(self, "_operation", operation)
        for name in _SCHEMAS:
            object.__delattr__(self, name)

    def __getattr__(self, name: str) -> Any:
        """Return a schema: it is not there as long as nobody has asked for it."""
        if name not in _SCHEMAS:
            raise AttributeError(name)
        operation, gets = self._operation, self.method == "GET"
        segments, rest = _places(operation)
        asked = _asked(operation, rest, is_spoken=gets)
        made: dict[str, Schema | None] = {
            "answer": schema_of(operation.result)(),
            "path": _asked(operation, segments, is_spoken=True),
            "query": asked if gets else _NOTHING,
            "body": None if gets else asked,
        }
        for known, schema in made.items():
            object.__setattr__(self, known, schema)
        return made[name]

    def routes(self) -> dict[str, str]:
        """Return the converters of the placeholders that take more than a segment of the path."""
        segments = self._operation.segments
        return dict.fromkeys(segments, "rest") if segments and takes_slashes(self._operation) else {}


_SCHEMAS = ("answer", "path", "query", "body")


def _places(operation: Operation) -> tuple[list[Parameter], list[Parameter]]:
    """Return the parameters in the path, and the others."""
    segments = [one for one in operation.parameters if one.place == "segment"]
    return segments, [one for one in operation.parameters if one.place != "segment"]


@cache  # a row holds nothing of a world, so every sandbox has the same
def _row(operation: Operation) -> Endpoint:
    method = method_of(operation)

    def handle(call: ControlCall) -> Any:
        given, (segments, _) = dict(call.arguments), _places(operation)
        given |= {one.name: spoken(one.kind.shape, given[one.name]) for one in segments}
        return call.door.carry_out(operation, given)

    handle.__doc__ = operation.description
    return OperationRow(
        operation,
        id=f"control.{operation.id}",
        method=method,
        paths=(path_of(operation),),
        handle=handle,
        refuses=(*((MALFORMED_BODY,) if method != "GET" else ()), INVALID_PARAMETER, *operation.refuses),
        status=status_of(operation),
        lengthy_from=0 if operation.long else None,
        streams=operation.sort == "stream",
        subject=operation.power,
    )


def _asked(operation: Operation, known: Iterable[Parameter], *, is_spoken: bool) -> Schema:
    told = {one.name: ToldParameter(operation, one, is_spoken=is_spoken) for one in known}
    name = "".join(part.title() for part in operation.id.replace(".", "_").split("_"))
    asked = OperationAsked.from_dict(dict(told), name=f"{name}Asked")()
    assert isinstance(asked, OperationAsked)
    asked.one_of = operation.one_of
    return asked
