"""The vocabulary of values: what each kind takes and what it makes of it, up to its bounds and no further."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, get_args

import pytest
from dateutil.relativedelta import relativedelta

from reseller_sandbox.core import values
from reseller_sandbox.core.complaints import complaint, shortened, there_are
from reseller_sandbox.core.values import Kind, either, free_text, listed, number, several, span, whole
from reseller_sandbox.web.words import spoken

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAME, ZONE = (get_args(one)[1] for one in (values.Name, values.Zone))
FIVE = "five"

TAKEN: list[tuple[Kind[Any], Any, Any]] = [
    (values.TEXT, "x", "x"),
    (values.TEXT, "x" * 255, "x" * 255),
    (values.SWITCH, True, True),
    (values.SWITCH, False, False),
    (NAME, "Español.COM", "xn--espaol-zwa.com"),
    (ZONE, "COM.ua", "com.ua"),
    (values.WHEN, NOON, "2026-03-01T12:00:00Z"),
    (values.WHEN, "2026-03-01", "2026-03-01T00:00:00Z"),
    (values.WHEN, timedelta(hours=1), "3600"),
    (values.WHEN, 0, "0"),
    (values.WHEN, 90, "90"),
    (values.WHEN, 90.0, "90"),
    (values.WHEN, Decimal(90), "90"),
    (values.WHEN, 10**11 - 1, "99999999999"),
    (values.WHEN, " P3D ", "P3D"),
    (values.INSTANT, NOON, NOON),
    (values.INSTANT, "2026-03-01T12:00:00Z", NOON),
    (values.INSTANT, "2026-03-01T14:00:00+02:00", NOON),
    (values.DURATION, timedelta(days=1, seconds=2), relativedelta(days=1, seconds=2)),
    (values.DURATION, relativedelta(months=1), relativedelta(months=1)),
    (values.DURATION, 90, relativedelta(seconds=90)),
    (values.DURATION, "P1Y2M", relativedelta(years=1, months=2)),
    (whole(1, 3), 1, 1),
    (whole(1, 3), 3, 3),
    (number(0, 5), 0, 0),
    (number(0, 5), 5, 5),
    (number(0, 5), Decimal("2.5"), 2.5),
    (span(), "90s", 90.0),
    (span(), "PT1H", 3600.0),
    (span(), timedelta(seconds=2), 2.0),
    (span(), 86_400, 86_400),
    (span(1), 1, 1),
    (several(values.TEXT, 2), "x", ("x",)),
    (several(values.TEXT, 2), ["x", "y"], ("x", "y")),
    (free_text(FIVE, 5), "\n" * 5, "\n" * 5),
    (listed(values.TEXT), "x", ["x"]),
    (listed(values.TEXT), [], []),
    (either(values.TEXT, values.MAPPING), "x", "x"),
    (either(values.TEXT, values.MAPPING), {"x": 1}, {"x": 1}),
    (values.ANYTHING, {"a": [1.5, None, True, "x"]}, {"a": [Decimal("1.5"), None, True, "x"]}),
    (values.ANYTHING, 10**100 - 1, 10**100 - 1),
]


def each(kind: Kind[Any], problem: str, *given: Any) -> list[tuple[Kind[Any], Any, str]]:
    """Several values that are refused alike."""
    return [(kind, one, problem) for one in given]


REFUSED: list[tuple[Kind[Any], Any, str]] = [
    *each(values.TEXT, "must be a text of 1 to 255", "", "x" * 256, "a\nb", 1, None),
    *each(values.SWITCH, "must be true or false", "true", 1, 0, None),
    *each(NAME, "is not a name", "no dots here", "a..b"),
    *each(values.WHEN, "must be an instant, or a length of time", -1, 1.5, True, False, 10**11, float("inf")),
    *each(
        values.WHEN, "must be an instant, or a length of time", timedelta(seconds=-1), None, "", "soon", []
    ),
    *each(values.INSTANT, "must be an instant from 1985 to 2900", 1, None, "x", "3000-01-01"),
    *each(values.DURATION, "must be a length of time", True, 1.5, None, "x", "", -1),
    *each(whole(1, 3), "must be a whole number from 1 to 3", 0, 4, True, 1.0, "1", None),
    (whole(1, 10**15), 0, "must be a whole number of 1 or more"),
    *each(number(0, 5), "must be a number from 0 to 5", -0.1, 5.1, True, "1", float("nan")),
    *each(span(), "must be a number from 0 to 86400", -1, 86_400.5, "P2D", True),
    (span(1), 0.5, "must be a number from 1 to"),
    (several(values.TEXT, 2), [], "is an empty list"),
    (several(values.TEXT, 2), ["x"] * 3, "has more than 2 items"),
    (several(values.TEXT, 2), ["x", 1], "must be a text"),
    (free_text(FIVE, 5), "", "is empty"),
    (free_text(FIVE, 5), "x" * 6, "is too long"),
    (free_text(FIVE, 5), 7, "must be text"),
    (free_text(FIVE, 5), "\ud800", "half a character"),
    (listed(values.TEXT), 7, "must be an array"),
    (either(values.TEXT, values.MAPPING), 7, "printable characters, or an object"),
    (values.MAPPING, {1: 2}, "must be an object"),
    (values.ANYTHING, float("nan"), "not finite"),
    (values.ANYTHING, 10**100, "more than 100 digits"),
    (values.ANYTHING, {1: 2}, "must be made of what JSON has, not of dict"),
    (values.ANYTHING, object(), "must be made of what JSON has, not of object"),
    (values.choice("red", "green"), "gren", "must be one of red, green; the nearest is green"),
    (values.choice("red", "green"), 7, "must be one of red, green"),
]


def test_what_a_kind_takes(subtests: pytest.Subtests) -> None:
    """What it has read it takes again as it is, and what it writes it reads as the same."""
    for kind, given, found in TAKEN:
        with subtests.test(kind=kind, given=given, found=found):
            assert kind(given) == found
            assert type(kind(given)) is type(found)
            assert kind(kind(given)) == found
            assert kind(kind.write(found)) == found


def test_what_a_kind_refuses(subtests: pytest.Subtests) -> None:
    """In words that read on after the parameter's name."""
    for kind, given, problem in REFUSED:
        with subtests.test(kind=kind, given=given, problem=problem):
            with pytest.raises(ValueError) as refused:
                kind(given)
            assert problem in str(refused.value)


