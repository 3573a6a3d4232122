"""What a stream gives whoever asks: one record after another, as things happen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from reseller_sandbox.worlds.feed import Follower

T = TypeVar("T")


class Following(ABC, Generic[T], Iterator[T]):
    """Each thing as it comes, waited for where there is none yet; ``close`` ends it, from any thread.

    ``missed`` counts what came while nobody read and was too much to be kept.
    """

    missed: int = 0

    @abstractmethod
    def __next__(self) -> T:
        """Return the next thing; raise StopIteration when nothing will come any more."""

    @abstractmethod
    def close(self) -> None:
        """Follow no longer."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Followed(Following[T]):
    """What happens in a world of this process: ``past`` first, then what ``show`` makes of what comes.

    ``show`` returns None for what is not meant.
    """

    def __init__(self, follower: Follower, show: Callable[[Any], T | None], past: Iterable[T] = ()) -> None:
        self.follower = follower
        self._show = show
        self._ready = deque(past)

    def ready(self) -> list[T]:
        """Return what has come and was not read yet, without waiting."""
        found = [*self._ready, *self._taken()]
        self._ready.clear()
        return found

    def _taken(self) -> Iterator[T]:
        shown = map(self._show, self.follower.take())
        return (one for one in shown if one is not None)

    @property
    def missed(self) -> int:  # type: ignore[override]
        """How much came while nobody read and was too much to be kept."""
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
        """Follow no longer."""
        self.follower.close()
