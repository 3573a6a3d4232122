"""The clocks of worlds. No other module of the project reads the machine's clock.

A clock is an immutable value that a world keeps beside its state. If the world goes back to an earlier
instant, so does its clock. Instants are aware UTC datetimes in whole seconds, as on the wire.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache, lru_cache, partial
from importlib.resources import files

from dateutil.relativedelta import relativedelta
from msgspec import Struct

#: The range of a world's clock. Terms and grace periods can begin or end outside this range, and their dates
#: still fit ``datetime``.
EARLIEST = datetime(1985, 1, 1, tzinfo=UTC)
LATEST = datetime(2900, 1, 1, tzinfo=UTC)

#: The type ``datetime`` of the standard library. Tools that freeze time for a test replace the name
#: ``datetime`` in modules.
_OWN = type(EARLIEST)

_TICK = timedelta(seconds=1)

#: Each unit has a letter, and its name: ``1mo`` is ``1month``.
_DURATION = re.compile(
    r"P?(?:(?P<years>\d+) ?Y(?:EARS?)?)? ?(?:(?P<months>\d+) ?MO(?:NTHS?)?)? ?"
    r"(?:(?P<weeks>\d+) ?W(?:EEKS?)?)? ?(?:(?P<days>\d+) ?D(?:AYS?)?)? ?T?"
    r"(?:(?P<hours>\d+) ?H(?:OURS?)?)? ?(?:(?P<minutes>\d+) ?M(?:IN(?:UTE)?S?)?)? ?"
    r"(?:(?P<seconds>\d+) ?S(?:EC(?:OND)?S?)?)?"
)
A_DURATION = "a duration such as 30d, 1mo, 90m, P30D or 3600"
_ISO_DATE = re.compile(r"(\d{4}-\d\d-\d\d|\d{8}|\d{4}-?W\d\d(-?\d)?)([T ]|$)", re.ASCII)
_ISO_MONTHS = re.compile(r"^(P[^T]*?\d)M", re.IGNORECASE)


def real_now() -> datetime:
    """Return the time of the machine's clock."""
    return _plain(datetime.now(UTC))


def _plain(instant: datetime) -> datetime:
    """Return ``instant`` in UTC as a ``datetime`` of the standard library.

    Tools that freeze time for a test create objects of their own subclass.
    """
    if instant.tzinfo is UTC and type(instant) is _OWN:
        return instant
    return EARLIEST + (instant - EARLIEST)


#: Returns the seconds of a monotonic clock, to measure durations. Tools that freeze time for a test replace
#: the functions of ``time`` in every module. They do not find this function, because it is inside a
#: ``partial`` object.
stopwatch: Callable[[], float] = (
    partial(time.clock_gettime, time.CLOCK_MONOTONIC)
    if hasattr(time, "clock_gettime")
    else partial(time.perf_counter)
)


def instance_mark() -> str:
    """Return eight random hexadecimal digits that identify this start of a server."""
    return secrets.token_hex(4)


class WorldClock(Struct, frozen=True):
    """A world's clock, which is frozen or runs at a fixed offset from the machine's clock.

    The clock showed ``instant`` when the machine's clock showed ``anchor``. A frozen clock has no ``anchor``.
    """

    instant: datetime
    anchor: datetime | None = None

    @property
    def frozen(self) -> bool:
        """Whether the clock moves only on request."""
        return self.anchor is None

    def now(self) -> datetime:
        """Return the time of this clock in whole seconds, never earlier than ``instant``."""
        return self.instant if self.anchor is None else self._after(real_now() - self.anchor)

    def _after(self, elapsed: timedelta) -> datetime:
        if elapsed < _TICK:
            return self.instant
        return min((self.instant + elapsed).replace(microsecond=0), LATEST)

    def freeze(self) -> WorldClock:
        """Return a frozen clock that shows the current time of this clock."""
        return WorldClock(self.now())

    def run(self) -> WorldClock:
        """Return a running clock that starts at the current time of this clock.

        If this clock is less than two seconds behind the machine's clock, the returned clock shows the
        machine's time.
        """
        now, machine = self.now(), real_now()
        return WorldClock(now, now if timedelta() <= machine - now < 2 * _TICK else machine)

    def follow(self) -> WorldClock:
        """Return a clock that shows the machine's time, but never goes back before ``now()``."""
        return WorldClock(self.now(), self.now())

    def caught_up(self) -> WorldClock:
        """Return a clock with the current time as its new start.

        The clock then never goes back, even if the machine's clock goes back.
        """
        if self.anchor is None:
            return self
        elapsed = real_now() - self.anchor
        if elapsed < timedelta():
            return self.run()
        shown = self._after(elapsed)
        return self if shown == self.instant else WorldClock(shown, self.anchor + (shown - self.instant))

    def at(self, instant: datetime) -> WorldClock:
        """Return a clock that shows ``instant``, frozen or running as this clock is."""
        if self.anchor is None:
            return self if instant == self.instant else WorldClock(instant)
        return WorldClock(instant, real_now())


