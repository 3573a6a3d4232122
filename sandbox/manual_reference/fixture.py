"""The reference page of the fixture format: every key in the JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from manual_reference.markdown import block, code, prose, table, type_of
from reseller_sandbox.fixture.format import example, json_schema


def page() -> Iterator[str]:
    """Yield the parts of the page."""
    yield "# The fixture's format"
    yield "Every key of a fixture, with its accepted values."
    yield (
        "A fixture is a YAML file. Keys marked * are required, and all other keys are optional. "
        "`reseller-sandbox fixture schema` prints the JSON Schema, with which editors complete and check a "
        "fixture. The page [Fixtures](../how-to/fixtures.md) has instructions."
    )
    for name, shape in json_schema()["properties"].items():
        yield from _section(name, shape)
    yield "## Everything in one"
    yield "`reseller-sandbox fixture example` prints this fixture:"
    yield block("yaml", example())


def _section(name: str, shape: Mapping[str, Any]) -> Iterator[str]:
    yield f"## {name}"
    yield prose(shape.get("description", ""))
    keys = [*_keys(shape, "")]
    yield (
        table(("key", "takes", "description"), keys)
        if keys
        else f"The value is of this type: {type_of(shape)}."
    )


def _keys(shape: Mapping[str, Any], within: str) -> Iterator[Sequence[str]]:
    """Yield a table row for each key below ``shape``. NAME stands for a key that the fixture chooses."""
    for name, own in shape.get("properties", {}).items():
        needed = " *" if name in shape.get("required", ()) else ""
        yield code(f"{within}{name}") + needed, type_of(own), prose(own.get("description", ""))
        yield from _keys(own, f"{within}{name}.")
    for inner, mark in ((shape.get("additionalProperties"), "NAME."), (shape.get("items"), "[].")):
        if isinstance(inner, Mapping):
            yield from _keys(inner, f"{within.removesuffix('.') if mark == '[].' else within}{mark}")
