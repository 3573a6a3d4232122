"""Worlds of many names."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import ExitStack
from statistics import median
from time import process_time
from typing import Any

from reseller_sandbox import Sandbox
from tests.benchmarks.measuring import Figure, Found, How, interleaved, line_of, memory, running

SIZES, LARGE = (1_000, 100_000), 1_000_000

#: The most microseconds, if there is a goal.
GOALS = {"fork": "≤ 100", "snapshot": "≤ 100", "rewind": "≤ 100"}

#: A preparation, the work that is measured, and an end.
Work = tuple[Callable[[], Any], Callable[[Any], Any], Callable[[Any], object]]


def fixture(names: int, *, autorenew: bool = False) -> str:
    """Return the default fixture with so many names more."""
    dates = "created: 2025-10-07T12:00:00Z, expires: 2026-10-07T12:00:00Z"
    more = f"{{{dates}, autorenew: {str(autorenew).lower()}}}"
    entries = "".join(f"\n  n{number}.com: {more}" for number in range(1, names + 1))
    return Sandbox().export().replace("\ndomains:", f"\ndomains:{entries}")


def works(sandbox: Sandbox) -> dict[str, Work]:
    client = sandbox.client()

    def nothing(_: object = None) -> None:
        pass

    def register(_: object = None) -> str:
        response = client.post("/v3/domains/createDomain", json={"domain": {"domainName": "one-more.com"}})
        assert response.status_code == 200, response.data
        return str(response.headers["X-Sandbox-Request"])

    def read(path: str) -> None:
        assert client.get(path).status_code == 200

    return {
        "fork": (nothing, lambda _: sandbox.fork(), lambda world: world.close()),
        "snapshot": (nothing, lambda _: sandbox.snapshot("one"), lambda _: sandbox.snapshots.remove("one")),
        "rewind": (register, sandbox.rewind, nothing),
        "reset": (register, lambda _: sandbox.reset(), nothing),
        "read of a name": (nothing, lambda _: read("/v3/domains/getDomain/n700.com"), nothing),
        "page of 40 names": (nothing, lambda _: read("/v3/domains?perPage=40&page=20"), nothing),
        "registration": (nothing, register, lambda _: sandbox.reset()),
    }


def measure(how: How) -> Found:
    """Growth: with a hundred thousand names, or a million, all takes as long as with a thousand.

    Worlds of each size live in separate processes; memory is the growth of such a process. Times are
    computing time.
    """
    sizes = (1_000, 2_000) if how.tiny else (*SIZES, LARGE) if how.large else SIZES
    module = (sys.executable, "-m", "tests.benchmarks.growing")
    with ExitStack() as stack:
        programs = {f"{size:,} names": stack.enter_context(running(*module, str(size))) for size in sizes}
        held = [float(line_of(program)) for program in programs.values()]
        for what in works(Sandbox()):
            line = json.dumps([what, how.times(100)])
            ways = {
                f"{what}, {names}": lambda program=program, line=line: float(line_of(program, line))
                for names, program in programs.items()
            }
            for name, values in interleaved(ways, how.rounds).items():
                yield Figure(name, "µs", values, GOALS.get(what, ""))
    yield Figure(f"memory, {sizes[-1]:,} names", "bytes a name", held[-1:])


def main(size: int) -> None:
    """Grow a world, print the bytes of a name, and then the microseconds of each work on standard input."""
    Sandbox().client().get("/v3/balance")
    text, before = fixture(size), memory()
    sandbox = Sandbox(max_worlds=10)
    sandbox.load(text)
    print((memory() - before) / size, flush=True)
    known = works(sandbox)
    for line in sys.stdin:
        what, times = json.loads(line)
        (prepare, act, end), taken = known[what], []
        for _ in range(times):
            prepared = prepare()
            began = process_time()
            made = act(prepared)
            taken.append(process_time() - began)
            end(made)
        print(median(taken) * 1e6, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
