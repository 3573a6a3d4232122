"""Parameters, declared by the annotations of a function, a TypedDict or a record.

Each parameter has a kind from ``values.kinds``, and may have a description. Every interface is derived from
these declarations.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache
from itertools import chain
from keyword import iskeyword
from textwrap import dedent
from types import MappingProxyType
from typing import Any, Literal, Required, get_args, get_origin, get_type_hints, is_typeddict

from msgspec import NODEFAULT, Struct
from msgspec.structs import replace

from reseller_sandbox.refusals import INVALID_PARAMETER, Refused
from reseller_sandbox.values.kinds import MOST_MISTAKES, Kind, Mistake, Within, mapping, mistakes
from reseller_sandbox.values.text_checks import complaint, nearest, plain


class Quiet(Struct, frozen=True):
    """A base class for records with long or secret values: the repr shows only the type."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


def field_names(kind: Any) -> tuple[str, ...]:
    """Return the field names of a record, dataclass or named tuple (an object or a type)."""
    for attribute in ("__struct_fields__", "_fields"):
        if hasattr(kind, attribute):
            return tuple(getattr(kind, attribute))
    return tuple(field.name for field in fields(kind))


def is_record(value: object) -> bool:
    """Whether ``value`` is a record or dataclass (an object or a type)."""
    return hasattr(value, "__struct_fields__") or hasattr(value, "__dataclass_fields__")


def defaults(kind: Any) -> dict[str, object]:
    """Return the defaults of the fields of a record type, by field name.

    Fields with a default factory are omitted.
    """
    if not hasattr(kind, "__struct_fields__"):
        return {field.name: field.default for field in fields(kind) if field.default is not MISSING}
    pairs = zip(reversed(kind.__struct_fields__), reversed(kind.__struct_defaults__), strict=False)
    return {name: value for name, value in pairs if value is not NODEFAULT}


_ARGUMENTS = re.compile(r"^Args:\n((?:[ \t]+.*\n?|\n)+)", re.MULTILINE)
_ARGUMENT = re.compile(r"^    (\w+): (.*(?:\n     +.*)*)", re.MULTILINE)


def docstring(of: Any) -> str:
    """Return the docstring of ``of`` without indentation, or an empty string.

    ``python -OO`` removes docstrings, so the function then reads the docstring from the source.
    """
    of = inspect.unwrap(of)
    if not (inspect.isclass(of) or inspect.isroutine(of) or inspect.ismodule(of)):
        of = type(of)
    text: str | None = of.__doc__
    if sys.flags.optimize > 1 and (text is None or inspect.isclass(of)):  # dataclasses generate a docstring
        text = _in_source(of) or text
    return inspect.cleandoc(text or "")


def without_arguments(of: object) -> str:
    """Return the docstring of ``of`` without the ``Args:`` section."""
    return _ARGUMENTS.sub("", docstring(of)).strip()


def documented_parameters(of: object) -> Mapping[str, str]:
    """Return the description of each parameter in the ``Args:`` section of a docstring."""
    section = _ARGUMENTS.search(docstring(of) + "\n")
    pairs = _ARGUMENT.findall(section[1]) if section else []
    return {name.removesuffix("_"): " ".join(words.split()) for name, words in pairs}


def _in_source(of: Any) -> str | None:
    try:
        tree = ast.parse(dedent(inspect.getsource(of)))
        node = tree if inspect.ismodule(of) else tree.body[0]
    except (OSError, TypeError, SyntaxError):
        return None
    assert isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module)
    return ast.get_docstring(node)


def unmarked(words: str) -> str:
    """Return the text of a docstring without double backticks."""
    return words.replace("``", "")


_FEW = 16

#: The place of a parameter: a path segment, a positional argument of a command, or an option.
Place = Literal["segment", "argument", "option"]


class Parameter(Struct, frozen=True):
    """A parameter of an action or control operation, or a field of a record.

    ``default`` is the value of an omitted parameter. ``words`` is the description, from the annotation or
    from the docstring of the record. ``synonyms`` are the parameter's names in other programs.
    """

    name: str
    kind: Kind[Any]
    required: bool
    place: Place = "option"
    default: Any = None
    words: str = ""
    synonyms: tuple[str, ...] = ()

    @property
    def attribute(self) -> str:
        """The parameter's name as a Python identifier: ``from_`` for ``from``."""
        return f"{self.name}_" if iskeyword(self.name) else self.name


