"""Effects of faults on a request and its answer: data, which the request pipeline carries out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

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
