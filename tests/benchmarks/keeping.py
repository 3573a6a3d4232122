"""Saving worlds in a file and opening it: the time of a name, and how long others wait meanwhile."""

from __future__ import annotations

import threading
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time, sleep

from reseller_sandbox.keeping.worlds import opened, save
from reseller_sandbox.server.collector import Beside, sparing_survivors
from tests.benchmarks.growing import grown
from tests.benchmarks.measuring import Figure, How, Told

#: How many names a world has that is saved and opened, and more of them where there is time.
NAMES, MANY = 100_000, 1_000_000


def microseconds(path: Path, size: int) -> tuple[float, float]:
    """The computing time of a name in saving and in opening."""
    kept = grown(size).engine.kept()
    began = process_time()
    save(path, kept)
    saved = process_time()
    again = opened(path)
    read = process_time()
    del again  # to let go of it is no part of opening
    return (saved - began) / size * 1e6, (read - saved) / size * 1e6


def holds(path: Path, size: int) -> tuple[float, list[float]]:
    """How long a save takes, and for how long it computes each time while another thread wants to."""
    sandbox, beside = grown(size), Beside()

    def saving() -> None:
        with beside:
            save(path, sandbox.engine.kept())

    thread, held = threading.Thread(target=saving), []
    with sparing_survivors():
        began = last = process_time()
        thread.start()
        while thread.is_alive():
            sleep(0.0005)
            now = process_time()
            held.append(now - last)
            last = now
    return process_time() - began, held


def run(how: How) -> Told:
    """The computing times of a name, and of what keeps another thread waiting."""
    size = 500 if how.tiny else MANY if how.large else NAMES
    with TemporaryDirectory() as folder:
        path = Path(folder) / "worlds"
        found = [microseconds(path, size) for _ in range(1 if how.large else how.rounds)]
        yield Figure(f"to save one of {size} names", "µs", [saved for saved, _ in found])
        yield Figure(f"to open one of {size} names", "µs", [read for _, read in found], "≤ 5")
        yield Figure("in the file for each name", "bytes", [path.stat().st_size / size])
        rounds = [holds(path, size) for _ in range(1 if how.large else min(how.rounds, 3))]
        yield Figure(f"computing of a save of {size} names", "s", [took for took, _ in rounds])
        yield Figure("as long others wait, as a rule", "ms", [median(some) * 1e3 for _, some in rounds])
        yield Figure("as long others wait, at most", "ms", [max(some) * 1e3 for _, some in rounds], "≤ 50")
