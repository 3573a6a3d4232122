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
from tests.benchmarks.measuring import Figure, Found, How, interleaved, line_of, memory, running, seconds

SIZES, LARGE = (1_000, 100_000), 1_000_000

#: A preparation, the work that is measured, and an end.
Work = tuple[Callable[[], object], Callable[[], object], Callable[[], object]]


def fixture(names: int, *, autorenew: bool = False) -> str:
    """Return the default fixture with so many names more."""
    dates = "created: 2025-10-07T12:00:00Z, expires: 2026-10-07T12:00:00Z"
    more = f"{{{dates}, autorenew: {str(autorenew).lower()}}}"
    entries = "".join(f"\n  n{number}.com: {more}" for number in range(1, names + 1))
    return Sandbox().export().replace("\ndomains:", f"\ndomains:{entries}")


def works(sandbox: Sandbox) -> dict[str, Work]:
    """Return the works by their names; forks, snapshots and rewinds have a goal of 100 µs."""
    client = sandbox.client()

    def nothing() -> None:
        pass

    def ask(method: str, path: str, **sent: Any) -> None:
        assert client.open(f"/v3/domains{path}", method=method, **sent).status_code == 200

    read = partial(ask, "GET")
    register = partial(ask, "POST", "/createDomain", json={"domain": {"domainName": "one-more.com"}})
    return {
        "fork": (nothing, partial(sandbox.fork, name="fork"), partial(sandbox.worlds.remove, "fork")),
        "snapshot": (nothing, partial(sandbox.snapshot, "here"), partial(sandbox.snapshots.remove, "here")),
        "rewind": (register, partial(sandbox.rewind, "r1"), sandbox.reset),
        "reset": (register, sandbox.reset, nothing),
        "read of a name": (nothing, partial(read, "/getDomain/n700.com"), nothing),
        "page of 40 names": (nothing, partial(read, "?perPage=40&page=20"), nothing),
        "registration": (nothing, register, sandbox.reset),
    }


def measure(how: How) -> Found:
    """Growth: with a hundred thousand names, or a million, all takes as long as with a thousand.

    Worlds of each size live in separate processes; memory is the growth of such a process. Times are
    computing time.
    """
    sizes = (1_000, 2_000) if how.tiny else (*SIZES, LARGE) if how.large else SIZES
    with ExitStack() as stack:
        programs = {
            f"{size:,} names": stack.enter_context(running("tests.benchmarks.growing", str(size)))
            for size in sizes
        }
        held = [float(line_of(program)) for program in programs.values()]
        for what in works(Sandbox()):
            line = json.dumps([what, how.times(100)])
            ways = {
                f"{what}, {names}": lambda program=program, line=line: float(line_of(program, line))
                for names, program in programs.items()
            }
            for name, values in interleaved(ways, how.rounds).items():
                yield Figure(name, "µs", values, 100 if what in ("fork", "snapshot", "rewind") else None)
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
            prepare()
            taken.append(seconds(act, process_time))
            end()
        print(median(taken) * 1e6, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
