"""The match language: the parts of a match with their bounds, and the requests that agree with a match."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from reseller_sandbox.values.kinds import Within
from reseller_sandbox.values.matching import MATCH, Match

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def match(**parts: Any) -> Match:
    return MATCH.read(parts)


def refused(**parts: Any) -> str:
    """Return the message about a match with mistakes."""
    with pytest.raises(Within) as problem:
        MATCH.read(parts)
    return "; ".join(f"match.{text}" for text in problem.value.problems)


def test_condition_refuses_values_out_of_bounds(subtests) -> None:
    for part in ["headers", "query", "body"]:
        with subtests.test(part=part):
            assert f"match.{part} must have 1 to 50 keys, not 0" in refused(**{part: {}})
            assert f"match.{part} must have 1 to 50 keys, not 51" in refused(
                **{part: dict.fromkeys(map(str, range(51)), "x")}
            )
            assert len(match(**{part: dict.fromkeys(map(str, range(50)), "x")})[part]) == 50
    for part in ["operation", "domain", "account", "method", "path", "fault", "outcome"]:
        with subtests.test(part=part):
            assert match(**{part: "ok"}) == match(**{part: ["ok"]})
            assert len(match(**{part: ["ok"] * 100})[part]) == 100
            assert f"match.{part}" in refused(**{part: ["ok"] * 101})
            assert f"match.{part}" in refused(**{part: []})
    assert match(outcome="x" * 100)["outcome"] == ("x" * 100,)
    for outcome in ("x" * 101, ""):
        assert "match.outcome must be" in refused(outcome=outcome)


def test_since_is_a_request_or_an_instant(subtests) -> None:
    instant = "2026-03-01T12:00:00Z"
    for value, since in {"r12": 12, "r" + "9" * 18: 10**18 - 1, 12: 12, instant: NOON, NOON: NOON}.items():
        assert match(since=value)["since"] == since
    for value in ["12", "r", "r" + "9" * 19, "r1x", "x2026-03-01", True, "r١٢", [12]]:
        with subtests.test(value=value):
            expected = "match.since must be an instant, or the name of a request (r12), not "
            assert expected in refused(since=value)
