"""An entry says apart whether a request was carried out, what was answered, and which fault struck.

So nothing can be verified that did not happen: ``ok`` is what was carried out and answered so.
"""

from __future__ import annotations

from contextlib import suppress
from http.client import HTTPException
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.faults import KINDS
from tests.clients import Api
from tests.worlds.control import Control, inside, register, renew

BEFORE: dict[str, Any] = {"phase": "before"}
AFTER: dict[str, Any] = {"phase": "after"}

#: A fault, and of a registration that it strikes: whether it was carried out, what was answered.
STRUCK = [
    ({"kind": "error", "error": "insufficient_funds", "when": BEFORE}, False, "insufficient_funds"),
    ({"kind": "error", "error": "insufficient_funds", "when": AFTER}, True, "insufficient_funds"),
    ({"kind": "error", "status": 502, "when": BEFORE}, False, "fault"),
    ({"kind": "error", "status": 200, "body": {"result": "fine"}, "when": BEFORE}, False, "fault"),
    ({"kind": "error", "status": 502, "when": AFTER}, True, "fault"),
    ({"kind": "rate_limit", "limit": 0}, False, "rate_limited"),
    *(({"kind": kind, "when": BEFORE}, False, "fault") for kind in ("hang", "reset", "close", "garbage")),
    *(({"kind": kind, "when": AFTER}, True, "fault") for kind in ("hang", "reset", "close", "garbage")),
    ({"kind": "truncate"}, True, "fault"),
    ({"kind": "latency", "seconds": 0.01, "when": BEFORE}, True, "ok"),
    ({"kind": "latency", "seconds": 0.01, "when": AFTER}, True, "ok"),
    ({"kind": "drip", "size": 1000, "pause": 0}, True, "ok"),
    ({"kind": "bandwidth", "rate": 10**6}, True, "ok"),
    ({"kind": "mutate", "path": "totalPaid", "drop": True}, True, "ok"),
    ({"kind": "duplicate"}, True, "ok"),
    ({"kind": "duplicate", "answer": "second"}, True, "name_taken"),
]


def _struck(main: Api, name: str = "new.com") -> None:
    with suppress(OSError, HTTPException):
        register(main, name)


def _ids(found: list[dict[str, Any]]) -> list[str]:
    return [one["id"] for one in found]


@pytest.mark.parametrize(("fault", "carried_out", "outcome"), STRUCK)
def test_ok_is_what_was_carried_out_and_answered_so(
    sandbox: Sandbox, main: Api, steer: Control, fault: dict[str, Any], carried_out: bool, outcome: str
) -> None:
    """For each kind in each phase: the three things, that each can be matched, and that verify sees them."""
    sandbox.faults.add(**fault)
    _struck(main)
    assert ("new.com" in sandbox.world.state.holding_order) is carried_out
    (entry,) = steer.get("journal")["requests"]
    kind = fault["kind"]
    assert (entry["carried_out"], entry["outcome"], entry["fault"]) == (carried_out, outcome, kind)
    for query in ({"outcome": outcome}, {"carried_out": str(carried_out).lower()}, {"fault": f"{kind[:2]}*"}):
        assert _ids(steer.get("journal", **query)["requests"]) == ["r1"]
    for query in ({"carried_out": str(not carried_out).lower()}, {"fault": "other"}):
        assert steer.get("journal", **query)["requests"] == []
    assert steer.post("journal/verify", {"match": {"outcome": "ok"}})["verified"] is (outcome == "ok")
    assert steer.post("journal/verify", {"match": {"carried_out": True}})["verified"] is carried_out
    refused = outcome not in ("ok", "fault")
    assert steer.post("journal/verify", {"match": {"outcome": "refused"}})["verified"] is refused


def test_every_kind_has_its_case() -> None:
    """No kind is left out of the table above; what only reads is looked at below."""
    assert {fault["kind"] for fault, *_ in STRUCK} | {"stale"} == set(KINDS)


def test_a_read_is_carried_out_too(sandbox: Sandbox, main: Api) -> None:
    """Be its answer from the past."""
    register(main, "new.com")
    sandbox.faults.add("stale")
    assert main.get("/v3/domains/getDomain/new.com").error == "domain_not_found"
    assert main.get("/v3/balance").status == 200
    told = [(one.carried_out, one.outcome, one.fault) for one in sandbox.world.journal]
    assert told == [(True, "ok", None), (False, "domain_not_found", "stale"), (True, "ok", "stale")]


def test_a_refusal_that_a_fault_keeps_back_was_not_answered(sandbox: Sandbox, main: Api) -> None:
    """The registry's reason stands in the entry all the same."""
    sandbox.faults.add("reset", when=AFTER)
    _struck(main, "active.com")
    (entry,) = sandbox.world.journal
    assert (entry.carried_out, entry.outcome, entry.lost) == (False, "fault", True)
    explained = sandbox.journal.why("r1")
    assert explained is not None
    assert explained.rule == "name_taken"


def test_an_error_of_v2_is_matched_by_its_documented_message(sandbox: Sandbox, steer: Control) -> None:
    """Where it has a name of the contract's and no rule's."""
    sandbox.faults.add("error", error="System Error", match={"operation": "v2.*"})
    assert inside(sandbox).transport(
        "GET", "/V2.0/domain/active.com", [("X-Auth-Token", sandbox.account().token)], b""
    )
    assert _ids(steer.get("journal", outcome="System Error")["requests"]) == ["r1"]


def test_several_faults_are_each_matched(sandbox: Sandbox, main: Api, steer: Control) -> None:
    """A request that two have struck is found under either's name."""
    sandbox.faults.replace(
        [{"kind": "duplicate", "name": "twice"}, {"kind": "drip", "pause": 0, "name": "slowly"}]
    )
    renew(main, "xn--espaa-rta.com")
    for name in ("twice", "slowly"):
        assert _ids(steer.get("journal", fault=name)["requests"]) == ["r1"]


def test_a_failed_verification_tells_what_came_of_each(sandbox: Sandbox, main: Api) -> None:
    """So that a lost answer is not taken for a request that was never made."""
    sandbox.faults.add("reset", name="lost", when=AFTER)
    _struck(main)
    with pytest.raises(AssertionError, match=r"r1 .*: fault, though carried out \(fault lost\)"):
        sandbox.journal.expect(operation="v3.createDomain", outcome="ok")
