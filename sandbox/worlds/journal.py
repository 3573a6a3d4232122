"""The journal: every request of a world with its answer, what it changed, and why it was refused."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sandbox.core.refusals import Refused
from sandbox.core.state import Change
from sandbox.worlds.moment import Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One request and what came of it.

    ``id`` is the request's name (``r12``), ``at`` the world's time, ``duration`` in seconds of the
    machine's. ``target`` has its signature masked; bodies are as they came and went.
    ``before`` and ``after`` are the moments around it.
    """

    id: str
    at: datetime
    operation: str
    account: str | None
    domains: tuple[str, ...]
    method: str
    target: str
    body: bytes
    credentials_in_query: bool
    status: int
    answer: bytes
    duration: float
    changes: tuple[Change, ...]
    refused: Refused | None
    assumed: tuple[tuple[str, object], ...]
    fault: str | None
    before: Moment
    after: Moment

    @property
    def number(self) -> int:
        """The number in its id."""
        return int(self.id[1:])


class Journal:
    """The latest entries, up to ``limit`` of them; older ones are dropped."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._entries: deque[Entry] = deque(maxlen=limit)
        self.dropped = 0

    def add(self, entry: Entry) -> None:
        """Take an entry, and drop the oldest when there are too many."""
        if len(self._entries) == self.limit:
            self.dropped += 1
        if self.limit:
            self._entries.append(entry)

    def get(self, name: str) -> Entry | None:
        """The entry of the request called ``name``."""
        return next((entry for entry in reversed(self._entries) if entry.id == name), None)

    def cut_after(self, entry: Entry, *, inclusive: bool) -> tuple[Entry, ...]:
        """Take out what came after ``entry``, and the entry too if ``inclusive``; answers it in order."""
        kept = [one for one in self._entries if one.number < entry.number + (0 if inclusive else 1)]
        cut = tuple(self._entries)[len(kept) :]
        self._entries = deque(kept, maxlen=self.limit)
        return cut

    def replace(self, entries: tuple[Entry, ...]) -> None:
        """Hold ``entries`` instead."""
        self._entries = deque(entries, maxlen=self.limit)

    def clear(self) -> None:
        """Forget every entry."""
        self._entries.clear()
        self.dropped = 0

    def __iter__(self) -> Iterator[Entry]:
        return iter(tuple(self._entries))

    def __len__(self) -> int:
        return len(self._entries)
