"""Sweep and explore: the runs of a program, their time, and the schedules that cover it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter

from reseller_sandbox import Sandbox
from reseller_sandbox.tools.explore import Exploration, explore  # noqa: TID251  users import it
from reseller_sandbox.tools.sweep import sweep  # noqa: TID251  users import it
from tests.benchmarks.measuring import Figure, Found, How
from tests.tools.concurrent import buy_and_renew, look, renew_own_names

#: Programs with several workers: what they do, the number of workers, and the goal for the schedules.
PROGRAMS: dict[str, tuple[Callable[[Sandbox], None], int, float | None]] = {
    "3 × 2 renewals of own names": (renew_own_names, 3, 1),
    "2 × 10 requests, nothing shared": (partial(buy_and_renew, shared=""), 2, 1),
    "2 × 10 requests, one name shared": (partial(buy_and_renew, shared="shared.com"), 2, 20),
    "2 × 12 requests about one name": (look, 2, None),
}

#: The most schedules of a program.
MOST = 20


def renew(sandbox: Sandbox) -> None:
    """Look at a domain and renew it."""
    client = sandbox.client(timeout=10)
    client.get("/v3/domains/getDomain/active-example.com")
    client.post("/v3/domains/renewDomain/active-example.com")


def measure(how: How) -> Found:
    """Tools: schedules tried and runs made, and the seconds of each.

    The worlds are in this process, so the time of a program itself is small.
    """
    with Sandbox() as sandbox:
        began = perf_counter()
        report = sweep(renew, sandbox)
        took = perf_counter() - began
        yield Figure("sweep, 2 requests", "runs", [len(report.runs)])
        yield Figure("sweep, 2 requests", "ms a run", [took / len(report.runs) * 1000])
        for name, (program, actors, goal) in PROGRAMS.items():
            began = perf_counter()
            exploration: Exploration = explore(program, sandbox, actors=actors, max_runs=how.times(MOST) + 1)
            took, tried = perf_counter() - began, len(exploration.schedules)
            yield Figure(f"explore, {name}", "schedules", [tried], goal)
            yield Figure(f"explore, {name}", "ms each", [took / tried * 1000])
            if exploration.untried:
                yield f"explore, {name}: about {exploration.untried:,} schedules not tried"
