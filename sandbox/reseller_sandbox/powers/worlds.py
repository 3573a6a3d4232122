"""The worlds of a server: look at them, make one from another or from a fixture, delete one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, TypedDict, Unpack

from reseller_sandbox.capsule.kinds import CONTENT, Content
from reseller_sandbox.core.refusals import (
    DEFAULT_WORLD,
    INVALID_CAPSULE,
    INVALID_FIXTURE,
    INVALID_PARAMETER,
    SET_BACK,
    TOO_MANY_FAULTS,
    TOO_MANY_WORLDS,
    UNKNOWN_WORLD,
    WORLD_EXISTS,
    Refused,
)
from reseller_sandbox.core.signatures import declared, read_by
from reseller_sandbox.core.values import TEXT, Instant, Record, Switch, Text
from reseller_sandbox.powers.here import Here, here
from reseller_sandbox.powers.keyed import Keyed
from reseller_sandbox.powers.points import POINT_RULES, FixtureText
from reseller_sandbox.powers.power import Power, act, look
from reseller_sandbox.powers.registry_records import AccountRecord, accounts_shown
from reseller_sandbox.powers.result import Result
from reseller_sandbox.worlds import Engine, Fork, World
from reseller_sandbox.worlds.past import require_present

WorldName = Annotated[str, TEXT, "The world's name."]


class WorldSummary(Result, frozen=True, kw_only=True):
    """A world: its name, the path prefix that chooses it, its time, and how much it has seen.

    ``requests`` counts those it has had, ``idle_seconds`` is for how long nobody has used it, by the
    machine's clock.
    """

    name: str
    prefix: str
    now: datetime
    frozen: bool
    seed: str
    requests: int
    orders: int
    idle_seconds: float


class WorldRecord(WorldSummary, frozen=True, kw_only=True):
    """A world, with the accounts that act in it and the assumptions that differ from the defaults."""

    accounts: tuple[AccountRecord, ...]
    assumptions: Mapping[str, Any]


class WorldOpened(WorldRecord, frozen=True, kw_only=True):
    """A world that has lived a capsule's past again.

    ``difference`` is what first came out otherwise than it was recorded, if anything did; ``notes`` say what
    of the past the capsule does not tell.
    """

    difference: str | None
    notes: tuple[str, ...]


class WorldsFound(Result, frozen=True, kw_only=True):
    """Every world, the oldest first, and how many there may be."""

    worlds: tuple[WorldSummary, ...]
    limit: int


class ForkOptions(TypedDict, total=False):
    """What a new world is to be."""

    point: Text
    fixture: Text
    state: FixtureText
    name: Text
    now: Instant
    frozen: Switch
    assume: Record
    seed: Text


class Worlds(Keyed[WorldSummary]):
    """The worlds of the server: each a registry of its own, with its own accounts, clock and past."""

    @look(long=True)
    def list(self) -> WorldsFound:
        """Return every world, the oldest first."""
        return _found(here(self).worlds)

    @look(UNKNOWN_WORLD)
    def get(self, world: WorldName, /) -> WorldRecord:
        """Return one world, with its accounts and their credentials."""
        engine = here(self).worlds
        return world_record(engine, engine.find(world))

    @act(
        TOO_MANY_WORLDS,
        WORLD_EXISTS,
        INVALID_FIXTURE,
        TOO_MANY_FAULTS,
        *POINT_RULES,
        SET_BACK,
        long=True,
        apart=True,
    )
    def fork(self, **wanted: Unpack[ForkOptions]) -> WorldRecord:
        """Make a new world, with credentials of its own: a copy of this one, or one from a fixture.

        The credentials choose the world for every request that carries them, and so does the path prefix. A
        copy shares what it does not change, so it takes no longer however much its source holds.

        Args:
            point: When in this world: ``now``, ``start``, ``before:r3``, ``after:r3``, ``snapshot:NAME`` or
                ``branch:NAME``.
            fixture: The name of a packaged fixture to begin with instead.
            state: A fixture itself to begin with instead, in YAML or as an object.
            name: What the world will be called.
            now: The instant its clock begins at.
            frozen: Whether its clock stands still.
            assume: Assumptions that differ, by name.
            seed: What codes and identifiers are drawn from, where two worlds are to draw the same.
        """
        door = _beside(self)
        return world_record(door.worlds, _forked(door, wanted))

    @act(INVALID_CAPSULE, TOO_MANY_WORLDS, WORLD_EXISTS, TOO_MANY_FAULTS, long=True, apart=True)
    def open(self, capsule: Content, *, name: Text | None = None) -> WorldOpened:
        """Make a new world that stands where the past in a capsule ends, with its journal to rewind.

        Everything in the capsule is done again first, apart from all worlds. The accounts get new
        credentials; below the new world's path prefix those of the capsule work, too. Its clock stands still.

        Args:
            capsule: The file, in Base64.
            name: What the world will be called.
        """
        from reseller_sandbox.capsule.document import BadCapsule

        engine = _beside(self).worlds
        try:
            world, relived = engine.open(CONTENT(capsule), name)
        except BadCapsule as problem:
            raise Refused(INVALID_CAPSULE, problems=str(problem).removeprefix("capsule: ")) from None
        difference = relived.difference or None
        return WorldOpened(**_whole(engine, world), difference=difference, notes=relived.notes)

    @act(UNKNOWN_WORLD, DEFAULT_WORLD)
    def remove(self, world: WorldName, /) -> WorldsFound:
        """Delete a world, with all that it holds; return the other worlds."""
        engine = _beside(self).worlds
        require_present(engine.find(world))
        engine.drop(world)
        return _found(engine)


def forked(door: Here, wanted: Mapping[str, object]) -> Here:
    """Return the door to the new world that ``Worlds.fork`` gives an account of; refuse as that does."""
    __tracebackhide__ = True
    try:
        door.require_world()
        told = read_by(declared(ForkOptions), wanted)
        require_present(door.world)
        return Here(door.worlds, _forked(door, told))
    except Refused as refused:
        raise refused.with_traceback(None) from None


def _forked(door: Here, wanted: Mapping[str, Any]) -> World:
    sources = [name for name in ("point", "fixture", "state") if name in wanted]
    if len(sources) > 1:
        raise Refused(INVALID_PARAMETER, problems=f"takes one source, not {' and '.join(sources)}")
    return door.worlds.fork(Fork(world=door.world, **wanted))


def world_record(engine: Engine, world: World) -> WorldRecord:
    """Return a world as people look at it."""
    return WorldRecord(**_whole(engine, world))


def _found(engine: Engine) -> WorldsFound:
    listed = tuple(WorldSummary(**_summary(engine, world)) for world in engine)
    return WorldsFound(worlds=listed, limit=engine.limits.max_worlds)


def _whole(engine: Engine, world: World) -> dict[str, Any]:
    return {
        **_summary(engine, world),
        "accounts": accounts_shown(world.state),
        "assumptions": world.assumptions.departures(),
    }


def _summary(engine: Engine, world: World) -> dict[str, Any]:
    moment = world.present()
    return {
        "name": world.name,
        "prefix": f"/_worlds/{world.name}",
        "now": moment.clock.instant,
        "frozen": moment.clock.frozen,
        "seed": moment.state.seed,
        "requests": moment.requests,
        "orders": len(moment.state.orders),
        "idle_seconds": round(engine.idle(world), 3),
    }


def _beside(power: Power) -> Here:
    """Return the door of a power that changes other worlds than its own, whose event log leaves it out."""
    door = here(power)
    door.world.leave_unlogged()
    return door
