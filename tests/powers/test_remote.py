"""A sandbox that a server holds is the same object as one in this process."""

from __future__ import annotations

from datetime import timedelta

import pytest

from reseller_sandbox import Refused, Sandbox, connect
from reseller_sandbox.remote import Unreachable
from tests.registry import REGISTRY


def test_the_same_calls_the_same_records() -> None:
    """Results are equal records, refusals say the same."""
    here, served = Sandbox(REGISTRY), Sandbox(REGISTRY)
    with served.serve() as server:
        there = connect(server.url)
        assert there.clock.advance(timedelta(days=90)) == here.clock.advance(timedelta(days=90))
        assert there.clock.now == here.clock.now == served.clock.now
        told = []
        for sandbox in (here, there):
            with pytest.raises(Refused) as refused:
                sandbox.clock.set("2020-01-01")
            told.append((refused.value.code, refused.value.message, refused.value.remedy))
        assert told[0] == told[1]


def test_a_text_that_looks_like_json_stays_a_text() -> None:
    """A glob with brackets is a glob, not a list of them, and one with quotes has them."""
    served = Sandbox(REGISTRY)
    served.client().get("/v3/balance")
    with served.serve() as server:
        there = connect(server.url)
        for glob, count in (("/v3/*", 1), ('["/v3/*"]', 0), ('"/v3/*"', 0)):
            assert there.journal.count(path=glob) == served.journal.count(path=glob) == count
        assert there.journal.count(path=["/v3/*", "/v2"]) == 1


def test_it_says_what_only_this_process_has() -> None:
    """And what there is nowhere, with the nearest word."""
    served = Sandbox(REGISTRY)
    with served.serve() as server:
        there = connect(server.url)
        with pytest.raises(AttributeError, match="only for a sandbox in this process"):
            _ = there.world
        with pytest.raises(AttributeError, match="nearest is clock"):
            _ = there.clok  # type: ignore[attr-defined]


def test_a_server_that_asks_for_a_token_gets_it() -> None:
    """And refuses who brings none."""
    served = Sandbox(REGISTRY, control_token="let-me-in")
    with served.serve() as server:
        assert connect(server.url, control_token="let-me-in").clock.frozen
        with pytest.raises(Refused, match="control_token_missing"):
            connect(server.url).clock.show()


def test_another_world_of_the_server() -> None:
    """Is chosen by its name; one that is not there is refused."""
    served = Sandbox(REGISTRY)
    with served.serve() as server, served.fork(name="mine") as fork:
        connect(server.url, world="mine").clock.advance("P1D")
        assert fork.clock.now == served.clock.now + timedelta(days=1)
        with pytest.raises(Refused, match="unknown_world"):
            connect(server.url, world="nobodys").clock.show()


def test_a_server_that_is_away_is_told_of_in_one_line() -> None:
    """With its address."""
    with pytest.raises(Unreachable, match=r"no sandbox answers at http://127\.0\.0\.1:1"):
        connect("http://127.0.0.1:1").clock.show()
