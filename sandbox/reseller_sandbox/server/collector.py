"""Control of Python's garbage collector. A collection stops every thread and finds nothing to free.

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
    """Exclude all existing objects from garbage collection, and let threads switch more often."""
    gc.freeze()
    sys.setswitchinterval(TURN)


@contextmanager
def without_collections() -> Iterator[None]:
    """Disable automatic garbage collection during the ``with`` block."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > MUCH and gc.get_freeze_count():  # Only a server has frozen objects.
            gc.freeze()  # Exclude the new records, so that the next collection does not traverse them.
        gc.enable()
