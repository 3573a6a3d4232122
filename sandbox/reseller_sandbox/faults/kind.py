"""Kinds of faults: the base class, a request as kinds see it, and their effects as data."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from msgspec import Struct

from reseller_sandbox.registry.matching import Request
from reseller_sandbox.server.delivery import Cut, Delivery, Drops


class NamedError(Struct, frozen=True):
    """A documented error, with another HTTP status if one is given."""

    error: str
    facts: Mapping[str, object]
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()


class RawAnswer(Struct, frozen=True):
    """An answer that no operation gives: a text as it is, any other body as JSON."""

    status: int
    body: Any
    content_type: str | None = None
    headers: tuple[tuple[str, str], ...] = ()


Instead: TypeAlias = NamedError | RawAnswer


class Effects(Struct, frozen=True, kw_only=True):
    """What the rules of one phase do together; each rule adds to the effects of those before it.

    ``wait`` is the delay in seconds; in phase ``before`` the operation takes effect only after it. ``drip``
    and ``cut`` slow the answer or end it on its way, ``instead`` takes its place. ``again`` says which of two
    answers a request gets that is carried out twice, ``commits`` how many commits back the answer lies.
    ``answer`` is the JSON of the operation's answer so far, in phase ``after``.
    """

    wait: float = 0.0
    drip: Drops | None = None
    cut: Cut | None = None
    instead: Instead | None = None
    again: Literal["first", "second"] | None = None
    commits: int = 0
    answer: Any = None

    @property
    def decided(self) -> bool:
        """Whether the client gets something else than the operation's own answer."""
        return self.cut is not None or self.instead is not None

    @property
    def final(self) -> bool:
        """Whether no later rule can change anything, so that none is tried."""
        return self.decided or self.again is not None or self.commits > 0

    @property
    def delivery(self) -> Delivery | None:
        """Return how the answer comes to the client; None for the usual way."""
        if not self.wait and self.drip is None and self.cut is None:
            return None
        return Delivery(self.wait, self.drip, self.cut)


Phase = Literal["before", "after"]


class Asked(Request, Protocol):
    """A request, as far as rules and kinds look at it."""

    @property
    def admitted(self) -> bool:
        """Whether an operation takes it and its credentials let it in."""

    @property
    def reads(self) -> bool:
        """Whether the operation only reads."""


class Chance(Struct, frozen=True):
    """Random numbers that follow from the world's seed, the rule's name and its number of matches."""

    source: str

    def fraction(self, purpose: str) -> float:
        """Return a number from 0 up to but not 1; the same for the same purpose."""
        digest = hashlib.sha256(f"{self.source}/{purpose}".encode()).digest()
        return (int.from_bytes(digest[:8]) >> 11) / (1 << 53)


class FaultContext(Struct):
    """A rule's turn at a request: its instant, its luck, and what its kind remembers from earlier turns.

    ``memory`` is an immutable value that the kind may replace; it goes back when the world does.
    """

    asked: Asked
    now: datetime
    luck: Chance
    memory: Any = None


class FaultKind(Struct, frozen=True):
    """A kind of fault with its parameters; a subclass has them as its fields, and gives it its name.

    ``phases`` are those it can strike in, the first of them by default. ``slows`` says that answers come, but
    perhaps after the client has given up.
    """

    name: ClassVar[str]
    phases: ClassVar[tuple[Phase, ...]] = ("before", "after")
    slows: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        cls.name = re.sub(r"(?<=.)([A-Z])", r"_\1", cls.__name__).lower()

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with the parameters together: a parameter's name, or an empty text, and why."""
        yield from ()

    def applies(self, asked: Asked) -> bool:  # noqa: ARG002
        """Whether such a request can be struck at all."""
        return True

    def apply(self, so_far: Effects, turn: FaultContext) -> Effects | None:
        """Return ``so_far`` with the effects of this kind; None where it does nothing."""
        raise NotImplementedError
