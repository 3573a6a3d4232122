"""What the benchmarks have found, as Markdown and as a picture."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib.metadata import version

from tests.benchmarks import load, peers
from tests.benchmarks.measuring import Figure, short

#: The parts that there are, in the order in which they are told.
PARTS = (
    *("answering", "suite", "growing", "loading", "faults", "starting"),
    *("following", "unmatched", "waiting", "soak"),
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


def markdown(about: str, parts: Sequence[Part]) -> str:
    """Return all of it as Markdown, a table for each part."""
    return "\n".join([f"Measured with {about}.", "", *(line for part in parts for line in _section(part))])


def _section(part: Part) -> Iterator[str]:
    yield f"### {part.name.capitalize()}"
    yield ""
    yield part.about
    yield ""
    if part.figures:
        yield "| what | median | least – most | goal |"
        yield "|---|--:|--:|---|"
        yield from (f"| {' | '.join(one.cells)} |" for one in part.figures)
        yield ""
    for line in part.told:
        if isinstance(line, str):
            yield f"* {line}"
    yield ""


#: Sizes of the picture: of a bar, of its name, and of the longest bar.
_HIGH, _NAME, _LONGEST = 18, 330, 420


def picture(parts: Sequence[Part]) -> str:
    """Return the rates of all servers as bars."""
    bars = [one for part in parts for one in part.figures if one.unit == "requests/s"]
    most = max((one.median for one in bars), default=1.0)
    height = _HIGH * len(bars) + 10
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_NAME + _LONGEST + 80} {height}"'
        ' font-family="sans-serif" font-size="12" fill="currentColor" role="img">',
        "<title>Requests a second</title>",
    ]
    for number, one in enumerate(bars):
        top, long = number * _HIGH + 5, one.median / most * _LONGEST
        colour = "#2f6f9f" if one.what.startswith(("v2", "v3")) else "#9aa5b1"
        drawn += [
            f'<text x="{_NAME - 8}" y="{top + 13}" text-anchor="end">{escape(one.what)}</text>',
            f'<rect x="{_NAME}" y="{top + 2}" width="{long:.1f}" height="{_HIGH - 4}" fill="{colour}"/>',
            f'<text x="{_NAME + long + 6:.1f}" y="{top + 13}">{short(one.median)}</text>',
        ]
    return "\n".join([*drawn, "</svg>", ""])
