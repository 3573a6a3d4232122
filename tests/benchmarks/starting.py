"""Starting: what a command and a worker of a test run pay before anything is done; with bytecode written."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from reseller_sandbox.core.clock import stopwatch
from tests.benchmarks.growing import memory
from tests.benchmarks.measuring import ROOT, Figure, How, Told, interleaved, line_of, ours, running

#: Prints the seconds that the import takes, the first sandbox, its first fork, and a first request with all
#: that is loaded for it.
_FIRST = """
from time import perf_counter
began = perf_counter()
from reseller_sandbox import Sandbox
Sandbox
imported = perf_counter()
sandbox = Sandbox()
made = perf_counter()
sandbox.fork()
forked = perf_counter()
sandbox.app.test_client().get("/v3/balance")
print(imported - began, made - imported, forked - made, perf_counter() - forked)
"""

_UNUSED = (
    "from time import perf_counter as p; b = p(); import reseller_sandbox.testing.plugin; print(p() - b)"
)
_WITH_PYTEST = f"import pytest; {_UNUSED}"

#: A test that prints how many seconds after it was found it begins; plain, and with a world.
_BEGINS = """
from time import perf_counter
found = perf_counter()
def test({}):
    print("\\nbegins", perf_counter() - found)
"""
_TESTS = {"without": _BEGINS.format(""), "with": _BEGINS.format("reseller_sandbox")}


def run(how: How) -> Told:
    """Yield milliseconds and memory; every start is a new process."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    subprocess.run([sys.executable, "-m", "compileall", "-q", "sandbox"], cwd=ROOT, check=False)
    served = [_served() for _ in range(how.rounds)]
    yield Figure("serve, to the first line", "ms", [first for first, _ in served], "≤ 270")
    yield Figure("serve, memory then", "MiB", [held for _, held in served], "≤ 48")
    goals = ("≤ 220", "≤ 45", "", "")
    parts = zip(*(_printed(_FIRST) for _ in range(how.rounds)), strict=True)
    whats = ("import of Sandbox", "the first sandbox", "its first fork", "the first request")
    for what, goal, values in zip(whats, goals, parts, strict=True):
        yield Figure(what, "ms", values, goal)
    unused = [_printed(_WITH_PYTEST)[0] for _ in range(how.rounds)]
    yield Figure("the pytest plugin, unused", "ms", unused, "≤ 1")
    with TemporaryDirectory() as folder:
        found = interleaved({name: partial(_tested, folder, name) for name in _TESTS}, how.rounds)
    more = [one - other for one, other in zip(found["with"], found["without"], strict=True)]
    yield Figure("what the first test of a run waits for its world", "ms", more, "≤ 250")


def _served() -> tuple[float, float]:
    began = stopwatch()
    with running(*ours("reseller_sandbox.cli", "serve", "--port", "0")) as program:
        line_of(program)
        taken, held = (stopwatch() - began) * 1e3, 0
        with suppress(OSError):  # where the system does not tell
            held = memory(program.pid)
        return taken, held / (1 << 20)


def _printed(code: str) -> list[float]:
    """Return the milliseconds that a new process prints as seconds."""
    told = subprocess.check_output([sys.executable, "-c", code], text=True, cwd=ROOT)
    return [float(word) * 1e3 for word in told.split()]


def _tested(folder: str, name: str) -> float:
    """Return how long after it was found the one test of a run begins, in milliseconds."""
    (Path(folder) / "test_it.py").write_text(_TESTS[name])
    told = subprocess.check_output([sys.executable, "-m", "pytest", "-q", "-s"], text=True, cwd=folder)
    (begins,) = (line.split()[1] for line in told.splitlines() if line.startswith("begins"))
    return float(begins) * 1e3
