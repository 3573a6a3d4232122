"""What annotations declare: the parameters of a function, the keys of an object, the parts of a record.

Each has a kind of ``core.values``, and may have words that say what it is. What can be told, through every
door, follows from that.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache
from keyword import iskeyword
from textwrap import dedent
from typing import Any, Literal, Required, get_args, get_origin, get_type_hints, is_typeddict

from msgspec import NODEFAULT, Struct

from reseller_sandbox.registry.refusals import INVALID_PARAMETER, Refused
from reseller_sandbox.registry.text_checks import complaint, nearest, plain
from reseller_sandbox.registry.values import MOST_MISTAKES, Kind, Mistake, Within, mapping, mistakes


class Quiet(Struct, frozen=True):
    """A record whose values are long or secret: its repr is its type alone."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


def field_names(kind: Any) -> tuple[str, ...]:
    """Return the names of the fields of a record, a dataclass or a named tuple, or of their type."""
    for attribute in ("__struct_fields__", "_fields"):
        if hasattr(kind, attribute):
            return tuple(getattr(kind, attribute))
    return tuple(field.name for field in fields(kind))


def is_record(value: Any) -> bool:
    """Whether ``value`` is a record or a dataclass, or the type of one."""
    return hasattr(value, "__struct_fields__") or hasattr(value, "__dataclass_fields__")


def defaults(kind: Any) -> dict[str, Any]:
    """Return the default of each field that has a constant one, by the names of the fields."""
    if not hasattr(kind, "__struct_fields__"):
        return {field.name: field.default for field in fields(kind) if field.default is not MISSING}
    pairs = zip(reversed(kind.__struct_fields__), reversed(kind.__struct_defaults__), strict=False)
    return {name: value for name, value in pairs if value is not NODEFAULT}


_ARGUMENTS = re.compile(r"^Args:\n((?:[ \t]+.*\n?|\n)+)", re.MULTILINE)
_ARGUMENT = re.compile(r"^    (\w+): (.*(?:\n     +.*)*)", re.MULTILINE)


def docstring(of: Any) -> str:
    """Return the docstring of a function, a class or a module without its indentation, or an empty text.

    Python 3.13 takes the indentation away by itself, and ``python -OO`` the docstrings; then it is read
    from the source.
    """
    of = inspect.unwrap(of)
    if not (inspect.isclass(of) or inspect.isroutine(of) or inspect.ismodule(of)):
        of = type(of)
    text: str | None = of.__doc__
    if sys.flags.optimize > 1 and (text is None or inspect.isclass(of)):  # dataclasses make one up
        text = _in_source(of) or text
    return inspect.cleandoc(text or "")


def without_arguments(of: Any) -> str:
    """Return the docstring of a function or a class without the part about what it is told."""
    return _ARGUMENTS.sub("", docstring(of)).strip()


def documented_parameters(of: Any) -> Mapping[str, str]:
    """Return what the docstring of a function or a class says of each thing that it is told."""
    found = _ARGUMENTS.search(docstring(of) + "\n")
    pairs = _ARGUMENT.findall(found[1]) if found else []
    return {name.removesuffix("_"): " ".join(words.split()) for name, words in pairs}


def _in_source(of: Any) -> str | None:
    try:
        tree = ast.parse(dedent(inspect.getsource(of)))
        found = tree if inspect.ismodule(of) else tree.body[0]
    except (OSError, TypeError, SyntaxError):
        return None
    assert isinstance(found, ast.FunctionDef | ast.ClassDef | ast.Module)
    return ast.get_docstring(found)


def unmarked(words: str) -> str:
    """Return a docstring without its markup."""
    return words.replace("``", "")


_FEW = 16

#: Where a parameter stands: in the path, as an argument of a command, or under its name alone.
Place = Literal["segment", "argument", "option"]


class Parameter(Struct, frozen=True):
    """One thing that an action, a resource or a record is told, or may be told.

    ``default`` is what stands for nothing. ``words`` say what it is, where its annotation does, or the
    docstring of its record.
    """

    name: str
    kind: Kind[Any]
    required: bool
    place: Place = "option"
    default: Any = None
    words: str = ""

    @property
    def attribute(self) -> str:
        """Return its name as Python can write it: ``from_``."""
        return f"{self.name}_" if iskeyword(self.name) else self.name


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


class Group(Struct, frozen=True):
    """Declares the parameters of a function's keywords, ``**rule: Annotated[Any, Group(…)]``."""

    known: Callable[[], Sequence[Parameter]]


def declared(of: Any) -> tuple[Parameter, ...]:
    """Return what ``of`` declares: a function after its first parameter, a TypedDict, or a dataclass.

    Some parameters of a function may stand in a TypedDict, ``**match: Unpack[Matching]``.
    A dataclass has its own fields before those that it inherits. A final underscore is no part of a name.
    """
    return _declared(of)