def years_later(instant: datetime, years: int) -> datetime:
    """Return the same calendar day ``years`` later. 29 February can become 28 February."""
    try:
        return instant.replace(year=instant.year + years)
    except ValueError:
        return instant.replace(year=instant.year + years, day=28)


def days(count: int) -> timedelta:
    """Return a duration of ``count`` days."""
    return timedelta(days=count)


@lru_cache(maxsize=4096)
def wire(instant: datetime) -> str:
    """Return an instant as ``YYYY-MM-DDTHH:MM:SSZ``."""
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")


@lru_cache(maxsize=4096)
def wire_spaced(instant: datetime) -> str:
    """Return an instant as ``YYYY-MM-DD HH:MM:SS``."""
    return instant.strftime("%Y-%m-%d %H:%M:%S")


def local(instant: datetime, zone: str) -> datetime:
    """Return an instant as a date and time of ``zone``, without a time zone. In UTC, it stays unchanged."""
    return instant if zone == "UTC" else instant.astimezone(_time_zone(zone)).replace(tzinfo=None)


def local_date(instant: datetime, zone: str) -> date:
    """Return the date of an instant in ``zone``. An instant without a time zone has the date of ``zone``."""
    return (instant if instant.tzinfo is None else local(_in_utc(instant), zone)).date()


@cache
def time_zones() -> frozenset[str]:
    """Return the names of all time zones."""
    return frozenset(files("tzdata").joinpath("zones").read_text("utf-8").split())


@cache
def _time_zone(name: str) -> tzinfo:
    # The package tzdata gives the same zones on every machine, other than the machine's own files.
    from zoneinfo import ZoneInfo

    with files("tzdata.zoneinfo").joinpath(name).open("rb") as file:
        return ZoneInfo.from_file(file, name)


def parse_iso(text: str) -> datetime:
    """Read an ISO 8601 date or date-time. Raise ValueError for any other text.

    A date must be followed by T or a space and a time, because ``fromisoformat`` would read any other
    character there.
    """
    plain = text.strip().upper()
    if not _ISO_DATE.match(plain):
        raise ValueError
    return datetime.fromisoformat(plain)


def parse_instant(text: str) -> datetime:
    """Read an ISO 8601 date or date-time. The default time is midnight, in UTC.

    Raise ValueError for any other text, and for an instant outside the supported years.
    """
    return _in_utc(parse_date(text))


def parse_date(text: str) -> datetime:
    """Read an ISO 8601 date or date-time as ``parse_instant`` does, but without a zone if it has none."""
    try:
        instant = parse_iso(text)
    except ValueError:
        raise ValueError(f"{text[:80]!r} is not an instant such as 2026-01-31T12:00:00Z") from None
    # Compare before the conversion to UTC, which can leave the years of a datetime.
    if not EARLIEST <= _aware(instant) <= LATEST:
        raise ValueError(f"{text[:80]!r} is outside the years {EARLIEST.year} to {LATEST.year}")
    return instant


def _in_utc(instant: datetime) -> datetime:
    return _plain(_aware(instant)).replace(microsecond=0)


def _aware(instant: datetime) -> datetime:
    return instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC)


def instant_given(text: str) -> datetime:
    """Read an instant as ``parse_instant`` does. ``real`` means the machine's current time."""
    return real_now().replace(microsecond=0) if text == "real" else parse_instant(text)


def parse_duration(text: str) -> relativedelta:
    """Read a duration: in ISO 8601, in units or their names (``90m``, ``1 month``), or in seconds.

    Examples: ``P30D``, ``P1Y``, ``PT90M``, ``90m``, ``1d12h``, ``1mo``, ``2 days``, ``3600``. Raise
    ValueError for any other text.
    """
    plain = _ISO_MONTHS.sub(r"\1MO", text.strip().removeprefix("+")).upper()
    match = _DURATION.fullmatch(f"{plain}S" if plain.isdecimal() else plain)
    amounts = {unit: int(count) for unit, count in match.groupdict().items() if count} if match else {}
    if not amounts or any(count > 10**11 for count in amounts.values()):
        raise ValueError(f"{text[:80]!r} is not {A_DURATION}")
    return relativedelta(**amounts)  # type: ignore[arg-type]


def duration_text(length: relativedelta) -> str:
    """Return a duration in the shortest ISO 8601 form: ``P30D``, ``PT1H30M``."""
    days = _parts((length.years, "Y"), (length.months, "M"), (length.days, "D"))
    hours = _parts((length.hours, "H"), (length.minutes, "M"), (length.seconds, "S"))
    return f"P{days}T{hours}" if hours else f"P{days}" if days else "PT0S"


def _parts(*parts: tuple[int, str]) -> str:
    return "".join(f"{count}{unit}" for count, unit in parts if count)


def later(instant: datetime, length: relativedelta | timedelta) -> datetime:
    """Return ``instant`` plus ``length``, in whole seconds.

    Raise ValueError if the result is after the last supported year.
    """
    try:
        moved = instant + length
    except (OverflowError, ValueError):
        moved = None
    if moved is None or moved > LATEST:
        raise ValueError(f"the clock cannot go beyond {wire(LATEST)}")
    return moved.replace(microsecond=0)
