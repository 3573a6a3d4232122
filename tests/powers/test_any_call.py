"""Whatever a power is told, right or wrong, its four doors answer alike and refuse alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reseller_sandbox.powers.power import Operation
from reseller_sandbox.web.routes import method_of
from tests.powers.doors import OPERATIONS, Doors, doors_to, measured
from tests.powers.drawn import calls, fits
from tests.registry import REGISTRY
from tests.thorough import tries


@pytest.fixture(scope="module")
def doors() -> Iterator[Doors]:
    """The doors to a sandbox on a real port."""
    with doors_to(REGISTRY) as doors:
        yield doors


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.id)
@settings(max_examples=tries(8), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_door_answers_alike(doors: Doors, operation: Operation, data: st.DataObject) -> None:
    """The same result, or the same rule with the same message and remedy."""
    told = data.draw(calls(operation))
    expected = _came(doors, "python", operation, told)
    assert _came(doors, "remote", operation, told) == expected
    if fits(operation, told, in_words=method_of(operation) == "GET"):
        assert _came(doors, "http", operation, told) == expected
    if fits(operation, told, in_words=True) and _in_order(operation, told):
        outcome, said = _came(doors, "command", operation, told)
        if outcome == "refused":
            assert said == f"reseller-sandbox: {expected[1][0]}\n"
        else:
            assert outcome == expected[0], said
            assert outcome != "ok" or said == expected[1]


def _came(doors: Doors, door: str, operation: Operation, told: Mapping[str, Any]) -> Any:
    """Return what a call comes to in a world with a request, a snapshot, a branch, a fault and a plan."""
    if not doors.is_set:
        doors.start_over()
        sandbox = doors.sandbox
        sandbox.client().get("/v3/balance")
        sandbox.snapshot("here")
        sandbox.restore("here")
        sandbox.faults.add("latency", seconds=0, name="slow")
        sandbox.outside.when("P3D").register("wanted.com")
    doors.is_set = operation.sort != "act"
    return measured(doors.through[door](operation.id, dict(told)))


def _in_order(operation: Operation, told: Mapping[str, Any]) -> bool:
    """Whether no argument is left out before one that is given."""
    arguments = [one.name in told for one in operation.parameters if one.place != "option"]
    return arguments == sorted(arguments, reverse=True)
