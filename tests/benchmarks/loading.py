"""Loading fixtures: the time of an entry must not depend on how many there are, nor a refusal take longer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from time import process_time

from reseller_sandbox.fixture import FixtureError, loads

HEAD = (
    "zones: {com: {prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}}\n"
    "accounts: {main: {balance: 1000000, contact: {name: Mary Example}}}\n"
)
SIZES = (1_000, 12_000)

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


def seconds(fixture: str) -> float:
    """The computing time that it takes to load a fixture, or to refuse it."""
    began = process_time()
    with suppress(FixtureError):
        loads(fixture)
    return process_time() - began


def run() -> Iterator[str]:
    """The times of entries in small and large fixtures with their ratios, and those of refusals."""
    for name, (start, entry) in SOUND.items():
        small, large = (seconds(text(start, entry, size)) / size * 1e6 for size in SIZES)
        yield f"{name:<40} {small:5.0f} and {large:5.0f} µs each, ratio {large / small:.2f}"
    for name, (start, entry, size) in BAD.items():
        yield f"{name:<40} {seconds(text(start, entry, size)):.2f} s to refuse"
