"""Every power there is, in the order in which people meet them."""

from __future__ import annotations

from collections.abc import Mapping

from reseller_sandbox.powers.advice import Advice
from reseller_sandbox.powers.assumptions import Assumptions
from reseller_sandbox.powers.clock import Clock
from reseller_sandbox.powers.events import Events
from reseller_sandbox.powers.power import Power

POWERS: Mapping[str, type[Power]] = {power.name: power for power in (Clock, Assumptions, Advice, Events)}