@cache
def _declared(of: Any) -> tuple[Parameter, ...]:
    hints = get_type_hints(of, include_extras=True)
    if is_typeddict(of):
        return _keys(documented_parameters(of), hints)
    if is_record(of):
        return _fields(of, hints)
    found: list[Parameter] = []
    for name, one in list(inspect.signature(of).parameters.items())[1:]:
        hint = hints[name]
        if one.kind is not inspect.Parameter.VAR_KEYWORD:
            required = one.default is inspect.Parameter.empty
            default = None if required else one.default
            found.append(
                Parameter(_key(name), kind_of(hint), required, _PLACES[one.kind], default, words_of(hint))
            )
        else:
            group = next((part for part in _metadata(hint) if isinstance(part, Group)), None)
            found += group.known() if group else declared(*get_args(hint))  # of Unpack
    return tuple(found)


def _key(name: str) -> str:
    return name.removesuffix("_")


def _keys(about: Mapping[str, str], hints: Mapping[str, Any]) -> tuple[Parameter, ...]:
    found = []
    for name, hint in hints.items():
        required = get_origin(hint) is Required
        annotated = get_args(hint)[0] if required else hint
        words = words_of(annotated) or about.get(_key(name), "")
        found.append(Parameter(_key(name), kind_of(annotated), required, words=words))
    return tuple(found)


def _fields(of: Any, hints: Mapping[str, Any]) -> tuple[Parameter, ...]:
    bases = [base for base in of.__bases__ if is_record(base) and field_names(base)]
    inherited = {name for base in bases for name in field_names(base)}
    default_values, about = defaults(of), documented_parameters(of)
    own = []
    for name in field_names(of):
        if name not in inherited:
            words = words_of(hints[name]) or about.get(_key(name), "")
            kind, default = kind_of(hints[name]), default_values.get(name)
            own.append(Parameter(_key(name), kind, name not in default_values, default=default, words=words))
    return (*own, *(one for base in bases for one in declared(base)))


def read_by(known: Sequence[Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``given`` as ``known`` declares it; None stands for nothing given.

    Refuse with ``invalid_parameter``, naming every mistake.
    """
    found, wrong = read(known, given)
    if wrong:
        raise refused(wrong)
    return found


def read(known: Sequence[Parameter], given: Mapping[str, Any]) -> tuple[dict[str, Any], list[Mistake]]:
    """Return what can be read of ``given``, and every mistake in it."""
    named = {one.name: one for one in known}
    wrong = _strange(named, given)
    told = {name: plain(value) for name, value in given.items() if value is not None and name in named}
    wrong += [Mistake((one.name,), "is missing") for one in known if one.required and one.name not in told]
    found = {}
    for name, value in told.items():
        try:
            found[name] = named[name].kind.read(value)
        except ValueError as problem:
            wrong += mistakes(name, value, problem)
            if isinstance(problem, Within) and problem.valid is not None:
                found[name] = problem.valid
    return found, wrong


def _strange(named: Mapping[str, Parameter], given: Mapping[str, Any]) -> list[Mistake]:
    """Return a complaint about each name that is not known: with the nearest, or once with those that are."""
    listed = f"; known are {', '.join(named)}" if 0 < len(named) <= _FEW else ""
    wrong: list[Mistake] = []
    for name in given:
        if name not in named and len(wrong) <= MOST_MISTAKES:
            near = nearest(name, named)
            wrong.append(Mistake((name[:80],), f"is not known here{near or listed}", True))
            listed = listed if near else ""
    return wrong


def refused(problems: Sequence[str], place: str = "") -> Refused:
    """Return the refusal with ``invalid_parameter`` that names every mistake, each with its place."""
    placed = [f"{place}.{problem}" if place else problem for problem in problems]
    return Refused(INVALID_PARAMETER, problems=complaint(placed))


def record(of: Any, made: Callable[..., Any] | None = None) -> Kind[Any]:
    """Return the kind of objects that a TypedDict or a dataclass describes, or what is ``made`` of its parts.

    What is as it is by default is not written.
    """
    make: Any = made or (of if is_record(of) else None)

    def read_record(given: Any) -> Any:
        if isinstance(make, type) and isinstance(given, make):
            return given
        known = declared(of)
        found, wrong = read(known, mapping(given))
        if wrong:
            raise Within(wrong)
        return found if make is None else make(**by_attribute(known, found))

    return Kind(
        lambda: object_shape(declared(of)),
        read_record,
        lambda value: written(declared(of), value),
        "an object",
    )


def written(known: Sequence[Parameter], value: Any) -> dict[str, Any]:
    """Return what ``value``, an object or a record, has of ``known`` as JSON, but for its defaults."""
    told = value.get if isinstance(value, Mapping) else lambda name: getattr(value, name)
    parts = ((one, told(one.name if isinstance(value, Mapping) else one.attribute)) for one in known)
    return {one.name: one.kind.write(part) for one, part in parts if part != one.default}


def by_attribute(known: Sequence[Parameter], found: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was ``found`` of ``known``, as Python can name it."""
    return {one.attribute: found[one.name] for one in known if one.name in found}


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
