"""Whatever Python gives for a value, a sandbox of this process and one elsewhere take it alike, or refuse."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from dateutil.relativedelta import relativedelta

from reseller_sandbox import Sandbox, connect
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.powers.power import Operation
from tests.powers.doors import OPERATIONS
from tests.registry import REGISTRY


class Word(str, enum.Enum):  # noqa: UP042  (whose text, unlike a StrEnum's, is another than its letters)
    """Words as a client's own code may have them."""

    MAIN = "main"
    OVERDUE = "overdue"
    EVERY = "v3.*"


def nested(levels: int) -> dict[str, Any]:
    """An object so many levels deep."""
    made: dict[str, Any] = {}
    for _ in range(levels):
        made = {"a": made}
    return made


HUGE = 10**5000

#: What no JSON door could be given, or what means the same in another spelling there.
VALUES: tuple[Any, ...] = (
    *(Word.MAIN, Word.OVERDUE, [Word.EVERY], "\ud800", {"name": "\ud800"}, b"main", Path("main"), object()),
    *(HUGE, -HUGE, -1, 10**20, float("nan"), float("inf"), True),
    *(Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("1E+99999"), Decimal("1.5")),
    *(("main",), {"main"}, range(3), {1: 2}, nested(30), MappingProxyType({"a": 1})),
    *(datetime(2026, 6, 1), datetime(2026, 6, 1, 1, tzinfo=timezone(timedelta(hours=5))), datetime.max),
    *(date(2026, 6, 1), datetime(1, 1, 1, tzinfo=UTC), timedelta(days=1), timedelta(milliseconds=500)),
    *(timedelta(seconds=-1), timedelta.max, relativedelta(months=1), relativedelta(months=-1)),
    *(relativedelta(year=2030), relativedelta(weekday=1), relativedelta(years=1, days=-10)),
)

#: What calls need beside the value that is tried.
NEEDED: Mapping[str, Any] = {
    **{"account": "main", "zone": "com", "domain": "second.com", "of": "renewal", "in_service": True},
    **{"name": "new.com", "contact": {"name": "Ann"}, "number": 77, "handle": "N1", "ips": ["192.0.2.1"]},
    **{"to": "2030-01-01", "request": "r1", "world": "nowhere", "plan": 9, "capsule": "AAAA", "fixture": {}},
    **{"changes": {}, "faults": []},
}


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[Sandbox, Sandbox]]:
    """Two like sandboxes, one of this process and one of a server."""
    here, there = Sandbox(REGISTRY), Sandbox(REGISTRY)
    with there.serve() as server, connect(server.url) as remote:
        yield here, remote


class Tried:
    """Calls of one operation of a sandbox; those that change something have a world of their own."""

    def __init__(self, sandbox: Sandbox, operation: Operation) -> None:
        self.sandbox = self.world = sandbox
        self.operation = operation

    def came(self, told: Mapping[str, Any]) -> str:
        """What a call comes to: ok, or the rule by which it is refused."""
        if self.operation.sort == "act" and self.world is self.sandbox:
            self.world = self.sandbox.fork()
        given = dict(told)
        by_place = [given.pop(name) for name in self.operation.segments]
        spelt = {one.name: one.attribute for one in self.operation.parameters}
        power, _, verb = self.operation.id.partition(".")
        before = self.world.world.state if hasattr(self.world, "world") else None
        try:
            getattr(getattr(self.world, power), verb)(
                *by_place, **{spelt[name]: value for name, value in given.items()}
            )
        except Refused as refused:
            assert before is None or self.world.world.state is before, f"{told} is refused, and changes"
            return refused.code
        self.close()
        return "ok"

    def close(self) -> None:
        """Give up the world of its own."""
        if self.world is not self.sandbox:
            self.world.close()
            self.world = self.sandbox


