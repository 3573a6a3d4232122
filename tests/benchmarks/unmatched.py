"""What it costs to find the operations that are nearest to a path that is none, each path being a new one."""

from __future__ import annotations

from statistics import median
from time import perf_counter

from reseller_sandbox.v2.interface import V2
from reseller_sandbox.v3.interface import V3
from reseller_sandbox.web.nearest import Rows
from tests.benchmarks.measuring import Figure, How, Told

TIMES = 200
LETTERS = "abcdefghijklmnopqrst"
PATHS = {
    "an operation that is none": "/v3/domains/deleteDnssec{}/a.com",
    "a slip": "/v3/domains/createDomains{}",
    "many segments": "/v3/getdomain{0}/getdomains{0}/unlocktransfer{0}/setcontacts{0}/a/b/c/d/e",
}


def new(path: str) -> list[str]:
    """Return many paths that nobody has asked for yet."""
    return [path.format(LETTERS[number % 20] + LETTERS[number // 20]) for number in range(TIMES)]


def microseconds(path: str) -> list[float]:
    """How long each of many paths takes, by the interface that has the most rows."""
    rows = Rows((*V3.endpoints, *V2.endpoints))
    rows.nearest("GET", "/v3/balance")
    times = []
    for asked in new(path):
        began = perf_counter()
        if not rows.nearest("GET", asked):
            rows.strange(asked)
        times.append((perf_counter() - began) * 1e6)
    return times


def run(how: How) -> Told:
    """The median times."""
    for what, path in PATHS.items():
        yield Figure(what, "µs", [median(microseconds(path)) for _ in range(how.rounds)])
