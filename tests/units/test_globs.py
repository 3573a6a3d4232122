"""Globs mean what they always meant, and no glob holds up a world."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.core.globs import LONGEST, Glob


@given(st.text("ab*?", min_size=1, max_size=12), st.text("ab", max_size=12))
def test_a_glob_matches_what_the_shell_would(pattern: str, text: str) -> None:
    """``*`` is any letters or none, ``?`` is one letter, and the whole text has to agree."""
    assert Glob(pattern).matches(text) is fnmatchcase(text, pattern)


@given(st.text(min_size=1, max_size=20))
def test_other_letters_stand_for_themselves(text: str) -> None:
    """Brackets too: no text is a glob by accident but by its stars and question marks."""
    assert Glob(text).matches(text)
    if not set("*?") & set(text):
        assert not Glob(text).matches(text + "x")
        assert Glob(f"*{text}*").matches(f"before{text}after")


def test_the_worst_glob_takes_time_that_is_linear_in_the_text(subtests: pytest.Subtests) -> None:
    """The longest there is, against a path as long as a server takes."""
    for pattern in ["*a" * 500, "*" * 1000, "a*" * 499 + "b", "?" * 1000, "*?" * 500]:
        with subtests.test(pattern=pattern):
            glob, began = Glob(pattern), stopwatch()
            glob.matches("a" * 65_536)
            assert stopwatch() - began < 20  # another matcher would take years


def test_a_glob_has_a_length(subtests: pytest.Subtests) -> None:
    """An empty one, and a very long one, are refused."""
    for pattern in ["", "*" * (LONGEST + 1)]:
        with subtests.test(pattern=pattern):
            with pytest.raises(ValueError, match="must have 1 to 1000 characters"):
                Glob(pattern)


def test_globs_are_equal_by_their_text() -> None:
    """So are matches and rules that have them, which is how the journal sees that a rule has changed."""
    assert Glob("a*") == Glob("a*")
    assert hash(Glob("a*")) == hash(Glob("a*"))
    assert Glob("a*") != Glob("b*")
    assert Glob("a*") != "a*"
