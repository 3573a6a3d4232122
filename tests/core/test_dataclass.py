"""Dataclasses of this package are the standard library's to whoever makes, compares, shows or copies one."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from reseller_sandbox.core.dataclass import dataclass as ours

OPTIONS: list[dict[str, bool]] = [
    {},
    {"frozen": True},
    {"slots": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "kw_only": True},
    {"frozen": True, "slots": True, "eq": False},
    {"frozen": True, "slots": True, "repr": False},
]


def declared(dataclass: Callable[..., Any], options: dict[str, bool]) -> tuple[type, ...]:
    """A dataclass with every kind of field, one below it, and one with methods of its own."""

    @dataclass(**options)
    class Record:
        """A record."""

        first: int
        second: list[int] = dataclasses.field(default_factory=list, hash=False)
        third: str = dataclasses.field(default="3", repr=False)
        fourth: int = dataclasses.field(default=4, compare=False, kw_only=True)
        fifth: int = dataclasses.field(default=5, init=False)
        sixth: list[int] = dataclasses.field(default_factory=list, init=False, compare=False)

        def __post_init__(self) -> None:
            if self.first < 0:
                raise ValueError("first")

    @dataclass(**options)
    class Below(Record):
        """One more field."""

        seventh: int = 7

    @dataclass(**options)
    class Single:
        """With its own ways."""

        first: int

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "itself"

    @dataclass(**options)
    class Empty:
        """Nothing."""

    class Other(Record):
        """Of no kind of its own, with attributes of its own."""

    return Record, Below, Single, Empty, Other


def outcome(told: Callable[[], Any]) -> object:
    """What comes of a call: its result, or the kind and the words of what it raises."""
    try:
        return told()
    except Exception as error:
        return type(error), str(error).replace("_MISSING", "")


@pytest.mark.parametrize("options", OPTIONS, ids=lambda one: "-".join(one) or "plain")
def test_a_record_is_as_the_standard_library_has_it(options: dict[str, bool]) -> None:
    """Made well or badly, compared, hashed, shown, changed, replaced and told as a dict."""
    given: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((1,), {}),
        ((1, [2]), {"third": "x"}),
        ((), {"first": 1, "second": [], "fourth": 9}),
        ((), {}),
        ((-1,), {}),
        ((), {"first": -1}),
        ((1, 2, 3, 4, 5, 6), {}),
        ((1,), {"first": 1}),
        ((1,), {"eighth": 8}),
        ((1,), {"fifth": 8}),
    ]

    def seen(dataclass: Callable[..., Any]) -> list[object]:
        found: list[object] = []
        for kind in declared(dataclass, options):
            ways = [lambda kind=kind, one=one: kind(*one[0], **one[1]) for one in given]
            made = [outcome(way) for way in ways]
            found += [[one == other for other in made] for one in made]
            found += [one if isinstance(one, tuple) else acted(one) for one in made]
            found += [getattr(kind, "__match_args__", None), kind.__doc__, kind.__qualname__]
            found.append([str(one.default) for one in dataclasses.fields(kind)])
        return found

    def acted(one: Any) -> list[object]:
        shown = dataclasses.asdict(one)
        slots = options.get("slots")
        plain = isinstance(hash_of := outcome(lambda: hash(one)), int)
        return [
            shown,
            repr(one) if options.get("repr", True) else type(one).__repr__ is object.__repr__,
            hash_of == hash(one) if plain else hash_of,
            # with slots, the standard library refuses a name that is no field's with words of another matter
            [outcome(partial(setattr, one, name, 2)) for name in (*shown, *([] if slots else ["other"]))],
            [outcome(partial(delattr, one, name)) for name in (*shown, *([] if slots else ["other"]))],
            outcome(lambda: dataclasses.asdict(dataclasses.replace(one, first=3))),
            outcome(lambda: dataclasses.replace(one, fifth=3)),
            outcome(lambda: dataclasses.asdict(copy.copy(one))),
        ]

    assert seen(ours) == seen(dataclasses.dataclass)


@pytest.mark.parametrize("options", OPTIONS, ids=lambda one: "-".join(one) or "plain")
def test_equal_records_have_equal_hashes(options: dict[str, bool]) -> None:
    """As far as they have hashes and are equal."""
    Record, *_ = declared(ours, options)  # noqa: N806
    one, other = Record(first=1), Record(first=1, fourth=5)
    if options.get("eq", True) and options.get("frozen"):
        assert one == other
        assert hash(one) == hash(other)
        assert len({one, other, Record(first=2)}) == 2


def test_the_signature_is_the_standard_librarys_once_an_object_is_made() -> None:
    """With the names, the kinds and the annotations of the parameters."""
    told = []
    for dataclass in (ours, dataclasses.dataclass):
        Record, *_ = declared(dataclass, {"frozen": True})  # noqa: N806
        Record(1)
        told.append(
            [(one.name, one.kind, one.annotation) for one in inspect.signature(Record).parameters.values()]
        )
    assert told[0] == told[1]


@ours(frozen=True, slots=True)
class Kept:
    """One that can be found by its name."""

    first: int
    second: str = "2"


def test_a_frozen_record_with_slots_is_copied_and_pickled() -> None:
    """Before any other object of its class was made, too."""
    assert pickle.loads(pickle.dumps(Kept(1))) == copy.deepcopy(Kept(1)) == copy.copy(Kept(1)) == Kept(1)


def test_pytest_tells_which_fields_differ() -> None:
    """As it does for the standard library's."""
    with pytest.raises(AssertionError) as caught:
        assert Kept(1, "a") == Kept(1, "b")
    assert "Differing attributes" in str(caught.value)


def test_a_class_of_which_nothing_is_made_has_nothing_compiled() -> None:
    """That is what makes two hundred of them quick to load."""
    Record, *_ = declared(ours, {"frozen": True, "slots": True})  # noqa: N806

    def compiled() -> set[str]:
        known = {name: getattr(method, "__code__", None) for name, method in vars(Record).items()}
        return {name for name, code in known.items() if code and code.co_filename == "<string>"}

    assert compiled() == set()
    one = Record(first=1)
    assert compiled() == {"__init__"}
    assert one == one
    assert hash(one) == hash(one)
    assert compiled() == {"__init__", "__eq__", "__hash__"}
