"""A test of ten calls, set up and verified, as in a user's suite; and the same with other libraries.

Each way is a process of its own and does as the users of its library do. "At once" is what the client itself
takes, with a transport that answers without any work. With "a client each" every test makes a
client of its own, as a fixture of pytest does unless it is told otherwise; the other tests share one.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from subprocess import Popen

from tests.benchmarks.measuring import Figure, How, LeftOut, Told, interleaved, line_of, peer, running
from tests.benchmarks.peers import wiremock
from tests.benchmarks.suite_ways import OTHERS, WAYS

#: How much may be left of a test beyond what httpx itself takes, in milliseconds.
BEYOND = 4

_FILE = Path(__file__).with_name("suite_ways.py")


def run(how: How) -> Told:
    """Yield milliseconds a test."""
    with ExitStack() as stack:
        programs: dict[str, Popen[str]] = {}
        for way in WAYS:
            try:
                port = stack.enter_context(wiremock(journal=True))[0] if way == "WireMock, httpx" else 0
                python = peer("bin/python") if way in OTHERS else sys.executable
                program = stack.enter_context(running(python, str(_FILE), way, str(port)))
                line_of(program)
                programs[way] = program
            except LeftOut as left:
                yield f"{way} is left out: {left}"
        times = how.times(50)
        ways = {way: partial(_milliseconds, program, times) for way, program in programs.items()}
        found = interleaved(ways, how.rounds)
    for library in ("httpx", "requests"):
        both = zip(found[f"ours in process, {library}"], found[f"at once, {library}"], strict=True)
        goal = f"≤ {BEYOND}" if library == "httpx" else ""
        yield Figure(
            f"ours in process, beyond {library} itself", "ms", [one - floor for one, floor in both], goal
        )
    for way, taken in found.items():
        yield Figure(way, "ms", taken)


def _milliseconds(program: Popen[str], times: int) -> float:
    """Return what a test takes as a rule, of so many."""
    assert program.stdin is not None
    program.stdin.write(f"{times}\n")
    program.stdin.flush()
    return float(line_of(program))
