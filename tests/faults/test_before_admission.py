"""A rule that matches on the request alone applies before access control, whatever the path is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import pytest

from reseller_sandbox import Sandbox
from tests.connection import Connection
from tests.faults.conftest import Dialler

BALANCE = "/v3/balance"

#: Requests that reach no operation, with their status if no fault applies.
LOST = {
    "no credentials": ("GET", BALANCE, [], 401),
    "a wrong key": ("GET", BALANCE, ["X-SVC-APIKEY: nobody", "X-SVC-SIGNATURE: " + "0" * 64], 401),
    "no token": ("GET", "/V2.0/domain/active.com", [], 403),
    "a wrong token": ("GET", "/V2.0/domain/active.com", ["X-Auth-Token: nobody"], 403),
    "an unknown path of v3": ("GET", "/v3/nonsense", [], 404),
    "an unknown path of v2.0": ("GET", "/V2.0/nonsense", [], 404),
    "a path of no interface": ("GET", "/nonsense", [], 404),
    "a wrong method": ("DELETE", BALANCE, [], 405),
    "a version that is not served": ("GET", "/V3.0/domain/active.com", [], 501),
    "a body that is too long": ("POST", BALANCE, ["Content-Length: 99999999"], 413),
}

Ask = Callable[[str], Connection]


@pytest.fixture
def ask(dial: Dialler) -> Ask:
    """Sends one of ``LOST`` on a separate connection."""
    return lambda lost: dial.send_plain(*LOST[lost][:3])


def test_faults_apply_to_requests_that_reach_no_operation(served: Sandbox, ask: Ask, subtests) -> None:
    """A rule that asks for an operation or an account matches only requests that have one."""
    needing = ({"operation": "*"}, {"account": "*"}, {"domain": "*"}, {"path": "*", "operation": "*"})
    for lost in LOST:
        with subtests.test(lost):
            served.faults.replace([{"kind": "close", "match": match} for match in needing])
            assert ask(lost).head()[0] == LOST[lost][3]
            assert {rule.matched for rule in served.faults} == {0}
            with served.faults.preset("outage") as placed:
                assert ask(lost).rest() == b""
                assert (placed.matched, placed.applied) == (1, 1)
            served.faults.preset("maintenance")
            status, headers = ask(lost).head()
            assert (status, headers["retry-after"]) == (503, "1")
            entry = served.journal.list().requests[-1]
            assert (entry.carried_out, entry.outcome, entry.fault) == (False, "maintenance", "maintenance")


def test_a_rule_can_match_each_part_of_a_rejected_request(served: Sandbox, ask: Ask, subtests) -> None:
    for match in (
        {"method": "get"},
        {"path": "/v3/*"},
        {"headers": {"host": "*", "X-Absent": None}},
        {"query": {"absent": None}},
    ):
        with subtests.test(match=match), served.faults.add("close", match=match):
            assert ask("an unknown path of v3").rest() == b""
    served.faults.add("latency", seconds=0.5)
    connection = ask("a wrong key")
    assert connection.silent(0.05)
    assert connection.head()[0] == 401


def test_faults_never_apply_to_control_requests(served: Sandbox, dial: Dialler) -> None:
    """Not even to unknown paths below it: a world can always be repaired."""
    placed = served.faults.preset("outage")
    assert dial.get("/_sandbox/health").status == 200
    assert dial.get("/_sandbox/nonsense").status == 404
    assert placed.applied == 0
    assert dial.send("DELETE", "/_sandbox/faults").answer().json == {"faults": []}


def test_a_world_has_its_own_faults(served: Sandbox, dial: Dialler) -> None:
    """The path or the credentials choose the world; other requests belong to the default world."""
    with served.fork(name="calm") as calm:
        served.faults.preset("outage")
        assert dial.get("/_worlds/calm/v3/nonsense").status == 404
        with closing(Dialler(calm, dial.url)) as other:
            assert other.get(BALANCE).status == 200
        assert dial.get("/_worlds/nowhere/v3/balance").status == 404
        assert dial.send("GET", "/v3/nonsense").rest() == b""
