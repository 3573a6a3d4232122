"""Streams of records: one after another, as things happen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

if TYPE_CHECKING:
    from reseller_sandbox.worlds.feed import Come, Follower

T = TypeVar("T")


class Following(ABC, Generic[T], Iterator[T]):
    """An iterator that waits for each next record; ``close`` ends it, from any thread.

    ``missed`` counts the records that came too fast to be kept while nobody read.
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
    """What happens in a world of this process: ``past`` first, then what ``show`` makes of what comes.

    ``show`` returns None for what does not match. Streams with the same ``key`` show the same.
    """

    def __init__(
        self, key: str, follower: Follower, show: Callable[[Any], T | None], past: Iterable[T] = ()
    ) -> None:
        self.follower = follower
        self._key = key
        self._show = show
        self._ready = deque(past)

    def ready(self) -> list[T]:
        """Return the records that wait to be read, without waiting for more."""
        found = [*self._ready, *self._taken()]
        self._ready.clear()
        return found

    def written(self, write: Callable[[T], bytes]) -> list[bytes]:
        """Return what ``ready`` would, as bytes; streams with the same key share what ``write`` returns."""
        found = [write(one) for one in self._ready]
        self._ready.clear()
        for come in self.follower.take():
            key = self._key, write
            if key not in come.shown:
                one = self._shown(come)
                come.shown[key] = None if one is None else write(one)
            if come.shown[key] is not None:
                found.append(come.shown[key])
        return found

    def _taken(self) -> Iterator[T]:
        shown = map(self._shown, self.follower.take())
        return (one for one in shown if one is not None)

    def _shown(self, come: Come) -> T | None:
        if self._key not in come.shown:
            come.shown[self._key] = self._show(come.thing)
        found: T | None = come.shown[self._key]
        return found

    @property
    def missed(self) -> int:  # type: ignore[override]
        """Return how many records came too fast to be kept while nobody read."""
        return self.follower.missed

    def __next__(self) -> T:
        while not self._ready:
            self._ready.extend(self._taken())
            if not self._ready:
                if self.follower.ended:
                    raise StopIteration
                self.follower.wait()
        return self._ready.popleft()

    def close(self) -> None:
        """Stop following."""
        self.follower.close()
