"""Kinds of faults: what each has in common, and what it sees of a request when its rule strikes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, ClassVar, Literal, Protocol

from msgspec import Struct

from reseller_sandbox.core.matching import Request
from reseller_sandbox.faults.effects import Effects

Phase = Literal["before", "after"]


class Asked(Request, Protocol):
    """A request, as far as rules and kinds look at it."""

    @property
    def admitted(self) -> bool:
        """Whether an operation takes it and its credentials let it in."""

    @property
    def reads(self) -> bool:
        """Whether the operation only reads."""


class Luck(Struct, frozen=True):
    """Random numbers that follow from the world's seed, the rule's name and its number of matches."""

    source: str

    def fraction(self, purpose: str) -> float:
        """Return a number from 0 up to but not 1; the same for the same purpose."""
        digest = hashlib.sha256(f"{self.source}/{purpose}".encode()).digest()
        return (int.from_bytes(digest[:8]) >> 11) / (1 << 53)


class Turn(Struct):
    """A rule's turn at a request: its instant, its luck, and what its kind remembers from earlier turns.

    ``memory`` is an immutable value that the kind may replace; it goes back when the world does.
    """

    asked: Asked
    now: datetime
    luck: Luck
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

    def strike(self, so_far: Effects, turn: Turn) -> Effects | None:
        """Return ``so_far`` with the effects of this kind; None where it does nothing."""
        raise NotImplementedError
