"""What keeps Python from stopping every thread, or serving one of them alone, while others wait.

Worlds are hundreds of thousands of records that know no cycles: counting references frees them. A full
collection of them would stop the process for a good part of a second, and find nothing.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from threading import Lock
from typing import Any

#: One full collection of so many goes over everything.
WHOLE = 50

#: More new objects than this take noticeable time to go over.
MUCH = 50_000

#: For how many seconds a thread keeps others from running while something is done beside the event loop.
TURN = 0.0005


class _Sparing:
    """Called around each collection; what survives a full one is left out of those that follow."""

    def __init__(self) -> None:
        self._collections = count(1)

    def __call__(self, phase: str, about: dict[str, Any]) -> None:
        if about["generation"] != 2:
            return
        if phase == "stop":
            gc.freeze()
        elif next(self._collections) % WHOLE == 0:
            gc.unfreeze()


@contextmanager
def sparing_survivors() -> Iterator[None]:
    """Have full collections go over what is new since the last one alone, while the context lasts.

    Every ``WHOLE``-th goes over everything, so that cycles which die late are freed too; what is garbage by
    now is left to it, as a look for that would take a tenth of a whole start. It is for a process that does
    nothing but serve: it concerns all that the process holds.
    """
    sparing = _Sparing()
    gc.freeze()
    gc.callbacks.append(sparing)
    try:
        yield
    finally:
        gc.callbacks.remove(sparing)
        gc.unfreeze()


class Beside:
    """A context, entered once for each thing that is done on a thread beside the event loop.

    While there is any, threads take turns of ``TURN`` seconds, and nothing is collected: the loop needs the
    interpreter several times for a request, and what is done aside makes records by the hundred thousand.
    Both are as before when the last one is over.
    """

    def __init__(self) -> None:
        self._count = 0
        self._changed = ExitStack()
        self._lock = Lock()

    def __enter__(self) -> None:
        with self._lock:
            self._count += 1
            if self._count == 1:
                self._changed.enter_context(without_collections())
                self._changed.enter_context(_in_short_turns())

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._count -= 1
            if not self._count:
                self._changed.close()


@contextmanager
def without_collections() -> Iterator[None]:
    """Collect nothing by itself; what has been made meanwhile passes for old when that is over and is much.

    Young garbage is collected first, or else it would pass for old as well.
    """
    if not gc.isenabled():
        yield
        return
    gc.collect(1)
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > MUCH:
            gc.freeze()  # takes no time, where the next collection would go over all of it
            if not any(isinstance(one, _Sparing) for one in gc.callbacks):
                gc.unfreeze()
        gc.enable()


@contextmanager
def _in_short_turns() -> Iterator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(min(usual, TURN))
    try:
        yield
    finally:
        sys.setswitchinterval(usual)
