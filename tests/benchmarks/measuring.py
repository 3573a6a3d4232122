"""Figures of measurements in rounds, a report as Markdown, and programs in separate processes."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter

ROOT = Path(__file__).parents[2]

#: The heading of the manual's page below which the figures stand.
HEADING = "## Figures"


@dataclass(frozen=True)
class How:
    """The number of rounds, a million names if ``large``; ``tiny`` only shows that all works."""

    rounds: int = 5
    large: bool = False
    tiny: bool = False

    def times(self, default: int) -> int:
        """Return the repetitions within a round."""
        return max(default // 50, 1) if self.tiny else default


@dataclass(frozen=True)
class Figure:
    """A measurement with its value in each round, and the goal for its median, if there is one."""

    what: str
    unit: str
    values: Sequence[float]
    most: float | None = None

    @property
    def is_missed(self) -> bool:
        return self.most is not None and median(self.values) > self.most

    @property
    def cells(self) -> tuple[str, str, str, str]:
        spread = f"{short(min(self.values))} – {short(max(self.values))}"
        goal = "" if self.most is None else f"≤ {self.most:g}{' (missed)' * self.is_missed}"
        return self.what, f"{short(median(self.values))} {self.unit}", spread, goal

    def __str__(self) -> str:
        what, value, spread, goal = self.cells
        return f"{what:<50} {value:>20}   {spread:>18}   {goal}".rstrip()


#: Figures of a part, and lines of text.
Found = Iterator[Figure | str]


def short(value: float) -> str:
    """Return a number with three digits."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def interleaved(ways: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Measure each way once a round, so that a busy moment of the machine affects all ways."""
    measured = [{way: measure() for way, measure in ways.items()} for _ in range(rounds)]
    return {way: [values[way] for values in measured] for way in ways}


def ratios(over: Sequence[float], under: Sequence[float]) -> list[float]:
    """Return the ratio of two measurements in each round."""
    return [high / low for high, low in zip(over, under, strict=True)]


def seconds(work: Callable[[], object], clock: Callable[[], float] = perf_counter) -> float:
    began = clock()
    work()
    return clock() - began


@contextmanager
def running(*command: str | Path) -> Iterator[subprocess.Popen[str]]:
    """Run a program of Python, to be read line by line, until the context ends."""
    pipe, words = subprocess.PIPE, (sys.executable, "-m", *command)
    with subprocess.Popen(
        words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, cwd=ROOT
    ) as program:
        try:
            yield program
        finally:
            program.terminate()


def serving(*options: str | Path) -> tuple[str | Path, ...]:
    """Return the program that serves a sandbox on a free port."""
    return ("reseller_sandbox", "serve", "--port", "0", *options)


def line_of(program: subprocess.Popen[str]) -> str:
    """Return the next line that a program prints, or nothing at its end."""
    assert program.stdout
    return program.stdout.readline().strip()


def memory(process: int | None = None) -> int:
    """Return the bytes that a process holds, or this process."""
    fields = Path(f"/proc/{process or os.getpid()}/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


def computed(process: int) -> float:
    """Return the seconds that a process has computed."""
    nanoseconds = 0
    for task in Path(f"/proc/{process}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has just ended
            nanoseconds += int((task / "schedstat").read_text().split()[0])
    return nanoseconds / 1e9


def machine() -> str:
    """Return the machine, the versions, and how busy the machine is."""
    libraries = ("flask", "werkzeug", "uvicorn", "marshmallow", "rpds-py", "httpx", "requests")
    busy = f"{os.getloadavg()[0]:.1f} of {os.cpu_count()} cores busy as it began"
    python = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    return f"{python}, {busy}; {', '.join(f'{name} {version(name)}' for name in libraries)}"


def markdown(parts: Mapping[str, tuple[str, Sequence[Figure | str]]], page: str = "") -> str:
    """Return a page whose figures are replaced: a table for each part, whose text comes first."""
    lines = [HEADING, "", f"Measured with {machine()}."]
    for name, (about, results) in parts.items():
        figures = [f"| {' | '.join(figure.cells)} |" for figure in results if isinstance(figure, Figure)]
        texts = [f"* {text}" for text in results if isinstance(text, str)]
        lines += ["", f"### {name.capitalize()}", "", about, ""]
        lines += (
            ["| measurement | median | least – most | goal |", "|---|---|---|---|", *figures]
            if figures
            else []
        )
        lines += ["", *texts] if texts else []
    return page.partition(HEADING)[0] + "\n".join(lines) + "\n"
