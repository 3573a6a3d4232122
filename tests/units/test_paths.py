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


def test_a_path_leads_to_what_stands_there(subtests: pytest.Subtests) -> None:
    """Nothing, one thing, or several."""
    for path, found in [
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
    ]:
        with subtests.test(path=path, found=found):
            assert list(Path.parse(path).find(VALUE)) == found


def test_a_path_may_begin_with_a_place() -> None:
    """For an answer that is an array."""
    assert list(Path.parse("[1].x").find([{"x": 1}, {"x": 2}])) == [2]


def test_paths_that_there_are(subtests: pytest.Subtests) -> None:
    """Up to two hundred characters, and six digits of a place; written as they were."""
    for path in ["x" * 200, "x", "a.b", "[0]", "[999999]"]:
        with subtests.test(path=path):
            assert Path.parse(path).text == path
            assert PATH.write(PATH.read(path)) == path


def test_paths_that_there_are_not(subtests: pytest.Subtests) -> None:
    """They are refused with an example."""
    for path in [
        "",
        "x" * 201,
        "a..b",
        "a.",
        ".",
        "a[",
        "a[]",
        "a[-1]",
        "a[x]",
        "[1000000]",
        "a]b",
        None,
        7,
        ["a"],
    ]:
        with subtests.test(path=path):
            with pytest.raises(ValueError, match=r"must be a path such as domain\.expireDate"):
                PATH.read(path)


def test_what_stands_there_is_edited_in_a_copy(subtests: pytest.Subtests) -> None:
    """The value itself stays as it is."""
    for path, changed in [
        ("a", {**VALUE, "a": "new"}),
        ("list[1].b", {**VALUE, "list": [{"b": 2}, {"b": "new"}, {"c": 4}]}),
        ("list[*].b", {**VALUE, "list": [{"b": "new"}, {"b": "new"}, {"c": 4}]}),
        ("rows[*][0]", {**VALUE, "rows": [["new", 2], ["new"]]}),
    ]:
        with subtests.test(path=path, changed=changed):
            before = repr(VALUE)
            assert Path.parse(path).change(VALUE, lambda _: "new") == (changed, True)
            assert repr(VALUE) == before


def test_what_stands_there_can_be_dropped(subtests: pytest.Subtests) -> None:
    """Several of one array, too, each the right one."""
    for path, left in [
        ("a", {key: value for key, value in VALUE.items() if key != "a"}),
        ("list[0]", {**VALUE, "list": [{"b": 3}, {"c": 4}]}),
        ("list[*]", {**VALUE, "list": []}),
        ("list[*].b", {**VALUE, "list": [{}, {}, {"c": 4}]}),
        ("rows[*][1]", {**VALUE, "rows": [[1], [3]]}),
    ]:
        with subtests.test(path=path, left=left):
            assert Path.parse(path).change(VALUE, lambda _: DROPPED) == (left, True)


def test_nothing_there_is_nothing_changed() -> None:
    """The same value comes back."""
    found, changed = Path.parse("list[9].b").change(VALUE, lambda _: "new")
    assert found is VALUE
    assert not changed
