"""What a function declares by its signature: the parameters that an action or a power is told.

Each is annotated with a kind of ``core.values``; what can be told follows from that, through every door.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Literal, Required, Unpack, get_args, get_origin, get_type_hints

from reseller_sandbox.core.complaints import complaint, shortened
from reseller_sandbox.core.refusals import INVALID_PARAMETER, Refused
from reseller_sandbox.core.spelling import nearest
from reseller_sandbox.core.values import Kind, mapping

_FEW = 8

#: Where a parameter stands: in the path, as an argument of a command, or under its name alone.
Place = Literal["segment", "argument", "option"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One thing that an action or a power is told, or may be told; ``default`` is what stands for nothing.

    ``words`` say what it is, where its annotation does.
    """

    name: str
    kind: Kind[Any]
    required: bool
    place: Place = "option"
    default: Any = None
    words: str = ""


def kind_of(annotated: Any) -> Kind[Any]:
    """Return the kind in an annotation, which may also allow None."""
    return next(part for part in _metadata(annotated) if isinstance(part, Kind))


def words_of(annotated: Any) -> str:
    """Return what an annotation says of its parameter, or nothing."""
    return next((part for part in _metadata(annotated) if isinstance(part, str)), "")


def _metadata(annotated: Any) -> Iterator[Any]:
    return (part for one in (annotated, *get_args(annotated)) for part in getattr(one, "__metadata__", ()))


_PLACES: Mapping[Any, Place] = {
    inspect.Parameter.POSITIONAL_ONLY: "segment",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "argument",
    inspect.Parameter.KEYWORD_ONLY: "option",
}


@dataclass(frozen=True, slots=True)
class Group:
    """What may be told beside the parameters of a signature, where something else declares it."""

    known: Callable[[], Sequence[Parameter]]


def declared(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """Return the parameters in the signature of ``function`` after its first one, in their order.

    Many of them may stand in a TypedDict, ``**match: Unpack[Matching]``, or in a ``Group``. An annotation may
    have the words of its parameter beside the kind.
    """
    hints = get_type_hints(function, include_extras=True)
    found: list[Parameter] = []
    for name, one in list(inspect.signature(function).parameters.items())[1:]:
        if one.kind is inspect.Parameter.VAR_KEYWORD:
            if get_origin(hints[name]) is Unpack:
                found += group(get_args(hints[name])[0])
            found += (
                told for part in _metadata(hints[name]) if isinstance(part, Group) for told in part.known()
            )
            continue
        required = one.default is inspect.Parameter.empty
        default = None if required else one.default
        place = _PLACES[one.kind]
        hint = hints[name]
        found.append(
            Parameter(name.removesuffix("_"), kind_of(hint), required, place, default, words_of(hint))
        )
    return tuple(found)


def group(typed: type) -> tuple[Parameter, ...]:
    """Return the parameters that the keys of a TypedDict are: those marked ``Required`` must be given.

    An annotation may have the words of its key beside the kind.
    """
    found = []
    for key, hint in get_type_hints(typed, include_extras=True).items():
        required = get_origin(hint) is Required
        said = get_args(hint)[0] if required else hint
        found.append(Parameter(key.removesuffix("_"), kind_of(said), required, words=words_of(said)))
    return tuple(found)


def fields_declared(typed: type) -> tuple[Parameter, ...]:
    """Return the parameters that the fields of a dataclass are: its own before those it inherits."""
    hints = get_type_hints(typed, include_extras=True)
    inherited = {one.name for base in typed.__bases__ if is_dataclass(base) for one in fields(base)}
    own = [
        Parameter(one.name, kind_of(hints[one.name]), required=False, default=one.default)
        for one in fields(typed)
        if one.name not in inherited
    ]
    return (*own, *(one for base in typed.__bases__ if is_dataclass(base) for one in fields_declared(base)))


def read_by(known: Sequence[Parameter], given: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Return ``given`` as ``known`` declares it; None stands for nothing given.

    ``path`` goes before each name in what is said of it. Refuse with ``invalid_parameter``, naming every
    mistake.
    """
    found, wrong = read(known, given)
    if wrong:
        raise Refused(INVALID_PARAMETER, problems=complaint([f"{path}{problem}" for problem in wrong]))
    return found


def read(known: Sequence[Parameter], given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return what can be read of ``given``, and every mistake in it."""
    named = {one.name: one for one in known}
    strange = (name for name in given if name not in named)
    wrong = [f"{name[:80]} is not known here{_known(name, named)}" for name in strange]
    told = {name: value for name, value in given.items() if value is not None and name in named}
    wrong += [f"{one.name} is missing" for one in known if one.required and one.name not in told]
    found = {}
    for name, value in told.items():
        try:
            found[name] = named[name].kind.read(value)
        except Within as inner:
            wrong += [f"{name}.{problem}" for problem in inner.problems]
        except ValueError as problem:
            given_as = f", not {shortened(value)}" if str(problem).startswith("must") else ""
            wrong.append(f"{name} {problem}{given_as}")
    return found, wrong


def _known(name: str, named: Mapping[str, Parameter]) -> str:
    listed = f"; known are {', '.join(named)}" if 0 < len(named) <= _FEW else ""
    return nearest(name, named) or listed


class Within(ValueError):
    """Mistakes within an object; each reads on after the object's name and a dot."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def record(typed: type) -> Kind[dict[str, Any]]:
    """Return the kind of objects that a TypedDict describes."""

    @cache
    def known() -> tuple[Parameter, ...]:
        return group(typed)

    def read_record(given: Any) -> dict[str, Any]:
        found, wrong = read(known(), mapping(given))
        if wrong:
            raise Within(wrong)
        return found

    def write(value: Any) -> Any:
        return {one.name: one.kind.write(value[one.name]) for one in known() if one.name in value}

    return Kind(object_shape(group(typed)), read_record, write, None)


def object_shape(known: Sequence[Parameter]) -> Mapping[str, object]:
    """Return the JSON Schema of an object whose keys are ``known``."""
    return {
        "type": "object",
        "properties": {
            one.name: {**one.kind.shape, **({"description": one.words} if one.words else {})} for one in known
        },
        "required": [one.name for one in known if one.required],
        "additionalProperties": False,
    }