def kind_of(annotated: object) -> Kind[Any]:
    """Return the kind in an annotation: ``NAME`` for ``Annotated[str, NAME] | None``."""
    return next(part for part in _metadata(annotated) if isinstance(part, Kind))


class Also(Struct, frozen=True):
    """Part of an annotation: other names of a parameter, separated by spaces."""

    words: str


def _metadata(annotated: object) -> Iterator[object]:
    return (
        part
        for annotation in (annotated, *get_args(annotated))
        for part in getattr(annotation, "__metadata__", ())
    )


_PLACES: Mapping[object, Place] = {
    inspect.Parameter.POSITIONAL_ONLY: "segment",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "argument",
    inspect.Parameter.KEYWORD_ONLY: "option",
}


class Group(Struct, frozen=True):
    """Part of an annotation of ``**keywords``: the parameters that the function accepts.

    Example: ``**rule: Annotated[Any, Group(…)]``.
    """

    known: Callable[[], Sequence[Parameter]]


def declared(of: object) -> tuple[Parameter, ...]:
    """Return the parameters that a function, a TypedDict or a record declares.

    The first parameter of a function is skipped. A function can take some of its parameters from a TypedDict:
    ``**match: Unpack[Matching]``. The parameters of a record are its fields that have a kind, its own before
    inherited ones. A trailing underscore is not part of a name.
    """
    return _declared(of)


@cache
def _declared(of: Any) -> tuple[Parameter, ...]:
    hints = get_type_hints(of, include_extras=True)
    about = documented_parameters(of)
    if is_typeddict(of):
        keys = [name for name, hint in hints.items() if get_origin(hint) is Required]
        hints |= {name: get_args(hints[name])[0] for name in keys}
        return tuple(_parameter(name, hint, name in keys, about=about) for name, hint in hints.items())
    if is_record(of):
        return _fields(of, hints, about)
    parameters: list[Parameter] = []
    for name, parameter in list(inspect.signature(of).parameters.items())[1:]:
        hint = hints[name]
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            required = parameter.default is inspect.Parameter.empty
            default = None if required else parameter.default
            parameters.append(_parameter(name, hint, required, default, place=_PLACES[parameter.kind]))
        else:
            group = next((part for part in _metadata(hint) if isinstance(part, Group)), None)
            parameters += group.known() if group else declared(*get_args(hint))  # of Unpack
    return tuple(replace(each, words=about.get(each.name, each.words)) for each in parameters)


def _parameter(
    name: str,
    hint: object,
    required: bool,
    default: object = None,
    about: Mapping[str, str] = MappingProxyType({}),
    place: Place = "option",
) -> Parameter:
    """Return the parameter that the annotation ``hint`` declares.

    ``about`` holds the descriptions from the docstring, by parameter.
    """
    key = name.removesuffix("_")
    parts = list(_metadata(hint))
    words = next((part for part in parts if isinstance(part, str)), about.get(key, ""))
    synonyms = tuple(word for part in parts if isinstance(part, Also) for word in part.words.split())
    return Parameter(key, kind_of(hint), required, place, default, words, synonyms)


def _fields(of: Any, hints: Mapping[str, object], about: Mapping[str, str]) -> tuple[Parameter, ...]:
    bases = [base for base in of.__bases__ if is_record(base) and field_names(base)]
    inherited = {name for base in bases for name in field_names(base)}
    constants = defaults(of)
    own = (
        _parameter(name, hints[name], name not in constants, constants.get(name), about)
        for name in field_names(of)
        if name not in inherited and any(isinstance(part, Kind) for part in _metadata(hints[name]))
    )
    return (*own, *(parameter for base in bases for parameter in declared(base)))


def read_by(known: Sequence[Parameter], raw: Mapping[str, object]) -> dict[str, object]:
    """Read the values in ``raw`` by the kinds of the ``known`` parameters.

    A value None counts as missing. Refuse with ``invalid_parameter``, which lists every mistake.
    """
    values, wrong = read(known, raw)
    if wrong:
        raise refused(wrong)
    return values


def read(known: Sequence[Parameter], raw: Mapping[str, object]) -> tuple[dict[str, Any], list[Mistake]]:
    """Read the values in ``raw`` as ``known`` parameters. Return the valid values and all mistakes."""
    named = {parameter.name: parameter for parameter in known}
    wrong = _unknown_names(named, raw)
    values = {name: plain(value) for name, value in raw.items() if value is not None and name in named}
    wrong += [
        Mistake((parameter.name,), "is missing")
        for parameter in known
        if parameter.required and parameter.name not in values
    ]
    read_values = {}
    for name, value in values.items():
        try:
            read_values[name] = named[name].kind.read(value)
        except ValueError as problem:
            wrong += mistakes(name, value, problem)
            if isinstance(problem, Within) and problem.valid is not None:
                read_values[name] = problem.valid
    return read_values, wrong


