"""Kinds that take time: a late answer, and a slow one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

from reseller_sandbox.faults.kind import Kind, Phase, Target, Turn
from reseller_sandbox.faults.parameters import DAY, Length, Number, parameter


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency(Kind):
    """The answer comes late.

    Before: the operation, too, takes effect only after the delay, whether the client still waits or not.
    After: it takes effect at once.
    """

    name: ClassVar[str] = "latency"
    decides: ClassVar[bool] = False

    seconds: float | None = parameter(Length(), "A fixed delay.", default=None)
    min: float | None = parameter(Length(), "The shortest of evenly spread delays.", default=None)
    max: float | None = parameter(Length(), "The longest delay, evenly spread or lognormal.", default=None)
    median: float | None = parameter(Length(), "The median of lognormal delays.", default=None)
    sigma: float = parameter(Number(0, 5), "How far lognormal delays spread.", default=0.5)

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """Exactly one of the three ways to say how long."""
        fixed, even, lognormal = (value is not None for value in (self.seconds, self.min, self.median))
        if fixed + even + lognormal != 1 or (fixed and self.max is not None):
            yield "", "takes seconds, or min and max, or median with sigma and max"
        elif even and self.max is None:
            yield "max", "is missing"
        elif even and self.min is not None and self.max is not None and self.max < self.min:
            yield "max", "must not be less than min"

    def strike(self, target: Target, turn: Turn) -> bool:
        """Hold it up."""
        target.delay(self._drawn(turn.luck.fraction("delay")))
        return True

    def _drawn(self, fraction: float) -> float:
        if self.seconds is not None:
            return self.seconds
        longest = DAY if self.max is None else self.max
        if self.min is not None:
            return self.min + fraction * (longest - self.min)
        assert self.median is not None
        drawn = NormalDist().inv_cdf(min(max(fraction, 1e-12), 1 - 1e-12))
        return min(self.median * math.exp(self.sigma * drawn), longest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drip(Kind):
    """The answer's body comes in drops."""

    name: ClassVar[str] = "drip"
    phases: ClassVar[tuple[Phase, ...]] = ("after",)
    decides: ClassVar[bool] = False

    size: int = parameter(Number(1, 1 << 20, whole=True), "How many bytes come at a time.", default=1)
    pause: float = parameter(Length(), "How much time lies between them.", default=0.1)

    def strike(self, target: Target, turn: Turn) -> bool:  # noqa: ARG002
        """Let it drip."""
        target.drip(self.size, self.pause)
        return True
