"""What faults make of a request and of its answer: data, which the way of the request carries out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from reseller_sandbox.server.delivery import Cut, Delivery, Drip


@dataclass(frozen=True, slots=True)
class NamedError:
    """A documented error, with another HTTP status if one is given."""

    error: str
    facts: Mapping[str, object]
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """An answer of nobody's: text as it is, anything else as JSON."""

    status: int
    body: Any
    content_type: str | None = None
    headers: tuple[tuple[str, str], ...] = ()


Instead: TypeAlias = NamedError | RawAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """What the rules of one phase do; each kind adds its own to what those before it did.

    ``wait`` is for how many seconds the request is held up; in phase ``before`` the operation takes effect
    only then. ``drip`` and ``cut`` are what becomes of the answer on its way, ``instead`` takes its place.
    ``again`` says which of two answers is given to a request that is carried out twice, ``commits`` how many
    commits an answer from the past lies back. ``answer`` is the JSON of the operation's answer so far, in
    phase ``after``.
    """

    wait: float = 0.0
    drip: Drip | None = None
    cut: Cut | None = None
    instead: Instead | None = None
    again: Literal["first", "second"] | None = None
    commits: int = 0
    answer: Any = None

    @property
    def decided(self) -> bool:
        """Whether the operation's own answer is not the one that arrives."""
        return self.cut is not None or self.instead is not None

    @property
    def final(self) -> bool:
        """Whether the last word is spoken: rules further down do not have their turn."""
        return self.decided or self.again is not None or self.commits > 0

    @property
    def delivery(self) -> Delivery | None:
        """The answer's way to the client, where it is not the usual one."""
        if not self.wait and self.drip is None and self.cut is None:
            return None
        return Delivery(self.wait, self.drip, self.cut)
