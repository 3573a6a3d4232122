"""A stream of a power as server-sent events, which the server sends as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import Any

from reseller_sandbox.powers.following import Followed
from reseller_sandbox.web.records import dumped
from reseller_sandbox.web.strict_json import write

#: How many seconds to leave between two pieces, for each who follows: the more there are, the more is told
#: at once, and the requests of others come first.
_PACE = 0.0005

#: About how many bytes a piece has at most: a client that does not read keeps one of them waiting.
_PIECE = 1 << 16


def _event(record: Any) -> bytes:
    return b"id: %b\ndata: %b\n\n" % (str(record.mark).encode(), write(dumped(record)))


class EventStream:
    """The records of a stream as server-sent events: ``id`` and ``data``; ``missed``; ``end``."""

    content_type = "text/event-stream"

    def __init__(self, followed: Followed[Any]) -> None:
        self._followed = followed
        self._missed = 0

    def piece(self) -> bytes:
        """Return the events that there are by now, if any."""
        ended = self.ended
        return b"".join([*self._events(), *([self.end()] if ended else [])])

    def _events(self) -> Iterator[bytes]:
        events = self._followed.written(_event, inf if self.ended else _PIECE)
        if self._followed.missed > self._missed:
            self._missed = self._followed.missed
            yield b"event: missed\ndata: " + write({"missed": self._missed}) + b"\n\n"
        yield from events

    @staticmethod
    def end() -> bytes:
        """Return the last event of a stream."""
        return b"event: end\ndata: {}\n\n"

    @property
    def ended(self) -> bool:
        """Whether the stream has ended."""
        return self._followed.follower.ended

    @property
    def pause(self) -> float:
        """Return how many seconds to leave between two pieces."""
        return max(_PACE * self._followed.follower.company, self._followed.pause)

    def when_news(self, call: Callable[[], None]) -> None:
        """Have ``call`` called when there is something new to send."""
        self._followed.follower.when_news = call

    def close(self) -> None:
        """Stop following."""
        self._followed.close()
