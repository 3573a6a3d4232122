"""Whatever values a call has, a local and a remote sandbox answer alike or refuse alike."""

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
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from reseller_sandbox import Refused, Sandbox, connect
from tests.powers.doors import OPERATIONS, Operation, in_python, measured, resolved
from tests.registry import REGISTRY
from tests.thorough import tries


class Word(str, enum.Enum):  # noqa: UP042  (str() of a member differs from its value, unlike with StrEnum)
    """Words as a client's own code may have them."""

    MAIN = "main"
    OVERDUE = "overdue"
    EVERY = "v3.*"


def nested(levels: int) -> dict[str, Any]:
    """Return an object of so many levels."""
    return {"a": nested(levels - 1)} if levels else {}


HUGE = 10**5000

#: Values that JSON has no form for, or another form.
ODD: tuple[Any, ...] = (
    *(Word.MAIN, Word.OVERDUE, [Word.EVERY], "\ud800", {"name": "\ud800"}, b"main", Path("main"), object()),
    *(HUGE, -HUGE, -1, 10**20, float("nan"), float("inf"), True),
    *(Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("1E+99999"), Decimal("1.5")),
    *(("main",), {"main"}, range(3), {1: 2}, nested(30), MappingProxyType({"a": 1})),
    *(datetime(2026, 6, 1), datetime(2026, 6, 1, 1, tzinfo=timezone(timedelta(hours=5))), datetime.max),
    *(date(2026, 6, 1), datetime(1, 1, 1, tzinfo=UTC), timedelta(days=1), timedelta(milliseconds=500)),
    *(timedelta(seconds=-1), timedelta.max, relativedelta(months=1), relativedelta(months=-1)),
    *(relativedelta(year=2030), relativedelta(weekday=1), relativedelta(years=1, days=-10)),
)
#: Words that mean something in the tests' registry, or look as if they did.
WORDS = (
    *("active.com", "second.com", "arriving.com", "españa.com", "ACTIVE.com.", "wanted.com", "nobodys.com"),
    *("main", "other", "nobody", "com", "*", "*.com", "v3.*", "v3.balance", "v3.createDomain", "expiry"),
    *("r1", "start", "now", "before:r1", "b1", "here", "slow", "default", "latency", "A1001", "4xx", "ok"),
    *("P1D", "90m", "-P1D", "+30d", "3600", "12.50", "1e3", "2026-03-05T00:00:00Z", "2026-04-01", "soon"),
    *("7", "1.0", "true", "null", "a=b", '["*.com"]', '"text"', "{}", "@file", "-x"),
)
INSTANTS = ("2026-03-01T12:00:00Z", "2026-03-02", "2026-03-20T10:00:00+02:00", "2020-01-01T00:00:00Z")
TEXTS = st.sampled_from(WORDS) | st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12
)
NUMBERS = st.integers(-3, 40) | st.integers(-(10**17), 10**17)
ANY: SearchStrategy[Any] = st.sampled_from(ODD) | st.recursive(
    TEXTS | NUMBERS | st.booleans(),
    lambda one: st.lists(one, max_size=2) | st.dictionaries(TEXTS, one, max_size=2),
    max_leaves=4,
)


def fitting(shape: Mapping[str, Any]) -> SearchStrategy[Any]:
    """Return values that a JSON Schema describes, roughly: bounds and patterns may be left."""
    shape = resolved(shape)
    if "oneOf" in shape:
        return st.one_of([fitting(one) for one in shape["oneOf"]])
    if "enum" in shape:
        return st.sampled_from(list(shape["enum"]))
    match shape.get("type"):
        case "string":
            return st.sampled_from(INSTANTS) if shape.get("format") == "date-time" else TEXTS
        case "integer":
            return st.integers(0, 100) | st.sampled_from(
                [shape.get("maximum", 0), shape.get("minimum", 0) - 1]
            )
        case "number":
            return NUMBERS | st.decimals(-100, 100, places=2).map(float)
        case "boolean":
            return st.booleans()
        case "array":
            return st.lists(st.deferred(lambda: fitting(shape.get("items", {}))), max_size=3)
        case "object" if "properties" in shape:
            parts = {name: fitting(part) for name, part in shape["properties"].items()}
            return st.fixed_dictionaries({}, optional=parts)
    return ANY


