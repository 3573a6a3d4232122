"""Every v3 refusal, raised by a real request for its real reason, in the declared order of the checks."""

from __future__ import annotations

import pytest

from reseller_sandbox.core.refusals import INTERNAL_ERROR
from reseller_sandbox.v3 import errors
from reseller_sandbox.v3.interface import V3
from reseller_sandbox.web.errors import status_of
from tests.registry import Make
from tests.v3.ladders import ASSUME, LADDERS, STATUS, Climb

ROWS = {row.id: row for row in V3.endpoints}
COMMON = [rule.code for rule in errors.COMMON]


@pytest.mark.parametrize("http_status", ["semantic", "always_200"])
@pytest.mark.parametrize("operation", ROWS)
def test_the_checks_are_made_in_the_declared_order(make: Make, operation: str, http_status: str) -> None:
    """One thing is mended at a time and the next refusal of the row shows; at the end there is none."""
    row = ROWS[operation]
    sandbox = make(assume=ASSUME | {"v3.errors.http_status": http_status})
    climb = Climb(sandbox, row.method, row.paths[0], takes_body=row.method in ("POST", "PUT"))
    climb.transport()
    LADDERS[operation](climb)
    climb.accepted()
    assert climb.visited == COMMON + [rule.code for rule in row.refuses]


def test_every_rule_has_the_status_that_fits() -> None:
    """The statuses that the climbs assert are those of every rule that a row of v3 declares."""
    declared = {rule for row in V3.endpoints for rule in (*row.refuses, *errors.COMMON)}
    assert {rule.code: int(status_of(rule)) for rule in declared} == STATUS
    assert status_of(INTERNAL_ERROR) == 500
