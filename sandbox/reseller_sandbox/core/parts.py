"""The parts of a rule or a match: fields of a dataclass, each with what it takes and what it is for.

``parameter`` makes such a field, ``read`` makes the dataclass of JSON and names every mistake with its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, field, fields
from functools import cache
from typing import Any, TypeVar

from reseller_sandbox.core.signatures import Parameter
from reseller_sandbox.core.signatures import read as read_by_name
from reseller_sandbox.core.values import Kind

T = TypeVar("T")


class Problems:
    """The mistakes found in what was given, each with its place."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, place: str, problem: str) -> None:
        """Note that what stands at ``place`` is wrong; ``problem`` reads on after it."""
        self.found.append(f"{place} {problem}" if place else f"the rule {problem}")


def parameter(kind: Kind[Any], about: str, *, default: Any = MISSING, key: str = "") -> Any:
    """Make a field that is read from JSON, under ``key`` where that differs from its name."""
    metadata = {"kind": kind, "about": about, "key": key}
    return field(metadata=metadata) if default is MISSING else field(default=default, metadata=metadata)


def parameters(of: Any) -> Mapping[str, Parameter]:
    """Return what a dataclass is read from, each under the name of its field."""
    return _parameters(of)


@cache
def _parameters(of: Any) -> Mapping[str, Parameter]:
    return {
        one.name: Parameter(
            name=one.metadata["key"] or one.name,
            kind=one.metadata["kind"],
            required=one.default is MISSING,
            default=None if one.default is MISSING else one.default,
            words=one.metadata["about"],
        )
        for one in fields(of)
        if "kind" in one.metadata
    }


def keys(of: Any) -> list[str]:
    """Return the keys that a dataclass is read from."""
    return [one.name for one in parameters(of).values()]


def read(of: type[T], given: Any, place: str, problems: Problems) -> T | None:
    """Return a dataclass of type ``of``, made of the JSON object ``given``; None when there are mistakes.

    A null is the same as nothing given.
    """
    if not isinstance(given, Mapping):
        problems.add(place, "must be an object")
        return None
    known = parameters(of)
    found, wrong = read_by_name(tuple(known.values()), {str(key): value for key, value in given.items()})
    problems.found += [f"{place}.{problem}" if place else problem for problem in wrong]
    return None if wrong else of(**{own: found[one.name] for own, one in known.items() if one.name in found})


def shown(value: Any) -> dict[str, Any]:
    """Return a dataclass that ``read`` made as JSON: every part that is not as it is by default."""
    told = ((one, getattr(value, own)) for own, one in parameters(type(value)).items())
    return {one.name: one.kind.write(part) for one, part in told if part != one.default}


def schema(of: Any) -> dict[str, dict[str, object]]:
    """Return the parts of a dataclass as JSON Schema, by key."""
    return {one.name: {**one.kind.shape, "description": one.words} for one in parameters(of).values()}
