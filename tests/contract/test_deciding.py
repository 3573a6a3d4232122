"""The assumptions that a refusal names are those by whose value it occurs or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.documented import operations
from tests.ladder import Climb
from tests.registry import REGISTRY
from tests.v3.test_refusals import ASSUME, LADDERS, ClimbV3

pytestmark = pytest.mark.slow


def last(sandbox: Sandbox) -> Any:
    """Return the latest request, with the explanation of its refusal."""
    return sandbox.journal.get(sandbox.journal.list(limit=1).requests[-1].id)


def others(sandbox: Sandbox, name: str) -> list[str]:
    """Return the other values of an assumption with a few choices."""
    (row,) = [each for each in sandbox.assumptions.list().assumptions if each.name == name]
    words = row.takes.removeprefix("one of ").split(", ") if row.takes.startswith("one of ") else []
    return [word for word in words if word != row.value]


def watching(send: Callable[[Climb], Any], undeclared: set[tuple[str, str]]) -> Callable[[Climb], Any]:
    """Send each refused request again with other values of its assumptions, and collect what differs.

    A refusal that another value causes earlier says nothing about this one.
    """

    def sent(climb: Climb) -> Any:
        answer = send(climb)
        refused = last(climb.sandbox).refusal if list(climb.sandbox.journal) else None
        if refused is None:
            return answer
        for name in last(climb.sandbox).assumptions:
            for value in others(climb.sandbox, name):
                climb.sandbox.snapshots.add("before")
                climb.sandbox.assumptions.set({name: value})
                send(climb)
                instead = last(climb.sandbox).refusal
                climb.sandbox.snapshots.restore("before")
                climb.sandbox.snapshots.remove("before")
                met = instead.rule if instead is not None else ""
                if met != refused.rule and met not in climb.visited and name not in refused.assumptions:
                    undeclared.add((name, refused.rule))
        return answer

    return sent


@pytest.mark.parametrize("operation", LADDERS)
def test_a_refusal_names_the_assumptions_that_decide_it(
    operation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    undeclared: set[tuple[str, str]] = set()
    monkeypatch.setattr(ClimbV3, "send", watching(ClimbV3.send, undeclared))
    climb = ClimbV3(Sandbox(REGISTRY, assume=ASSUME), operations()[operation])
    climb.climb([*climb.transport(), *LADDERS[operation]])
    assert undeclared == set()


def test_a_refusal_that_no_assumption_decides_names_none(sandbox: Sandbox) -> None:
    client = sandbox.client()
    client.post("/v3/domains/createDomain", json={"domain": {"domainName": "active.com"}})
    assert last(sandbox).refusal.assumptions == {}
    contact = {"reg-contact": {"name": "Ann", "country": "ZZ"}}
    client.post("/v3/domains/createDomain", json={"domain": {"domainName": "free.com", "contacts": contact}})
    assert last(sandbox).refusal.assumptions == {"v3.contacts.fields": "default"}
