"""Many worlds at once on one server: none sees another, from whichever process or thread it is driven."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Api, Socket
from tests.registry import REGISTRY
from tests.worlds.control import Control, control, enter, inside, register, renew

WORLDS = 50
PROCESSES = 4


class _Behind:
    """A transport whose every request goes behind a world's path prefix."""

    def __init__(self, socket: Socket, prefix: str) -> None:
        self.socket = socket
        self.prefix = prefix

    def __call__(self, method: str, target: str, headers: Any, raw: bytes) -> Any:
        return self.socket(method, self.prefix + target, headers, raw)


def drive(url: str, number: int, world: dict[str, Any]) -> dict[str, Any]:
    """Act in one world as nobody does in the others; answers all that could show another's doings.

    Every world registers the same names, so that one that saw another's would be refused; odd ones are
    entered by the prefix.
    """
    socket = Socket(url)
    transport = socket if number % 2 == 0 else _Behind(socket, world["prefix"])
    api = enter(transport, url, world)
    steer = Control(socket, world["name"])
    answers = []
    for step in range(number % 3 + 1):
        answers.append(register(api, f"common{step}.com", years=step + 1).status)
        steer.post("clock/advance", {"by": f"{number + 1}d"})
        steer.post("snapshots", {"name": f"s{step}"})
    answers.append(renew(api, "common0.com").status)
    listed = api.get("/v3/domains?perPage=100&page=1").json["domains"]
    seen = {
        "answers": answers,
        "now": steer.get("clock")["now"],
        "balance": api.get("/v3/balance").json[0]["balance"],
        "names": sorted(one["domainName"] for one in listed if one["domainName"].startswith("common")),
        "codes": [api.get("/v3/domains/getAuthcode/common0.com").json["authCode"]],
        "requests": [one["id"] for one in steer.get("journal")["requests"]],
        "snapshots": [one["name"] for one in steer.get("snapshots")["snapshots"]],
        "charged": steer.get("ledger", account="main")["totals"]["purpose"],
        "server": api.get("/v3/balance").headers["x-sandbox-world"],
    }
    socket.close()
    return seen


@pytest.mark.slow
def test_fifty_worlds_driven_from_several_processes_never_see_each_other() -> None:
    """Each world comes to exactly what it comes to when it is driven alone on a server of its own."""
    sandbox = Sandbox(REGISTRY)
    steer = control(sandbox)
    worlds = [steer.post("worlds/fork", {"seed": f"seed {number}"}) for number in range(WORLDS)]
    began = sandbox.world.moment
    with sandbox.serve() as server, ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
        seen = list(pool.map(drive, [server.url] * WORLDS, range(WORLDS), worlds))
    alone = Sandbox(REGISTRY)
    with alone.serve() as server:
        steer = control(alone)
        for number in (0, 1, 2, 17, 49):
            world = steer.post("worlds/fork", {"seed": f"seed {number}"})
            assert {**drive(server.url, number, world), "server": f"w{number + 1}"} == seen[number]
    assert [one["server"] for one in seen] == [world["name"] for world in worlds]
    assert len({one["codes"][0] for one in seen}) == WORLDS
    assert len({one["now"] for one in seen}) > WORLDS // 2
    assert all(set(one["answers"]) == {200} for one in seen)
    assert sandbox.world.moment is began
    assert len(sandbox.world.journal) == 0


def test_one_world_driven_by_many_threads_in_this_process() -> None:
    """Requests take effect one after another: each is journalled once, in order, and all money is there."""
    sandbox = Sandbox(REGISTRY)
    forks = [sandbox.fork() for _ in range(3)]

    def work(number: int) -> int:
        api: Api = inside(forks[number % 3])
        return register(api, f"thread{number}.com").status

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(work, range(60)))
    assert statuses == [200] * 60
    for fork in forks:
        assert [entry.id for entry in fork.world.journal] == [f"r{number}" for number in range(1, 21)]
        assert fork.account().balance == 10000 - 20 * 10
        assert -sum(entry.amount for entry in fork.ledger.find().entries if entry.request) == 200


def test_forking_and_rewinding_while_others_work() -> None:
    """Worlds may be made, rewound and dropped while requests are on their way in others."""
    sandbox = Sandbox(REGISTRY)

    def work(number: int) -> bool:
        with sandbox.fork() as fork:
            api = inside(fork)
            first = register(api, "mine.com")
            fork.rewind("r1")
            again = register(api, "mine.com")
            return first.raw == again.raw and first.status == 200

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(40)))
    assert [world.name for world in sandbox.engine] == ["default"]
