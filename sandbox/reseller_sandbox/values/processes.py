"""Values that belong to one process: after a fork, the child process has a copy, which it must not use."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class PerProcess(Generic[T]):
    """A value that ``make`` creates once in each process, such as a connection."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._create()

    def _create(self) -> None:
        self._process, self._value = os.getpid(), self._make()

    def __call__(self) -> T:
        """Return the value of this process."""
        if self._process != os.getpid():
            self._create()
        return self._value
