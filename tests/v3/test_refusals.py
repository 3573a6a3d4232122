"""Every v3 refusal, caused by a real request, in the order of the checks."""

from __future__ import annotations

import pytest

from tests.registry import Make
from tests.v3.ladders import ASSUME, LADDERS, STATUS, Climb
from tests.v3.operations import operations


@pytest.mark.parametrize("operation", LADDERS)
def test_checks_are_made_in_order_and_each_documented_refusal_occurs(make: Make, operation: str) -> None:
    row = operations()[operation]
    climb = Climb(make(assume=ASSUME), row.method, row.paths[0], takes_body=row.method in ("POST", "PUT"))
    climb.transport()
    LADDERS[operation](climb)
    climb.accepted()
    assert set(climb.visited) == set(row.errors)
    assert {code: STATUS[code] for code in row.errors} == row.errors


def test_every_operation_has_a_ladder() -> None:
    assert set(LADDERS) == set(operations())
