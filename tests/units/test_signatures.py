"""What a function declares by its signature, and what an object declares by its keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Required, TypedDict

import pytest

from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.core.signatures import Within, declared, read, read_by, record, written
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
    assert [(one.name, one.required, one.words) for one in declared(Wish)] == [
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


def test_every_mistake_is_told(subtests: pytest.Subtests) -> None:
    """By its place, with what would do; a null is the same as nothing given."""
    for given, wrong in [
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
    ]:
        with subtests.test(given=given, wrong=wrong):
            assert read(declared(Wish), given)[1] == wrong
            if not wrong:
                assert read_by(declared(Wish), given) == record(Wish).read(given) == {"name": "x"}
                return
            with pytest.raises(Refused) as refused:
                read_by(declared(Wish), given)
            assert refused.value.facts["problems"] == "; ".join(wrong)
            with pytest.raises(Within) as within:
                record(Wish).read(given)
            placed = within.value.refused("wish").facts["problems"]
            assert placed == "; ".join(f"wish.{problem}" for problem in wrong)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A record with a default."""

    paused: Switch = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Kept):
    """A record that has parts of its own, one of them under a word of Python's."""

    name: Text
    from_: Annotated[int | None, whole(1, 3), "Where it begins."] = None


def test_a_record_is_declared_by_its_fields() -> None:
    """Its own before those that it inherits; it is read from an object, and written without its defaults."""
    assert [(one.name, one.required, one.default, one.words) for one in declared(Rule)] == [
        ("name", True, None, ""),
        ("from", False, None, "Where it begins."),
        ("paused", False, False, ""),
    ]
    kind = record(Rule)
    made = kind.read({"name": "x", "from": 2, "paused": None})
    assert made == Rule(name="x", from_=2)
    assert kind.read(made) is made
    assert kind.write(made) == written(declared(Rule), made) == {"name": "x", "from": 2}
    with pytest.raises(ValueError, match=r"^must be an object$"):
        kind.read([])
