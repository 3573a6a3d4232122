"""Worlds of many names."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median
from time import process_time
from typing import Any

from reseller_sandbox import Sandbox
from tests.benchmarks.measuring import Figure, Found, How, interleaved, memory, seconds

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

    Times are computing time.
    """
    Sandbox().client().get("/v3/balance")
    worlds: dict[str, dict[str, Work]] = {}
    for size in (1_000, 2_000) if how.tiny else (*SIZES, LARGE) if how.large else SIZES:
        text, before = fixture(size), memory()
        sandbox = Sandbox(max_worlds=10)
        sandbox.load(text)
        held = (memory() - before) / size
        worlds[f"{size:,} names"] = works(sandbox)
    yield Figure(f"memory, {size:,} names", "bytes a name", [held])
    for what in works(Sandbox()):
        ways = {names: partial(_median, known[what], how.times(100)) for names, known in worlds.items()}
        for names, values in interleaved(ways, how.rounds).items():
            yield Figure(
                f"{what}, {names}", "µs", values, 100 if what in ("fork", "snapshot", "rewind") else None
            )


def _median(work: Work, times: int) -> float:
    """Return the median of the microseconds that a work takes."""
    prepare, act, end = work
    taken = []
    for _ in range(times):
        prepare()
        taken.append(seconds(act, process_time))
        end()
    return median(taken) * 1e6
