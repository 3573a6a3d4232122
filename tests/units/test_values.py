"""The kinds of values: the values that each kind reads, and the values beyond its bounds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, get_args

import pytest
from dateutil.relativedelta import relativedelta

from reseller_sandbox.values import kinds
from reseller_sandbox.values.kinds import Kind, either, free_text, listed, number, span, whole

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAME, ZONE = (get_args(name)[1] for name in (kinds.Name, kinds.Zone))
FIVE = "five"
ONE_OR_TWO = listed(kinds.TEXT, 1, 2, alone=True)

#: Values that kinds read, with the results. A kind reads a result as the result.
TAKEN: list[tuple[Kind[Any], list[tuple[Any, Any]]]] = [
    (kinds.TEXT, [("x", "x"), ("x" * 255, "x" * 255)]),
    (kinds.SWITCH, [(True, True), (False, False)]),
    (NAME, [("Español.COM", "xn--espaol-zwa.com")]),
    (ZONE, [("COM.ua", "com.ua")]),
    (kinds.WHEN, [(NOON, "2026-03-01T12:00:00Z"), ("2026-03-01", "2026-03-01T00:00:00Z"), (" P3D ", "P3D")]),
    (kinds.WHEN, [(timedelta(hours=1), "3600"), (0, "0"), (10**11 - 1, "99999999999")]),
    (kinds.WHEN, [(90, "90"), (90.0, "90"), (Decimal(90), "90")]),
    (kinds.INSTANT, [(NOON, NOON), ("2026-03-01T12:00:00Z", NOON), ("2026-03-01T14:00:00+02:00", NOON)]),
    (kinds.DURATION, [(timedelta(days=1, seconds=2), relativedelta(days=1, seconds=2))]),
    (kinds.DURATION, [(90, relativedelta(seconds=90)), ("P1Y2M", relativedelta(years=1, months=2))]),
    (whole(1, 3), [(1, 1), (3, 3)]),
    (number(0, 5), [(0, 0), (5, 5), (Decimal("2.5"), 2.5)]),
    (span(), [("90s", 90.0), ("PT1H", 3600.0), (timedelta(seconds=2), 2.0), (86_400, 86_400)]),
    (span(1), [(1, 1)]),
    (ONE_OR_TWO, [("x", ("x",)), (["x", "y"], ("x", "y"))]),
    (listed(whole(1, 3), alone=True), [(2, (2,)), ([1] * 1000, (1,) * 1000)]),
    (free_text(FIVE, 5), [("\n" * 5, "\n" * 5)]),
    (listed(kinds.TEXT), [("x", ("x",)), ([], ())]),
    (either(kinds.TEXT, kinds.MAPPING), [("x", "x"), ({"x": 1}, {"x": 1})]),
    (kinds.ANYTHING, [({"a": [1.5, None, True, "x"]}, {"a": [Decimal("1.5"), None, True, "x"]})]),
    (kinds.ANYTHING, [(10**100 - 1, 10**100 - 1)]),
]


def each(kind: Kind[Any], problem: str, *wrong: Any) -> list[tuple[Kind[Any], Any, str]]:
    return [(kind, value, problem) for value in wrong]


REFUSED: list[tuple[Kind[Any], Any, str]] = [
    *each(kinds.TEXT, "must be a string of 1 to 255", "", "x" * 256, "a\nb", 1, None),
    *each(kinds.SWITCH, "must be true or false", "true", 1, 0, None),
    *each(NAME, "is not a name", "no dots here", "a..b"),
    *each(kinds.WHEN, "must be an instant, or a duration", -1, 1.5, True, False, 10**11, float("inf")),
    *each(kinds.WHEN, "must be an instant, or a duration", timedelta(seconds=-1), None, "", "soon", []),
    *each(kinds.INSTANT, "must be an instant from 1985 to 2900", 1, None, "x", "3000-01-01"),
    *each(kinds.DURATION, "must be a duration", True, 1.5, None, "x", "", -1),
    *each(whole(1, 3), "must be an integer from 1 to 3", 0, 4, True, 1.0, "1", None),
    (whole(1, 10**15), 0, "must be an integer of 1 or more"),
    *each(number(0, 5), "must be a number from 0 to 5", -0.1, 5.1, True, "1", float("nan")),
    *each(span(), "must be a number from 0 to 86400", -1, 86_400.5, "P2D", True),
    (span(1), 0.5, "must be a number from 1 to"),
    (ONE_OR_TWO, [], "must have 1 to 2 items, not 0"),
    (ONE_OR_TWO, ["x"] * 3, "must have 1 to 2 items, not 3"),
    (ONE_OR_TWO, ["x", 1], "1 must be a string"),
    (listed(kinds.TEXT, distinct=True), ["x", "y", "x"], "2 is listed twice: 'x'"),
    (free_text(FIVE, 5), "", "is empty"),
    (free_text(FIVE, 5), "x" * 6, "is too long"),
    (free_text(FIVE, 5), 7, "must be a string"),
    (free_text(FIVE, 5), "\ud800", "a lone surrogate"),
    (listed(kinds.TEXT), 7, "must be an array"),
    (either(kinds.TEXT, kinds.MAPPING), 7, "printable characters, or an object"),
    (kinds.MAPPING, {1: 2}, "must be an object"),
    (kinds.ANYTHING, float("nan"), "not finite"),
    (kinds.ANYTHING, 10**100, "more than 100 digits"),
    (kinds.ANYTHING, {1: 2}, "must consist of JSON values, not of dict"),
    (kinds.ANYTHING, object(), "must consist of JSON values, not of object"),
    (kinds.choice("red", "green"), "gren", "must be one of red, green, not 'gren'; did you mean green"),
    (kinds.choice("red", "green"), 7, "must be one of red, green"),
]


def test_a_kind_reads_values_and_the_form_that_it_writes(subtests) -> None:
    for kind, value, result in ((kind, *pair) for kind, pairs in TAKEN for pair in pairs):
        with subtests.test(kind=kind, value=value):
            assert (kind(value), type(kind(value))) == (result, type(result))
            assert kind(kind(value)) == kind(kind.write(result)) == result


def test_a_kind_refuses_values_beyond_its_bounds_with_the_reason(subtests) -> None:
    for kind, value, problem in REFUSED:
        with subtests.test(kind=kind, value=value):
            with pytest.raises(ValueError) as refused:
                kind(value)
            assert problem in str(refused.value)


def test_json_values_have_at_most_fifty_levels() -> None:
    nested: Any = 1
    for _ in range(50):
        nested = [nested]
    assert kinds.ANYTHING(nested) == nested
    with pytest.raises(ValueError, match="has more than 50 levels"):
        kinds.ANYTHING([nested])
