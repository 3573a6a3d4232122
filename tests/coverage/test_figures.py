"""The items of the contract, when they count as exercised, and how to exercise a missing item."""

from __future__ import annotations

import inspect
from contextlib import suppress
from http.client import HTTPException
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.testing import EndlessWait
from tests.registry import REGISTRY

RENEW = "/v3/domains/renewDomain/{}"
AREAS = {"operations", "errors", "stages", "transitions", "events", "faults", "assumptions", "situations"}

#: The only transition that a request of another account makes.
BY_ANOTHER_ACCOUNT = "arriving to active"


@pytest.fixture
def sandbox() -> Sandbox:
    return Sandbox(REGISTRY)


def exercised(sandbox: Sandbox, area: str) -> dict[str, Any]:
    return {item.item: item for item in sandbox.coverage.items(area=area, seen=True).items}


def test_items_of_coverage_are_all_operations_and_errors_and_stages_and_assumptions(sandbox: Sandbox) -> None:
    """The items of an interface include the items without an interface."""
    items = sandbox.coverage.items().items
    assert len({(item.area, item.item) for item in items}) == len(items)
    names = {area: {item.item for item in items if item.area == area} for area in AREAS}
    assert set(names) == {item.area for item in items}
    assert sorted(name.partition(".")[0] for name in names["operations"]) == ["v2"] * 27 + ["v3"] * 27
    assert len([name for name in names["errors"] if name.startswith("v2.")]) == 185
    assert {"v3.balance signature_mismatch", "v3.renewDomain locked"} <= names["errors"]
    assumptions = {assumption.name for assumption in sandbox.assumptions.list().assumptions}
    assert assumptions - names["assumptions"] == {"lifecycle.autorenew.tries"}
    assert {"v3.renewDomain redemption", "v2.domain.info arriving"} <= names["stages"]
    assert not {"v3.requestTransfer arriving", "v3.createDomain active"} & names["stages"]
    items = sandbox.coverage.items(operation="v3.*").items
    assert {item.operation.partition(".")[0] for item in items if item.operation} == {"v3"}
    about = {item.item.partition(".")[0] for item in items if item.area == "assumptions"}
    assert about >= {"v3", "lifecycle"}
    assert "v2" not in about
    assert {item.area for item in items} == AREAS


def test_coverage_counts_operations_carried_out_and_errors_received(sandbox: Sandbox) -> None:
    """An injected error is marked."""
    client = sandbox.client()
    client.post(RENEW.format("nobodys.com"))
    (seen,) = [item for item in sandbox.coverage.items(area="operations").items if item.times]
    assert (seen.item, seen.covered, seen.times, seen.refused) == ("v3.renewDomain", False, 1, 1)
    client.post(RENEW.format("active.com"))
    seen = exercised(sandbox, "operations")["v3.renewDomain"]
    assert (seen.covered, seen.times, seen.carried_out, seen.refused) == (True, 2, 1, 1)
    assert seen.by == ("default/r1", "default/r2")
    for error in ("domain_not_found", "locked"):
        with sandbox.faults.add("error", error=error, match={"operation": "v3.renewDomain"}):
            client.post(RENEW.format("active.com"))
    errors = {name: (one.times, one.injected) for name, one in exercised(sandbox, "errors").items()}
    assert errors == {"v3.renewDomain domain_not_found": (2, 1), "v3.renewDomain locked": (1, 1)}


def test_coverage_counts_an_error_with_a_lost_answer_only_as_a_fault(sandbox: Sandbox) -> None:
    for kind in ("close", "garbage", "truncate", "hang"):
        sandbox.faults.replace([{"kind": kind, "when": {"phase": "after"}}])
        sandbox.coverage.clear()
        with suppress(OSError, HTTPException, EndlessWait):
            sandbox.client().post(RENEW.format("nobodys.com"))
        assert exercised(sandbox, "errors") == {}
        assert set(exercised(sandbox, "faults")) == {f"{kind} after"}


def test_coverage_counts_a_stage_unless_an_earlier_check_refused_the_request(sandbox: Sandbox) -> None:
    client = sandbox.client()
    sandbox.names.add("removed.com", account="main", stage="redemption")
    client.post(RENEW.format("removed.com"), json={"years": "many"})
    assert exercised(sandbox, "stages") == {}
    client.post(RENEW.format("removed.com"))
    client.post(RENEW.format("active.com"))
    stages = {name: one.carried_out for name, one in exercised(sandbox, "stages").items()}
    assert stages == {"v3.renewDomain redemption": 0, "v3.renewDomain active": 1}


