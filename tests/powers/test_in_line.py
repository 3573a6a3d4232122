"""Whatever changes a world has its place in the world's line by the time that others can see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.worlds.turn import WorldLock
from tests.powers.doors import operation
from tests.powers.example import REQUEST, Example
from tests.powers.examples import EXAMPLES
from tests.registry import REGISTRY


class Watched(WorldLock):
    """Calls ``freed`` each time that its holder is about to let others in."""

    def __init__(self, freed: Callable[[], None]) -> None:
        super().__init__()
        self.freed, self.depth = freed, 0

    def __enter__(self) -> None:
        super().__enter__()
        self.depth += 1

    def __exit__(self, *raised: object) -> None:
        self.depth -= 1
        if not self.depth:
            self.freed()
        super().__exit__(*raised)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """A sandbox whose default world is looked at whenever it is free."""
    sandbox = Sandbox(REGISTRY)
    world, seen = sandbox.world, [sandbox.world.moment]

    def look() -> None:
        moment, earlier = world.moment, seen[0]
        seen[0] = moment
        log, changed = moment.log, (moment.state, moment.assumptions, moment.faults.rules)
        if log.line != earlier.log.line or log.number < earlier.log.number:
            return  # it has begun again, or gone back
        noted = {one.number for one in log.events} | {one.step for one in world.journal.entries}
        assert noted >= set(range(earlier.log.number + 1, log.number + 1)), (
            "something that has happened is not told yet"
        )
        if changed != (earlier.state, earlier.assumptions, earlier.faults.rules):
            assert log.number != earlier.log.number, "it has changed, and nothing tells of that yet"

    world.lock = Watched(look)
    yield sandbox
    assert world.lock.depth == 0


ACTS = [one for one in EXAMPLES if not one.refused and operation(one.operation).sort == "act"]


@pytest.mark.parametrize("example", ACTS, ids=str)
def test_what_is_done_is_told_before_others_can_see_it(sandbox: Sandbox, example: Example) -> None:
    """Another thread's snapshot would keep the one without the other."""
    sandbox.reset(original=True)
    sandbox.engine.start_over()
    done = (*example.before, (REQUEST, {"path": "/v3/balance"}), (example.operation, example.given))
    for name, given in done:
        with suppress(Refused, OSError):  # what is named may be there twice, and a fault in force
            if name == REQUEST:
                sandbox.client().open(**given)
            else:
                sandbox.door.carry_out(operation(name), given)


def test_a_request_is_in_the_journal_before_others_can_see_what_it_did(sandbox: Sandbox) -> None:
    """Also one that is late, or that plans follow, or that is refused."""
    sandbox.engine.start_over()
    sandbox.outside.when(after="v3.createDomain").register("next.com")
    sandbox.faults.add("latency", seconds=0, when={"phase": "before"})
    sandbox.faults.add("duplicate", match={"operation": "v3.renewDomain"})
    client = sandbox.client()
    client.post("/v3/domains/createDomain", json={"domain": {"domainName": "new.com"}})
    client.post("/v3/domains/createDomain", json={"domain": {"domainName": "new.com"}})
    client.post("/v3/domains/renewDomain/active.com")
    client.get("/nowhere")
    assert len(sandbox.journal.find().requests) == 4
