"""What comes to a world as it comes, for those who follow it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from threading import Condition
from typing import Any

#: How many records are kept for a follower that reads slowly, each with the states before and after its
#: request; what it misses beyond is counted.
KEPT = 1000


@dataclass(slots=True, eq=False)
class Come:
    """Something that has come, and what it is to those who follow: made once for all who ask alike."""

    thing: Any
    shown: dict[Any, Any] = field(default_factory=dict)


class Feed:
    """The latest of what has come, shared by all who follow; nothing is kept while nobody does."""

    def __init__(self) -> None:
        self.changed = Condition()
        self.kept: deque[Come] = deque(maxlen=KEPT)
        self.count = 0
        self.followers: set[Follower] = set()

    def put(self, things: Iterable[Any]) -> None:
        """Let those who follow have more."""
        if not self.followers:
            return
        with self.changed:
            for thing in things:
                self.kept.append(Come(thing))
                self.count += 1
            self._wake()

    def follow(self) -> Follower:
        """Return a follower of all that comes from now on."""
        with self.changed:
            follower = Follower(self)
            self.followers.add(follower)
            return follower

    def end(self) -> None:
        """Let nobody follow any longer: the world is gone."""
        with self.changed:
            for follower in self.followers:
                follower.ended = True
            self._wake()
            self.followers.clear()

    def _wake(self) -> None:
        self.changed.notify_all()
        for follower in self.followers:
            if follower.asleep and follower.when_news is not None:
                follower.asleep = False
                follower.when_news()


class Follower:
    """One who follows a feed, and reads when it likes: who does not read costs nothing.

    ``missed`` counts what was no longer there when it read, ``when_news`` is called when there is something
    to read again. It has ``ended`` when nothing will come any more.
    """

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._at = feed.count
        self._past: list[Come] = []
        self._new = 0
        self.missed = 0
        self.ended = False
        self.asleep = True
        self.when_news: Callable[[], None] | None = None

    def begin(self, past: Iterable[Any]) -> None:
        """Take what came before it followed first of all."""
        self._past = list(map(Come, past))

    def take(self) -> list[Come]:
        """Return what has come since the last time."""
        feed, past, self._past = self._feed, self._past, []
        with feed.changed:
            self.asleep = True
            oldest = feed.count - len(feed.kept)
            self.missed += max(oldest - self._at, 0)
            found = list(islice(feed.kept, max(self._at - oldest, 0), None)) if self._at < feed.count else []
            self._at = feed.count
            self._new = len(found)
            return past + found

    def put_back(self, come: list[Come]) -> None:
        """Put back the last of what was taken, for the next ``take``."""
        with self._feed.changed:
            new = min(len(come), self._new)
            self._at -= new
            self._past = come[: len(come) - new]
            self.asleep = False
        if self.when_news is not None:
            self.when_news()

    def wait(self) -> None:
        """Wait until there is something to take, or nothing will come any more."""
        with self._feed.changed:
            self._feed.changed.wait_for(lambda: self.ended or self._at < self._feed.count)

    def rest(self, seconds: float) -> None:
        """Wait for so long, or until nothing will come any more."""
        if seconds:
            with self._feed.changed:
                self._feed.changed.wait_for(lambda: self.ended, seconds)

    @property
    def company(self) -> int:
        """How many follow the same."""
        return len(self._feed.followers)

    def close(self) -> None:
        """Follow no longer; what nobody follows is not kept."""
        with self._feed.changed:
            self.ended = True
            self._feed.followers.discard(self)
            if not self._feed.followers:
                self._feed.kept.clear()
            self._feed.changed.notify_all()
