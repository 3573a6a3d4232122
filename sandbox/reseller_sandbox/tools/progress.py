"""How far long work has come, for people who watch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Takes a few words for each step that is done, and how many there are once that is known.
Tell = Callable[[str, int | None], None]


@contextmanager
def progress(what: str) -> Iterator[Tell]:
    """Show a bar on a terminal's standard error while the context lasts; yield what is told of each step."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _, __: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def tell(words: str, total: int | None) -> None:
            bar.update(task, advance=1, total=total, description=f"{what}: {words}"[:60])

        yield tell
