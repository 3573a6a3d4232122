"""Many worlds at once on one server: none sees another, from whichever thread it is driven."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from reseller_sandbox import Sandbox
from tests.clients import Answer, Headers, Socket
from tests.registry import REGISTRY
from tests.worlds.control import Control, control, enter, inside, register, renew, whole

WORLDS = 12


def drive(url: str, number: int, world: dict[str, Any]) -> dict[str, Any]:
    """Act in one world. Return everything that could show the actions of another world.

    Every world registers the same names, which are taken in a world that sees another. Clients of odd
    worlds use the prefix.
    """
    socket = Socket(url)
    prefix = world["prefix"] if number % 2 else ""

    def send(method: str, target: str, headers: Headers, raw: bytes) -> Answer:
        return socket(method, prefix + target, headers, raw)

    api, steer, answers = enter(send, url, world), Control(socket, world["name"]), []
    for step in range(number % 3 + 1):
        answers.append(register(api, f"common{step}.com", years=step + 1).status)
        steer.post("clock/advance", {"by": f"{number + 1}d"})
        steer.post("snapshots", {"name": f"s{step}"})
    answers.append(renew(api, "common0.com").status)
    assert set(answers) == {200}
    seen = {
        "export": steer.get("history/export"),
        "code": api.get("/v3/domains/getAuthcode/common0.com").json["authCode"],
        "requests": [row["id"] for row in steer.get("journal")["requests"]],
        "snapshots": [row["name"] for row in steer.get("snapshots")["snapshots"]],
        "world": api.get("/v3/balance").headers["x-sandbox-world"],
    }
    socket.close()
    return seen


def test_worlds_of_several_threads_are_as_alone() -> None:
    sandbox, alone = Sandbox(REGISTRY), Sandbox(REGISTRY)
    worlds = [control(sandbox).post("worlds/fork", {"seed": f"seed {number}"}) for number in range(WORLDS)]
    before = whole(sandbox)
    with sandbox.serve() as server, ThreadPoolExecutor(4) as pool:
        seen = list(pool.map(drive, [server.url] * WORLDS, range(WORLDS), worlds))
    with alone.serve() as server:
        for number in range(WORLDS):
            world = control(alone).post("worlds/fork", {"seed": f"seed {number}"})
            assert drive(server.url, number, world) == seen[number]
    assert [row["world"] for row in seen] == [world["name"] for world in worlds]
    assert len({row["code"] for row in seen}) == WORLDS
    assert whole(sandbox) == before


def test_worlds_are_forked_rewound_and_deleted_beside_requests() -> None:
    sandbox = Sandbox(REGISTRY)

    def work(_: int) -> bool:
        with sandbox.fork() as fork:
            first = register(inside(fork), "mine.com")
            fork.rewind("r1")
            return first.status == 200 and first.raw == register(inside(fork), "mine.com").raw

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(40)))
    assert [world.name for world in sandbox.worlds] == ["default"]
