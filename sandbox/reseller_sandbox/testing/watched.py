"""Sandboxes whose worlds can be told of when the test that they are for fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Self, Unpack

from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.powers.worlds import ForkOptions
from reseller_sandbox.remote import Unreachable
from reseller_sandbox.sandbox import Sandbox


class Watched(Sandbox):
    """A sandbox in a test run: its forks are remembered until the test that made them is over."""

    _watcher: Watcher

    def by(self, watcher: Watcher) -> Self:
        """Return itself, watched by ``watcher``, and its forks with it."""
        self._watcher = watcher
        return self

    def fork(self, **wanted: Unpack[ForkOptions]) -> Self:
        """Return a sandbox with a new world, as ``Sandbox.fork`` does."""
        made = super().fork(**wanted)
        self._watcher.made(made)
        return made

    def close(self) -> None:
        """Give the world up; it is still there for what is said of the test, if that fails."""
        if not self._watcher.keeps(self):
            self.finish()

    def _tell(self, error: Exception) -> None:
        """Leave to the report of the test what happened."""

    def finish(self) -> None:
        """Give the world up at once."""
        with suppress(Unreachable):  # a server that is gone has given up its worlds
            super().close()


class Watcher:
    """Knows the worlds of the test that runs, and keeps them until it is over.

    ``observe`` is called with all that there are when a test ends.
    """

    observe: Callable[[Sequence[Watched]], None] | None = None

    def __init__(self) -> None:
        self._runs = False
        self._open: list[Watched] = []
        self._closed: list[Watched] = []
        self._own: list[Watched] = []

    def begin(self) -> None:
        """Have a test begin, which is set up, called and torn down until ``end``."""
        self._runs = True

    def end(self) -> None:
        """Have the test end: what it has given up is gone now."""
        if self.observe is not None:
            self.observe(self._open)
        self._runs = False
        closed, self._closed, self._own = self._closed, [], []
        for one in closed:
            self._open = [other for other in self._open if other is not one]
            one.finish()

    def made(self, sandbox: Watched) -> None:
        """Remember a new world; it is the running test's own."""
        self._open.append(sandbox)
        self._own.append(sandbox)

    def shares(self, sandbox: Watched) -> None:
        """Take a world for no test's own, though it was made while one runs."""
        self._own = [one for one in self._own if one is not sandbox]

    def keeps(self, sandbox: Watched) -> bool:
        """Whether a world that is given up now is needed until the test is over."""
        if not self._runs:
            self._open = [other for other in self._open if other is not sandbox]
        elif all(other is not sandbox for other in self._closed):
            self._closed.append(sandbox)
        return self._runs

    @property
    def concerned(self) -> list[Watched]:
        """The worlds that the running test has made, and of others those that have seen requests."""
        others = [one for one in self._open if all(one is not own for own in self._own)]
        return [*self._own, *(one for one in others if _has_seen_requests(one))]


def _has_seen_requests(sandbox: Sandbox) -> bool:
    with suppress(Refused, Unreachable):
        return bool(sandbox.journal.find(limit=0).matching)
    return False
