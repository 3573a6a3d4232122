"""Objects that belong to one process: after a fork, the child process has a copy, which it must not use."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class HomeProcess:
    """The process that created an object."""

    def __init__(self) -> None:
        self._id = os.getpid()

    @property
    def is_here(self) -> bool:
        """Whether this process created the object. It is false in a child process after a fork."""
        return self._id == os.getpid()


class PerProcess(Generic[T]):
    """A value that ``make`` creates once in each process, such as a connection."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._create()

    def _create(self) -> None:
        self._home, self._value = HomeProcess(), self._make()

    def __call__(self) -> T:
        """Return the value of this process."""
        if not self._home.is_here:
            self._create()
        return self._value
