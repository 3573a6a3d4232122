"""What the benchmarks share: how thoroughly to measure, the figures that come of it, and other programs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent.parent

#: The environment that `make bench` makes for the servers and libraries beside which ours are measured.
PEERS = ROOT / ".venv" / "bench"


@dataclass(frozen=True)
class How:
    """So many rounds, a server under load for so many seconds in each; up to a million names if ``large``.

    A ``tiny`` run only shows that everything works.
    """

    rounds: int = 5
    seconds: float = 2.0
    large: bool = False
    tiny: bool = False

    def times(self, usual: int) -> int:
        """Return how often to repeat within a round what is ``usual`` to be repeated so often."""
        return max(usual // 50, 1) if self.tiny else usual


@dataclass(frozen=True)
class Figure:
    """What was measured, with its value in each round, and a goal such as ``≤ 2`` if there is one."""

    what: str
    unit: str
    values: Sequence[float]
    goal: str = ""

    @property
    def median(self) -> float:
        """The value that is told."""
        return median(self.values)

    @property
    def is_reached(self) -> bool:
        """Whether the goal is, if there is one."""
        sign, _, bound = self.goal.partition(" ")
        return not sign or (self.median <= float(bound) if sign == "≤" else self.median >= float(bound))

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """What stands in a table: what it is, its median, from where to where it went, and the goal."""
        spread = f"{short(min(self.values))} – {short(max(self.values))}"
        goal = f"{self.goal}{'' if self.is_reached else ' (missed)'}"
        return self.what, f"{short(self.median)} {self.unit}", spread, goal

    def __str__(self) -> str:
        what, value, spread, goal = self.cells
        return f"{what:<46} {value:>18}   {spread:>18}   {goal}".rstrip()


#: What a benchmark tells: figures, and lines for what has no number.
Told = Iterator[Figure | str]


class LeftOut(Exception):
    """Something cannot be measured on this machine; the text says why."""


def short(value: float) -> str:
    """Return a number with as many digits as it is worth."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def interleaved(ways: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Return what each way takes in each round: in turn, so that a busy moment strikes all."""
    found: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, measure in ways.items():
            found[way].append(measure())
    return found


def ratios(over: Sequence[float], under: Sequence[float]) -> list[float]:
    """Return the ratio of two things in each round."""
    return [one / other for one, other in zip(over, under, strict=True)]


@contextmanager
def running(
    *command: str | Path, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Run a program, to be written to and read from line by line, until the context ends."""
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        env=environment,
    ) as program:
        try:
            yield program
        finally:
            program.terminate()


def line_of(program: subprocess.Popen[str]) -> str:
    """Return the next line that a program prints; raise ``LeftOut`` where it has ended."""
    assert program.stdout is not None
    if not (line := program.stdout.readline()):
        raise LeftOut(f"{program.args!r} has ended")
    return line.strip()


def peer(name: str) -> Path:
    """Return a program of the peers' environment; raise ``LeftOut`` where that is not there."""
    found = PEERS / name
    if not found.exists():
        raise LeftOut(f"{found.relative_to(ROOT)} is not there: `make bench` installs it where it can")
    return found


def ours(*arguments: str) -> tuple[str, ...]:
    """Return the command that runs a module of this project in a process of its own."""
    return (sys.executable, "-m", *arguments)
