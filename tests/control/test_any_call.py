"""For any values, a local and a remote sandbox return the same result or the same refusal."""

from __future__ import annotations

import enum
import json
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta, timezone
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
from tests.control.interfaces import OPERATIONS, Operation, in_python, measured, resolved
from tests.registry import REGISTRY, start_over
from tests.thorough import tries


class Word(str, enum.Enum):  # noqa: UP042  (str() of a member differs from its value, unlike with StrEnum)
    """An enumeration in a client."""

    MAIN = "main"
    OVERDUE = "overdue"
    EVERY = "v3.*"


HUGE, DEEP = 10**5000, json.loads('{"a":' * 30 + "1" + "}" * 30)

#: Values that JSON cannot express, or expresses in another form.
ODD: tuple[Any, ...] = (
    *(Word.MAIN, Word.OVERDUE, [Word.EVERY], "\ud800", {"name": "\ud800"}, b"main", Path("main"), object()),
    *(HUGE, -HUGE, float("nan"), True, Decimal("sNaN"), Decimal("Infinity"), Decimal("1E+99999")),
    *(Decimal("1.5"), ("main",), {"main"}, range(3), {1: 2}, DEEP, MappingProxyType({"a": 1})),
    *(datetime(2026, 6, 1), datetime(2026, 6, 1, 1, tzinfo=timezone(timedelta(hours=5))), datetime.max),
    *(date(2026, 6, 1), timedelta(milliseconds=500), timedelta(seconds=-1), timedelta.max),
    *(relativedelta(months=-1), relativedelta(year=2030), relativedelta(years=1, days=-10)),
)
#: Words with a meaning in the registry of the tests, and similar words.
WORDS = (
    *("active.com", "second.com", "arriving.com", "españa.com", "ACTIVE.com.", "wanted.com", "nobodys.com"),
    *("main", "other", "nobody", "com", "*", "*.com", "v3.*", "v3.balance", "expiry", "slow", "latency"),
    *("r1", "start", "now", "before:r1", "b1", "here", "default", "A1001", "4xx", "ok", "-P1D", "+30d"),
    *("3600", "12.50", "1e3", "2026-04-01", "7", "true", "null", "a=b", '["*.com"]', '"text"', "{}", "@file"),
)
INSTANTS = ("2026-03-01T12:00:00Z", "2026-03-02", "2026-03-20T10:00:00+02:00", "2020-01-01T00:00:00Z")
LETTERS = st.characters(codec="utf-8", exclude_characters="\0")
TEXTS = st.sampled_from(WORDS) | st.text(LETTERS, min_size=1, max_size=12)
NUMBERS = st.integers(-3, 40) | st.integers(-(10**17), 10**17)
ANY: SearchStrategy[Any] = st.sampled_from(ODD) | st.recursive(
    TEXTS | NUMBERS | st.booleans(),
    lambda one: st.lists(one, max_size=2) | st.dictionaries(TEXTS, one, max_size=2),
    max_leaves=4,
)


def fitting(shape: Mapping[str, Any]) -> SearchStrategy[Any]:
    """Return values for a JSON Schema. Some of them are outside its bounds or do not match its patterns."""
    shape = resolved(shape)
    kind = shape.get("type", "")
    if "oneOf" in shape:
        return st.one_of([fitting(schema) for schema in shape["oneOf"]])
    if "enum" in shape:
        return st.sampled_from(list(shape["enum"]))
    if kind == "array":
        return st.lists(st.deferred(lambda: fitting(shape.get("items", {}))), max_size=3)
    if kind == "object" and "properties" in shape:
        parts = {name: fitting(part) for name, part in shape["properties"].items()}
        return st.fixed_dictionaries({}, optional=parts)
    limits = [shape.get("maximum", 0), shape.get("minimum", 0) - 1]
    simple: dict[str, SearchStrategy[Any]] = {
        "string": st.sampled_from(INSTANTS) if shape.get("format") == "date-time" else TEXTS,
        "integer": st.integers(0, 100) | st.sampled_from(limits),
        "number": NUMBERS | st.decimals(-100, 100, places=2).map(float),
        "boolean": st.booleans(),
    }
    return simple.get(kind, ANY)


@st.composite
def calls(draw: st.DrawFn) -> tuple[Operation, dict[str, Any]]:
    """Return an operation with parameters. Most of them are as documented, and some are invalid."""
    operation, parameters = draw(st.sampled_from(OPERATIONS)), {}
    often = 5 if len(operation.parameters) < 8 else 1
    for one in operation.parameters:
        if one.in_path or draw(st.integers(0, 9)) < (9 if one.required else often):
            parameters[one.name] = draw(fitting(one.shape) if draw(st.integers(0, 9)) < 7 else ANY)
    if draw(st.integers(0, 9)) == 0:
        parameters["colour"] = draw(TEXTS)
    return operation, parameters


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[Sandbox, Sandbox]]:
    """Two sandboxes of the same fixture: a local one and a remote one."""
    in_process, there = Sandbox(REGISTRY), Sandbox(REGISTRY)
    with there.serve() as server, connect(server.url) as remote:
        yield in_process, remote


#: A server refuses a body with half a surrogate pair before it reads the parameter.
MASKED = ("invalid_parameter", "invalid_entry", "invalid_fixture")


@settings(max_examples=tries(50))
@given(calls())
def test_any_call_has_the_same_result_locally_and_remotely(
    both: tuple[Sandbox, Sandbox], call: tuple[Operation, dict[str, Any]]
) -> None:
    """The same result or the same refusal, and no other exception. A refused call changes nothing."""
    operation, parameters = call
    outcomes = []
    for sandbox in both:
        start_over(sandbox)
        sandbox.snapshot("here")
        sandbox.restore("here")
        sandbox.faults.add("latency", seconds=0, name="slow")
        sandbox.simulate.when("P3D").register("wanted.com")
        before = sandbox.export()
        outcomes.append(measured(in_python(sandbox)(operation.id, parameters)))
        assert outcomes[-1][0] == "ok" or sandbox.export() == before
    in_process, there = outcomes
    assert in_process == there or (in_process[0] in MASKED and there[0] == "malformed_body"), (
        operation.id,
        parameters,
    )


def test_local_and_remote_calls_read_python_values_in_the_same_way(both: tuple[Sandbox, Sandbox]) -> None:
    """Durations, members of enumerations, and money, which has two decimals."""
    for sandbox in both:
        assert sandbox.accounts[Word.MAIN].name == "main"
        lapsed = sandbox.names.list(stage=Word.OVERDUE, account=Word.MAIN).names
        assert [record.stage for record in lapsed] == ["overdue"]
        with sandbox.fork() as world:
            placed = world.faults.add("latency", seconds=timedelta(milliseconds=500)).faults[0]
            assert placed.parameters["seconds"] == 0.5
            now = world.clock.now
            assert world.clock.advance(relativedelta(hours=36)).now == now + timedelta(hours=36)
            for odd in (timedelta(milliseconds=1500), relativedelta(year=2030), relativedelta(weekday=1)):
                with pytest.raises(Refused, match="by must be a duration"):
                    world.clock.advance(odd)
            world.client().get("/v3/balance")
            assert len(world.journal.list(operation=[Word.EVERY]).requests) == 1
            moved = world.accounts.set_balance("main", 7).events[0]
            assert str(moved.balance) == str(world.accounts["main"].balance) == "7.00"
