"""Whether the sandbox is up."""

from __future__ import annotations

from datetime import datetime

from reseller_sandbox.powers.here import here
from reseller_sandbox.powers.power import Power, look
from reseller_sandbox.powers.result import Result


class HealthRecord(Result, frozen=True, kw_only=True):
    """The status of the sandbox (``ok``), which world answers, and what its clock shows."""

    status: str
    world: str
    now: datetime
    frozen: bool


class Health(Power):
    """Whether the sandbox is up."""

    @look()
    def show(self) -> HealthRecord:
        """Return that the sandbox is up, and which world answers."""
        world = here(self).world
        return HealthRecord(status="ok", world=world.name, now=world.now(), frozen=world.clock.frozen)
