"""Whose turn it is to change a world: one thread's at a time, the others wait or come again."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar

_HURRIED: ContextVar[bool] = ContextVar("hurried", default=False)


class Busy(Exception):
    """Another thread is changing the world, and whoever asks has no time to wait for it."""

    def __init__(self, turn: WorldLock) -> None:
        super().__init__()
        self.turn = turn


class hurried:  # noqa: N801  # a context, for every request
    """Raise ``Busy`` in this block wherever a turn would have to be waited for.

    It is meant for the event loop, which serves every world and cannot wait for one of them.
    """

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        self._token = _HURRIED.set(True)

    def __exit__(self, *_: object) -> None:
        _HURRIED.reset(self._token)


class WorldLock:
    """A lock that its holder may take again, and that tells those who could not wait when to come back."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._waiting: deque[Callable[[], None]] = deque()

    def __enter__(self) -> None:
        if self._lock.acquire(blocking=False):
            return
        if _HURRIED.get():
            raise Busy(self)
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
        if self._waiting:
            self._call_back()

    def when_free(self, call: Callable[[], None]) -> None:
        """Call ``call`` as soon as it is worth trying again, in the order in which this was asked for."""
        self._waiting.append(call)
        if self._lock.acquire(blocking=False):  # it has been freed since; otherwise its holder calls
            self.__exit__()

    def _call_back(self) -> None:
        with suppress(IndexError):  # another thread may take the last one
            while True:
                self._waiting.popleft()()
