"""Values as they are read and written: kinds, names, amounts, lengths and instants."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, get_args

import pytest
from dateutil.relativedelta import relativedelta
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox.values import clock, kinds, money
from reseller_sandbox.values.kinds import Kind, either, listed, number, span, whole
from reseller_sandbox.values.names import BadName, normalise, to_unicode
from reseller_sandbox.values.parameters import Parameter, read

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAME, ZONE = (get_args(name)[1] for name in (kinds.Name, kinds.Zone))
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
    (listed(kinds.TEXT), [("x", ("x",)), ([], ())]),
    (either(kinds.TEXT, kinds.MAPPING), [("x", "x"), ({"x": 1}, {"x": 1})]),
    (kinds.ANYTHING, [({"a": [1.5, None, True, "x"]}, {"a": [Decimal("1.5"), None, True, "x"]})]),
    (kinds.ANYTHING, [(10**100 - 1, 10**100 - 1), ({1: NOON}, {"1": "2026-03-01T12:00:00+00:00"})]),
    (kinds.ANYTHING, [(timedelta(days=-1), "-86400s"), (timedelta(seconds=0.5), "+0.5s")]),
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
    (kinds.RAW_TEXT, 7, "must be a string"),
    (kinds.RAW_TEXT, "\ud800", "a lone surrogate"),
    (listed(kinds.TEXT), 7, "must be an array"),
    (either(kinds.TEXT, kinds.MAPPING), 7, "printable characters, or an object"),
    (kinds.MAPPING, {1: 2}, "must be an object"),
    (kinds.ANYTHING, float("nan"), "not finite"),
    (kinds.ANYTHING, 10**100, "more than 100 digits"),
    (kinds.ANYTHING, object(), "must consist of JSON values, not of object"),
    (kinds.choice("red", "green"), "gren", "must be one of red, green, not 'gren'; did you mean green"),
    (kinds.choice("red", "green"), 7, "must be one of red, green"),
]


def test_kind_reads_each_value_and_reads_its_own_written_form(subtests) -> None:
    for kind, value, result in ((kind, *pair) for kind, pairs in TAKEN for pair in pairs):
        with subtests.test(kind=kind, value=value):
            assert (kind(value), type(kind(value))) == (result, type(result))
            assert kind(kind(value)) == kind(kind.write(result)) == result


def test_kind_refuses_values_out_of_bounds_with_the_reason(subtests) -> None:
    for kind, value, problem in REFUSED:
        with subtests.test(kind=kind, value=value):
            with pytest.raises(ValueError) as refused:
                kind(value)
            assert problem in str(refused.value)


def test_json_value_of_a_parameter_has_at_most_fifty_levels() -> None:
    nested: Any = 1
    for _ in range(50):
        nested = [nested]
    assert kinds.ANYTHING(nested) == nested
    with pytest.raises(ValueError, match="has more than 50 levels"):
        kinds.ANYTHING([nested])


MALFORMED = {
    "empty": ["", "."],
    "no zone": ["com"],
    "empty label": [".com", "a..com"],
    "hyphens": ["-a.com", "a-.com"],
    "only letters": ["a_b.com", "a b.com", "a/b.com", "a\x00.com"],
    "third and fourth": ["ab--c.com"],
    "number": ["1.2.3.4"],
    "maximum is 63": [f"{'a' * 64}.com"],
    "maximum is 253": [f"{'.'.join(['a' * 60] * 5)}.com", "a" * 100_000],
    "IDNA": ["xn--.com", "xn--a.com", "a\u2028b.com", "\ud800.com"],
}


def test_all_spellings_of_a_domain_name_have_the_same_canonical_form(subtests) -> None:
    for text, name in {
        **{name: name for name in ("example.com", "a.co", "1.com", f"{'a' * 63}.com")},
        **dict.fromkeys(("EXAMPLE.Com", "example.com."), "example.com"),
        **dict.fromkeys(("españa.com", "ESPAÑA.com", "espan\u0303a.com"), "xn--espaa-rta.com"),
        **dict.fromkeys(("xn--espaa-rta.com", "XN--ESPAA-RTA.COM"), "xn--espaa-rta.com"),
        "приклад.укр": "xn--80aikifvh.xn--j1amh",
        "faß.de": "xn--fa-hia.de",
    }.items():
        with subtests.test(text=text):
            assert normalise(text) == name


def test_malformed_domain_name_is_refused_with_the_reason(subtests) -> None:
    for reason, texts in MALFORMED.items():
        for text in texts:
            with subtests.test(text=text), pytest.raises(BadName, match=reason):
                normalise(text)


@given(st.text(max_size=80) | st.from_regex(r"[\w.\-]{1,40}\.[a-z]{2,5}\.?", fullmatch=True))
def test_canonical_domain_name_stays_the_same_after_conversion_to_unicode_and_back(text: str) -> None:
    try:
        name = normalise(text)
    except BadName:
        return
    assert name.isascii()
    assert name == name.lower() == normalise(name) == normalise(to_unicode(name))


AMOUNTS = st.decimals(0, money.MOST - 1, allow_nan=False, allow_infinity=False, places=money.FINEST)


@given(amount=AMOUNTS)
def test_written_amount_of_money_is_read_as_the_same_amount(amount: Decimal) -> None:
    assert money.read(money.write(amount)) == amount
    assert money.read(money.write_in_full(amount)) == amount
    assert money.read(float(amount)) == amount


@given(cents=st.integers(0, 10**7), years=st.integers(1, 10))
def test_a_product_of_floats_counts_as_the_amount_it_stands_for(cents: int, years: int) -> None:
    price = cents / 100
    total = Decimal(cents * years) / 100
    for product in (price * years, Decimal(str(price * years)), str(price * years)):
        assert money.read(product) == total


def test_a_number_of_many_digits_counts_as_the_nearest_amount() -> None:
    digits = Decimal("1234567890123456789012345678.1234567")
    assert money.read(digits, most=None) == Decimal("1234567890123456789012345678.123457")


def test_malformed_amount_of_money_is_refused(subtests) -> None:
    finer = "must have at most 6 fraction digits"
    wrong: dict[object, str] = dict.fromkeys(
        ["", "x", "1_0", "١", "NaN", "inf", "1e200", None, True, 10**9, "1e9"], "must be"
    )
    wrong |= dict.fromkeys(["1.1234567", "1e-7", "1e-101", f"1.{'0' * 60}1"], finer)
    for value, message in wrong.items():
        with subtests.test(value=value), pytest.raises(ValueError, match=message):
            money.read(value)


def test_a_message_shows_every_digit_of_a_number() -> None:
    years = Parameter("years", whole(1, 10), required=False)
    _, (mistake,) = read([years], {"years": Decimal("2500.0000000000001")})
    assert mistake == "years must be an integer from 1 to 10, not 2500.0000000000001"


def test_a_balance_has_at_most_fifteen_digits_before_the_point() -> None:
    most = money.MOST_KEPT
    assert most == 10**15
    for sign in (1, -1):
        assert money.read(sign * (most - Decimal("0.01")), most) == sign * (most - Decimal("0.01"))
        with pytest.raises(ValueError, match="must be less than"):
            money.read(sign * most, most)


def test_duration_is_read_from_iso_8601_or_a_short_form_or_seconds(subtests) -> None:
    for text, length in {
        "P30D": relativedelta(days=30),
        "P1M": relativedelta(months=1),
        "PT1M": relativedelta(minutes=1),
        "P1Y2M3DT4H5M6S": relativedelta(years=1, months=2, days=3, hours=4, minutes=5, seconds=6),
        "P2W": relativedelta(weeks=2),
        "90m": relativedelta(minutes=90),
        "1d12h": relativedelta(days=1, hours=12),
        "30s": relativedelta(seconds=30),
        "3600": relativedelta(seconds=3600),
        "0": relativedelta(),
        " p1d ": relativedelta(days=1),
        "1month": relativedelta(months=1),
        "2 Months 1 day": relativedelta(months=2, days=1),
        "90 minutes": relativedelta(minutes=90),
        "1year2weeks3hours4mins5sec": relativedelta(years=1, weeks=2, hours=3, minutes=4, seconds=5),
    }.items():
        with subtests.test(text=text):
            assert NOON + clock.parse_duration(text) == NOON + length
    wrong = ",P,PT,T,-1d,1.5h,1x,d,P1D1D,P1H2Q,½d,P30,PT30,1d12,1h30,1 monthly,1  d"
    wrong += ",999999999999999999999999999999"
    for text in wrong.split(","):
        with subtests.test(text=text):
            with pytest.raises(ValueError, match="is not a duration such as 30d"):
                clock.parse_duration(text)


def test_instant_is_read_from_iso_8601_with_or_without_a_time_zone(subtests) -> None:
    assert clock.parse_instant("2026-03-01") == datetime(2026, 3, 1, tzinfo=UTC)
    spellings = "2026-03-01T12:00:00Z,2026-03-01 12:00:00,2026-03-01t12:00:00z,20260301T120000Z"
    spellings += ",2026-03-01T14:00:00+02:00,2026-03-01T12:00:00.999Z, 2026-03-01T12:00 "
    for text in spellings.split(","):
        with subtests.test(text=text):
            assert clock.parse_instant(text) == NOON
    wrong = ",now,2026,2026-13-01,0001-01-01,9999-01-01,0001-01-01T00:00+14:00,2026-03-01+02:00,2026-03-01Z"
    wrong += ",2026-03-01-0500,2026-03-01x10:00,20260301+0200,2026-03-01\n10:00,٢٠٢٦-03-01"
    wrong += ",2026-03-01T10:00 02:00"
    for text in wrong.split(","):
        with subtests.test(text=text), pytest.raises(ValueError):
            clock.parse_instant(text)
    assert (clock.wire(NOON), clock.wire_spaced(NOON)) == ("2026-03-01T12:00:00Z", "2026-03-01 12:00:00")


def test_leap_day_becomes_28_february_in_a_common_year() -> None:
    leap = datetime(2028, 2, 29, 12, tzinfo=UTC)
    assert clock.years_later(leap, 1) == datetime(2029, 2, 28, 12, tzinfo=UTC)
    assert clock.years_later(leap, 4) == datetime(2032, 2, 29, 12, tzinfo=UTC)
