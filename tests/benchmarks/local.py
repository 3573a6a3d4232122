"""Parts that need no other program: loading and starting."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from reseller_sandbox import Sandbox
from tests.benchmarks.measuring import (
    Figure,
    Found,
    How,
    interleaved,
    line_of,
    memory,
    ratios,
    running,
    seconds,
    serving,
)

HEAD = (
    "zones: {com: {prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}}\n"
    "accounts: {main: {balance: 1000000, contact: {name: Mary Example}}}\n"
)
LONG = "{created: -99d, flags: [client_hold], nameservers: [ns1.x.net, ns2.x.net]}"

#: Sections by the kind of their entries; ``#`` is the number of an entry.
SECTIONS = {
    "names": ("domains:\n", "  n#.com:\n"),
    "names with every key": ("domains:\n", f"  n#.com: {LONG}\n"),
    "contacts": ("contacts:\n", "  c#: {name: Tim Example, country: GB}\n"),
    "ledger entries": ("ledger:\n", "  #: {at: -3d, amount: -8.99, purpose: registration}\n"),
    "pending transfers": ("taken: [LIST]\ntransfers:\n", "  n#.com: {to: main}\n"),
}


def _text(start: str, entry: str, size: int) -> str:
    names = ", ".join(f"n{number}.com" for number in range(size)) if "LIST" in start else ""
    return HEAD + start.replace("LIST", names) + "".join(entry.replace("#", str(n)) for n in range(1, size))


def loading(how: How) -> Found:
    """Fixtures: the time of an entry must not depend on the number of entries.

    Times are computing time.
    """
    sandbox, (small, large) = Sandbox(), (100, 300) if how.tiny else (1_000, 12_000)

    def each(text: str, size: int) -> float:
        return seconds(partial(sandbox.load, text), process_time) / size * 1e6

    for name, section in SECTIONS.items():
        ways = {str(size): partial(each, _text(*section, size), size) for size in (small, large)}
        times = interleaved(ways, how.rounds)
        slower = ratios(times[str(large)], times[str(small)])
        yield Figure(f"load, {name}", "µs each", times[str(large)], 60 if name == "names" else None)
        yield Figure(f"load, {large:,} {name} beside {small:,}", "× each", slower)
    sandbox.load(_text(*SECTIONS["names"], large))
    exports, events = [], []
    for number in range(how.rounds):
        sandbox.accounts.credit("main", number + 1)  # because an export is cached
        exports.append(seconds(sandbox.export, process_time) / large * 1e6)
        began = process_time()
        moved = sandbox.clock.advance("P1Y", limit=1)
        events.append((process_time() - began) / moved.total * 1e6)
        sandbox.reset()
    yield Figure("export", "µs a name", exports, 40)
    yield Figure("advance by a year", "µs an event", events, 30)


#: The first steps of a program in Python, each with the most milliseconds.
STEPS: dict[str, tuple[str, float | None]] = {
    "import of Sandbox": ("from reseller_sandbox import Sandbox; Sandbox", 220),
    "the first sandbox": ("sandbox = Sandbox()", 45),
    "its first fork": ("sandbox.fork()", None),
    "the first request": ("sandbox.app.test_client().get('/v3/balance')", None),
}

#: Prints how many seconds after its import a test begins.
_BEGINS = (
    'from time import perf_counter as p\nfound = p()\ndef test({}):\n    print("\\nbegins", p() - found)\n'
)


def starting(how: How) -> Found:
    """Starting: the cost of a command and of a test run before anything is done."""
    served = [_served() for _ in range(how.rounds)]
    yield Figure("serve, to the first line", "ms", [first for first, _ in served], 450)
    yield Figure("serve, memory then", "MiB", [held for _, held in served], 60)
    code = ["from time import perf_counter as now", "times = [now()]"]
    code += [f"{step}; times.append(now())" for step, _ in STEPS.values()]
    code.append("print(*(later - earlier for earlier, later in zip(times, times[1:])))")
    command = [sys.executable, "-c", "\n".join(code)]
    printed = [subprocess.check_output(command, text=True).split() for _ in range(how.rounds)]
    for (what, (_, most)), values in zip(STEPS.items(), zip(*printed, strict=True), strict=True):
        yield Figure(what, "ms", [float(value) * 1e3 for value in values], most)
    begins = interleaved({name: partial(_begins, name) for name in ("", "reseller_sandbox")}, how.rounds)
    more = [late - early for late, early in zip(begins["reseller_sandbox"], begins[""], strict=True)]
    yield Figure("the wait of a run's first test for its world", "ms", more, 400)


def _served() -> tuple[float, float]:
    began = perf_counter()
    with running(*serving()) as program:
        line_of(program)
        return (perf_counter() - began) * 1e3, memory(program.pid) / (1 << 20)


def _begins(fixtures: str) -> float:
    with TemporaryDirectory() as folder:
        (Path(folder) / "test_it.py").write_text(_BEGINS.format(fixtures))
        command = [sys.executable, "-m", "pytest", "-q", "-s"]
        printed = subprocess.check_output(command, text=True, cwd=folder)
    (begins,) = (line.split()[1] for line in printed.splitlines() if line.startswith("begins"))
    return float(begins) * 1e3
