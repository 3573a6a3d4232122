"""Globs mean the same as in a shell, and no glob holds up a world."""

from __future__ import annotations

from fnmatch import fnmatchcase

from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox.values.clock import stopwatch
from reseller_sandbox.values.patterns import Glob


@given(st.text("ab*?", min_size=1, max_size=12), st.text("ab", max_size=12))
def test_a_glob_matches_like_the_shell(pattern: str, text: str) -> None:
    assert Glob(pattern).matches(text) is fnmatchcase(text, pattern)


@given(st.text(min_size=1, max_size=20))
def test_only_stars_and_question_marks_are_special(text: str) -> None:
    assert Glob(text).matches(text)
    if not set("*?") & set(text):
        assert not Glob(text).matches(text + "x")
        assert Glob(f"*{text}*").matches(f"before{text}after")


def test_the_worst_glob_takes_time_that_is_linear_in_the_text() -> None:
    for pattern in ["*a" * 500, "*" * 1000, "a*" * 499 + "b", "?" * 1000, "*?" * 500]:
        glob, began = Glob(pattern), stopwatch()
        glob.matches("a" * 65_536)
        assert stopwatch() - began < 20  # another matcher would take years
