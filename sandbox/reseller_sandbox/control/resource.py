"""What a resource is: a class of typed methods, each declared by its signature and carried out by an
interface."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, ClassVar, Literal, Protocol, Self, TypeVar, cast, get_args, get_type_hints

from reseller_sandbox.registry.parameters import (
    Parameter,
    declared,
    documented_parameters,
    read_by,
    without_arguments,
)
from reseller_sandbox.registry.refusals import INVALID_PARAMETER, Refused, Rule

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

#: ``read``: changes nothing. ``write``: changes a world. ``stream``: a look that goes on until it is closed.
Sort = Literal["read", "write", "stream"]

#: Where the operations are found over HTTP.
ROOT = "/_sandbox"

#: The methods of the operations that take the bare path of their resource or record.
_BARE = {
    "show": "GET",
    "list": "GET",
    "find": "GET",
    "get": "GET",
    "add": "POST",
    "replace": "PUT",
    "change": "PATCH",
    "clear": "DELETE",
    "remove": "DELETE",
}


class Transport(Protocol):
    """The way to a world: in this process, or over HTTP."""

    @property
    def name(self) -> str:
        """Return the name of its world."""

    def entering(self, world: str) -> Self:
        """Return the door to another world of the same server."""

    def carry_out(self, operation: Operation, given: Mapping[str, Any]) -> Any:
        """Return the result of ``operation`` with the parameters ``given``; raise ``Refused``."""

    def close(self) -> None:
        """Close the connection, if there is one; the next call opens another."""


class ReceivedRefusal(Refused):
    """A refusal in the words of another one, which a server has sent or which has another type."""

    message = ""
    remedy = ""

    def __init__(self, rule: Rule, message: str, remedy: str, /, **facts: object) -> None:
        super().__init__(rule, **facts)
        self.message, self.remedy = message, remedy


class Subscription(ABC, Iterator[T]):
    """An iterator that waits for each next record; ``close`` ends it, from any thread.

    ``missed`` counts the records that came too fast: more than are kept while nobody reads, or more a second
    than were wanted.
    """

    missed: int = 0

    @abstractmethod
    def close(self) -> None:
        """Stop following."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(eq=False)
class Operation:
    """One thing that can be asked of a resource; everything about it follows from the function ``body``.

    ``refuses`` are the rules it may refuse by, beside ``invalid_parameter``. One that is ``long`` may take
    noticeable time, so that a server carries it out while it answers others. ``one_of`` are parameters of
    which it takes exactly one. One that works ``apart`` leaves its world to others meanwhile: what it makes
    is elsewhere, or takes the world's place at the end.
    """

    body: Callable[..., Any]
    sort: Sort
    refuses: tuple[Rule, ...] = ()
    long: bool = False
    one_of: tuple[str, ...] = ()
    apart: bool = False
    resource: type[Resource] = field(init=False)

    @cached_property
    def name(self) -> str:
        """Return the name of the function."""
        return self.body.__name__.removesuffix("_")

    @property
    def id(self) -> str:
        """Return the resource's name and its own: ``clock.advance``."""
        return f"{self.resource.name}.{self.name}"

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Return its parameters, in the order of the signature."""
        return declared(self.body)

    @cached_property
    def segments(self) -> tuple[str, ...]:
        """Return the names of the parameters in its path, which are positional-only."""
        return tuple(one.name for one in self.parameters if one.place == "segment")

    @cached_property
    def result(self) -> Any:
        """Return the type of its answer, or of each record that it yields."""
        returned = get_type_hints(self.body)["return"]
        return get_args(returned)[0] if self.sort == "stream" else returned

    @property
    def path(self) -> str:
        """Return its path over HTTP, with a placeholder for each segment: /_sandbox/faults/{name}/pause."""
        verb = [] if self.name in _BARE else [self.name]
        return "/".join([ROOT, self.resource.name, *(f"{{{name}}}" for name in self.segments), *verb])

    @property
    def method(self) -> str:
        """Return its HTTP method: a look is a GET unless it takes objects or lists."""
        if self.sort == "stream":  # a browser's EventSource sends nothing else
            return "GET"
        if self.name in _BARE:
            return _BARE[self.name]
        shapes = [one.kind.shape for one in self.parameters if one.place != "segment"]
        words = ("string", "integer", "boolean", "number")
        fits = all(shape.get("type") in words or not shape for shape in shapes)
        return "GET" if self.sort == "read" and fits else "POST"

    @property
    def takes_slashes(self) -> bool:
        """Whether a segment may have slashes in it, because no path of the resource goes on after one."""
        return all(one.path.endswith("}") for one in self.resource.operations() if one.segments)

    @property
    def description(self) -> str:
        """Return its docstring without the part about parameters."""
        choice = f"\n\nTakes {self._choice}." if self.one_of else ""
        return without_arguments(self.body) + choice

    @property
    def _choice(self) -> str:
        *others, last = self.one_of
        return f"exactly one of {', '.join(others)} and {last}"

    @cached_property
    def told(self) -> Mapping[str, str]:
        """Return what the docstring, or else the annotation, says of each parameter."""
        return {
            **{one.name: one.words for one in self.parameters if one.words},
            **documented_parameters(self.body),
        }

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call by the names of the parameters; refuse a call of another form."""
        placed = [one.name for one in self.parameters if one.place != "option"]
        if len(args) > len(placed):
            takes = f"{', '.join(map(repr, placed))} alone" if placed else "nothing"
            problem = f"{self.id} takes {takes} without a name, and all the rest by name"
            raise Refused(INVALID_PARAMETER, problems=problem)
        given = dict(zip(placed, args, strict=False))
        named = {name.removesuffix("_"): value for name, value in kwargs.items()}
        if twice := [name for name in named if name in given]:
            raise Refused(INVALID_PARAMETER, problems=f"{twice[0]} is given twice")
        return given | named

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``given`` as the body takes it; refuse with ``invalid_parameter``, naming every mistake."""
        found = read_by(self.parameters, given)
        if self.one_of and len(found.keys() & self.one_of) != 1:
            raise Refused(INVALID_PARAMETER, problems=f"takes {self._choice}")
        return found

    def written(self, told: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values that ``read`` has returned as JSON."""
        return {one.name: one.kind.write(told[one.name]) for one in self.parameters if one.name in told}

    def call(self, resource: Resource, told: Mapping[str, Any]) -> Any:
        """Run the body, which is always on the side of the world; return its result."""
        segments = [told[name] for name in self.segments]
        rest = {
            one.attribute: told[one.name]
            for one in self.parameters
            if one.place != "segment" and one.name in told
        }
        return self.body(resource, *segments, **rest)