def _unknown_names(named: Mapping[str, Parameter], values: Mapping[str, object]) -> list[Mistake]:
    """Return a mistake for each unknown name. The mistake suggests a known name, or lists the known names.

    If the unknown name is a key of a nested object, the mistake suggests that object.
    """
    unknown = [name for name in values if name not in named][: MOST_MISTAKES + 1]
    if not unknown:
        return []
    listed = f"; known are {', '.join(named)}" if 0 < len(named) <= _FEW else ""
    wrong: list[Mistake] = []
    for name in unknown:
        parent = parent_of(name, named.values())
        near = f"; put it in {parent.name}" if parent else suggestion_for(name, named.values())
        wrong.append(Mistake((name[:80],), f"is not known here{near or listed}", True))
        listed = listed if near else ""
    return wrong


def parent_of(name: str, known: Iterable[Parameter]) -> Parameter | None:
    """Return the parameter whose value is an object with the key ``name``, or None."""
    return next((parent for parent in known if name in parent.kind.shape.get("properties", ())), None)


def suggestion_for(name: str, known: Iterable[Parameter]) -> str:
    """Return a suggestion for the unknown parameter ``name``, to add to an error, or ""."""
    synonyms = {parameter.name: parameter.synonyms for parameter in known}
    return nearest(name, synonyms, synonyms)


def refused(problems: Sequence[str], place: str = "") -> Refused:
    """Return the exception ``invalid_parameter`` for these mistakes.

    ``place`` is the path of the object that contains the mistakes.
    """
    placed = [f"{place}.{problem}" if place else problem for problem in problems]
    return Refused(INVALID_PARAMETER, problems=complaint(placed))


def record(*of: object, build: Callable[..., object] | None = None) -> Kind[Any]:
    """Return a kind that accepts objects with the parameters of TypedDicts or records.

    ``build`` makes the value from the parameters. Without ``build``, the value is a record if ``of`` is one
    record type, and a dict otherwise. If the value has a method ``mistakes``, it must yield the mistakes in
    the combination of parameters. Values that equal their default are not written.
    """
    make: Any = build or (of[0] if len(of) == 1 and is_record(of[0]) else None)

    def parameters() -> tuple[Parameter, ...]:
        return tuple(chain.from_iterable(map(declared, of)))

    def read_record(raw: object) -> object:
        if isinstance(make, type) and isinstance(raw, make):
            return raw
        known = parameters()
        values, wrong = read(known, mapping(raw))
        built: object = values
        if make is not None and not wrong:
            built = make(**by_attribute(known, values))
            wrong = list(built.mistakes()) if hasattr(built, "mistakes") else []
        if wrong:
            raise Within(wrong)
        return built

    return Kind(
        lambda: object_shape(parameters()),
        read_record,
        lambda value: written(parameters(), value),
        "an object",
    )


def written(known: Sequence[Parameter], value: object) -> dict[str, object]:
    """Return the parameters of ``value`` as JSON, without values that equal their default."""
    get = value.get if isinstance(value, Mapping) else lambda name: getattr(value, name)
    parts = (
        (parameter, get(parameter.name if isinstance(value, Mapping) else parameter.attribute))
        for parameter in known
    )
    return {
        parameter.name: parameter.kind.write(part) for parameter, part in parts if part != parameter.default
    }


def by_attribute(known: Sequence[Parameter], values: Mapping[str, object]) -> dict[str, Any]:
    """Return ``values`` with Python identifiers as keys: ``from_`` for ``from``."""
    return {parameter.attribute: values[parameter.name] for parameter in known if parameter.name in values}


def object_shape(known: Sequence[Parameter]) -> Mapping[str, object]:
    """Return the JSON Schema of an object with the ``known`` parameters as keys."""
    return {
        "type": "object",
        "properties": {
            parameter.name: {
                **parameter.kind.shape,
                **({"description": parameter.words} if parameter.words else {}),
            }
            for parameter in known
        },
        "required": [parameter.name for parameter in known if parameter.required],
        "additionalProperties": False,
    }
