"""The base class of fault kinds, their view of a request, and their effects."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, Protocol, TypeAlias

from dateutil.relativedelta import relativedelta
from msgspec import Struct

from reseller_sandbox.server.delivery import Cut, Delivery, Drops
from reseller_sandbox.values.kinds import INSTANT, Mistake, whole
from reseller_sandbox.values.matching import Request

#: The largest number in a rule. With 1,000 matches per second, a counter reaches it after three years.
MANY = 10**11


class NamedError(Struct, frozen=True):
    """A documented error, optionally with another HTTP status."""

    error: str
    facts: Mapping[str, object]
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()


class RawAnswer(Struct, frozen=True):
    """A response with any status and body. A body that is not a string is sent as JSON."""

    status: int
    body: Any
    content_type: str | None = None
    headers: tuple[tuple[str, str], ...] = ()


Instead: TypeAlias = NamedError | RawAnswer


class Effects(Struct, frozen=True, kw_only=True):
    """The combined effects of the rules of one phase.

    Each rule adds to the effects of earlier rules. ``wait`` is the delay in seconds. In phase ``before``, the
    operation takes effect only after the delay. ``drip`` slows the response, ``cut`` ends it early, and
    ``instead`` replaces it. With ``stale``, the connection ends as soon as the client uses it again.
    ``again`` says which response a duplicated request returns. ``commits`` is the age of a stale response in
    commits, and ``max_age`` its maximum age in seconds. ``passes`` is how far the clock moves after the
    operation. ``answer`` is the JSON of the operation's response so far, in phase ``after``.
    """

    wait: float = 0.0
    drip: Drops | None = None
    cut: Cut | None = None
    stale: bool = False
    instead: Instead | None = None
    again: Literal["first", "second"] | None = None
    commits: int = 0
    max_age: float | None = None
    passes: relativedelta | None = None
    answer: Any = None

    @property
    def decided(self) -> bool:
        """Whether the client gets a response other than the operation's own."""
        return self.cut is not None or self.instead is not None

    @property
    def final(self) -> bool:
        """Whether the effects are final. The sandbox then tries no later rule."""
        return self.decided or self.again is not None or self.commits > 0

    @property
    def delivery(self) -> Delivery | None:
        """The delay, pace and early end of the response, or None for a normal delivery."""
        if not self.wait and self.drip is None and self.cut is None and not self.stale:
            return None
        return Delivery(self.wait, self.drip, self.cut, self.stale)


Phase = Literal["before", "after"]
Effect = Literal["injected", "delayed", "lost", "altered"]


class FaultRequest(Request, Protocol):
    """A request as fault rules and fault kinds see it."""

    @property
    def admitted(self) -> bool:
        """Whether the request has an operation and valid credentials."""

    @property
    def reads(self) -> bool:
        """Whether the operation only reads."""


class Chance(Struct, frozen=True):
    """Random numbers derived from the world's seed, the rule and its match count."""

    source: str

    def fraction(self, purpose: str) -> float:
        """Return a number in [0, 1). The same ``purpose`` always gives the same number."""
        digest = hashlib.sha256(f"{self.source}/{purpose}".encode()).digest()
        return (int.from_bytes(digest[:8]) >> 11) / (1 << 53)


class Window(Struct, frozen=True):
    """A time window of a rate limit: its start, and the number of requests allowed in it so far."""

    began: Annotated[datetime, INSTANT]
    used: Annotated[int, whole(0, MANY)]


class FaultContext(Struct):
    """A request and everything else that a fault kind needs to decide its effects.

    ``windows`` holds the windows of a rate limit by account. A kind may replace them. A rewind of the
    world restores them.
    """

    request: FaultRequest
    now: datetime
    chance: Chance
    windows: dict[str, Window] | None


class FaultKind(Struct, frozen=True):
    """The base class of fault kinds. The fields of a subclass are the parameters of the fault.

    The kind's name follows from the name of the subclass. ``phases`` holds the possible phases, the default
    first. ``effect`` is the effect on the response: it is replaced by an error (``injected``), it can arrive
    after the client's timeout (``delayed``), it never arrives whole (``lost``), or it differs (``altered``).
    ``synonyms`` are names that other programs use for the kind.
    """

    name: ClassVar[str]
    phases: ClassVar[tuple[Phase, ...]] = ("before", "after")
    effect: ClassVar[Effect] = "altered"
    synonyms: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls.name = re.sub(r"(?<=.)([A-Z])", r"_\1", cls.__name__).lower()

    def mistakes(self) -> Iterator[Mistake]:
        """Yield each invalid combination of parameters."""
        yield from ()

    def applies(self, request: FaultRequest) -> bool:  # noqa: ARG002
        """Whether the kind can apply to ``request``."""
        return True

    def apply(self, so_far: Effects, context: FaultContext) -> Effects | None:
        """Return ``so_far`` with the effects of this kind added, or None if there are none."""
        raise NotImplementedError
