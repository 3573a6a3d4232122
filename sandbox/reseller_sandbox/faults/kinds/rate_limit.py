"""The kind ``rate_limit``."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Annotated, Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace
from rpds import HashTrieMap

from reseller_sandbox.core.clock import real_now
from reseller_sandbox.core.refusals import RATE_LIMITED
from reseller_sandbox.core.values import choice, span, whole
from reseller_sandbox.faults.effects import Effects, NamedError
from reseller_sandbox.faults.kind import Asked, FaultKind, Phase, Turn

#: The shortest window, in seconds.
SHORTEST = 0.001


class Window(Struct, frozen=True):
    """A window of time: when it began, and how many requests have been let through in it."""

    began: datetime
    used: int


class RateLimit(FaultKind, frozen=True, kw_only=True):
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
        current = self._window(turn.memory, turn.asked.account, now)
        if current.used < self.limit:
            windows: HashTrieMap[str, Window] = turn.memory or HashTrieMap()
            key = self._key(turn.asked.account)
            turn.memory = windows.insert(key, Window(current.began, current.used + 1))
            return None
        left = self.left(turn.memory, turn.asked.account, now)
        facts = {"limit": self.limit, "window": f"{self.window:g}", "left": left}
        refusal = NamedError(RATE_LIMITED.code, facts, 429, (("Retry-After", str(left)),))
        return replace(so_far, instead=refusal)

    def left(self, memory: Any, account: str | None, now: datetime) -> int:
        """Return the seconds until the account's window ends, as Retry-After gives them."""
        end = self._window(memory, account, now).began + timedelta(seconds=self.window)
        return max(1, math.ceil((end - now).total_seconds()))

    def _window(self, memory: Any, account: str | None, now: datetime) -> Window:
        """Return the account's window at ``now``: the one in ``memory`` or a new one."""
        known: Window | None = memory.get(self._key(account)) if memory is not None else None
        if known is None or not known.began <= now < known.began + timedelta(seconds=self.window):
            return Window(now, 0)
        return known

    def _key(self, account: str | None) -> str:
        return account or "" if self.per == "account" else ""
