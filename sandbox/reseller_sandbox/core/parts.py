"""The parts of a rule or a match: fields of a dataclass, each with what it takes and what it is for.

``parameter`` makes such a field, ``read`` makes the dataclass of JSON and names every mistake with its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, field, fields
from typing import Any, TypeVar

from reseller_sandbox.core.takes import Switch, Takes
from reseller_sandbox.core.values import nearest

T = TypeVar("T")


class Problems:
    """The mistakes found in what was given, each with its place."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, place: str, problem: str) -> None:
        """Note that what stands at ``place`` is wrong; ``problem`` reads on after it."""
        self.found.append(f"{place} {problem}" if place else f"the rule {problem}")


def parameter(takes: Takes, about: str, *, default: Any = MISSING, key: str = "") -> Any:
    """A field that is read from JSON, under ``key`` where that differs from its name."""
    metadata = {"takes": takes, "about": about, "key": key}
    return field(metadata=metadata) if default is MISSING else field(default=default, metadata=metadata)


def key_of(one: Field[Any]) -> str:
    """The key that a field is read from."""
    return one.metadata["key"] or one.name


def parameters(of: type[Any]) -> dict[str, Field[Any]]:
    """The fields of a dataclass that are read from JSON, by key."""
    return {key_of(one): one for one in fields(of) if "takes" in one.metadata}


def read(of: type[T], given: Any, place: str, problems: Problems) -> T | None:
    """A dataclass of type ``of``, made of the JSON object ``given``; None when there are mistakes.

    A null is the same as nothing given.
    """
    if not isinstance(given, Mapping):
        problems.add(place, "must be an object")
        return None
    before, known, values = len(problems.found), parameters(of), {}
    prefix = f"{place}." if place else ""
    for key, one in known.items():
        value = given.get(key)
        if value is not None:
            try:
                values[one.name] = one.metadata["takes"].read(value)
            except ValueError as problem:
                problems.add(prefix + key, str(problem))
        elif one.default is MISSING:
            problems.add(prefix + key, "is missing")
    for key in sorted(str(key) for key in given if key not in known):
        problems.add(prefix + key, f"is not known here{nearest(key, known)}")
    return of(**values) if len(problems.found) == before else None


def shown(value: Any) -> dict[str, Any]:
    """A dataclass that ``read`` made as JSON: every part that is not as it is by default."""
    return {
        key: one.metadata["takes"].write(getattr(value, one.name))
        for key, one in parameters(type(value)).items()
        if getattr(value, one.name) != one.default
    }


def described(of: type[Any]) -> list[dict[str, Any]]:
    """The parts of a dataclass: name, what it takes, whether it has to be given, default, what it is for."""
    return [
        {
            "name": key,
            "takes": one.metadata["takes"].says,
            "required": one.default is MISSING,
            "default": None if one.default in (None, MISSING) else one.metadata["takes"].write(one.default),
            "about": one.metadata["about"],
        }
        for key, one in parameters(of).items()
    ]


def schema(of: type[Any]) -> dict[str, dict[str, object]]:
    """The parts of a dataclass as JSON Schema, by key."""
    return {
        key: {**one.metadata["takes"].schema, "description": one.metadata["about"]}
        for key, one in parameters(of).items()
    }


def spoken(of: type[Any], given: Mapping[str, str]) -> dict[str, Any]:
    """Return what stands in a query string as JSON would have it."""
    known = parameters(of)
    return {
        key: {"true": True, "false": False}.get(word, word)
        if key in known and isinstance(known[key].metadata["takes"], Switch)
        else word
        for key, word in given.items()
    }
