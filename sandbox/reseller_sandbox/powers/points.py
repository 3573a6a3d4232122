"""Points of a world's past, where a world stands after it has gone back, and whole worlds as fixtures."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from reseller_sandbox import fixture
from reseller_sandbox.core.refusals import (
    UNKNOWN_BRANCH,
    UNKNOWN_POINT,
    UNKNOWN_REQUEST,
    UNKNOWN_SNAPSHOT,
    Rule,
)
from reseller_sandbox.core.values import Kind, mapping
from reseller_sandbox.powers.result import Result
from reseller_sandbox.worlds import Checkpoint, World

#: The rules by which a point of a world's past may be refused.
POINT_RULES: tuple[Rule, ...] = (UNKNOWN_POINT, UNKNOWN_REQUEST, UNKNOWN_SNAPSHOT, UNKNOWN_BRANCH)


class CheckpointRecord(Result, frozen=True, kw_only=True):
    """A snapshot or a branch: the time it stands at, and the first and last request that led there."""

    name: str
    now: datetime
    frozen: bool
    requests: int
    first: str | None
    last: str | None


class WorldStanding(Result, frozen=True, kw_only=True):
    """A world's time, and how many requests it has had."""

    world: str
    now: datetime
    frozen: bool
    requests: int


class WentBack(WorldStanding, frozen=True, kw_only=True):
    """A world's time after it has gone back, and the branch that keeps what was left behind."""

    branch: CheckpointRecord


def checkpoint_record(kept: Checkpoint) -> CheckpointRecord:
    """Return a snapshot or a branch as it is shown."""
    return CheckpointRecord(
        name=kept.name,
        now=kept.moment.clock.instant,
        frozen=kept.moment.clock.frozen,
        requests=kept.moment.requests,
        first=kept.entries[0].id if kept.entries else None,
        last=kept.entries[-1].id if kept.entries else None,
    )


def standing(world: World) -> dict[str, Any]:
    """Return the fields of ``WorldStanding``."""
    moment = world.moment
    return {
        "world": world.name,
        "now": moment.clock.now(),
        "frozen": moment.clock.frozen,
        "requests": moment.requests,
    }


def went_back(world: World, left: Checkpoint) -> WentBack:
    """Return the time of ``world`` and the branch that it ``left``."""
    return WentBack(**standing(world), branch=checkpoint_record(left))


def _fixture(given: Any) -> Any:
    if isinstance(given, str):
        return given
    try:
        return given.read_text("utf-8") if isinstance(given, Path) else fixture.as_json(mapping(given))
    except (OSError, UnicodeError) as problem:
        raise ValueError(f"cannot be read: {problem}") from None


FIXTURE = Kind(
    {"oneOf": [{"type": "string", "contentMediaType": "application/yaml"}, {"type": "object"}]}, _fixture
)

#: A whole fixture: its YAML, the same as an object, or the path of a file, which the caller's side reads.
FixtureText = Annotated[str | Mapping[str, Any] | Path, FIXTURE]
