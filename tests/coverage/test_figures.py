"""What is counted as exercised, when, and what becomes of it."""

from __future__ import annotations

from contextlib import suppress
from http.client import HTTPException

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from reseller_sandbox.assembly import contract
from reseller_sandbox.core.assumptions import Assumptions
from reseller_sandbox.coverage.figures import areas, covered, percentage
from reseller_sandbox.coverage.items import AREAS, items
from reseller_sandbox.coverage.marks import Mark, Marks, exercised, merged
from reseller_sandbox.testing import EndlessWait
from reseller_sandbox.v2.interface import V2
from reseller_sandbox.v3.interface import V3
from tests.contract.test_v2_errors import DOCUMENTED
from tests.registry import REGISTRY
from tests.thorough import tries

RENEW = "/v3/domains/renewDomain/{}"
ITEMS = tuple(items(contract()))


@pytest.fixture
def sandbox() -> Sandbox:
    """A world that has seen nothing."""
    return Sandbox(REGISTRY)


def found(sandbox: Sandbox, area: str) -> dict[str, Mark]:
    """What has been exercised of an area."""
    return {one.item: one.mark for one in sandbox.coverage.items(area=area, seen=True).items}


class TestWhatThereIs:
    """Items follow from the rows, the tables and the kinds."""

    def test_every_operation_and_every_documented_error(self) -> None:
        """54 and, of v2.0, 185; of v3 what each row declares, but for what is no matter of the API."""
        mine = {one.name for one in ITEMS if one.area == "operations"}
        assert mine == {row.id for row in (*V3.endpoints, *V2.endpoints)}
        assert len(mine) == 54
        pairs = {(one.operation, one.detail) for one in ITEMS if one.area == "errors"}
        assert {pair for pair in pairs if pair[0].startswith("v2.")} == set(DOCUMENTED)
        v3 = {pair for pair in pairs if pair[0].startswith("v3.")}
        declared = {(row.id, rule.code) for row in V3.endpoints for rule in row.refuses}
        assert {code for _, code in declared - v3} == {"unsupported_media_type", "malformed_body"}
        assert {code for _, code in v3 - declared} == {
            "credentials_missing",
            "unknown_key",
            "signature_mismatch",
        }

    def test_an_item_is_there_once(self) -> None:
        """Under a name of its own in its area."""
        assert len({one.key for one in ITEMS}) == len(ITEMS)
        assert {one.area for one in ITEMS} == set(AREAS)

    def test_every_assumption_that_an_answer_can_rest_on(self) -> None:
        """All of them but what time alone goes by."""
        mine = {one.name for one in ITEMS if one.area == "assumptions"}
        assert set(Assumptions().values()) - mine == {"lifecycle.autorenew.tries"}

    def test_an_operation_at_a_stage_is_an_item_where_that_matters(self) -> None:
        """Where the stage may be refused, or is told."""
        stages = {(one.operation, one.detail) for one in ITEMS if one.area == "stages"}
        assert ("v3.renewDomain", "redemption") in stages
        assert ("v2.domain.info", "arriving") in stages
        assert ("v3.requestTransfer", "overdue") in stages
        assert not {("v3.requestTransfer", "arriving"), ("v3.createDomain", "active")} & stages
        assert not {one for one, _ in stages} & {"v2.domain.check", "v3.balance", "v2.customer.info"}


