"""Python's collector of cycles, kept from going over whole worlds while everybody waits.

Worlds are hundreds of thousands of records that know no cycles: counting references frees them. A full
collection of them would stop the process for a good part of a second, and find nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def sparing_survivors() -> Iterator[None]:
    """Have each full collection go over what is new since the last one alone, while the context lasts.

    It is for a process that does nothing but serve: it concerns all that the process holds.
    """
    gc.collect()
    gc.freeze()
    gc.callbacks.append(_spare)
    try:
        yield
    finally:
        gc.callbacks.remove(_spare)
        gc.unfreeze()


def _spare(phase: str, about: dict[str, Any]) -> None:
    if phase == "stop" and about["generation"] == 2:
        gc.freeze()
