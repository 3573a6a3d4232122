"""Virtual time: lengths and instants as they are written, and clocks that stand still or run."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from dateutil.relativedelta import relativedelta

from reseller_sandbox.values import clock

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_duration_is_iso_8601_or_short_or_in_seconds(subtests) -> None:
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
    }.items():
        with subtests.test(text=text):
            assert NOON + clock.parse_duration(text) == NOON + length
    wrong = ",P,PT,T,-1d,1.5h,1x,d,P1D1D,P1H2Q,½d,P30,PT30,1d12,1h30,999999999999999999999999999999"
    for text in wrong.split(","):
        with subtests.test(text=text):
            with pytest.raises(ValueError, match="is not a duration such as P30D"):
                clock.parse_duration(text)


def test_an_instant_is_iso_8601_in_utc_or_with_a_zone(subtests) -> None:
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


def test_a_leap_day_becomes_the_28th() -> None:
    leap = datetime(2028, 2, 29, 12, tzinfo=UTC)
    assert clock.years_later(leap, 1) == datetime(2029, 2, 28, 12, tzinfo=UTC)
    assert clock.years_later(leap, 4) == datetime(2032, 2, 29, 12, tzinfo=UTC)