class Resource:
    """One subject that can be looked at and acted on: the clock, the faults, the journal, …

    A method that is declared with ``read``, ``write`` or ``stream`` goes through ``transport``; its body runs
    only on the side of the world. Any other method composes those, and so works through every interface.
    """

    #: The resource's name in paths and commands.
    name: ClassVar[str]

    #: Parameters that each call has beside its own.
    _always: Mapping[str, Any] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.name = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        for operation in _operations(cls):
            operation.resource = cls

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def __repr__(self) -> str:
        """Return its name and the name of its world."""
        return f"<{type(self).__name__}: {self._transport}>"

    @classmethod
    def operations(cls) -> tuple[Operation, ...]:
        """Return what can be asked of it, in the order in which it is written, what it inherits first."""
        known = {one.name: one for base in reversed(cls.__mro__) for one in _operations(base)}
        return tuple(known.values())


def _operations(resource: type) -> list[Operation]:
    """Return the operations that a class itself declares."""
    return [one.operation for one in vars(resource).values() if hasattr(one, "operation")]


def read(*refuses: Rule, long: bool = False) -> Callable[[F], F]:
    """Declare a method that changes nothing."""
    return _declare("read", refuses, long)


def write(
    *refuses: Rule, long: bool = False, one_of: tuple[str, ...] = (), apart: bool = False
) -> Callable[[F], F]:
    """Declare a method that changes a world."""
    return _declare("write", refuses, long, one_of, apart)


def stream(*refuses: Rule) -> Callable[[F], F]:
    """Declare a method that returns a ``Subscription``: records of what happens, as it happens.

    Each record has a ``mark``; with it as ``since``, the method begins after that record. ``told`` is the
    record in a line for people.
    """
    return _declare("stream", refuses)


def _declare(sort: Sort, *told: Any) -> Callable[[F], F]:
    def declare(body: F) -> F:
        return cast(F, method_for(Operation(body, sort, *told)))

    return declare


def method_for(operation: Operation) -> Callable[..., Any]:
    """Return the method of a resource by which ``operation`` goes through its door."""

    @wraps(operation.body)
    def method(self: Resource, /, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        try:
            answer = self._transport.carry_out(operation, {**operation.bind(args, kwargs), **self._always})
        except Refused as refused:
            raise refused.with_traceback(None) from None  # the caller's line is what is of interest
        return answer.of(self) if hasattr(answer, "of") else answer  # it has methods, which act through this

    method.operation = operation  # type: ignore[attr-defined]
    return method
