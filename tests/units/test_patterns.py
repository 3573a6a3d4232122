"""Patterns: globs, paths into JSON, regular expressions of fixtures, and matches of requests."""

from __future__ import annotations

from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import Refused, Sandbox
from reseller_sandbox.values.clock import stopwatch
from reseller_sandbox.values.kinds import Within
from reseller_sandbox.values.matching import MATCH, Match
from reseller_sandbox.values.patterns import DROPPED, PATH, Glob, Path
from tests.registry import edit
from tests.v2.client import REGISTRY
from tests.v2.works import CARD, NAME


@given(st.text("ab*?", min_size=1, max_size=12), st.text("ab", max_size=12))
def test_a_glob_matches_like_the_shell(pattern: str, text: str) -> None:
    assert Glob(pattern).matches(text) is fnmatchcase(text, pattern)


@given(st.text(min_size=1, max_size=20))
def test_only_stars_and_question_marks_are_wildcards_in_a_glob(text: str) -> None:
    assert Glob(text).matches(text)
    if not set("*?") & set(text):
        assert not Glob(text).matches(text + "x")
        assert Glob(f"*{text}*").matches(f"before{text}after")


def test_the_slowest_globs_match_in_linear_time() -> None:
    for pattern in ["*a" * 500, "*" * 1000, "a*" * 499 + "b", "?" * 1000, "*?" * 500]:
        glob, began = Glob(pattern), stopwatch()
        glob.matches("a" * 65_536)
        assert stopwatch() - began < 20  # another matcher would take years


VALUE: dict[str, Any] = {
    "a": 1,
    "list": [{"b": 2}, {"b": 3}, {"c": 4}],
    "rows": [[1, 2], [3]],
    "with space": {"d.e": 5},
}


def test_json_path_has_at_most_200_characters_and_indexes_of_six_digits(subtests) -> None:
    for path in ["x" * 200, "x", "a.b", "[0]", "[999999]"]:
        assert Path.parse(path).text == PATH.write(PATH.read(path)) == path
    wrong: list[Any] = ["a..b", "a.", ".", "a[", "a[]", "a[-1]", "a[x]", "[1000000]", "a]b", ""]
    for value in [*wrong, "x" * 201, None, 7, ["a"]]:
        with subtests.test(value=value):
            with pytest.raises(ValueError, match=r"must be a path such as domain\.expireDate"):
                PATH.read(value)


