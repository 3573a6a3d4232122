"""Paths into JSON: their syntax, the values that they lead to, and edits of these values."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox.values.patterns import DROPPED, PATH, Path

VALUE: dict[str, Any] = {
    "a": 1,
    "list": [{"b": 2}, {"b": 3}, {"c": 4}],
    "rows": [[1, 2], [3]],
    "with space": {"d.e": 5},
}


def test_a_path_has_up_to_200_characters_and_six_digits_of_a_place(subtests) -> None:
    for path in ["x" * 200, "x", "a.b", "[0]", "[999999]"]:
        assert Path.parse(path).text == PATH.write(PATH.read(path)) == path
    wrong: list[Any] = ["a..b", "a.", ".", "a[", "a[]", "a[-1]", "a[x]", "[1000000]", "a]b", ""]
    for value in [*wrong, "x" * 201, None, 7, ["a"]]:
        with subtests.test(value=value):
            with pytest.raises(ValueError, match=r"must be a path such as domain\.expireDate"):
                PATH.read(value)


def test_a_value_is_edited_or_dropped_in_a_copy(subtests) -> None:
    edited: dict[str, Any] = {
        "a": {"a": "new"},
        "list[1].b": {"list": [{"b": 2}, {"b": "new"}, {"c": 4}]},
        "list[*].b": {"list": [{"b": "new"}, {"b": "new"}, {"c": 4}]},
        "rows[*][0]": {"rows": [["new", 2], ["new"]]},
    }
    dropped: dict[str, Any] = {
        "list[0]": {"list": [{"b": 3}, {"c": 4}]},
        "list[*]": {"list": []},
        "list[*].b": {"list": [{}, {}, {"c": 4}]},
        "rows[*][1]": {"rows": [[1], [3]]},
    }
    before = repr(VALUE)
    for new, cases in (("new", edited), (DROPPED, dropped)):
        for path, changed in cases.items():
            with subtests.test(path=path, new=new):
                assert Path.parse(path).change(VALUE, lambda _: new) == ({**VALUE, **changed}, True)
                assert repr(VALUE) == before
    without = {key: value for key, value in VALUE.items() if key != "a"}
    assert Path.parse("a").change(VALUE, lambda _: DROPPED) == (without, True)
    same, is_changed = Path.parse("list[9].b").change(VALUE, lambda _: "new")
    assert (same is VALUE, is_changed) == (True, False)
