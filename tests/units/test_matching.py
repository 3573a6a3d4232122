"""The match language: what each part takes, up to which bounds, and what keeps a request from being meant."""

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
    """The match that JSON describes, which has no mistakes."""
    return MATCH.read(parts)


def wrong(**parts: Any) -> str:
    """What is said of a match that has a mistake."""
    with pytest.raises(Within) as found:
        MATCH.read(parts)
    return "; ".join(f"match.{problem}" for problem in found.value.problems)


def test_an_object_of_parts_has_one_to_fifty(subtests: pytest.Subtests) -> None:
    """An empty one would mean everything, and one too long takes long for each request."""
    for part in ["headers", "query", "body"]:
        with subtests.test(part=part):
            assert f"match.{part} must be an object" in wrong(**{part: {}})
            assert f"match.{part} must be an object" in wrong(
                **{part: {f"n{number}": "x" for number in range(51)}}
            )
            assert len(getattr(match(**{part: {f"n{number}": "x" for number in range(50)}}), part)) == 50


def test_a_list_of_choices_has_one_to_a_hundred(subtests: pytest.Subtests) -> None:
    """One alone may stand without a list."""
    for part in ["operation", "domain", "account", "method", "path", "fault", "outcome"]:
        with subtests.test(part=part):
            assert getattr(match(**{part: "ok"}), part) == getattr(match(**{part: ["ok"]}), part)
            assert len(getattr(match(**{part: ["ok"] * 100}), part)) == 100
            assert f"match.{part}" in wrong(**{part: ["ok"] * 101})
            assert f"match.{part}" in wrong(**{part: []})


def test_an_outcome_is_a_word_of_up_to_a_hundred_letters() -> None:
    """An empty one is no outcome."""
    assert match(outcome="x" * 100).outcome == ("x" * 100,)
    assert "match.outcome must be" in wrong(outcome="x" * 101)
    assert "match.outcome must be" in wrong(outcome="")


def test_since_is_a_request_or_an_instant(subtests: pytest.Subtests) -> None:
    """Of a request by its name or its number."""
    for given, since in [
        ("r12", 12),
        ("r" + "9" * 18, 10**18 - 1),
        (12, 12),
        ("2026-03-01T12:00:00Z", NOON),
        (NOON, NOON),
    ]:
        with subtests.test(given=given, since=since):
            assert match(since=given).since == since


def test_since_takes_nothing_else(subtests: pytest.Subtests) -> None:
    """A number is written with its r, in ASCII."""
    for given in ["12", "r", "r" + "9" * 19, "r1x", "x2026-03-01", True, "r١٢", [12]]:
        with subtests.test(given=given):
            assert "match.since must be an instant, or the name of a request (r12), not " in wrong(
                since=given
            )


def test_a_request_is_meant_where_all_parts_agree(subtests: pytest.Subtests) -> None:
    """Each part by itself, and beside one that agrees."""
    for parts, meant in [
        ({"since": "r6"}, True),
        ({"since": "r7"}, False),
        ({"since": "2026-03-01T12:00:00Z"}, True),
        ({"since": "2026-03-01T12:00:01Z"}, False),
        ({"domain": "*.com"}, True),
        ({"domain": "*.net"}, False),
        ({"method": "post"}, True),
        ({"headers": {"x-run": "7"}}, True),
        ({"headers": {"x-run": "8"}}, False),
        ({"headers": {"x-run": None}}, False),
        ({"headers": {"x-other": None}}, True),
        ({"headers": {"x-other": "*"}}, False),
        ({"query": {"DRY": "n?"}}, True),
        ({"query": {"dry": "yes"}}, False),
        ({"body": {"years": 2}}, True),
        ({"body": {"years": 3}}, False),
        ({"body": {"years": 2.0}}, True),
        ({"body": {"own": True}}, True),
        ({"body": {"own": 1}}, False),
        ({"body": {"paid": 1.5}}, True),
        ({"body": {"tags": ["a", "b"]}}, True),
        ({"body": {"tags": ["a"]}}, False),
        ({"body": {"tags[*]": "b"}}, True),
        ({"body": {"tags[*]": "c"}}, False),
        ({"body": {"domain": {"domainName": "shop.*"}}}, True),
        ({"body": {"domain": {"other": 1}}}, False),
        ({"outcome": "ok"}, True),
        ({"outcome": "refused"}, False),
        ({"outcome": "2xx"}, True),
        ({"outcome": "200"}, True),
        ({"outcome": "20"}, False),
        ({"outcome": ["404", "200"]}, True),
        ({"carried_out": False}, False),
        ({"changed": False}, False),
        ({"changed": True}, True),
        ({"fault": "*"}, False),
        ({"account": ["other", "main"]}, True),
    ]:
        with subtests.test(parts=parts, meant=meant):
            assert match(**parts)(request()) is meant
            assert match(path="/v3/*", **parts)(request()) is meant
            assert not match(path="/v2/*", **parts)(request())


def test_a_refusal_is_what_an_operation_refused(subtests: pytest.Subtests) -> None:
    """Neither what was carried out, nor what a fault answered, nor what has no outcome yet."""
    for outcome, refused in [("name_taken", True), ("", False), ("ok", False), ("fault", False)]:
        with subtests.test(outcome=outcome, refused=refused):
            assert match(outcome="refused")(request(outcome=outcome, status=0)) is refused


def test_every_part_that_misses_is_told() -> None:
    """With what was expected and what there was."""
    found = match(
        operation=["v3.lock", "v3.unlock"],
        method="GET",
        account="other",
        domain=["a.net", "b.net"],
        headers={"X-Run": "8", "X-None": "1"},
        body={"years": 3, "domain": {"none": 1}, "gone": "x*"},
        fault="lost*",
        since="r9",
    ).misses(request())
    assert {miss.what: (miss.expected, miss.actual) for miss in found} == {
        "operation": ("v3.lock or v3.unlock", "v3.createDomain"),
        "method": ("GET", "POST"),
        "account": ("other", "main"),
        "domain": ("a.net or b.net", "shop.com"),
        "fault": ("lost*", None),
        "since": ("r9", "r7"),
        "headers.X-Run": ("8", "7"),
        "headers.X-None": ("1", None),
        "body.years": (3, 2),
        "body.domain.none": (1, None),
        "body.gone": ("x*", None),
    }


def test_what_is_read_is_written_as_it_was() -> None:
    """So that a rule is shown, exported and read again as the same."""
    parts = {
        "operation": "v3.*",
        "domain": ["*.com", "*.net"],
        "headers": {"x-run": "7", "x-none": None},
        "body": {"tags": ["a*", 1], "domain": {"domainName": "*"}},
        "since": "r7",
        "carried_out": False,
    }
    written = MATCH.write(match(**parts))
    assert written == parts
    assert match(**written) == match(**parts)
