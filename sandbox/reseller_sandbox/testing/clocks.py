"""``freeze_time``: freezes the time of a test with freezegun, together with a sandbox's clock.

A sandbox with a running clock follows the machine's clock, and therefore freezegun. A sandbox with a frozen
clock does not. This module supports both.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Unpack

import freezegun

from reseller_sandbox.values.clock import instant_given

if TYPE_CHECKING:
    from reseller_sandbox import Sandbox
    from reseller_sandbox.control.clock import Clock, ClockMove, TimeUnits, Until
    from reseller_sandbox.values.kinds import Length


class BothClocks:
    """Clocks of a sandbox and of the test, which always show the same instant."""

    def __init__(self, clock: Clock, frozen: Any) -> None:
        self._clock = clock
        self._frozen = frozen

    @property
    def now(self) -> datetime:
        """Current instant of both clocks."""
        return self._clock.now

    def advance(
        self,
        by: Length | None = None,
        *,
        to: datetime | str | None = None,
        until: Until | None = None,
        **units: Unpack[TimeUnits],
    ) -> ClockMove:
        """Advance both clocks and return the due events, as ``Clock.advance`` does."""
        moved = self._clock.advance(by, to=to, until=until, **units)
        self._frozen.move_to(self._clock.now)
        return moved

    def set(self, to: datetime | str) -> ClockMove:
        """Advance both clocks to an instant that is not in the past. Return the due events."""
        return self.advance(to=to)


@contextmanager
def freeze_time(sandbox: Sandbox, instant: datetime | str | None = None) -> Iterator[BothClocks]:
    """Freeze the clocks of the test and of the sandbox at one instant, and move them together.

    >>> with freeze_time(sandbox, "2026-05-01") as clocks:
    ...     moved = clocks.advance("P30D")
    ...     assert datetime.now(UTC) == sandbox.clock.now

    The default ``instant`` is the time of the sandbox. An earlier instant is refused with ``set_back``. After
    the context, the test has the machine's time again. The sandbox keeps the last frozen time. If its clock
    ran before the context, the clock runs again. Requires freezegun.
    """
    clock = sandbox.clock
    target = clock.now if instant is None else instant
    clock.set(instant_given(target) if isinstance(target, str) else target)
    ran = not clock.frozen
    clock.freeze()
    try:
        with freezegun.freeze_time(clock.now, real_asyncio=True) as frozen:
            yield BothClocks(clock, frozen)
    finally:
        if ran:
            clock.run()
