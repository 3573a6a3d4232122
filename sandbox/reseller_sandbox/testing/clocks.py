"""freezegun and a sandbox together: the test's own time and the service's move as one.

A sandbox whose clock runs follows freezegun by itself, for it follows the machine's clock. One whose
clock stands still does not; this is for both.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from reseller_sandbox.registry.clock import instant_given

if TYPE_CHECKING:
    from reseller_sandbox import Sandbox
    from reseller_sandbox.control.clock import Clock, Moved, Until
    from reseller_sandbox.registry.values import Length


class BothClocks:
    """The clock of a sandbox and that of the test, which always show the same."""

    def __init__(self, clock: Clock, frozen: Any) -> None:
        self._clock = clock
        self._frozen = frozen

    @property
    def now(self) -> datetime:
        """The instant that both show."""
        return self._clock.now

    def advance(
        self, by: Length | None = None, *, to: datetime | str | None = None, until: Until | None = None
    ) -> Moved:
        """Move both on, as ``Clock.advance`` does; answers what came due."""
        moved = self._clock.advance(by, to=to, until=until)
        self._frozen.move_to(self._clock.now)
        return moved

    def set(self, to: datetime | str) -> Moved:
        """Move both to an instant that is not past; answers what came due on the way."""
        return self.advance(to=to)


@contextmanager
def freeze_time(sandbox: Sandbox, instant: datetime | str | None = None) -> Iterator[BothClocks]:
    """Let the test's time and the sandbox's stand at one instant and move together.

    >>> with freeze_time(sandbox, "2026-05-01") as clocks:
    ...     moved = clocks.advance("P30D")
    ...     assert datetime.now(UTC) == sandbox.clock.now

    ``instant`` is the sandbox's own where it is left out, and cannot be before it: refuses
    with ``set_back``. At the end the test's time is the machine's again; the sandbox
    stays where it is, and runs on from there if it ran. Needs freezegun.
    """
    import freezegun  # for those who freeze; it is no dependency

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
