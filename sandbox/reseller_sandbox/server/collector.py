"""Python's collector of cycles, kept from going over whole worlds while everybody waits.

Worlds are hundreds of thousands of records that know no cycles: counting references frees them. A full
collection of them would stop the process for a good part of a second, and find nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

#: One full collection of so many goes over everything.
WHOLE = 50


@contextmanager
def sparing_survivors() -> Iterator[None]:
    """Have full collections go over what is new since the last one alone, while the context lasts.

    Every ``WHOLE``-th goes over everything, so that cycles which die late are freed too. It is for a process
    that does nothing but serve: it concerns all that the process holds.
    """
    collections = count(1)

    def spare(phase: str, about: dict[str, Any]) -> None:
        if about["generation"] != 2:
            return
        if phase == "stop":
            gc.freeze()
        elif next(collections) % WHOLE == 0:
            gc.unfreeze()

    gc.collect()
    gc.freeze()
    gc.callbacks.append(spare)
    try:
        yield
    finally:
        gc.callbacks.remove(spare)
        gc.unfreeze()
