"""Fault kinds that delay or slow a response, or move the clock."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, ClassVar

from dateutil.relativedelta import relativedelta
from msgspec.structs import replace

from reseller_sandbox.faults.kind import Effect, Effects, FaultContext, FaultKind, Phase
from reseller_sandbox.server import delivery
from reseller_sandbox.values.kinds import DAY, DURATION, Mistake, number, span, whole
from reseller_sandbox.values.parameters import Also


class Latency(FaultKind, frozen=True, kw_only=True):
    """Delay the response.

    In the phase ``before``, the operation takes effect after the delay, even if the client no longer waits.
    In the phase ``after``, the operation takes effect before the delay. If several delays apply to a request,
    they add up.

    Args:
        seconds: A fixed delay.
        min: The shortest delay of a uniform distribution.
        max: The longest delay of a uniform or lognormal distribution.
        median: The median delay of a lognormal distribution.
        sigma: The spread (sigma) of the lognormal distribution.
    """

    effect: ClassVar[Effect] = "delayed"
    synonyms: ClassVar[tuple[str, ...]] = ("delay", "slow", "sleep", "wait", "lag", "pause")

    seconds: Annotated[float | None, span(), Also("delay duration time ms")] = None
    min: Annotated[float | None, span()] = None
    max: Annotated[float | None, span()] = None
    median: Annotated[float | None, span()] = None
    sigma: Annotated[float, number(0, 5)] = 0.5

    def mistakes(self) -> Iterator[Mistake]:
        """Require exactly one of: seconds; min and max; median (optionally with sigma and max)."""
        fixed, even, lognormal = (value is not None for value in (self.seconds, self.min, self.median))
        if fixed + even + lognormal != 1 or (fixed and self.max is not None):
            yield Mistake((), "requires seconds, or min and max, or median with sigma and max")
        elif even and self.max is None:
            yield Mistake(("max",), "is missing")
        elif even and self.min is not None and self.max is not None and self.max < self.min:
            yield Mistake(("max",), "must not be less than min")

    def apply(self, so_far: Effects, context: FaultContext) -> Effects:
        return replace(so_far, wait=so_far.wait + self._drawn(context.chance.fraction("delay")))

    def _drawn(self, fraction: float) -> float:
        if self.seconds is not None:
            return self.seconds
        longest = DAY if self.max is None else self.max
        if self.min is not None:
            return self.min + fraction * (longest - self.min)
        from statistics import NormalDist

        assert self.median is not None
        drawn = NormalDist().inv_cdf(min(max(fraction, 1e-12), 1 - 1e-12))
        return min(self.median * math.exp(self.sigma * drawn), longest)


class Drip(FaultKind, frozen=True, kw_only=True):
    """Send the response's body in small pieces, with a pause after each.

    Args:
        size: Number of bytes per piece.
        pause: Time between two pieces.
    """

    effect: ClassVar[Effect] = "delayed"
    synonyms: ClassVar[tuple[str, ...]] = ("slowloris", "trickle")
    phases: ClassVar[tuple[Phase, ...]] = ("after",)

    size: Annotated[int, whole(1, 1 << 20)] = 1
    pause: Annotated[float, span()] = 0.1

    def apply(self, so_far: Effects, context: FaultContext) -> Effects:  # noqa: ARG002
        return replace(so_far, drip=delivery.Drops(self.size, self.pause))


#: Number of pieces per second that the fault ``bandwidth`` sends, if the rate is high enough.
PIECES = 20


class Bandwidth(FaultKind, frozen=True, kw_only=True):
    """Limit the response's body to a number of bytes per second.

    Args:
        rate: Number of bytes per second.
    """

    effect: ClassVar[Effect] = "delayed"
    synonyms: ClassVar[tuple[str, ...]] = ("throughput",)
    phases: ClassVar[tuple[Phase, ...]] = ("after",)

    rate: Annotated[int, whole(1, 1 << 30)]

    def apply(self, so_far: Effects, context: FaultContext) -> Effects:  # noqa: ARG002
        size = max(1, self.rate // PIECES)
        return replace(so_far, drip=delivery.Drops(size, size / self.rate))


class Hang(FaultKind, frozen=True, kw_only=True):
    """Send no response, and keep the connection open.

    In the phase ``before``, the operation never takes effect. In the phase ``after``, the operation takes
    effect.

    Args:
        seconds: Time after which the connection is closed. Default: never.
    """

    effect: ClassVar[Effect] = "lost"
    synonyms: ClassVar[tuple[str, ...]] = ("timeout", "stall", "block", "freeze")

    seconds: Annotated[float | None, span()] = None

    def apply(self, so_far: Effects, context: FaultContext) -> Effects:  # noqa: ARG002
        return replace(so_far, cut=delivery.Silence(self.seconds))


class TimePasses(FaultKind, frozen=True, kw_only=True):
    """Move the clock forward between the operation and its response.

    Every event that comes due in this period, such as an expiry, happens at its scheduled time.

    Args:
        by: The duration by which the clock moves forward.
    """

    phases: ClassVar[tuple[Phase, ...]] = ("after",)

    by: Annotated[relativedelta, DURATION]

    def apply(self, so_far: Effects, context: FaultContext) -> Effects:  # noqa: ARG002
        return replace(so_far, passes=(so_far.passes or relativedelta()) + self.by)
