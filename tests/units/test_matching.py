"""The match language: the parts of a match with their bounds, and the requests that agree with a match."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from reseller_sandbox.core.matching import MATCH, Match
from reseller_sandbox.core.signatures import Within

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def request(**changes: Any) -> Any:
    """A request that registered a name, unless ``changes`` say otherwise."""
    usual: dict[str, Any] = {
        "operation": "v3.createDomain",
        "domains": ("shop.com",),
        "account": "main",
        "method": "POST",
        "path": "/v3/domains/createDomain",
        "headers": [("X-Run", "7")],
        "query": [("dry", "no")],
        "json": {
            "domain": {"domainName": "shop.com"},
            "years": 2,
            "tags": ["a", "b"],
            "paid": 1.5,
            "own": True,
        },
        "outcome": "ok",
        "status": 200,
        "carried_out": True,
        "changed": True,
        "struck_by": (),
        "at": NOON,
        "number": 7,
    }
    return SimpleNamespace(**{**usual, **changes})


def match(**parts: Any) -> Match:
    return MATCH.read(parts)


def refused(**parts: Any) -> str:
    """Return the message about a match with mistakes."""
    with pytest.raises(Within) as problem:
        MATCH.read(parts)
    return "; ".join(f"match.{text}" for text in problem.value.problems)


def test_parts_have_bounds(subtests) -> None:
    for part in ["headers", "query", "body"]:
        with subtests.test(part=part):
            assert f"match.{part} must be an object" in refused(**{part: {}})
            assert f"match.{part} must be an object" in refused(
                **{part: dict.fromkeys(map(str, range(51)), "x")}
            )
            assert len(getattr(match(**{part: dict.fromkeys(map(str, range(50)), "x")}), part)) == 50
    for part in ["operation", "domain", "account", "method", "path", "fault", "outcome"]:
        with subtests.test(part=part):
            assert getattr(match(**{part: "ok"}), part) == getattr(match(**{part: ["ok"]}), part)
            assert len(getattr(match(**{part: ["ok"] * 100}), part)) == 100
            assert f"match.{part}" in refused(**{part: ["ok"] * 101})
            assert f"match.{part}" in refused(**{part: []})
    assert match(outcome="x" * 100).outcome == ("x" * 100,)
    for outcome in ("x" * 101, ""):
        assert "match.outcome must be" in refused(outcome=outcome)


def test_since_is_a_request_or_an_instant(subtests) -> None:
    instant = "2026-03-01T12:00:00Z"
    for value, since in {"r12": 12, "r" + "9" * 18: 10**18 - 1, 12: 12, instant: NOON, NOON: NOON}.items():
        assert match(since=value).since == since
    for value in ["12", "r", "r" + "9" * 19, "r1x", "x2026-03-01", True, "r١٢", [12]]:
        with subtests.test(value=value):
            expected = "match.since must be an instant, or the name of a request (r12), not "
            assert expected in refused(since=value)


#: Parts of matches that agree with the request, and parts that do not.
AGREEING: list[dict[str, Any]] = [
    *({"since": since} for since in ("r6", "2026-03-01T12:00:00Z")),
    *({"domain": "*.com"}, {"method": "post"}, {"account": ["other", "main"]}, {"changed": True}),
    *({"headers": headers} for headers in ({"x-run": "7"}, {"x-other": None})),
    {"query": {"DRY": "n?"}},
    *({"body": body} for body in ({"years": 2}, {"years": 2.0}, {"own": True}, {"paid": 1.5})),
    *({"body": {"tags": ["a", "b"]}}, {"body": {"tags[*]": "b"}}),
    {"body": {"domain": {"domainName": "shop.*"}}},
    *({"outcome": outcome} for outcome in ("ok", "2xx", "200", ["404", "200"])),
]
DIFFERENT: list[dict[str, Any]] = [
    *({"since": since} for since in ("r7", "2026-03-01T12:00:01Z")),
    *({"domain": "*.net"}, {"query": {"dry": "yes"}}, {"fault": "*"}),
    *({"carried_out": False}, {"changed": False}),
    *({"headers": headers} for headers in ({"x-run": "8"}, {"x-run": None}, {"x-other": "*"})),
    *({"body": body} for body in ({"years": 3}, {"own": 1}, {"tags": ["a"]}, {"tags[*]": "c"})),
    {"body": {"domain": {"other": 1}}},
    *({"outcome": outcome} for outcome in ("refused", "20")),
]


def test_a_request_agrees_with_a_match_if_all_parts_do(subtests) -> None:
    for number, parts in enumerate((*AGREEING, *DIFFERENT)):
        with subtests.test(parts=parts):
            agrees = number < len(AGREEING)
            assert match(**parts)(request()) is match(path="/v3/*", **parts)(request()) is agrees
            assert not match(path="/v2/*", **parts)(request())
    for outcome in ("name_taken", "", "ok", "fault"):
        is_refusal = outcome == "name_taken"
        assert match(outcome="refused")(request(outcome=outcome, status=0)) is is_refusal
