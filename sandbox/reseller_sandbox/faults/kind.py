"""What a kind of fault is: it has its turn when its rule's has come, and does something to a request."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Literal, Protocol

Phase = Literal["before", "after"]


class Asked(Protocol):
    """A request, as far as rules look at it."""

    @property
    def operation(self) -> str:
        """The operation's id."""

    @property
    def reads(self) -> bool:
        """Whether the operation only reads."""

    @property
    def method(self) -> str:
        """The HTTP method."""

    @property
    def path(self) -> str:
        """The path, without the world's prefix and the query."""

    @property
    def account(self) -> str:
        """The account's name."""

    @property
    def domains(self) -> tuple[str, ...]:
        """The names it is about, as the registry keeps them."""

    @property
    def body(self) -> Any:
        """The JSON body, or None where there is none."""

    @property
    def changed(self) -> bool:
        """In phase ``after``: whether it has changed anything."""


class Target(Protocol):
    """What a fault can do to a request, and to the answer that is on its way."""

    def delay(self, seconds: float) -> None:
        """Hold it up; in phase ``before`` the operation takes effect only then."""

    def drip(self, size: int, pause: float) -> None:
        """Send the answer ``size`` bytes at a time, with ``pause`` seconds between."""

    def hang(self, seconds: float | None) -> None:
        """Never answer; close the connection after ``seconds``, if given."""

    def reset(self) -> None:
        """Reset the connection in place of an answer."""

    def close(self) -> None:
        """Close the connection in place of an answer."""

    def truncate(self, keep: int | None, reset: bool) -> None:
        """End the connection within the answer's body, after ``keep`` bytes or half of it."""

    def garbage(self, raw: bytes) -> None:
        """Send ``raw`` in place of an answer."""

    def refuse(
        self, error: str, facts: Mapping[str, object], status: int | None, retry_after: int | None
    ) -> None:
        """Answer a documented error, with another HTTP status if one is given."""

    def say(self, status: int, body: Any, content_type: str | None, retry_after: int | None) -> None:
        """Answer something of one's own: text as it is, anything else as JSON."""

    def edit(self, change: Callable[[Any], tuple[Any, bool]]) -> bool:
        """Change the answer's JSON; answers whether there was anything to change."""

    def repeat(self, answer: str) -> None:
        """Carry the operation out twice, and answer what the ``first`` or the ``second`` time gave."""

    def look_back(self, commits: int) -> None:
        """Answer from before the last ``commits`` commits."""


@dataclass(frozen=True, slots=True)
class Luck:
    """Chance that follows from the world's seed, the rule's name and how often the rule has matched."""

    source: str

    def fraction(self, purpose: str) -> float:
        """A number from 0 up to but not 1; the same for the same purpose."""
        digest = hashlib.sha256(f"{self.source}/{purpose}".encode()).digest()
        return (int.from_bytes(digest[:8]) >> 11) / (1 << 53)


@dataclass(slots=True)
class Turn:
    """A rule's turn at a request: when, with what luck, and what its kind remembers from earlier turns.

    ``memory`` is an immutable value that the kind may replace; it goes back when the world does.
    """

    asked: Asked
    now: datetime
    luck: Luck
    memory: Any = None


class Kind:
    """A kind of fault with its parameters; a subclass is a frozen dataclass of them.

    ``phases`` are those it can strike in, the first of them by default. One that ``decides`` has the
    last word: rules further down do not have their turn.
    """

    __slots__ = ()

    name: ClassVar[str]
    phases: ClassVar[tuple[Phase, ...]] = ("before", "after")
    decides: ClassVar[bool] = True

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """What is wrong with the parameters together: each with a parameter's name, or with none."""
        yield from ()

    def applies(self, asked: Asked) -> bool:  # noqa: ARG002
        """Whether there is any sense in striking such a request."""
        return True

    def strike(self, target: Target, turn: Turn) -> bool:
        """Do it; answers whether there was anything to do."""
        raise NotImplementedError
