"""What is said to exercise an item does: after each gap's steps and its request it is no gap any more."""

from __future__ import annotations

from contextlib import suppress
from http.client import HTTPException
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.assembly import contract
from reseller_sandbox.coverage.figures import covered
from reseller_sandbox.coverage.gaps import Gap, missing
from reseller_sandbox.coverage.items import AREAS, items
from reseller_sandbox.coverage.samples import SAMPLES, Step
from reseller_sandbox.powers.catalogue import POWERS

#: The one change of a stage that another account's request makes.
BY_THE_OTHER_SIDE = "arriving to active"

GAPS = missing(covered(items(contract()), {}), contract())
REQUESTED = [
    one for one in GAPS if one.area not in ("errors", "assumptions") and one.item != BY_THE_OTHER_SIDE
]
INJECTED = [one for one in GAPS if one.inject is not None]


@pytest.fixture(scope="module")
def seeded() -> Sandbox:
    """A world that others are forked from."""
    return Sandbox()


def take(sandbox: Sandbox, step: Step) -> None:
    """Ask the power for it, as a program would that has read of it in JSON."""
    power, _, verb = step.call.partition(".")
    method = getattr(getattr(sandbox, power), verb)
    operation = next(one for one in POWERS[power].operations() if one.name == verb)
    given: dict[str, Any] = dict(step.given)
    method(*[given.pop(one.name) for one in operation.parameters if one.place == "segment"], **given)


def make(sandbox: Sandbox, gap: Gap) -> None:
    """Make the request that a gap tells of."""
    if gap.request is not None:
        path = f"/_worlds/{sandbox.world.name}{gap.request.path}"
        with suppress(OSError, HTTPException):  # which some faults leave in place of an answer
            sandbox.client().open(path, method=gap.request.method, json=gap.request.body)


def exercised(sandbox: Sandbox) -> set[tuple[str, str]]:
    """What has been exercised in a world."""
    return {one.key for one in sandbox.coverage.items(seen=True).items}


@pytest.mark.parametrize("gap", REQUESTED, ids=lambda one: f"{one.area}: {one.item}")
def test_steps_and_request_exercise_the_item(seeded: Sandbox, gap: Gap) -> None:
    """In a world that has seen nothing yet."""
    with seeded.fork() as world:
        for step in gap.needs:
            take(world, step)
        make(world, gap)
        found = exercised(world)
        assert (gap.area, gap.item) in found, world.journal.find().requests[-1:]


@pytest.mark.parametrize("gap", INJECTED[::7], ids=lambda one: one.item)
def test_an_error_can_be_made_up(seeded: Sandbox, gap: Gap) -> None:
    """By the fault that is told; it is said to be one."""
    with seeded.fork() as world:
        assert gap.inject is not None
        for step in (*gap.needs, gap.inject):
            take(world, step)
        make(world, gap)
        (item,) = world.coverage.items(area="errors", seen=True).items
        assert (item.item, item.times, item.injected, item.only_injected) == (gap.item, 1, 1, True)


def test_each_gap_says_how_and_only_operations_that_are_there_have_samples() -> None:
    """In words; all areas are among the first few."""
    assert all(one.how for one in GAPS)
    assert {one.area for one in GAPS[:7]} == set(AREAS)
    assert set(SAMPLES) <= {one.id for one in contract()}
    assert not [one for one in INJECTED if "{" in one.how or "…" in one.how]
