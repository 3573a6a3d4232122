"""Resources: classes of typed methods that a transport carries out.

The signature of a method declares its operation.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    Protocol,
    Self,
    TypeVar,
    cast,
    get_args,
    get_type_hints,
)
from urllib.parse import quote

from reseller_sandbox.control.hints import meant
from reseller_sandbox.refusals import INVALID_PARAMETER, Refused, Rule
from reseller_sandbox.values.kinds import ANYTHING
from reseller_sandbox.values.parameters import Parameter, by_attribute, declared, read_by, without_arguments
from reseller_sandbox.values.text_checks import decimals_to_floats, did_you_mean

if TYPE_CHECKING:
    from reseller_sandbox.control.local_transport import LocalTransport
    from reseller_sandbox.control.results import Result
    from reseller_sandbox.worlds import World

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

#: A ``read`` changes nothing, a ``write`` changes a world, and a ``stream`` yields records until the client
#: closes the stream.
Sort = Literal["read", "write", "stream"]

#: The path under which HTTP requests reach all operations.
ROOT = "/_sandbox"


class Transport(Protocol):
    """The connection to a world: in this process, or over HTTP."""

    @property
    def name(self) -> str:
        """Return the name of the world that the transport leads to."""

    def entering(self, world: str) -> Self:
        """Return the transport to another world of the same server."""

    def carry_out(self, operation: Operation, arguments: Mapping[str, object]) -> object:
        """Return the result of ``operation`` with ``arguments``. Raise ``Refused``."""

    def close(self) -> None:
        """Close the connection, if there is one. The next call opens a new connection."""


class ReceivedRefusal(Refused):
    """A refusal whose message comes as text from a server or from another refusal."""

    message = ""
    remedy = ""

    def __init__(self, rule: Rule, message: str, remedy: str, /, **facts: object) -> None:
        super().__init__(rule, **facts)
        self.message, self.remedy = message, remedy


class Subscription(ABC, Iterator[T]):
    """An iterator that blocks until the next record comes. Any thread can call ``close`` to end it.

    ``missed`` counts the records that were left out because they came too fast: the buffer was full, or
    ``per_second`` was exceeded.
    """

    missed: int = 0

    @abstractmethod
    def close(self) -> None:
        """End the stream."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(eq=False)
