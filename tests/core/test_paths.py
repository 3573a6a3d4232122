"""Paths into JSON: which there are, where they lead, and what becomes of a value that is edited there."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox.core.paths import DROPPED, PATH, Path

VALUE: dict[str, Any] = {
    "a": 1,
    "list": [{"b": 2}, {"b": 3}, {"c": 4}],
    "rows": [[1, 2], [3]],
    "with space": {"d.e": 5},
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a", [1]),
        ("list[0].b", [2]),
        ("list[2].b", []),
        ("list[3]", []),
        ("list[*].b", [2, 3]),
        ("list[*]", VALUE["list"]),
        ("rows[1][0]", [3]),
        ("rows[*][1]", [2]),
        ("with space", [{"d.e": 5}]),
        ("a.b", []),
        ("a[0]", []),
        ("list.b", []),
        ("none", []),
    ],
)
def test_a_path_leads_to_what_stands_there(path: str, found: list[Any]) -> None:
    """Nothing, one thing, or several."""
    assert list(Path.parse(path).find(VALUE)) == found


def test_a_path_may_begin_with_a_place() -> None:
    """For an answer that is an array."""
    assert list(Path.parse("[1].x").find([{"x": 1}, {"x": 2}])) == [2]


@pytest.mark.parametrize("path", ["x" * 200, "x", "a.b", "[0]", "[999999]"])
def test_paths_that_there_are(path: str) -> None:
    """Up to two hundred characters, and six digits of a place; written as they were."""
    assert Path.parse(path).text == path
    assert PATH.write(PATH.read(path)) == path


@pytest.mark.parametrize(
    "path",
    ["", "x" * 201, "a..b", "a.", ".", "a[", "a[]", "a[-1]", "a[x]", "[1000000]", "a]b", None, 7, ["a"]],
)
def test_paths_that_there_are_not(path: Any) -> None:
    """They are refused with an example."""
    with pytest.raises(ValueError, match=r"must be a path such as domain\.expireDate"):
        PATH.read(path)


@pytest.mark.parametrize(
    ("path", "changed"),
    [
        ("a", {**VALUE, "a": "new"}),
        ("list[1].b", {**VALUE, "list": [{"b": 2}, {"b": "new"}, {"c": 4}]}),
        ("list[*].b", {**VALUE, "list": [{"b": "new"}, {"b": "new"}, {"c": 4}]}),
        ("rows[*][0]", {**VALUE, "rows": [["new", 2], ["new"]]}),
    ],
)
def test_what_stands_there_is_edited_in_a_copy(path: str, changed: Any) -> None:
    """The value itself stays as it is."""
    before = repr(VALUE)
    assert Path.parse(path).change(VALUE, lambda _: "new") == (changed, True)
    assert repr(VALUE) == before


@pytest.mark.parametrize(
    ("path", "left"),
    [
        ("a", {key: value for key, value in VALUE.items() if key != "a"}),
        ("list[0]", {**VALUE, "list": [{"b": 3}, {"c": 4}]}),
        ("list[*]", {**VALUE, "list": []}),
        ("list[*].b", {**VALUE, "list": [{}, {}, {"c": 4}]}),
        ("rows[*][1]", {**VALUE, "rows": [[1], [3]]}),
    ],
)
def test_what_stands_there_can_be_dropped(path: str, left: Any) -> None:
    """Several of one array, too, each the right one."""
    assert Path.parse(path).change(VALUE, lambda _: DROPPED) == (left, True)


def test_nothing_there_is_nothing_changed() -> None:
    """The same value comes back."""
    found, changed = Path.parse("list[9].b").change(VALUE, lambda _: "new")
    assert found is VALUE
    assert not changed
