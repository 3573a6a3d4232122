"""Streams of records: one after another, as things happen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from math import inf
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

if TYPE_CHECKING:
    from reseller_sandbox.worlds.feed import Come, Follower

T = TypeVar("T")

#: In how many pieces a second is told, at the most, to those who want so many records a second.
PIECES = 4


class Following(ABC, Generic[T], Iterator[T]):
    """An iterator that waits for each next record; ``close`` ends it, from any thread.

    ``missed`` counts the records that came too fast: to be kept while nobody read, or for as many a second
    as were wanted.
    """

    missed: int = 0

    @abstractmethod
    def __next__(self) -> T:
        """Return the next thing; raise StopIteration when nothing will come any more."""

    @abstractmethod
    def close(self) -> None:
        """Stop following."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Followed(Following[T]):
    """What happens in a world of this process: what ``show`` makes of that which is ``wanted``.

    Streams with the same ``key`` want and show the same. With ``per_second`` no more than so many of the
    latest are shown in a second: whoever only looks on costs next to nothing, however much there is.
    """

    def __init__(
        self,
        key: str,
        follower: Follower,
        wanted: Callable[[Any], bool],
        show: Callable[[Any], T],
        per_second: int | None = None,
    ) -> None:
        self.follower = follower
        self._key = key
        self._wanted = wanted
        self._show = show
        self._per_second = per_second
        self._left_out = 0
        self._ready: deque[T] = deque()
        #: How many seconds to leave before more is taken.
        self.pause = 0.0

    def ready(self) -> list[T]:
        """Return the records that wait to be read, without waiting for more."""
        found = [*self._ready, *self._taken()]
        self._ready.clear()
        return found

    def written(self, write: Callable[[T], bytes], most: float = inf) -> list[bytes]:
        """Return what ``ready`` would, as bytes; streams with the same key share what ``write`` returns.

        The rest is left for the next time as soon as there are ``most`` bytes.
        """
        found = [write(one) for one in self._ready]
        self._ready.clear()
        taken, size = self._come(), 0
        for number, come in enumerate(taken, 1):
            key = self._key, write
            if key not in come.shown:
                one = self._shown(come)
                come.shown[key] = None if one is None else write(one)
            if come.shown[key] is not None:
                found.append(come.shown[key])
                size += len(come.shown[key])
            if size >= most and number < len(taken) and self._per_second is None:
                self.follower.put_back(taken[number:])
                break
        return found

    def _taken(self) -> Iterator[T]:
        shown = map(self._shown, self._come())
        return (one for one in shown if one is not None)

    def _come(self) -> list[Come]:
        """Return what has come, or the latest of that, as much as there may be in a piece."""
        come = self.follower.take()
        if self._per_second is None:
            return come
        come = [one for one in come if self._wanted(one.thing)]
        told = come[-max(self._per_second // PIECES, 1) :]
        self._left_out += len(come) - len(told)
        self.pause = len(told) / self._per_second
        return told

    def _shown(self, come: Come) -> T | None:
        if self._key not in come.shown:
            come.shown[self._key] = self._show(come.thing) if self._wanted(come.thing) else None
        found: T | None = come.shown[self._key]
        return found

    @property
    def missed(self) -> int:  # type: ignore[override]
        """Return how many records came too fast."""
        return self.follower.missed + self._left_out

    def __next__(self) -> T:
        while not self._ready:
            self.follower.rest(self.pause)
            self._ready.extend(self._taken())
            if not self._ready:
                if self.follower.ended:
                    raise StopIteration
                self.follower.wait()
        return self._ready.popleft()

    def close(self) -> None:
        """Stop following."""
        self.follower.close()
