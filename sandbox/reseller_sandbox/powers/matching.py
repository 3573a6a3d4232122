"""The match language as powers are told it: ``**match: Unpack[Matching]``, or one object of it."""

from __future__ import annotations

from typing import Annotated

from reseller_sandbox.core.contract import read_match
from reseller_sandbox.core.matching import MATCH, Match, Matching
from reseller_sandbox.core.signatures import Within
from reseller_sandbox.powers.here import here
from reseller_sandbox.powers.power import Power

#: One object of it.
Wanted = Annotated[Matching, MATCH]


def match_of(power: Power, told: Matching, place: str = "") -> Match:
    """Return the match that a power was told, under ``place``; refuse with ``invalid_parameter``."""
    try:
        return read_match(told, here(power).words)
    except Within as wrong:
        raise wrong.refused(place) from None
