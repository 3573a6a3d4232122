"""Measures, and prints the figures: ``python -m tests.benchmarks [PART ...] [options]``."""

from __future__ import annotations

import signal
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks import answering, faults, growing, local, soak, tools, waiting
from tests.benchmarks.measuring import Figure, Found, How, machine, markdown

#: Each part by its name, in the order of the page.
PARTS: dict[str, Callable[[How], Found]] = {
    "answering": answering.measure,
    "growing": growing.measure,
    "loading": local.loading,
    "faults": faults.measure,
    "starting": local.starting,
    "waiting": waiting.measure,
    "tools": tools.measure,
    "soak": soak.measure,
}


def main() -> None:
    """Run the parts that are named, or all; write the report if a page is named."""
    parser = ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"some of {', '.join(PARTS)}; all by default"
    )
    parser.add_argument("--rounds", type=int, default=How.rounds, help="how often all is measured in turn")
    parser.add_argument("--large", action="store_true", help="worlds of a million names, which take minutes")
    parser.add_argument("--tiny", action="store_true", help="only see that everything works")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="a page that ends with the figures")
    arguments = parser.parse_args()
    if strange := [name for name in arguments.parts if name not in PARTS]:
        parser.error(f"there is no part {', '.join(strange)}; there are {', '.join(PARTS)}")
    how = How(1 if arguments.tiny else arguments.rounds, arguments.large, arguments.tiny)
    print(machine())
    done: dict[str, tuple[str, list[Figure | str]]] = {}
    for name in arguments.parts or PARTS:
        about = " ".join((PARTS[name].__doc__ or "").split())
        print(f"\n{name}: {about}")
        done[name] = about, []
        for figure in PARTS[name](how):
            print(f"  {figure}", flush=True)
            done[name][1].append(figure)
    if page := arguments.markdown:
        page.write_text(markdown(done, page.read_text("utf-8") if page.exists() else ""), "utf-8")
    figures = [figure for _, results in done.values() for figure in results if isinstance(figure, Figure)]
    print(f"\n{sum(figure.is_missed for figure in figures)} goals are missed")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # so that the servers end as well
    main()
