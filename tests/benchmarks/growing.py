"""Worlds of many names."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from statistics import median
from time import process_time
from typing import Any

from reseller_sandbox import Sandbox
from tests.benchmarks.measuring import Figure, Found, How, interleaved, line_of, memory, running

SIZES, LARGE = (1_000, 100_000), 1_000_000

#: How many microseconds each may take at most, if there is a goal.
GOALS = {"fork": 75, "snapshot": 100, "rewind": 100}

#: What is measured, with a preparation before it each time, and an end after it: neither counts.
Thing = tuple[Callable[[], Any], Callable[[Any], Any], Callable[[Any], object]]


def fixture(names: int, *, autorenew: bool = False) -> str:
    """Return the default fixture with so many names more, which renew themselves or do not."""
    dates = "created: 2025-10-07T12:00:00Z, expires: 2026-10-07T12:00:00Z"
    more = f"{{{dates}, autorenew: {str(autorenew).lower()}}}"
    entries = "".join(f"\n  n{number}.com: {more}" for number in range(1, names + 1))
    return Sandbox().export().replace("\ndomains:", f"\ndomains:{entries}")


def grown(names: int, *, autorenew: bool = False, **settings: Any) -> Sandbox:
    """Return a sandbox whose world holds so many names more."""
    sandbox = Sandbox(**settings)
    sandbox.load(fixture(names, autorenew=autorenew))
    return sandbox


def things(sandbox: Sandbox) -> dict[str, Thing]:
    """Return what is measured, by its name."""
    client = sandbox.client()

    def nothing(_: object = None) -> None:
        pass

    def registered(_: object = None) -> str:
        body = {"domain": {"domainName": "one-more.com"}}
        response = client.post("/v3/domains/createDomain", json=body)
        assert response.status_code == 200, response.data
        return str(response.headers["X-Sandbox-Request"])

    def read(path: str) -> Thing:
        def get(_: object) -> None:
            assert client.get(path).status_code == 200

        return nothing, get, nothing

    return {
        "fork": (nothing, lambda _: sandbox.fork(), lambda world: world.close()),
        "snapshot": (nothing, lambda _: sandbox.snapshot("one"), lambda _: sandbox.snapshots.remove("one")),
        "rewind": (registered, sandbox.rewind, nothing),
        "reset": (registered, lambda _: sandbox.reset(), nothing),
        "read of a name": read("/v3/domains/getDomain/n700.com"),
        "page of 40 names": read("/v3/domains?perPage=40&page=20"),
        "registration": (nothing, registered, lambda _: sandbox.reset()),
    }


def run(how: How) -> Found:
    """Growth: with a hundred thousand names, or a million, all takes as long as with a thousand.

    Worlds of each size live in separate processes; memory is the growth of such a process. Times are
    computing time.
    """
    sizes = (1_000, 2_000) if how.tiny else (*SIZES, LARGE) if how.large else SIZES
    module = (sys.executable, "-m", "tests.benchmarks.growing")
    with ExitStack() as stack:
        programs = {size: stack.enter_context(running(*module, str(size))) for size in sizes}
        held = {size: float(line_of(program)) for size, program in programs.items()}
        for what in things(Sandbox()):
            asked = json.dumps([what, how.times(100)])
            ways = {str(size): partial(_asked, programs[size], asked) for size in sizes}
            found = interleaved(ways, how.rounds)
            goal = f"≤ {GOALS[what]}" if what in GOALS else ""
            for size in sizes:
                yield Figure(f"{what}, {size:,} names", "µs", found[str(size)], goal)
    yield Figure(f"memory, {sizes[-1]:,} names", "bytes a name", [held[sizes[-1]]])


def _asked(program: Any, asked: str) -> float:
    return float(line_of(program, asked))


def main(size: int) -> None:
    """Grow a world, print the bytes of a name, and then the microseconds of each thing on standard input."""
    Sandbox().client().get("/v3/balance")
    text = fixture(size)
    before = memory()
    sandbox = Sandbox(max_worlds=10)
    sandbox.load(text)
    print((memory() - before) / size, flush=True)
    known = things(sandbox)
    for line in sys.stdin:
        what, times = json.loads(line)
        prepare, act, end = known[what]
        taken = []
        for _ in range(times):
            given = prepare()
            began = process_time()
            made = act(given)
            taken.append(process_time() - began)
            end(made)
        print(median(taken) * 1e6, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