def test_values_go_fifty_levels_deep() -> None:
    """So that no reader of them runs out of stack."""
    nested: Any = 1
    for _ in range(50):
        nested = [nested]
    assert values.ANYTHING(nested) == nested
    with pytest.raises(ValueError, match="goes deeper than 50 levels"):
        values.ANYTHING([nested])


def test_what_a_word_stands_for(subtests: pytest.Subtests) -> None:
    """On a command line, or in a query string: what JSON would have there."""
    words: list[tuple[Kind[Any], str, Any]] = [
        (values.SWITCH, "true", True),
        (values.SWITCH, "yes", "yes"),
        (whole(1, 3), "2", 2),
        (whole(1, 3), "-2", -2),
        (whole(1, 3), "2.0", Decimal("2.0")),
        (whole(1, 3), "1" * 18, int("1" * 18)),
        (whole(1, 3), "1" * 19, int("1" * 19)),
        (whole(1, 3), "1.2.3", "1.2.3"),
        (whole(1, 3), "٣", "٣"),
        (span(), "90s", "90s"),
        (values.TEXT, "7", "7"),
        (values.WHEN, "3600.0", Decimal("3600.0")),
        (values.WHEN, "P30D", "P30D"),
        (values.AMOUNT, "NaN", "NaN"),
        (values.SWITCH, "1", 1),
        (several(whole(1, 3)), "[1, 2]", [1, 2]),
        (values.MAPPING, '{"a": 1.5}', {"a": Decimal("1.5")}),
        (values.MAPPING, "[1]", [1]),
        (values.WHEN, "true", "true"),
        (values.ANYTHING, "null", None),
    ]
    for kind, word, given in words:
        with subtests.test(kind=kind, word=word, given=given):
            found = spoken(kind.shape, word)
            assert (found, type(found)) == (given, type(given))


def test_of_many_problems_twenty_are_told(subtests: pytest.Subtests) -> None:
    """And how many more there are."""
    for count, rest in [(1, ""), (20, ""), (21, "; and 1 more"), (45, "; and 25 more")]:
        with subtests.test(count=count, rest=rest):
            problems = [f"p{number}" for number in range(count)]
            assert complaint(problems) == "; ".join(problems[:20]) + rest


def test_what_there_is_stands_in_a_refusal(subtests: pytest.Subtests) -> None:
    """In a sentence that is right for nothing, for one thing and for many."""
    for count, told in [
        (0, "there are no zones"),
        (1, "there is z0"),
        (2, "there are z0, z1"),
        (22, "z19 and 2 more"),
    ]:
        with subtests.test(count=count, told=told):
            assert there_are((f"z{number}" for number in range(count)), "zones").endswith(told)


def test_a_list_has_up_to_a_thousand_items_unless_its_kind_says_otherwise() -> None:
    """One more is refused, and so is none at all; one alone needs no list."""
    kind = several(whole(1, 3))
    assert kind.read([1] * 1000) == (1,) * 1000
    assert kind.read(2) == (2,)
    for wrong, why in (([1] * 1001, "has more than 1000 items"), ([], "is an empty list")):
        with pytest.raises(ValueError, match=f"^{why}$"):
            kind.read(wrong)


def test_what_is_quoted_is_short() -> None:
    """A long value is cut, and decimals look like the numbers that they were."""
    assert shortened({"a": [Decimal("1.5")]}) == "{'a': [1.5]}"
    assert shortened("x" * 500).endswith("…")
    assert len(shortened("x" * 500)) == len(shortened("y" * 5000)) < 200
    assert shortened(10**5000) == "a number of thousands of digits"


def test_a_length_of_time_is_written_as_short_as_it_can_be(subtests: pytest.Subtests) -> None:
    """And read again as the same length."""
    for given, written in [
        ("30d", "P30D"),
        (0, "PT0S"),
        (3600, "PT1H"),
        ("90m", "PT1H30M"),
        ("1d12h", "P1DT12H"),
        ("P14M", "P1Y2M"),
        ("P1Y2M3DT4H5M6S", "P1Y2M3DT4H5M6S"),
        (timedelta(days=3), "P3D"),
    ]:
        with subtests.test(given=given, written=written):
            length = values.DURATION.read(given)
            assert values.DURATION.write(length) == written
            assert values.DURATION.read(written) == length
