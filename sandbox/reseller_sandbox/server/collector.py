"""Control of Python's garbage collector, which would stop every thread and find nothing.

A world has hundreds of thousands of records without cycles, which reference counts free. Modules stay loaded.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

#: The number of new objects above which a collection takes noticeable time.
MUCH = 50_000

#: Switch interval of threads in seconds. It is short because an event loop needs several turns per request.
TURN = 0.0005


def begin_serving() -> None:
    """Exclude the objects of the server's start from collections, and shorten thread turns."""
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
        if gc.get_count()[0] > MUCH and gc.get_freeze_count():  # only if the process is a server
            gc.freeze()  # because the next collection would traverse all new records
        gc.enable()