def test_coverage_counts_transitions_events_and_assumption_values(sandbox: Sandbox) -> None:
    sandbox.clock.advance("P2Y", dry_run=True)
    sandbox.simulate.release("theirs.com")
    assert exercised(sandbox, "events") == {}
    assert sandbox.coverage.show().covered == 0
    client = sandbox.client()
    client.post("/v3/domains/createDomain", json={"domain": {"domainName": "brand-new.com"}})
    sandbox.assumptions.set({"v3.ids": "integer"})
    client.get("/v3/domains/getDomain/brand-new.com")
    sandbox.clock.advance("P2Y")
    assert set(exercised(sandbox, "transitions")) == {"nothing to active"}
    assert {"expiry", "redemption", "pending delete", "release"} <= set(exercised(sandbox, "events"))
    assert exercised(sandbox, "assumptions")["v3.ids"].values == ("string", "integer")


def test_coverage_survives_a_rewind_a_reset_and_a_full_journal() -> None:
    sandbox = Sandbox(REGISTRY, journal=2)
    client = sandbox.client()
    client.post(RENEW.format("active.com"))
    sandbox.rewind("r1")
    client.get("/v3/balance")
    sandbox.journal.clear()
    for _ in range(5):
        client.get("/v3/domains/getDomain/active.com")
    sandbox.reset()
    operations = {name: one.times for name, one in exercised(sandbox, "operations").items()}
    assert operations == {"v3.renewDomain": 1, "v3.balance": 1, "v3.getDomain": 5}


def test_coverage_of_all_worlds_is_the_union_of_their_items(sandbox: Sandbox) -> None:
    sandbox.client().get("/v3/domains")
    with sandbox.fork(name="short-lived") as other:
        other.client().get("/v3/balance")
        other.client().get("/v3/domains")
        assert set(exercised(sandbox, "operations")) == {"v3.listDomains"}
    everywhere = sandbox.coverage.items(area="operations", seen=True, everywhere=True).items
    assert {item.item: item.times for item in everywhere} == {"v3.balance": 1, "v3.listDomains": 2}
    assert [item.by for item in everywhere if item.times == 1] == [("short-lived/r2",)]
    for area in sandbox.coverage.show(everywhere=True).areas:
        assert area.percentage == 1000 * area.covered // area.total / 10, area.area
    assert sandbox.coverage.clear().covered == 0
    assert sandbox.coverage.show(everywhere=True).covered > 0
    assert sandbox.coverage.clear(everywhere=True).covered == 0


def test_the_sample_calls_of_a_coverage_gap_exercise_the_missing_item(subtests: pytest.Subtests) -> None:
    """The test takes every sixth gap of a stage, every fourteenth injected error, and all other gaps."""
    seeded = Sandbox()
    gaps = seeded.coverage.missing(limit=1000).gaps
    assert {gap.area for gap in gaps[:8]} == AREAS
    assert all(gap.how for gap in gaps)
    kinds: dict[str, list[Any]] = {area: [gap for gap in gaps if gap.area == area] for area in AREAS}
    assert all(gap.inject and "{" not in gap.how for gap in kinds["errors"])
    kinds["stages"], kinds["errors"] = kinds["stages"][::6], kinds["errors"][::14]
    for gap in (gap for area in AREAS - {"assumptions", "situations"} for gap in kinds[area]):
        if gap.item == BY_ANOTHER_ACCOUNT:
            continue
        is_error = gap.area == "errors"
        with subtests.test(gap.area, item=gap.item), seeded.fork() as world:
            for step in (*gap.needs, *([gap.inject] if is_error else [])):
                take(world, step)
            if gap.request is not None:
                with suppress(OSError, HTTPException):  # some faults leave no answer
                    request = gap.request
                    world.client().open(request.path, method=request.method, json=request.body)
            item = exercised(world, gap.area)[gap.item]
            assert not is_error or (item.times, item.injected, item.only_injected) == (1, 1, True)
            assert not is_error or all(fault.exhausted for fault in world.faults.list().faults)


def take(sandbox: Sandbox, step: Any) -> None:
    """Call the method of a step."""
    resource, _, verb = step.call.partition(".")
    method, given = getattr(getattr(sandbox, resource), verb), dict(step.parameters)
    parameters = inspect.signature(method).parameters.values()
    first = [
        given.pop(parameter.name)
        for parameter in parameters
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY
    ]
    method(*first, **given)
