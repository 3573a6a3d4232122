"""What a function declares by its signature, and what an object declares by its keys."""

from __future__ import annotations

from typing import Annotated, Any, Required, TypedDict

import pytest

from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.core.signatures import declared, group, read, read_by, record
from reseller_sandbox.core.values import Switch, Text, whole


class Wish(TypedDict, total=False):
    """An object with a key that must be there."""

    name: Required[Annotated[Text, "What it is called."]]
    count: Annotated[int, whole(1, 3), "How many."]


def function(
    self: object, one: Text, /, two: Text | None = None, *, three: Switch = False, class_: Text
) -> None:
    """A function of every kind of parameter."""


def test_a_signature_is_a_declaration() -> None:
    """Places, names, defaults, and what must be given; a final underscore is no part of a name."""
    found = [(one.name, one.place, one.required, one.default) for one in declared(function)]
    assert found == [
        ("one", "segment", True, None),
        ("two", "argument", False, None),
        ("three", "option", False, False),
        ("class", "option", True, None),
    ]


def test_an_object_is_declared_by_its_keys() -> None:
    """With their words; its JSON Schema takes no further key."""
    assert [(one.name, one.required, one.words) for one in group(Wish)] == [
        ("name", True, "What it is called."),
        ("count", False, "How many."),
    ]
    assert record(Wish).shape == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "What it is called."},
            "count": {"type": "integer", "minimum": 1, "maximum": 3, "description": "How many."},
        },
        "required": ["name"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"name": "x"}, []),
        ({"name": "x", "count": None}, []),
        ({"count": 1}, ["name is missing"]),
        ({"name": None}, ["name is missing"]),
        ({"name": "x", "count": 4}, ["count must be a whole number from 1 to 3, not 4"]),
        ({"name": "x", "cuont": 1}, ["cuont is not known here; the nearest is count"]),
        ({"name": "x", "zzz": 1}, ["zzz is not known here; known are name, count"]),
        (
            {"zzz": 1, "count": 0},
            [
                "zzz is not known here; known are name, count",
                "name is missing",
                "count must be a whole number from 1 to 3, not 0",
            ],
        ),
    ],
)
def test_every_mistake_is_told(given: dict[str, Any], wrong: list[str]) -> None:
    """By its place, with what would do; a null is the same as nothing given."""
    assert read(group(Wish), given)[1] == wrong
    if not wrong:
        assert read_by(group(Wish), given) == {"name": "x"}
        return
    with pytest.raises(Refused) as refused:
        read_by(group(Wish), given, "wish.")
    assert refused.value.facts["problems"] == "; ".join(f"wish.{problem}" for problem in wrong)