class Operation:
    """One operation of a resource, derived from the function ``body``.

    ``route`` is the HTTP method and the path below ``ROOT``, such as ``GET accounts/{account:path}``. A
    placeholder with ``:path`` accepts slashes. The placeholders name the positional-only parameters.
    ``refuses`` lists the rules by which it can refuse, without ``invalid_parameter``, which any operation can
    raise. A ``long`` operation can take noticeable time, so the server runs it while it answers other
    requests. An operation that works ``apart`` does not lock its world, because it changes another world or
    replaces this one at the end. The body of an ``open_ended`` operation gets unknown parameters too, and
    reports them together with its other mistakes.
    """

    body: Callable[..., Any]
    sort: Sort
    route: str
    refuses: tuple[Rule, ...] = ()
    long: bool = False
    apart: bool = False
    open_ended: bool = False
    resource: type[Resource] = field(init=False)

    @cached_property
    def name(self) -> str:
        """Return the name of the operation: the name of ``body`` without a final underscore."""
        return self.body.__name__.removesuffix("_")

    @property
    def id(self) -> str:
        """Return the id of the operation, such as ``clock.advance``."""
        return f"{self.resource.name}.{self.name}"

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Return the parameters in the order of the signature."""
        return declared(self.body)

    @cached_property
    def segments(self) -> tuple[str, ...]:
        """Return the names of the path parameters. They are the positional-only parameters."""
        return tuple(parameter.name for parameter in self.parameters if parameter.place == "segment")

    def path_with(self, values: dict[str, object]) -> str:
        """Return the path for a call. Remove the path parameters from ``values``. They can be missing."""
        path = self.path
        for name in self.segments:
            path = path.replace(f"{{{name}}}", quote(str(values.pop(name, "")), safe=""))
        return path

    @cached_property
    def result(self) -> type[Result]:
        """Return the type of the result, or the type of each record of a stream."""
        returned: Any = get_type_hints(self.body)["return"]
        return cast("type[Result]", get_args(returned)[0] if self.sort == "stream" else returned)

    @cached_property
    def path(self) -> str:
        """Return the path over HTTP, with a placeholder for each path parameter.

        For example, ``/_sandbox/faults/{name}/pause``.
        """
        return f"{ROOT}/{self.route.partition(' ')[2].replace(':path}', '}')}"

    @cached_property
    def method(self) -> str:
        """Return the HTTP method, such as GET."""
        return self.route.partition(" ")[0]

    @property
    def description(self) -> str:
        """Return the docstring of the operation without the section on parameters."""
        return without_arguments(self.body)

    def bind(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> dict[str, object]:
        """Return the arguments of a Python call by parameter name.

        Refuse with ``invalid_parameter`` if positions do not fit or a parameter is given twice.
        """
        positional = [parameter.name for parameter in self.parameters if parameter.place != "option"]
        if len(args) > len(positional):
            accepted = ", ".join(positional) or "none"
            problem = f"too many positional arguments for {self.id}; positional arguments: {accepted}"
            raise Refused(INVALID_PARAMETER, problems=problem)
        by_position = dict(zip(positional, args, strict=False))
        by_name = {name.removesuffix("_"): value for name, value in kwargs.items()}
        if duplicates := [name for name in by_name if name in by_position]:
            raise Refused(
                INVALID_PARAMETER, problems=f"{self.id} received the argument {duplicates[0]} twice"
            )
        return by_position | by_name

    def read(self, arguments: Mapping[str, object]) -> dict[str, Any]:
        """Convert ``arguments`` to the values that ``body`` takes.

        Refuse with ``invalid_parameter``, naming every mistake.
        """
        return read_by(self._taken(arguments), arguments)

    def dump(self, values: Mapping[str, object]) -> dict[str, object]:
        """Convert ``values``, a result of ``read``, to JSON values."""
        return dumped(self._taken(values), values)

    def _taken(self, values: Iterable[str]) -> tuple[Parameter, ...]:
        """Return the parameters, and for an ``open_ended`` operation also the unknown names in ``values``."""
        if not self.open_ended:
            return self.parameters
        known = {parameter.name for parameter in self.parameters}
        unknown = (Parameter(name, ANYTHING, required=False) for name in values if name not in known)
        return (*self.parameters, *unknown)

    def call(self, resource: Resource, values: Mapping[str, object]) -> Any:
        """Run ``body`` in this process, which must hold the world, and return the result."""
        segments = [values[name] for name in self.segments]
        others = [parameter for parameter in self.parameters if parameter.place != "segment"]
        unknown = {each.name: values[each.name] for each in self._taken(values)[len(self.parameters) :]}
        return self.body(resource, *segments, **by_attribute(others, values), **unknown)


def dumped(known: Iterable[Parameter], values: Mapping[str, object]) -> dict[str, object]:
    """Convert the ``values`` of the ``known`` parameters to JSON values."""
    return {
        parameter.name: decimals_to_floats(parameter.kind.write(values[parameter.name]))
        for parameter in known
        if parameter.name in values
    }


class Resource:
    """One subject that you can read and change: the clock, the faults, the journal, …

    A method declared with ``read``, ``write`` or ``stream`` goes through ``transport``, and its body runs in
    the process that holds the world. Any other method combines these, so it works through every interface.
    """

    #: The resource's name in paths and commands.
    name: ClassVar[str]

    #: Arguments that are added to each call.
    _always: Mapping[str, Any] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.name = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        for operation in _operations(cls):
            operation.resource = cls

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def __repr__(self) -> str:
        """Return the name of the resource and the name of its world."""
        return f"<{type(self).__name__}: {self._transport}>"

    @property
    def _local(self) -> LocalTransport:
        """Return the transport as a ``LocalTransport``.

        Bodies of operations run only in the world's process.
        """
        return cast("LocalTransport", self._transport)

    @property
    def _world(self) -> World:
        return self._local.world

    if not TYPE_CHECKING:  # because with __getattr__, a type checker accepts any attribute

        def __getattr__(self, name: str) -> object:
            """Raise AttributeError, and suggest an attribute or an operation of another resource."""
            __tracebackhide__ = True
            if name.startswith("__"):  # Python itself looks up such names, for example to copy an object
                raise AttributeError(name)
            raise self._missing(name)

        def __setattr__(self, name: str, value: object) -> None:
            """Set an attribute. Refuse an unknown one, because setting it would change nothing."""
            __tracebackhide__ = True
            if not name.startswith("_") and not hasattr(type(self), name):
                raise self._missing(name)
            super().__setattr__(name, value)

    def _missing(self, name: str) -> AttributeError:
        public = [known for known in dir(type(self)) if not known.startswith("_")]
        hint = did_you_mean(meant(name, self.name, public))
        return AttributeError(f"{self.name} has no attribute {name!r}{hint}")

    @classmethod
    def operations(cls) -> tuple[Operation, ...]:
        """Return the operations in the order of their declaration, inherited operations first."""
        by_name = {
            operation.name: operation for base in reversed(cls.__mro__) for operation in _operations(base)
        }
        return tuple(by_name.values())


def _operations(resource: type) -> list[Operation]:
    """Return the operations that a class declares, without inherited operations."""
    return [method.operation for method in vars(resource).values() if hasattr(method, "operation")]


def operations_by_id(resources: Iterable[type[Resource]]) -> dict[str, Operation]:
    """Return the operations of ``resources`` by id."""
    return {operation.id: operation for resource in resources for operation in resource.operations()}


def read(route: str, *refuses: Rule, **options: object) -> Callable[[F], F]:
    """Declare a method that changes nothing. ``options`` are fields of ``Operation``."""
    return _declare("read", route, refuses, options)


def write(route: str, *refuses: Rule, **options: object) -> Callable[[F], F]:
    """Declare a method that changes a world. ``options`` are fields of ``Operation``."""
    return _declare("write", route, refuses, options)


def stream(route: str, *refuses: Rule) -> Callable[[F], F]:
    """Declare a method that returns a ``Subscription``, which yields live records.

    Each record has a ``mark``. If you pass it as ``since``, the stream begins after that record. ``line`` is
    the record in one line for a terminal.
    """
    return _declare("stream", route, refuses, {})


def _declare(
    sort: Sort, route: str, refuses: tuple[Rule, ...], options: Mapping[str, Any]
) -> Callable[[F], F]:
    def declare(body: F) -> F:
        return cast(F, method_for(Operation(body, sort, route, refuses, **options)))

    return declare


def method_for(operation: Operation) -> Callable[..., object]:
    """Return the method of a resource that sends ``operation`` through its transport."""

    @wraps(operation.body)
    def method(self: Resource, /, *args: object, **kwargs: object) -> Any:
        __tracebackhide__ = True
        try:
            answer = self._transport.carry_out(operation, {**operation.bind(args, kwargs), **self._always})
        except Refused as refused:
            raise refused.with_traceback(None) from None  # so that a traceback ends at the caller's line
        # Some results have methods that call this resource, for example ``AddedFaults.remove``.
        return answer.of(self) if hasattr(answer, "of") else answer

    method.operation = operation  # type: ignore[attr-defined]
    return method
