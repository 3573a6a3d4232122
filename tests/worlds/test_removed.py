"""A handle to a removed world refuses everything, in process and through a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox, connect

USES: dict[str, Callable[[Sandbox], Any]] = {
    "advance the clock": lambda world: world.clock.advance("P1D"),
    "read the clock": lambda world: world.clock.now,
    "list the names": lambda world: list(world.names),
    "ask for an account": lambda world: "main" in world.accounts,
    "add a fault": lambda world: world.faults.add("reset"),
    "read the journal": lambda world: world.journal.find(),
    "take a snapshot": lambda world: world.snapshot("later"),
    "export": lambda world: world.export(),
    "load": lambda world: world.load(world.export()),
    "fork": lambda world: world.fork(),
    "make a client": lambda world: world.client(),
    "third party": lambda world: world.outside.register("new.com"),
    "look at the past": lambda world: world.at("start").clock.now,
}


@pytest.fixture(params=["in process", "remote"])
def default_world(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    local = Sandbox()
    if request.param == "in process":
        yield local
        return
    with local.serve() as server, connect(server.url) as remote:
        yield remote


def test_a_closed_fork_refuses_every_use(subtests: pytest.Subtests, default_world: Sandbox) -> None:
    with default_world.fork() as fork:
        fork.clock.advance("P1D")
    for use, call in USES.items():
        with subtests.test(use=use):
            with pytest.raises(Refused) as refused:
                call(fork)
            assert refused.value.code == "unknown_world"


def test_a_world_removed_by_another_handle_refuses(default_world: Sandbox) -> None:
    fork = default_world.fork(name="gone")
    default_world.worlds.remove("gone")
    with pytest.raises(Refused, match="unknown_world"):
        fork.clock.advance("P1D")


def test_the_handle_of_a_removed_world_does_not_reach_its_namesake() -> None:
    sandbox = Sandbox()
    fork = sandbox.fork(name="twin")
    sandbox.worlds.remove("twin")
    sandbox.fork(name="twin")
    with pytest.raises(Refused, match="unknown_world"):
        fork.clock.advance("P1D")


def test_requests_to_a_removed_world_are_not_authenticated(default_world: Sandbox) -> None:
    fork = default_world.fork()
    client = fork.client()
    assert client.get("/v3/balance").status_code == 200
    fork.close()
    assert client.get("/v3/balance").status_code in (401, 404)
