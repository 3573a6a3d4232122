"""Measures, and tells what it has found: ``python -m tests.benchmarks [PART ...] [options]``."""

from __future__ import annotations

import signal
import sys
from argparse import ArgumentParser
from importlib import import_module
from pathlib import Path

from tests.benchmarks.measuring import Figure, How, Told
from tests.benchmarks.report import PARTS, Part, machine, markdown


def main() -> None:
    """Run the parts that are named, or all; write the report where that is wanted."""
    parser = ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"some of {', '.join(PARTS)}; all by default"
    )
    parser.add_argument("--rounds", type=int, default=How.rounds, help="how often all is measured in turn")
    parser.add_argument("--seconds", type=float, default=How.seconds, help="for how long a server is loaded")
    parser.add_argument("--large", action="store_true", help="worlds of a million names, which take minutes")
    parser.add_argument("--tiny", action="store_true", help="only see that everything works")
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="a page that is to end with the figures"
    )
    told = parser.parse_args()
    if strange := [one for one in told.parts if one not in PARTS]:
        parser.error(f"there is no part {', '.join(strange)}; there are {', '.join(PARTS)}")
    how = How(1 if told.tiny else told.rounds, told.seconds, told.large, told.tiny)
    print(about := machine())
    done = [_done(name, how) for name in told.parts or PARTS]
    if told.markdown is not None:
        page = told.markdown.read_text("utf-8") if told.markdown.exists() else ""
        told.markdown.write_text(markdown(about, done, page), "utf-8")
    missed = [one for part in done for one in part.told if isinstance(one, Figure) and not one.is_reached]
    print(f"\n{len(missed)} goals are missed")


def _done(name: str, how: How) -> Part:
    """Measure one part, and print each of its figures as soon as it is known."""
    module = import_module(f"tests.benchmarks.{name}")
    about = module.__doc__ or ""
    print(f"\n{name}: {about.splitlines()[0]}")
    run: Told = module.run(how)
    found = []
    for one in run:
        print(f"  {one}", flush=True)
        found.append(one)
    return Part(name, " ".join(about.split()), found)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # so that the servers end as well
    main()