def test_json_path_changes_or_removes_values_in_a_copy(subtests) -> None:
    edited: dict[str, Any] = {
        "a": {"a": "new"},
        "list[1].b": {"list": [{"b": 2}, {"b": "new"}, {"c": 4}]},
        "list[*].b": {"list": [{"b": "new"}, {"b": "new"}, {"c": 4}]},
        "rows[*][0]": {"rows": [["new", 2], ["new"]]},
        "list.1.b": {"list": [{"b": 2}, {"b": "new"}, {"c": 4}]},
        "list.*.*": {"list": [{"b": "new"}, {"b": "new"}, {"c": "new"}]},
        "with space.*": {"with space": {"d.e": "new"}},
    }
    dropped: dict[str, Any] = {
        "list[0]": {"list": [{"b": 3}, {"c": 4}]},
        "list[*]": {"list": []},
        "list[*].b": {"list": [{}, {}, {"c": 4}]},
        "rows[*][1]": {"rows": [[1], [3]]},
        "rows.*.1": {"rows": [[1], [3]]},
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


def test_json_path_adds_values_that_are_not_there(subtests) -> None:
    before = repr(VALUE)
    added: dict[str, Any] = {
        "new": {"new": 7},
        "list[0].c": {"list": [{"b": 2, "c": 7}, {"b": 3}, {"c": 4}]},
        "list.*.c": {"list": [{"b": 2, "c": 7}, {"b": 3, "c": 7}, {"c": 4}]},
        "list[3]": {"list": [*VALUE["list"], 7]},
        "rows.1.1": {"rows": [[1, 2], [3, 7]]},
    }
    for path, changed in added.items():
        with subtests.test(path=path):
            assert Path.parse(path).add(VALUE, 7) == ({**VALUE, **changed}, True)
            assert repr(VALUE) == before
    for path in ("a", "a.b", "list[0].b", "list[4]", "no.b", "[0]"):
        with subtests.test(path=path):
            assert Path.parse(path).add(VALUE, 7) == (VALUE, False)


#: A backtracking engine takes exponential time for these.
GREEDY = ["(a+)+$", "(a|aa)+$", "(a|a?)+$", "(.*a){20}", "(a*)*b", "([a-z]+)*[0-9]"]


@pytest.fixture(scope="module")
def world() -> Sandbox:
    return Sandbox(REGISTRY)


def set_patterns(sandbox: Sandbox, pattern: str) -> None:
    """Use ``pattern`` for the extra contact parameter and for the licence of com.ua."""
    sandbox.reset(original=True)
    edit(sandbox, {"contact_params": {"tax_number": pattern}, "zones": {"com.ua": {"license": pattern}}})


def outcomes(sandbox: Sandbox, text: str) -> list[str]:
    """Send ``text`` as the contact parameter and as the licence. Return both outcomes."""
    client = sandbox.client()
    client.post("/V2.0/contact/NEW", json={**CARD, "tax_number": text})
    client.post("/V2.0/domain/new.com.ua", json={**NAME, "license": text})
    return [str(request.outcome) for request in sandbox.journal.list().requests[-2:]]


@pytest.mark.timeout(20)  # another engine would take years
def test_regular_expressions_of_a_fixture_match_in_linear_time(world: Sandbox) -> None:
    for pattern in GREEDY:
        set_patterns(world, pattern)
        for length in (28, 999, 250_000):
            results = outcomes(world, "a" * length + "!")
            assert results == ["invalid_extra", "invalid_license"], (pattern, length)


def test_fixture_with_an_invalid_regular_expression_is_refused_with_the_reason(
    subtests, world: Sandbox
) -> None:
    for pattern, reason in {
        "(": "missing )",
        "(?=a)b": "(?=",
        r"(a)\1": "invalid escape sequence",
        "a{2000}": "invalid repetition size",
        ".{900}": "repeats too much",
        "x" * 1001: "1 to 1000 characters",
    }.items():
        with subtests.test(pattern=pattern):
            with pytest.raises(Refused) as refused:
                set_patterns(world, pattern)
            assert refused.value.message.count(reason) >= 2
            assert "contact_params.tax_number" in refused.value.message
            assert "zones.com.ua.license" in refused.value.message


def test_regular_expression_of_a_fixture_must_match_the_whole_text(subtests, world: Sandbox) -> None:
    for pattern, text, accepted in [
        ("[A-Z]{2}[0-9]{6}", "AB123456", True),
        ("[A-Z]{2}[0-9]{6}", "AB1234567", False),
        ("(?i)ab|cd", "CD", True),
        ("\\pL+", "жé", True),
        (".*", "a" * 1001, False),
    ]:
        with subtests.test(pattern=pattern, text=text):
            set_patterns(world, pattern)
            assert (outcomes(world, text) == ["ok", "ok"]) is accepted


NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def match(**parts: Any) -> Match:
    return MATCH.read(parts)


def refused(**parts: Any) -> str:
    """Return the message about a match with mistakes."""
    with pytest.raises(Within) as problem:
        MATCH.read(parts)
    return "; ".join(f"match.{text}" for text in problem.value.problems)


def test_match_condition_refuses_values_out_of_bounds(subtests) -> None:
    for part in ["headers", "query", "body"]:
        with subtests.test(part=part):
            assert f"match.{part} must have 1 to 50 keys, not 0" in refused(**{part: {}})
            assert f"match.{part} must have 1 to 50 keys, not 51" in refused(
                **{part: dict.fromkeys(map(str, range(51)), "x")}
            )
            assert len(match(**{part: dict.fromkeys(map(str, range(50)), "x")})[part]) == 50
    for part in ["operation", "domain", "account", "method", "path", "fault", "outcome"]:
        with subtests.test(part=part):
            value = "/ok" if part == "path" else "ok"
            assert match(**{part: value}) == match(**{part: [value]})
            assert len(match(**{part: [value] * 100})[part]) == 100
            assert f"match.{part}" in refused(**{part: [value] * 101})
            assert f"match.{part}" in refused(**{part: []})
    assert match(outcome="x" * 100)["outcome"] == ("x" * 100,)
    for outcome in ("x" * 101, ""):
        assert "match.outcome must be" in refused(outcome=outcome)


def test_match_condition_with_the_key_since_accepts_a_request_or_an_instant(subtests) -> None:
    instant = "2026-03-01T12:00:00Z"
    for value, since in {"r12": 12, "r" + "9" * 18: 10**18 - 1, 12: 12, instant: NOON, NOON: NOON}.items():
        assert match(since=value)["since"] == since
    for value in ["12", "r", "r" + "9" * 19, "r1x", "x2026-03-01", True, "r١٢", [12]]:
        with subtests.test(value=value):
            expected = "match.since must be an instant, or the name of a request (r12), not "
            assert expected in refused(since=value)
