"""A past moment of a world, and a removed world: how they can be read, and that nothing changes them."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from reseller_sandbox import Refused, Sandbox, connect
from tests.control.examples import EXAMPLES
from tests.control.interfaces import in_python
from tests.registry import REGISTRY
from tests.registry import connect as api_of
from tests.worlds.control import register, whole


@pytest.fixture
def sandbox() -> Sandbox:
    """A world with a past: ``r1`` registers new.com, ``r2`` reads it, and then two years pass."""
    made = Sandbox(REGISTRY)
    register(api_of(made), "new.com")
    api_of(made).get("/v3/domains/getDomain/new.com")
    made.snapshot("early")
    made.clock.advance("P800D")
    return made


#: By point: whether new.com is there, and how many requests have come.
POINTS = {
    "start": (False, 0),
    "before:r1": (False, 0),
    "after:r1": (True, 1),
    "before:r2": (True, 1),
    "snapshot:early": (True, 2),
    "now": (False, 2),
}


def test_a_view_of_the_past_has_the_names_and_the_clock_and_the_journal_of_its_point(
    sandbox: Sandbox,
) -> None:
    before = whole(sandbox)
    with sandbox.serve() as server, connect(server.url) as remote:
        for point, expected in POINTS.items():
            for past in (sandbox.at(point), remote.at(point)):
                assert ("new.com" in past.names, past.journal.list().matching) == expected, point
                assert past.clock.now == sandbox.diff("start", point).to.now
                assert past.clock.frozen
    prefix, api = "/_worlds/default@{}/v3/domains/getDomain/new.com", api_of(sandbox)
    assert [api.get(prefix.format(point)).status for point in ("before:r1", "after:r1")] == [404, 200]
    assert whole(sandbox) == before
    past = sandbox.at(f"branch:{sandbox.rewind('r1').branch.name}")
    assert [request.operation for request in past.journal] == ["v3.createDomain", "v3.getDomain"]


def test_no_fault_applies_to_a_request_to_the_past(sandbox: Sandbox) -> None:
    api = api_of(sandbox)
    rules = [{"kind": "rate_limit", "limit": 1}, {"kind": "latency", "seconds": 60}, {"kind": "reset"}]
    sandbox.faults.replace(rules)
    for point in ("now", "after:r1", "now"):
        assert api.get(f"/_worlds/default@{point}/v3/balance").status == 200
    assert [(rule.matched, rule.applied) for rule in sandbox.faults] == [(0, 0)] * 3


def test_a_view_of_the_past_refuses_changes(sandbox: Sandbox) -> None:
    past, api, before = sandbox.at("after:r1"), api_of(sandbox), whole(sandbox)
    for act in (
        lambda: past.clock.advance("P1D"),
        lambda: past.worlds.fork(),
        lambda: past.rewind("r1"),
        lambda: sandbox.worlds.remove("default@after:r1"),
    ):
        with pytest.raises(Refused, match="can be looked at and not changed"):
            act()
    prefix = "/_worlds/default@after:r1"
    refused = api.post(f"{prefix}/v3/domains/createDomain", {"domain": {"domainName": "b.com"}})
    assert (refused.status, refused.error) == (404, "unknown_world")
    assert api.post(f"{prefix}/_sandbox/clock/freeze").error == "unknown_world"
    assert past.clock.advance("P1D", dry_run=True).dry_run
    assert whole(sandbox) == before


def test_a_request_to_an_unknown_point_is_refused_as_an_unknown_world(sandbox: Sandbox) -> None:
    for point in ("", "yesterday", "before:r9", "snapshot:none", "start@start"):
        with pytest.raises(Refused, match="There is no world"):
            sandbox.at(point).clock.show()
        with pytest.raises(Refused, match="There is no world"):
            sandbox.worlds.get(f"none@{point}")


def test_a_removed_world_refuses_every_call(subtests: pytest.Subtests, served: Sandbox, url: str) -> None:
    calls = {example.operation: example.given for example in EXAMPLES if not example.refused}
    for interface in (nullcontext(served), connect(url)):
        with interface as default_world:
            with default_world.fork() as closed:
                client = closed.client()
                assert client.get("/v3/balance").status_code == 200
            assert client.get("/v3/balance").status_code in (401, 404)
            removed = default_world.fork(name="gone")
            default_world.worlds.remove("gone")
            for fork in (closed, removed):
                for operation, parameters in calls.items():
                    with subtests.test(operation=operation, world=fork):
                        assert in_python(fork)(operation, parameters)[0] == "unknown_world"
                for use in (
                    fork.client,
                    lambda fork=fork: fork.at("start").clock.now,
                    lambda fork=fork: "main" in fork.accounts,
                    lambda fork=fork: list(fork.names),
                ):
                    with pytest.raises(Refused, match="unknown_world"):
                        use()