@st.composite
def calls(draw: st.DrawFn) -> tuple[Operation, dict[str, Any]]:
    """Return an operation and parameters for it: most of them as documented, some of them wrong."""
    operation, given_ = draw(st.sampled_from(OPERATIONS)), {}
    often = 5 if len(operation.parameters) < 8 else 1
    for one in operation.parameters:
        if one.in_path or draw(st.integers(0, 9)) < (9 if one.required else often):
            given_[one.name] = draw(fitting(one.shape) if draw(st.integers(0, 9)) < 7 else ANY)
    if draw(st.integers(0, 9)) == 0:
        given_["colour"] = draw(TEXTS)
    return operation, given_


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[Sandbox, Sandbox]]:
    """Two sandboxes of one fixture, the second through a server."""
    here, there = Sandbox(REGISTRY), Sandbox(REGISTRY)
    with there.serve() as server, connect(server.url) as remote:
        yield here, remote


#: A server refuses half a character with the whole body, before it looks at the parameter.
MASKED = ("invalid_parameter", "invalid_entry", "invalid_fixture")


@settings(max_examples=tries(150))
@given(calls())
def test_a_local_and_a_remote_sandbox_answer_alike(
    both: tuple[Sandbox, Sandbox], call: tuple[Operation, dict[str, Any]]
) -> None:
    """The same result or the same refusal, and no other exception; what is refused changes nothing."""
    operation, told = call
    came = []
    for sandbox in both:
        for world in list(sandbox.worlds):
            if world.name != "default":
                sandbox.worlds.remove(world.name)
        sandbox.reset(original=True)
        sandbox.snapshot("here")
        sandbox.restore("here")
        sandbox.faults.add("latency", seconds=0, name="slow")
        sandbox.outside.when("P3D").register("wanted.com")
        before = sandbox.export()
        came.append(measured(in_python(sandbox)(operation.id, told)))
        assert came[-1][0] == "ok" or sandbox.export() == before
    here, there = came
    assert here == there or (here[0] in MASKED and there[0] == "malformed_body"), (operation.id, told)


def test_accounts_with_any_name_are_added_and_taken_back() -> None:
    """Also with the name and the secret of another account."""
    sandbox = Sandbox(REGISTRY)
    for name in ("", "x" * 300, "\u202e", "main"):
        opened = sandbox.accounts.add("new", name=name, contact={"name": "Ann"}, key="k", token="t")
        assert opened.name == name
        assert sandbox.accounts.get(str(opened.client_id)) == opened
        sandbox.reset()
        assert "new" not in [one.name for one in sandbox.accounts]


def test_an_entry_that_no_fixture_can_hold_is_refused() -> None:
    sandbox = Sandbox(REGISTRY)
    before = sandbox.export()
    for entry in ({"auth_code": "\ud800-code"}, {"license": "\ud800"}, {"contacts": nested(30)}):
        with pytest.raises(Refused, match=r"half a character|levels deep"):
            sandbox.names.add("new.com", **entry)
    assert sandbox.export() == before


def test_lengths_of_time_mean_the_same_locally_and_remotely(both: tuple[Sandbox, Sandbox]) -> None:
    for sandbox in both:
        with sandbox.fork() as world:
            placed = world.faults.add("latency", seconds=timedelta(milliseconds=500)).faults[0]
            assert placed.parameters["seconds"] == 0.5
            now = world.clock.now
            assert world.clock.advance(relativedelta(hours=36)).now == now + timedelta(hours=36)
            for odd in (timedelta(milliseconds=1500), relativedelta(year=2030), relativedelta(weekday=1)):
                with pytest.raises(Refused, match="by must be a length of time"):
                    world.clock.advance(odd)


def test_a_member_of_an_enumeration_is_taken_by_its_value(both: tuple[Sandbox, Sandbox]) -> None:
    for sandbox in both:
        assert sandbox.accounts[Word.MAIN].name == "main"
        lapsed = sandbox.names.list(stage=Word.OVERDUE, account=Word.MAIN).names
        assert [one.stage for one in lapsed] == ["overdue"]
        with sandbox.fork() as world:
            world.client().get("/v3/balance")
            assert len(world.journal.find(operation=[Word.EVERY]).requests) == 1
            assert world.names.add("new.com", account=Word.MAIN).account == "main"


def test_money_has_two_decimals_locally_and_remotely(both: tuple[Sandbox, Sandbox]) -> None:
    for sandbox in both:
        with sandbox.fork() as world:
            moved = world.outside.adjust_balance("main", to=7).fired[0]
            assert str(moved.balance) == str(world.accounts["main"].balance) == "7.00"
            assert str(world.outside.set_prices("com", renewal=5).fired[0].charged) == "0.00"
