"""The clock over HTTP: to read, freeze, run, set and advance it."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Answer, Api
from tests.documented import document
from tests.registry import order_of
from tests.shapes import ISO, fits

CLOCK = "/_sandbox/clock"
NOW = "2026-03-01T12:00:00Z"


def advance(wire: Api, **how: Any) -> Answer:
    """Move the clock on."""
    return wire.call("POST", f"{CLOCK}/advance", how)


def test_the_clock_is_shown(wire: Api) -> None:
    """Its instant, and whether it stands still."""
    assert wire.get(CLOCK).json == {"now": NOW, "frozen": True}


def test_it_can_be_let_run_and_stopped(wire: Api) -> None:
    """Running, it goes on from where it stood."""
    assert wire.post(f"{CLOCK}/run").json["frozen"] is False
    assert wire.get(CLOCK).json["frozen"] is False
    stopped = wire.post(f"{CLOCK}/freeze").json
    assert stopped["frozen"] is True
    assert NOW <= stopped["now"] <= "2026-03-01T12:01:00Z"
    assert wire.get(CLOCK).json == stopped


@pytest.mark.parametrize(
    ("by", "now"),
    [
        ("P1D", "2026-03-02T12:00:00Z"),
        ("90m", "2026-03-01T13:30:00Z"),
        (3600, "2026-03-01T13:00:00Z"),
        ("3600", "2026-03-01T13:00:00Z"),
        ("P1M", "2026-04-01T12:00:00Z"),
        (0, NOW),
    ],
)
def test_it_advances_by_a_length_of_time(wire: Api, by: Any, now: str) -> None:
    """In any of the ways in which lengths are written."""
    answer = advance(wire, by=by).json
    assert (answer["now"], answer["frozen"]) == (now, True)
    assert wire.get("/v3/balance").json[0]["serverTime"] == now.replace("T", " ").rstrip("Z")


@pytest.mark.parametrize("path", ["set", "advance"])
def test_it_goes_to_an_instant_and_tells_what_happened(wire: Api, served: Sandbox, path: str) -> None:
    """Everything that came due, in order, each at its own instant."""
    answer = wire.call("POST", f"{CLOCK}/{path}", {"to": "2026-03-05T12:00:00Z"}).json
    assert answer["now"] == "2026-03-05T12:00:00Z"
    told = [(event["at"], event["event"], event["subject"]) for event in answer["fired"]]
    assert ("2026-03-03T12:00:00Z", "release", "pending.com") in told
    assert ("2026-03-04T12:00:00Z", "transfer completion", "arriving.com") in told
    assert ("2026-03-05T12:00:00Z", "transfer completion", "leaving.com") in told
    assert told == sorted(told, key=lambda event: event[0])
    arrived = next(event for event in answer["fired"] if event["subject"] == "arriving.com")
    assert (arrived["account"], arrived["order"]) == ("main", order_of(served, "arriving.com").id)
    fits(arrived["at"], ISO)


def test_an_automatic_renewal_tells_its_price(wire: Api, served: Sandbox) -> None:
    """And who paid it."""
    fired = advance(wire, to="2026-11-21T12:00:00Z").json["fired"]
    renewal = next(event for event in fired if event["subject"] == "active.com")
    assert (renewal["event"], renewal["account"], renewal["charged"]) == (
        "automatic renewal",
        "main",
        "15.00",
    )


def test_internationalised_names_are_told_in_unicode(wire: Api) -> None:
    """For people to read."""
    fired = advance(wire, by="P1Y").json["fired"]
    assert "españa.com" in {event["subject"] for event in fired}


@pytest.mark.parametrize("path", ["set", "advance"])
def test_it_does_not_go_back(wire: Api, served: Sandbox, path: str) -> None:
    """It says what it shows, and stays there."""
    moment = served.world.moment
    answer = wire.call("POST", f"{CLOCK}/{path}", {"to": "2026-02-01"})
    assert (answer.status, answer.error) == (409, "set_back")
    assert NOW in answer.message
    assert "2026-02-01T00:00:00Z" in answer.message
    assert served.world.moment is moment


@pytest.mark.parametrize(
    ("body", "fine"),
    [({"by": 60}, True), ({"until": "next"}, True), ({}, False), ({"by": 60, "to": "2027-01-01"}, False)],
)
def test_the_document_allows_what_the_clock_takes(wire: Api, body: Any, fine: bool) -> None:
    """Exactly one way to say how far."""
    operation = document("control").operation("POST", f"{CLOCK}/advance")
    assert operation is not None
    assert document("control").requests(operation["requestBody"]).is_valid(body) is fine
    assert wire.call("POST", f"{CLOCK}/advance", body).status == (200 if fine else 400)


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("advance", {}, "takes exactly one of by, to"),
        ("advance", {"by": "P1D", "to": "2027-01-01"}, "takes exactly one of by, to"),
        ("advance", {"by": "a while"}, "by must be a length of time such as P30D, 90m or 3600, not 'a wh"),
        ("advance", {"by": -1}, "by must be a length of time"),
        ("advance", {"by": 1.5}, "by must be a length of time"),
        ("advance", {"by": "P1000Y"}, "goes no further than 2900"),
        ("advance", {"by": "9" * 100}, "by must be a length of time"),
        ("advance", {"to": "9999-01-01"}, "from 1985 to 2900"),
        ("advance", {"by": True}, "by must be a length of time"),
        ("advance", {"by": "P1D", "speed": 2}, "speed is not known here"),
        ("set", {}, "to is missing"),
        ("set", {"to": "soon"}, "soon"),
        ("set", {"to": 5}, "to must be an instant"),
        ("set", {"to": "0001-01-01T00:00:00+14:00"}, "from 1985 to 2900"),
    ],
)
def test_a_bad_move_is_refused_with_a_word(
    wire: Api, served: Sandbox, path: str, body: Any, told: str
) -> None:
    """And nothing has moved."""
    moment = served.world.moment
    answer = wire.call("POST", f"{CLOCK}/{path}", body)
    assert (answer.status, answer.error) == (400, "invalid_parameter"), answer.raw
    assert told in answer.message
    assert served.world.moment is moment
