"""What the benchmarks have found, as Markdown."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from tests.benchmarks import load, peers
from tests.benchmarks.before import before
from tests.benchmarks.measuring import Figure, short

#: The parts that there are, in the order in which they are told.
PARTS = (
    *("answering", "suite", "growing", "loading", "faults", "starting"),
    *("following", "unmatched", "waiting", "keeping", "soak"),
)


@dataclass(frozen=True)
class Part:
    """What one part has found: figures, and lines beside them."""

    name: str
    about: str
    told: Sequence[Figure | str]

    @property
    def figures(self) -> list[Figure]:
        """The figures alone."""
        return [one for one in self.told if isinstance(one, Figure)]


def machine() -> str:
    """Return on what is measured, and with which versions."""
    libraries = ("flask", "werkzeug", "uvicorn", "marshmallow", "rpds-py", "httpx", "requests")
    cores = os.cpu_count()
    busy = (
        f"{os.getloadavg()[0]:.1f} of {cores} cores busy as it began"
        if hasattr(os, "getloadavg")
        else f"{cores} cores"
    )
    return "; ".join(
        [
            f"Python {platform.python_version()} on {platform.system()} {platform.machine()}, {busy}",
            f"client {load.name()}",
            ", ".join(f"{one} {version(one)}" for one in libraries),
            ", ".join(peers.versions()) or "no peers",
        ]
    )


#: The heading of a page below which all is measured.
MEASURED = "## Figures"


def markdown(about: str, parts: Sequence[Part], page: str = "") -> str:
    """Return a page with what was found, a table for each part; it had other figures below ``MEASURED``."""
    lines = [
        MEASURED,
        "",
        f"Measured with {about}.",
        "",
        *(line for part in parts for line in _section(part)),
    ]
    return page.partition(MEASURED)[0] + "\n".join(lines).rstrip() + "\n"


def _section(part: Part) -> Iterator[str]:
    yield f"### {part.name.capitalize()}"
    yield ""
    yield part.about
    yield ""
    yield from bars(part)
    if part.figures:
        yield "| what | median | least – most | goal | before |"
        yield "|---|---|---|---|---|"
        yield from (f"| {' | '.join(one.cells)} | {before(one.what, one.unit)} |" for one in part.figures)
        yield ""
    for line in part.told:
        if isinstance(line, str):
            yield f"* {line}"
    yield ""


#: How long the longest bar is, in characters.
_LONGEST = 40


def bars(part: Part) -> Iterator[str]:
    """Yield a picture of the rates of servers: in characters, for a terminal shows the manual, too."""
    rates = [one for one in part.figures if one.unit == "requests/s"]
    if not rates:
        return
    most = max(one.median for one in rates)
    wide = max(len(one.what) for one in rates)
    yield "Requests a second:"
    yield ""
    yield "```text"
    for one in rates:
        yield f"{one.what:<{wide}} {'█' * max(round(one.median / most * _LONGEST), 1)} {short(one.median)}"
    yield "```"
    yield ""
