"""Virtual time: lengths and instants as they are written, and the one place that reads the wall clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from dateutil.relativedelta import relativedelta
from freezegun import freeze_time
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox.core.clock import (
    LATEST,
    WorldClock,
    later,
    parse_duration,
    parse_instant,
    wire,
    wire_spaced,
    years_later,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_lengths_of_time(subtests: pytest.Subtests) -> None:
    """ISO 8601, short, or in seconds."""
    for text, length in [
        ("P30D", relativedelta(days=30)),
        ("P1Y", relativedelta(years=1)),
        ("P1M", relativedelta(months=1)),
        ("PT1M", relativedelta(minutes=1)),
        ("P1Y2M3DT4H5M6S", relativedelta(years=1, months=2, days=3, hours=4, minutes=5, seconds=6)),
        ("P2W", relativedelta(weeks=2)),
        ("90m", relativedelta(minutes=90)),
        ("1d12h", relativedelta(days=1, hours=12)),
        ("30s", relativedelta(seconds=30)),
        ("3600", relativedelta(seconds=3600)),
        ("0", relativedelta()),
        (" p1d ", relativedelta(days=1)),
    ]:
        with subtests.test(text=text, length=length):
            assert NOON + parse_duration(text) == NOON + length


def test_what_is_no_length_of_time(subtests: pytest.Subtests) -> None:
    """Said with an example of one that is."""
    for text in [
        "",
        "P",
        "PT",
        "T",
        "-1d",
        "1.5h",
        "1x",
        "d",
        "P1D1D",
        "9" * 30,
        "P1H2Q",
        "½d",
        "P30",
        "PT30",
        "1d12",
        "1h30",
    ]:
        with subtests.test(text=text):
            with pytest.raises(ValueError, match="is not a length of time such as P30D"):
                parse_duration(text)


def test_instants(subtests: pytest.Subtests) -> None:
    """ISO 8601; UTC where no zone is named, midnight where no time is, in whole seconds."""
    for text, instant in [
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
        ("2026-03-01T12:00:00Z", NOON),
        ("2026-03-01 12:00:00", NOON),
        ("2026-03-01t12:00:00z", NOON),
        ("20260301T120000Z", NOON),
        ("2026-03-01T14:00:00+02:00", NOON),
        ("2026-03-01T12:00:00.999Z", NOON),
        (" 2026-03-01T12:00 ", NOON),
    ]:
        with subtests.test(text=text, instant=instant):
            assert parse_instant(text) == instant


def test_what_is_no_instant(subtests: pytest.Subtests) -> None:
    """Malformed, or where no world may stand."""
    for text in [
        *("", "now", "2026", "2026-13-01", "0001-01-01", "9999-01-01", "0001-01-01T00:00+14:00"),
        *("2026-03-01+02:00", "2026-03-01Z", "2026-03-01-0500", "2026-03-01x10:00", "20260301+0200"),
        *("2026-03-01\n10:00", "٢٠٢٦-03-01", "2026-03-01T10:00 02:00"),
    ]:
        with subtests.test(text=text):
            with pytest.raises(ValueError):
                parse_instant(text)


def test_instants_on_the_wire() -> None:
    """The two formats of the contract."""
    assert wire(NOON) == "2026-03-01T12:00:00Z"
    assert wire_spaced(NOON) == "2026-03-01 12:00:00"


def test_a_leap_day_becomes_the_28th() -> None:
    """In years that have none."""
    leap = datetime(2028, 2, 29, 12, tzinfo=UTC)
    assert years_later(leap, 1) == datetime(2029, 2, 28, 12, tzinfo=UTC)
    assert years_later(leap, 4) == datetime(2032, 2, 29, 12, tzinfo=UTC)


def test_the_clock_has_a_last_year(subtests: pytest.Subtests) -> None:
    """Past it there is a word, and no overflow."""
    for by in ["1000y", "99999999999d", "99999999999y"]:
        with subtests.test(by=by):
            with pytest.raises(ValueError, match="goes no further than 2900"):
                later(NOON, parse_duration(by))


@given(st.timedeltas(timedelta(), timedelta(days=4000)))
def test_instants_are_whole_seconds(by: timedelta) -> None:
    """Whatever length is added: the wire has no fractions."""
    assert later(NOON, by).microsecond == 0


def test_a_frozen_clock_stands_still() -> None:
    """However the machine's clock moves."""
    clock = WorldClock(NOON)
    with freeze_time("2031-01-01") as machine:
        assert (clock.now(), clock.frozen) == (NOON, True)
        machine.tick(timedelta(days=400))
        assert clock.now() == NOON


def test_a_running_clock_follows_the_machines() -> None:
    """From where it was set, in whole seconds, and never back."""
    with freeze_time("2031-01-01T00:00:00.700") as machine:
        clock = WorldClock(NOON).run()
        assert (clock.now(), clock.frozen) == (NOON, False)
        machine.tick(timedelta(seconds=0.4))
        assert clock.now() == NOON
        machine.tick(timedelta(seconds=90))
        assert clock.now() == NOON + timedelta(seconds=90)
        machine.move_to("2030-12-31")
        assert clock.now() == NOON
        machine.move_to("2999-01-01")
        assert clock.now() == LATEST


def test_a_clock_is_set_and_stopped_without_a_jump() -> None:
    """Freezing keeps the instant; setting keeps standing still or running."""
    with freeze_time("2031-01-01") as machine:
        running = WorldClock(NOON).run()
        machine.tick(timedelta(seconds=10))
        stopped = running.freeze()
        assert (stopped.now(), stopped.frozen) == (NOON + timedelta(seconds=10), True)
        ahead = running.at(NOON + timedelta(days=1))
        machine.tick(timedelta(seconds=5))
        assert ahead.now() == NOON + timedelta(days=1, seconds=5)
        assert stopped.at(NOON + timedelta(days=2)).frozen


def test_the_first_and_the_last_instant_can_be_stood_at(subtests: pytest.Subtests) -> None:
    """And no second beyond either."""
    for edge in ["1985-01-01T00:00:00Z", "2900-01-01T00:00:00Z"]:
        with subtests.test(edge=edge):
            found = parse_instant(edge)
            beyond = found + timedelta(seconds=1 if found.year == 2900 else -1)
            with pytest.raises(ValueError, match="outside the years 1985 to 2900"):
                parse_instant(beyond.isoformat())
