"""Growth: with a hundred thousand names, or a million, all takes as long as with a thousand.

Worlds of each size live in processes of their own; memory is what such a process grew by.
Times are computing time.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from subprocess import Popen
from time import process_time
from typing import Any

from reseller_sandbox import Sandbox
from reseller_sandbox.core.state import filled
from reseller_sandbox.worlds import Fork, timeline
from tests.benchmarks.measuring import Figure, How, Told, interleaved, line_of, ours, running

SIZES, LARGE = (1_000, 100_000), 1_000_000

#: How many microseconds each may take at most, where there is a goal.
GOALS = {"fork": 75, "snapshot": 100, "rewind": 100}

#: What is measured, with what goes before it each time, and what goes after: neither counts.
Thing = tuple[Callable[[], Any], Callable[[Any], Any], Callable[[Any], object]]


def grown(names: int, *, autorenew: bool = False, **settings: Any) -> Sandbox:
    """Return a sandbox whose world holds so many names more, which renew themselves or do not."""
    sandbox = Sandbox(**settings)
    moment = sandbox.world.moment
    one = moment.state.orders[min(moment.state.orders)]
    last = moment.state.counters["order"]
    orders = [
        replace(one, id=last + number, name=f"n{number}.com", autorenew=autorenew)
        for number in range(1, names + 1)
    ]
    counters = moment.state.counters.insert("order", last + names)
    state = replace(filled(moment.state, orders), counters=counters)
    timeline.begin_again(sandbox.world, replace(moment, state=state))
    return sandbox


def things(sandbox: Sandbox) -> dict[str, Thing]:
    """Return what is measured, by its name."""
    client, engine = sandbox.client(), sandbox.engine

    def nothing(_: object = None) -> None:
        pass

    def registered() -> str:
        body = {"domain": {"domainName": "one-more.com"}}
        answer = client.post("/v3/domains/createDomain", json=body)
        assert answer.status_code == 200, answer.data
        return str(answer.headers["X-Sandbox-Request"])

    def got(path: str) -> Thing:
        return nothing, lambda _: client.get(path), lambda answer: _fine(answer.status_code)

    return {
        "fork": (nothing, lambda _: engine.fork(Fork()), lambda world: engine.drop(world.name)),
        "snapshot": (nothing, lambda _: sandbox.snapshot("one"), lambda _: sandbox.snapshots.remove("one")),
        "rewind": (registered, sandbox.rewind, nothing),
        "reset": (registered, lambda _: sandbox.reset(), nothing),
        "read of a name": got("/v3/domains/getDomain/n700.com"),
        "page of 40 names": got("/v3/domains?perPage=40&page=20"),
        "registration": (nothing, lambda _: registered(), lambda _: sandbox.reset()),
    }


def run(how: How) -> Told:
    """Yield microseconds by what is done and size, and bytes a name."""
    sizes = (1_000, 2_000) if how.tiny else (*SIZES, LARGE) if how.large else SIZES
    with ExitStack() as stack:
        programs = {
            size: stack.enter_context(running(*ours("tests.benchmarks.growing", str(size)))) for size in sizes
        }
        held = {size: float(line_of(program)) for size, program in programs.items()}
        for what in things(Sandbox()):
            ways = {str(size): partial(_asked, programs[size], what, how.times(100)) for size in sizes}
            found = interleaved(ways, how.rounds)
            goal = f"≤ {GOALS[what]}" if what in GOALS else ""
            for size in sizes:
                yield Figure(f"{what}, {size:,} names", "µs", found[str(size)], goal)
    yield Figure(f"memory, {sizes[-1]:,} names", "bytes a name", [held[sizes[-1]]])


def _asked(program: Popen[str], what: str, times: int) -> float:
    assert program.stdin is not None
    program.stdin.write(f"{json.dumps([what, times])}\n")
    program.stdin.flush()
    return float(line_of(program))


def _fine(status: int) -> None:
    assert status == 200, status


def memory(process: int | None = None) -> int:
    """Return the bytes that a process holds, or this one."""
    told = Path(f"/proc/{process or os.getpid()}/statm").read_text()
    return int(told.split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main(size: int) -> None:
    """Grow a world, tell what a name takes, and then how long each thing does that is asked for."""
    Sandbox().client().get("/v3/balance")
    before = memory()
    sandbox = grown(size, max_worlds=10)
    print((memory() - before) / size, flush=True)
    known = things(sandbox)
    for line in sys.stdin:
        what, times = json.loads(line)
        before_it, act, after_it = known[what]
        taken = []
        for _ in range(times):
            given = before_it()
            began = process_time()
            made = act(given)
            taken.append(process_time() - began)
            after_it(made)
        print(median(taken) * 1e6, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
