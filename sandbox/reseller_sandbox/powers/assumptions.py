"""What the silences of the contract mean in a world."""

from __future__ import annotations

from typing import Annotated, Any, cast

from reseller_sandbox.core.assumptions import PROFILES, BadAssumption, catalogue
from reseller_sandbox.core.assumptions import profile as profile_called
from reseller_sandbox.core.refusals import INVALID_PARAMETER, Refused
from reseller_sandbox.core.values import Record, choice
from reseller_sandbox.powers.here import here
from reseller_sandbox.powers.keyed import Keyed
from reseller_sandbox.powers.power import act, look
from reseller_sandbox.powers.result import Result
from reseller_sandbox.worlds import World


class Assumption(Result, frozen=True, kw_only=True):
    """One silence of the contract: what it means in this world, and what else it can mean."""

    name: str
    value: Any
    default: Any
    takes: str
    observed: Any
    about: str


class Assumed(Result, frozen=True, kw_only=True):
    """Every assumption of a world."""

    assumptions: tuple[Assumption, ...]

    def __getitem__(self, name: str) -> Any:
        """Return the value of the assumption of that name; raise KeyError where there is none."""
        return {one.name: one.value for one in self.assumptions}[name]


class Assumptions(Keyed[Assumption]):
    """What the silences of the contract are taken to mean: each is named, and can be set."""

    def __getitem__(self, name: str) -> Any:
        """Return the value of the assumption of that name."""
        return self.list()[name]

    @look()
    def list(self) -> Assumed:
        """Return every assumption with its value, its default, what it takes and what it decides."""
        return _assumed(here(self).world)

    @act()
    def set(
        self, assume: Record | None = None, *, profile: Annotated[str, choice(*PROFILES)] | None = None
    ) -> Assumed:
        """Change what silences of the contract mean in this world, from the next request on.

        What neither parameter names stays.

        Args:
            assume: The assumptions to set, by name.
            profile: The set of assumptions to begin with: it sets all of them.
        """
        world = here(self).world
        try:
            base = profile_called(profile) if profile is not None else world.assumptions
            world.assume(base.with_values(assume or {}))
        except BadAssumption as problem:
            raise Refused(INVALID_PARAMETER, problems=str(problem)) from None
        return _assumed(world)


def _assumed(world: World) -> Assumed:
    return Assumed(
        assumptions=tuple(Assumption(**cast(dict[str, Any], told)) for told in catalogue(world.assumptions))
    )
