"""A handle to a removed world refuses everything, in process and through a server."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
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
    "load": lambda world: world.load("zones: {}"),
    "fork": lambda world: world.fork(),
    "make a client": lambda world: world.client(),
    "third party": lambda world: world.simulate.register("new.com"),
    "look at the past": lambda world: world.at("start").clock.now,
}


def test_a_removed_world_refuses_every_use(subtests: pytest.Subtests, served: Sandbox, url: str) -> None:
    for interface in (nullcontext(served), connect(url)):
        with interface as default_world:
            with default_world.fork() as closed:
                client = closed.client()
                assert client.get("/v3/balance").status_code == 200
            assert client.get("/v3/balance").status_code in (401, 404)
            removed = default_world.fork(name="gone")
            default_world.worlds.remove("gone")
            for use, call in USES.items():
                for fork in (closed, removed):
                    with subtests.test(use=use, world=fork):
                        with pytest.raises(Refused) as refused:
                            call(fork)
                        assert refused.value.code == "unknown_world"
