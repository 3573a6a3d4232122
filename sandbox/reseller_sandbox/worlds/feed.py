"""A feed of the requests and events of a world, for its followers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from threading import Condition
from typing import Any

#: The number of records kept for a slow follower, each with the states before and after its request.
#: ``Follower.missed`` counts the older ones.
KEPT = 1000


@dataclass(slots=True, eq=False)
class FeedRecord:
    """A record in the feed, with its rendered forms, which all followers share."""

    thing: Any
    shown: dict[Any, Any] = field(default_factory=dict)


class Feed:
    """The latest records, shared by all followers. Without followers it keeps none."""

    def __init__(self) -> None:
        self.changed = Condition()
        self.kept: deque[FeedRecord] = deque(maxlen=KEPT)
        self.count = 0
        self.followers: set[Follower] = set()

    def put(self, things: Iterable[Any]) -> None:
        """Pass ``things`` to the followers, of whom there must be one."""
        with self.changed:
            for thing in things:
                self.kept.append(FeedRecord(thing))
                self.count += 1
            self._wake()

    def follow(self) -> Follower:
        """Return a follower of all records from now on."""
        with self.changed:
            follower = Follower(self)
            self.followers.add(follower)
            return follower

    def end(self) -> None:
        """End all followers, because the world is deleted."""
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
    """A reader of a feed at its own pace.

    ``missed`` counts the records that were dropped before it read them. ``when_news`` is called when there
    are new records. ``ended`` is whether no more records follow.
    """

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._at = feed.count
        self._past: list[FeedRecord] = []
        self._new = 0
        self.missed = 0
        self.ended = False
        self.asleep = True
        self.when_news: Callable[[], None] | None = None

    def begin(self, past: Iterable[Any]) -> None:
        """Return ``past`` from the next ``take``, before all newer records."""
        self._past = list(map(FeedRecord, past))

    def take(self) -> list[FeedRecord]:
        """Return the records since the previous call."""
        feed, past, self._past = self._feed, self._past, []
        with feed.changed:
            self.asleep = True
            oldest = feed.count - len(feed.kept)
            self.missed += max(oldest - self._at, 0)
            new = list(islice(feed.kept, max(self._at - oldest, 0), None)) if self._at < feed.count else []
            self._at = feed.count
            self._new = len(new)
            return past + new

    def put_back(self, records: list[FeedRecord]) -> None:
        """Put back the last records of a ``take``, for the next ``take``."""
        with self._feed.changed:
            new = min(len(records), self._new)
            self._at -= new
            self._past = records[: len(records) - new]
            self.asleep = False
        if self.when_news is not None:
            self.when_news()

    def wait(self) -> None:
        """Wait until there are new records or the feed has ended."""
        with self._feed.changed:
            self._feed.changed.wait_for(lambda: self.ended or self._at < self._feed.count)

    def rest(self, seconds: float) -> None:
        """Wait for ``seconds``, or until the feed has ended."""
        if seconds:
            with self._feed.changed:
                self._feed.changed.wait_for(lambda: self.ended, seconds)

    @property
    def company(self) -> int:
        """The number of followers of this feed."""
        return len(self._feed.followers)

    def close(self) -> None:
        """Stop following. Without followers, the feed drops its records."""
        with self._feed.changed:
            self.ended = True
            self._feed.followers.discard(self)
            if not self._feed.followers:
                self._feed.kept.clear()
            self._feed.changed.notify_all()
