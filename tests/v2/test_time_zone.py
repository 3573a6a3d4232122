"""The time zone of dates that are written without a zone: ``dates.time_zone``."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import Refused, Sandbox
from reseller_sandbox.values.clock import local, local_date
from tests.registry import Make, connect, edit_name, edit_zone
from tests.v2.client import connect as connect_v2
from tests.v2.client import done, refusal

ZONES = ("Europe/Kyiv", "America/New_York", "Asia/Tokyo")
INSTANTS = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))


def spaced(instant: datetime, zone: str) -> str:
    return instant.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M:%S")


@pytest.mark.parametrize("zone", ["UTC", *ZONES])
def test_dates_without_a_zone_are_written_in_the_assumed_zone(make: Make, zone: str) -> None:
    sandbox = make(assume={"dates.time_zone": zone})
    edit_name(sandbox, "active.com", created="2025-06-30T23:30:00Z", expires="2026-06-30T23:30:00Z")
    edit_zone(sandbox, "com", registration_promotion={"price": "1.00", "until": "2026-12-31T23:30:00Z"})
    api, v2 = connect(sandbox), connect_v2(sandbox)
    name = sandbox.names.get("active.com")
    created, expires = spaced(name.created, zone), spaced(name.expires, zone)
    full = api.get("/v3/domains/getDomain/active.com")
    assert full.assumptions["dates.time_zone"] == zone
    listed = {row["domainName"]: row for row in api.get("/v3/domains").json["domains"]}["active.com"]
    for shown in (full.json["domain"], listed):
        assert (shown["createDate"], shown["expireDate"]) == (created, expires)
    assert api.get("/v3/balance").json[0]["serverTime"] == spaced(sandbox.clock.show().now, zone)
    info = v2.get("/domain/active.com").json
    assert (info["date_created"], info["date_end"]) == (created, expires)
    com = next(row for row in v2.get("/domain/zones").json["data"] if row["zone"] == "com")
    assert com["date_end_reg_action"] == spaced(datetime(2026, 12, 31, 23, 30, tzinfo=UTC), zone)
    locked = api.post("/v3/domains/lock/active.com")
    assert locked.json["domain"]["expireDate"] == "2026-06-30T23:30:00Z"
    assert "dates.time_zone" not in locked.assumptions


@pytest.mark.parametrize("zone", ["UTC", *ZONES])
def test_the_present_expiry_is_read_in_the_assumed_zone(make: Make, zone: str) -> None:
    sandbox = make(assume={"dates.time_zone": zone})
    edit_name(sandbox, "active.com", created="2025-06-30T23:30:00Z", expires="2026-06-30T23:30:00Z")
    v2 = connect_v2(sandbox)
    shown = v2.get("/domain/active.com").json["date_end"]
    other_day = "2026-07-01" if shown.startswith("2026-06-30") else "2026-06-30"
    wrong = v2.put("/domain/active.com/renew", {"current_expiry_date": other_day, "period": 1})
    assert refusal(wrong)[1] == "Not the correct current_expiry_date"
    assert f"expires on {shown[:10]}, not on {other_day}" in wrong.headers["x-sandbox-refusal"]
    present = {2026: shown, 2027: shown.replace("2026", "2027", 1)[:10], 2028: "2028-06-30T23:30:00Z"}
    for year, given_ in present.items():
        end = shown.replace("2026", str(year + 1), 1)
        body = {"current_expiry_date": given_, "period": 1, "date_end": end}
        assert done(v2.put("/domain/active.com/renew", body))["data"]["date_end"] == end


def test_an_unknown_time_zone_is_refused_with_a_suggestion(sandbox: Sandbox) -> None:
    for value, hint in {"Europe/Kiyv": "did you mean Europe/Kyiv", "+02:00": "must be a time zone"}.items():
        with pytest.raises(Refused, match=hint):
            sandbox.assumptions.set({"dates.time_zone": value})


@given(instant=INSTANTS, zone=st.sampled_from(ZONES))
def test_a_written_date_is_read_as_the_same_day(instant: datetime, zone: str) -> None:
    instant = instant.replace(microsecond=0)
    shown = local(instant, zone)
    assert shown.strftime("%Y-%m-%d %H:%M:%S") == spaced(instant, zone)
    assert local_date(instant, zone) == local_date(shown, zone) == shown.date()
