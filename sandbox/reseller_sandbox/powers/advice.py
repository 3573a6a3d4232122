"""Advice on what the requests of a world would have cost in production."""

from __future__ import annotations

from reseller_sandbox.advice.finding import Finding, Severity
from reseller_sandbox.powers.here import here
from reseller_sandbox.powers.power import Power, look
from reseller_sandbox.powers.records import record_of
from reseller_sandbox.powers.result import Result


class LookedFor(Result, frozen=True, kw_only=True):
    """One thing that advice looks for; ``about`` says what it is, ``instead`` what to do instead."""

    rule: str
    severity: Severity
    about: str
    instead: str


class AdviceGiven(Result, frozen=True, kw_only=True):
    """What was found and what was looked for, in how many requests; ``dropped`` counts forgotten ones."""

    requests: int
    dropped: int
    looked_for: tuple[LookedFor, ...]
    findings: tuple[Finding, ...]  # last, so that a terminal ends with them


class Advice(Power):
    """What your program did that would have cost money, names or secrets in production."""

    @look(long=True)
    def list(self) -> AdviceGiven:
        """Return what was found, each finding with the requests that show it."""
        from reseller_sandbox.advice.rules import RULES, advise

        world = here(self).world
        return AdviceGiven(
            findings=tuple(advise(world)),
            looked_for=tuple(record_of(LookedFor, one, rule=one.name) for one in RULES),
            requests=len(world.journal),
            dropped=world.journal.dropped,
        )