@pytest.mark.slow
@pytest.mark.parametrize(
    "operation", [one for one in OPERATIONS if one.sort != "stream"], ids=lambda one: one.id
)
def test_every_parameter_takes_a_python_value_alike_through_either_door(
    both: tuple[Sandbox, Sandbox], operation: Operation
) -> None:
    """The same result or the same rule; no other exception; and what is refused changes nothing."""
    required = {one.name: NEEDED.get(one.name, "nothing") for one in operation.parameters if one.required}
    tried = [Tried(sandbox, operation) for sandbox in both]
    for parameter in operation.parameters:
        for value in VALUES:
            here, there = (one.came({**required, parameter.name: value}) for one in tried)
            assert here == there or (here, there) in MASKED, (parameter.name, value, here, there)
    for one in tried:
        one.close()


#: Half a character is no JSON: a server says so of the whole body, before it looks at what is in it.
MASKED = {(code, "malformed_body") for code in ("invalid_parameter", "invalid_entry", "invalid_fixture")}


@pytest.mark.parametrize("name", ["", "x" * 300, "\u202e", "main"])
def test_an_account_is_opened_whatever_it_is_called(name: str) -> None:
    """Its record is that of the new account, even where no name leads to it."""
    sandbox = Sandbox(REGISTRY)
    opened = sandbox.accounts.add("new", name=name, contact={"name": "Ann"}, key="k", token="t")
    assert (opened.name, opened.key) == (name, "k")
    assert sandbox.accounts.get(str(opened.client_id)).key == "k"


def test_what_a_fixture_takes_can_be_written_as_one() -> None:
    """Half a character, which no file can hold, is refused; so is what is nested too deep."""
    sandbox = Sandbox(REGISTRY)
    for entry in ({"auth_code": "\ud800-code"}, {"license": "\ud800"}, {"contacts": nested(30)}):
        before = sandbox.export()
        with pytest.raises(Refused, match=r"half a character|levels deep"):
            sandbox.names.add("new.com", **entry)
        assert sandbox.export() == before


def test_lengths_of_time_mean_the_same_everywhere(both: tuple[Sandbox, Sandbox]) -> None:
    """Half a second stays half a second; what has no ISO 8601 spelling is refused."""
    for sandbox in both:
        with sandbox.fork() as world:
            placed = world.faults.add("latency", seconds=timedelta(milliseconds=500)).faults[0]
            assert placed.parameters["seconds"] == 0.5
            now = world.clock.now
            assert world.clock.advance(relativedelta(hours=36)).now == now + timedelta(hours=36)
            for odd in (
                timedelta(seconds=-1),
                timedelta(milliseconds=1500),
                relativedelta(year=2030),
                relativedelta(weekday=1),
            ):
                with pytest.raises(Refused, match="by must be a length of time"):
                    world.clock.advance(odd)


def test_a_word_of_an_enumeration_is_its_letters(both: tuple[Sandbox, Sandbox]) -> None:
    """Whatever Python makes of it as a text."""
    for sandbox in both:
        assert sandbox.accounts[Word.MAIN].name == "main"
        lapsed = sandbox.names.list(stage=Word.OVERDUE, account=Word.MAIN).names
        assert [one.stage for one in lapsed] == ["overdue"]
        with sandbox.fork() as world:
            world.client().get("/v3/balance")
            assert len(world.journal.find(operation=[Word.EVERY]).requests) == 1
            assert world.names.add("new.com", account=Word.MAIN).account == "main"


def test_money_is_written_alike(both: tuple[Sandbox, Sandbox]) -> None:
    """With two digits after the point at the least, as it came or not."""
    for sandbox in both:
        with sandbox.fork() as world:
            moved = world.outside.adjust_balance("main", to=7).fired[0]
            assert str(moved.balance) == str(world.accounts["main"].balance) == "7.00"
            assert str(world.outside.set_prices("com", renewal=5).fired[0].charged) == "0.00"
            world.outside.adjust_balance("main", to=0)
            assert str(world.accounts["main"].balance) == "0.00"
