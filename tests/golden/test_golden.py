"""The program gives the output, the answers and the files that are recorded in this folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.command import printed
from tests.golden.transcripts import FOLDER, TRANSCRIPTS, WORLD, differences


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_each_transcript_equals_its_golden_file_byte_for_byte(name: str) -> None:
    lines = differences(name)
    assert not lines, "\n".join([*lines, "", "If this was decided: python -m tests.golden", ""])


def keys(schema: Any, at: str = "") -> Iterator[str]:
    """Yield each key of a JSON Schema as a path, with ``*`` for any name."""
    for shape in (schema, *schema.get("oneOf", ())):
        for key, below in shape.get("properties", {}).items():
            yield f"{at}{key}"
            yield from keys(below, f"{at}{key}.")
        if isinstance(shape.get("additionalProperties"), dict):
            yield from keys(shape["additionalProperties"], f"{at}*.")


def used(value: Any, schema: Any, at: str = "") -> Iterator[str]:
    """Yield each key of a fixture that its schema declares, as ``keys`` does."""
    for shape in (schema, *schema.get("oneOf", ())):
        for key, below in value.items() if isinstance(value, dict) else ():
            if key in shape.get("properties", {}):
                yield f"{at}{key}"
                yield from used(below, shape["properties"][key], f"{at}{key}.")
            elif isinstance(shape.get("additionalProperties"), dict):
                yield from used(below, shape["additionalProperties"], f"{at}*.")


def test_the_fixture_of_the_transcripts_uses_every_fixture_key() -> None:
    schema = json.loads(printed("fixture", "schema"))
    world = yaml.safe_load((FOLDER / WORLD).read_text("utf-8"))
    every = set(keys(schema))
    assert len(every) > 150
    assert every - set(used(world, schema)) == set()
