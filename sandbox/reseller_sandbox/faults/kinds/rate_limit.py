"""The kind ``rate_limit``."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated, ClassVar

from rpds import HashTrieMap

from reseller_sandbox.core.clock import real_now
from reseller_sandbox.core.dataclass import dataclass
from reseller_sandbox.core.refusals import RATE_LIMITED
from reseller_sandbox.core.values import choice, span, whole
from reseller_sandbox.faults.effects import Effects, NamedError
from reseller_sandbox.faults.kind import Asked, FaultKind, Phase, Turn

#: The shortest window, in seconds.
SHORTEST = 0.001


@dataclass(frozen=True, slots=True)
class Window:
    """A window of time: when it began, and how many requests have been let through in it."""

    began: datetime
    used: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit(FaultKind):
    """A number of requests is let through in a window of time; others are answered 429 with Retry-After.

    A window begins with the first request after the end of the one before. Refused requests do not count.
    """

    phases: ClassVar[tuple[Phase, ...]] = ("before",)

    limit: Annotated[int, whole(0, 10**6), "How many requests are let through."]
    window: Annotated[float, span(SHORTEST), "How long a window is."] = 60
    time: Annotated[str, choice("world", "real"), "Whose time: the world's clock or the machine's."] = "world"
    per: Annotated[
        str, choice("account", "rule"), "Whether each account has a limit of its own, or all share it."
    ] = "account"

    def applies(self, asked: Asked) -> bool:
        """Whether the request has an account, where each has a limit of its own."""
        return self.per == "rule" or asked.account is not None

    def strike(self, so_far: Effects, turn: Turn) -> Effects | None:
        now = turn.now if self.time == "world" else real_now()
        key = turn.asked.account or "" if self.per == "account" else ""
        windows: HashTrieMap[str, Window] = HashTrieMap() if turn.memory is None else turn.memory
        current = windows.get(key)
        length = timedelta(seconds=self.window)
        if current is None or not current.began <= now < current.began + length:
            current = Window(now, 0)
        if current.used < self.limit:
            turn.memory = windows.insert(key, Window(current.began, current.used + 1))
            return None
        left = max(1, math.ceil((current.began + length - now).total_seconds()))
        facts = {"limit": self.limit, "window": f"{self.window:g}", "left": left}
        refusal = NamedError(RATE_LIMITED.code, facts, 429, (("Retry-After", str(left)),))
        return replace(so_far, instead=refusal)