class TestWhatCounts:
    """A request counts for what it has come to."""

    def test_an_operation_counts_when_it_is_carried_out(self, sandbox: Sandbox) -> None:
        """One that was only refused is there, and does not count."""
        client = sandbox.client()
        client.post(RENEW.format("nobodys.com"))
        (seen,) = [one for one in sandbox.coverage.items(area="operations").items if one.times]
        assert (seen.item, seen.covered, seen.times, seen.refused) == ("v3.renewDomain", False, 1, 1)
        client.post(RENEW.format("active.com"))
        mark = found(sandbox, "operations")["v3.renewDomain"]
        assert (mark.times, mark.carried_out, mark.refused) == (2, 1, 1)
        assert list(mark.by) == ["default/r1", "default/r2"]

    def test_an_error_is_told_from_one_that_a_fault_made_up(self, sandbox: Sandbox) -> None:
        """Both count; how many were injected is said."""
        client = sandbox.client()
        client.post(RENEW.format("nobodys.com"))
        with sandbox.faults.add("error", error="domain_not_found", match={"operation": "v3.renewDomain"}):
            client.post(RENEW.format("active.com"))
        with sandbox.faults.add("error", error="locked", match={"operation": "v3.renewDomain"}):
            client.post(RENEW.format("active.com"))
        errors = found(sandbox, "errors")
        assert {name: (mark.times, mark.injected) for name, mark in errors.items()} == {
            "v3.renewDomain domain_not_found": (2, 1),
            "v3.renewDomain locked": (1, 1),
        }

    @pytest.mark.parametrize("kind", ["close", "garbage", "truncate", "hang"])
    def test_an_error_that_a_fault_kept_from_the_client_does_not_count(
        self, sandbox: Sandbox, kind: str
    ) -> None:
        """Nobody was told it; the fault counts, in its phase."""
        sandbox.faults.add(kind, when={"phase": "after"})
        with suppress(OSError, HTTPException, EndlessWait):
            sandbox.client().post(RENEW.format("nobodys.com"))
        assert found(sandbox, "errors") == {}
        assert set(found(sandbox, "faults")) == {f"{kind} after"}

    def test_a_stage_counts_when_the_operation_has_come_as_far(self, sandbox: Sandbox) -> None:
        """Not by a request that was refused before its name was looked at."""
        client = sandbox.client()
        sandbox.names.add("removed.com", account="main", stage="redemption")
        client.post(RENEW.format("removed.com"), json={"years": "many"})
        assert found(sandbox, "stages") == {}
        client.post(RENEW.format("removed.com"))
        client.post(RENEW.format("active.com"))
        stages = found(sandbox, "stages")
        assert {name: mark.carried_out for name, mark in stages.items()} == {
            "v3.renewDomain redemption": 0,
            "v3.renewDomain active": 1,
        }

    def test_transitions_events_and_assumptions(self, sandbox: Sandbox) -> None:
        """What requests made of a name, what time did, and under which values answers stand."""
        client = sandbox.client()
        client.post("/v3/domains/createDomain", json={"domain": {"domainName": "brand-new.com"}})
        sandbox.assumptions.set({"v3.ids": "integer"})
        client.get("/v3/domains/getDomain/brand-new.com")
        sandbox.clock.advance("P2Y")
        assert set(found(sandbox, "transitions")) == {"nothing to active"}
        assert {"expiry", "redemption", "pending delete", "release"} <= set(found(sandbox, "events"))
        assert list(found(sandbox, "assumptions")["v3.ids"].values) == ["string", "integer"]

    def test_nothing_is_counted_of_what_only_might_be(self, sandbox: Sandbox) -> None:
        """To look at what an advance would do is not to let it happen."""
        sandbox.clock.advance("P2Y", dry_run=True)
        assert sandbox.coverage.show().covered == 0


class TestWhatStays:
    """What a test has exercised stays so, whatever becomes of its world."""

    def test_neither_a_rewind_nor_a_reset_nor_a_full_journal_takes_anything(self) -> None:
        """It is told by whom it was exercised, too."""
        sandbox = Sandbox(REGISTRY, journal=2)
        client = sandbox.client()
        client.post(RENEW.format("active.com"))
        sandbox.rewind("r1")
        client.get("/v3/balance")
        sandbox.journal.clear()
        for _ in range(5):
            client.get("/v3/domains/getDomain/active.com")
        sandbox.reset()
        marks = found(sandbox, "operations")
        assert {name: mark.times for name, mark in marks.items()} == {
            "v3.renewDomain": 1,
            "v3.balance": 1,
            "v3.getDomain": 5,
        }

    def test_all_worlds_together_and_those_that_are_gone(self, sandbox: Sandbox) -> None:
        """Each request with the name of its world."""
        with sandbox.fork(name="short-lived") as other:
            other.client().get(f"/_worlds/{other.world.name}/v3/balance")
            assert found(sandbox, "operations") == {}
        everywhere = sandbox.coverage.items(area="operations", seen=True, everywhere=True).items
        assert [(one.item, one.by) for one in everywhere] == [("v3.balance", ("short-lived/r1",))]
        assert sandbox.coverage.clear().covered == 0
        assert sandbox.coverage.show(everywhere=True).covered > 0
        assert sandbox.coverage.clear(everywhere=True).covered == 0


def test_one_interface_alone() -> None:
    """With its operations and what belongs to them, the assumptions about it, and what belongs to none."""
    sandbox = Sandbox(REGISTRY)
    mine = sandbox.coverage.items(operation="v3.*").items
    assert {one.operation.partition(".")[0] for one in mine if one.operation} == {"v3"}
    about = {one.item.partition(".")[0] for one in mine if one.area == "assumptions"}
    assert "v2" not in about
    assert {"v3", "lifecycle"} <= about
    assert {one.area for one in mine} == set(AREAS)


#: What a run may have exercised: items, with how often.
RUNS = st.dictionaries(
    st.sampled_from([one.key for one in ITEMS]),
    st.builds(Mark, times=st.integers(0, 3), carried_out=st.integers(0, 1)),
    max_size=20,
)


@settings(max_examples=tries(30), deadline=None)
@given(st.lists(RUNS, max_size=4))
def test_what_several_runs_cover_together_is_the_union(runs: list[Marks]) -> None:
    """Neither more nor less, in whatever order they are put together."""
    whole = merged(runs)

    def of(marks: Marks) -> set[tuple[str, str]]:
        return {one.key for one in covered(ITEMS, marks) if one.covered}

    assert of(whole) == set().union(*map(of, runs)) == of(merged(reversed(runs)))
    assert all(exercised(key[0], whole[key]) for key in of(whole))
    assert sum(one.covered for one in areas(covered(ITEMS, whole))) == len(of(whole))


def test_all_of_it_alone_is_a_hundred_percent() -> None:
    """Shares are rounded down."""
    assert [percentage(*pair) for pair in ((999, 1000), (1, 3), (1000, 1000), (0, 0))] == [
        99.9,
        33.3,
        100.0,
        100.0,
    ]
