"""A world's past made into a capsule: where it began, and each thing that changed it since.

What a world has done is one line of numbers: requests, control calls, what time did. Where numbers are
missing, since the journal is bounded, or where a step cannot be done again, the capsule says what the world
was after that, and goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version

from msgspec.structs import replace

from reseller_sandbox.capsule.past import Past
from reseller_sandbox.capsule.secrets import Masking
from reseller_sandbox.capsule.steps import CapsuleHead, EndStep, Recording, StandStep
from reseller_sandbox.core.clock import WorldClock
from reseller_sandbox.core.signatures import declared
from reseller_sandbox.settings import ServiceSettings
from reseller_sandbox.worlds import Engine, Moment, World

#: The settings that change no answer, or are nobody else's business.
_NOT_TOLD = {"control_token", "control_open", "max_connections", "max_worlds", "world_idle"}


def recording_of(engine: Engine, world: World) -> Recording:
    """Return the past of a world, as far as it is known, up to now."""
    with world.lock:
        world.settle()
        end = world.moment
        begun = (one for one in (world.origin, world.first) if one.log.line == end.log.line)
        entries = world.journal.entries
    states = (world.origin.state, *(one.before.state for one in entries[:1]), end.state)
    masking = Masking(world, states, entries)
    past = Past(engine, next(begun, None), end, entries, masking)
    steps = tuple(past.steps())
    notes = dict.fromkeys(one.why for one in steps if isinstance(one, StandStep) and one.why)
    last = EndStep(
        number=end.log.number,
        at=end.clock.instant,
        frozen=end.clock.frozen,
        requests=end.requests,
        digest=state_digest(engine, masking.moment(end)),
    )
    return Recording(_head(engine, world, notes), (*steps, last))


def state_digest(engine: Engine, moment: Moment) -> str:
    """Return the digest of a moment as a fixture, whether its clock runs or not."""
    still = replace(moment, clock=WorldClock(moment.clock.instant))
    return sha256(engine.fixtures.written(still).encode()).hexdigest()


def program_version() -> str:
    """Return the version of this program."""
    try:
        return version("reseller-sandbox")
    except PackageNotFoundError:  # a checkout that nothing has been installed from
        return "unknown"


def _head(engine: Engine, world: World, notes: Iterable[str]) -> CapsuleHead:
    settings = {}
    for one in declared(ServiceSettings):
        value = getattr(engine.limits, one.name, one.default)
        if one.name not in _NOT_TOLD and value != one.default:
            settings[one.name] = list(value) if isinstance(value, tuple) else value
    return CapsuleHead(
        by=program_version(),
        world=world.name,
        default=world is engine.default,
        number=world.number,
        seed=engine.seed,
        settings=settings,
        keys=dict(sorted(world.inherited.keys.items())),
        tokens=dict(sorted(world.inherited.tokens.items())),
        notes=tuple(notes),
    )
