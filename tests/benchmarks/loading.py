"""Fixtures: what an entry takes must not depend on how many there are, nor a refusal take longer.

Times are computing time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from time import process_time

from reseller_sandbox import Sandbox
from reseller_sandbox.fixture import FixtureError, loads
from tests.benchmarks.measuring import Figure, How, Told, interleaved, ratios

HEAD = (
    "zones: {com: {prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}}\n"
    "accounts: {main: {balance: 1000000, contact: {name: Mary Example}}}\n"
)
SIZES = (1_000, 12_000)

#: How many microseconds of a name or an event each may take at most.
GOALS = {"load": 90, "export": 40, "advance": 30}

#: Sections by what their entries are; ``#`` is the number of one.
SOUND = {
    "names": ("domains:\n", "  n#.com:\n"),
    "names with much to say": (
        "domains:\n",
        "  n#.com: {created: -99d, flags: [client_hold], nameservers: [ns1.x.net, ns2.x.net]}\n",
    ),
    "contacts": ("contacts:\n", "  c#: {name: Tim Example, country: GB}\n"),
    "ledger entries": ("ledger:\n", "  #: {at: -3d, amount: -8.99, purpose: registration}\n"),
    "pending transfers": ("taken: [LIST]\ntransfers:\n", "  n#.com: {to: main}\n"),
}
BAD = {
    "300,000 unknown keys": ("", "key#: 1\n", 300_000),
    "100,000 bad records": ("customers:\n", "  #: {nmae: x}\n", 100_000),
    "a list of 100,000 mappings for names": ("taken:\n", "  - {name: n#}\n", 100_000),
}


def text(start: str, entry: str, size: int) -> str:
    """A fixture with so many entries."""
    names = ", ".join(f"n{number}.com" for number in range(size)) if "LIST" in start else ""
    return HEAD + start.replace("LIST", names) + "".join(entry.replace("#", str(n)) for n in range(1, size))


def seconds(work: Callable[[], object]) -> float:
    """The computing time of it; a fixture that is refused has been read as well."""
    began = process_time()
    with suppress(FixtureError):
        work()
    return process_time() - began


def run(how: How) -> Told:
    """Microseconds an entry, the ratio of large fixtures to small ones, and seconds of refusals."""
    small, large = (100, 300) if how.tiny else SIZES
    for name, (start, entry) in SOUND.items():
        ways = {size: partial(seconds, partial(loads, text(start, entry, size))) for size in (small, large)}
        found = interleaved({str(size): way for size, way in ways.items()}, how.rounds)
        each = {size: [taken / size * 1e6 for taken in found[str(size)]] for size in (small, large)}
        goal = f"≤ {GOALS['load']}" if name == "names" else ""
        yield Figure(f"load, {name}", "µs each", each[large], goal)
        yield Figure(f"load, {large:,} {name} beside {small:,}", "× each", ratios(each[large], each[small]))
    yield from _worlds(how, large)
    for name, (start, entry, size) in BAD.items():
        refused = text(start, entry, size // 50 if how.tiny else size)
        yield Figure(f"refuse {name}", "s", [seconds(partial(loads, refused))])


def _worlds(how: How, size: int) -> Iterator[Figure]:
    """What is done to a world of so many names whose first year ends for all of them."""
    sandbox = Sandbox()
    sandbox.load(text(*SOUND["names"], size))
    exports, events = [], []
    for number in range(how.rounds):
        sandbox.outside.adjust_balance("main", by=number + 1)  # what has been written once is kept
        exports.append(seconds(sandbox.export) / size * 1e6)
        began = process_time()
        moved = sandbox.clock.advance("P1Y", limit=1)
        events.append((process_time() - began) / moved.total * 1e6)
        sandbox.reset()
    yield Figure("export", "µs a name", exports, f"≤ {GOALS['export']}")
    yield Figure("advance by a year", "µs an event", events, f"≤ {GOALS['advance']}")
