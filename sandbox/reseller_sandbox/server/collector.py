"""Python's garbage collector, stopped where it would find nothing and hold up every thread.

Worlds are hundreds of thousands of records without cycles, which reference counts free, and modules stay.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

#: More new objects than this take noticeable time to collect.
MUCH = 50_000

#: Seconds after which a thread lets another one run: an event loop needs several turns for one request.
TURN = 0.0005


def begin_serving() -> None:
    """Have collections skip the objects of a server's start, and threads take short turns."""
    gc.freeze()
    sys.setswitchinterval(TURN)


@contextmanager
def without_collections() -> Iterator[None]:
    """Disable automatic collections while the context lasts."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > MUCH and gc.get_freeze_count():  # in a process that only serves
            gc.freeze()  # or else the next collection would go over all new records
        gc.enable()
