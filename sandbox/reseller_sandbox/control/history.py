"""A world's past and its other futures: snapshots, rewind, branches, and what differs between two points."""

from __future__ import annotations

import re
from typing import Any

from marshmallow import fields, validate

from reseller_sandbox.control.call import ControlCall, Strict
from reseller_sandbox.core import refusals
from reseller_sandbox.core.refusals import INVALID_PARAMETER, MALFORMED_BODY, Refused
from reseller_sandbox.web.fields import Instant, Listed, Shape, Text, Truth, Within
from reseller_sandbox.web.generation import Endpoint
from reseller_sandbox.worlds import Line, Moment, diff, history_points, plain

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")


class LineShown(Shape):
    """A snapshot or a branch: the time it stands at, and the first and last request that led there."""

    name = Text()
    now = Instant()
    frozen = Truth()
    requests = fields.Integer()
    first = Text(allow_none=True)
    last = Text(allow_none=True)


class LeftBehind(LineShown):
    """The branch that keeps what was left behind."""


class Snapshots(Shape):
    """Every snapshot, the oldest first."""

    snapshots = Listed(Within(LineShown))


class Branches(Shape):
    """Every future that was left behind, the oldest first."""

    branches = Listed(Within(LineShown))


class SnapshotWanted(Strict):
    """What a snapshot is to be called."""

    name = Text(required=True)


class RewindWanted(Strict):
    """A request, and whether to go to before it or to just after it."""

    request = Text(required=True)
    side = Text(
        load_default="before", validate=validate.OneOf(("before", "after"), error="must be before or after")
    )


class Gone(Shape):
    """Where the world stands after it went back, and the branch that keeps what was left behind."""

    world = Text()
    now = Instant()
    frozen = Truth()
    requests = fields.Integer()
    branch = Within(LeftBehind)


class PointsWanted(Strict):
    """Two points: ``start``, ``now``, ``before:r3``, ``after:r3``, ``snapshot:NAME`` or ``branch:NAME``."""

    earlier = Text(data_key="from", load_default="start")
    later = Text(data_key="to", load_default="now")


class ChangeShown(Shape):
    """What became of one record: each field of it that changed, before and after. Secrets are masked."""

    table = Text()
    key = fields.Raw()
    change = Text()
    fields_ = fields.Dict(data_key="fields", attribute="fields")


class SettingShown(Shape):
    """Something that is no record and differs: the clock, the seed, an assumption."""

    name = Text()
    before = fields.Raw()
    after = fields.Raw()


class PointShown(Shape):
    """A point, and the instant at which the world stood there."""

    point = Text()
    now = Instant()
    requests = fields.Integer()


class DifferenceShown(Shape):
    """All that differs between two points."""

    from_ = Within(PointShown, data_key="from", attribute="from")
    to = Within(PointShown)
    changes = Listed(Within(ChangeShown))
    settings = Listed(Within(SettingShown))


def snapshots(call: ControlCall) -> dict[str, Any]:
    """Every snapshot."""
    return {"snapshots": [_line(line) for line in call.world.snapshots.values()]}


def snapshot(call: ControlCall) -> dict[str, Any]:
    """Keep this moment under a name, in place of what was kept there."""
    name = call.arguments["name"]
    if not _NAME.fullmatch(name):
        problem = f"name takes 1 to 80 letters, digits, dots, hyphens and underscores, not {name[:90]!r}"
        raise Refused(INVALID_PARAMETER, problems=problem)
    return _line(call.world.snapshot(name))


def restore(call: ControlCall) -> dict[str, Any]:
    """Go back to a snapshot; the clock and the random numbers are as they were."""
    return _gone(call, call.world.restore(call.arguments["name"]))


def drop_snapshot(call: ControlCall) -> dict[str, Any]:
    """Forget a snapshot; the answer is those that stay."""
    call.world.drop_snapshot(call.arguments["name"])
    return snapshots(call)


def rewind(call: ControlCall) -> dict[str, Any]:
    """Go back to before or after any request of the journal.

    The clock and the random numbers are as they were then. The future left behind stays as a branch,
    until it is dropped or there are too many.
    """
    asked = call.arguments
    return _gone(call, call.world.rewind(asked["request"], before=asked["side"] == "before"))


def branches(call: ControlCall) -> dict[str, Any]:
    """Every future that was left behind."""
    return {"branches": [_line(line) for line in call.world.branches.values()]}


def switch(call: ControlCall) -> dict[str, Any]:
    """Take up a branch where it ended; what is left behind becomes a branch in its turn."""
    return _gone(call, call.world.switch(call.arguments["name"]))


def drop_branch(call: ControlCall) -> dict[str, Any]:
    """Forget a branch; the answer is those that stay."""
    call.world.drop_branch(call.arguments["name"])
    return branches(call)


def difference(call: ControlCall) -> dict[str, Any]:
    """Which records differ between two points of the world, and how."""
    asked = call.arguments["earlier"], call.arguments["later"]
    earlier, later = (history_points.find(call.world, point) for point in asked)
    found = diff.between(earlier, later)
    return {
        "from": _point(asked[0], earlier),
        "to": _point(asked[1], later),
        "changes": [plain.shown(change) for change in found.changes],
        "settings": [
            {"name": name, "before": plain.plain(before), "after": plain.plain(after)}
            for name, before, after in found.settings
        ],
    }


def left_behind(line: Line) -> dict[str, Any]:
    """A branch as an answer shows it."""
    return _line(line)


def _line(line: Line) -> dict[str, Any]:
    return {
        "name": line.name,
        "now": line.tip.clock.instant,
        "frozen": line.tip.clock.frozen,
        "requests": line.tip.requests,
        "first": line.entries[0].id if line.entries else None,
        "last": line.entries[-1].id if line.entries else None,
    }


def _gone(call: ControlCall, branch: Line) -> dict[str, Any]:
    moment = call.world.moment
    return {
        "world": call.world.name,
        "now": moment.clock.now(),
        "frozen": moment.clock.frozen,
        "requests": moment.requests,
        "branch": left_behind(branch),
    }


def _point(name: str, moment: Moment) -> dict[str, Any]:
    return {"point": name, "now": moment.clock.instant, "requests": moment.requests}


_SNAPSHOTS = "/_sandbox/snapshots"
_BRANCHES = "/_sandbox/branches"

ENDPOINTS = (
    Endpoint(id="control.snapshots", method="GET", paths=(_SNAPSHOTS,), handle=snapshots, answer=Snapshots()),
    Endpoint(
        id="control.snapshots.create",
        method="POST",
        paths=(_SNAPSHOTS,),
        handle=snapshot,
        body=SnapshotWanted(),
        answer=LineShown(),
        status=201,
        refuses=(MALFORMED_BODY, INVALID_PARAMETER, refusals.TOO_MANY_SNAPSHOTS),
    ),
    Endpoint(
        id="control.snapshots.restore",
        method="POST",
        paths=(f"{_SNAPSHOTS}/{{name}}/restore",),
        handle=restore,
        answer=Gone(),
        refuses=(MALFORMED_BODY, refusals.UNKNOWN_SNAPSHOT),
    ),
    Endpoint(
        id="control.snapshots.delete",
        method="DELETE",
        paths=(f"{_SNAPSHOTS}/{{name}}",),
        handle=drop_snapshot,
        answer=Snapshots(),
        refuses=(MALFORMED_BODY, refusals.UNKNOWN_SNAPSHOT),
    ),
    Endpoint(
        id="control.rewind",
        method="POST",
        paths=("/_sandbox/rewind",),
        handle=rewind,
        body=RewindWanted(),
        answer=Gone(),
        refuses=(MALFORMED_BODY, INVALID_PARAMETER, refusals.UNKNOWN_REQUEST),
    ),
    Endpoint(id="control.branches", method="GET", paths=(_BRANCHES,), handle=branches, answer=Branches()),
    Endpoint(
        id="control.branches.switch",
        method="POST",
        paths=(f"{_BRANCHES}/{{name}}/switch",),
        handle=switch,
        answer=Gone(),
        refuses=(MALFORMED_BODY, refusals.UNKNOWN_BRANCH),
    ),
    Endpoint(
        id="control.branches.delete",
        method="DELETE",
        paths=(f"{_BRANCHES}/{{name}}",),
        handle=drop_branch,
        answer=Branches(),
        refuses=(MALFORMED_BODY, refusals.UNKNOWN_BRANCH),
    ),
    Endpoint(
        id="control.diff",
        lengthy_from=0,
        method="GET",
        paths=("/_sandbox/diff",),
        handle=difference,
        query=PointsWanted(),
        answer=DifferenceShown(),
        refuses=(
            INVALID_PARAMETER,
            refusals.UNKNOWN_POINT,
            refusals.UNKNOWN_REQUEST,
            refusals.UNKNOWN_SNAPSHOT,
            refusals.UNKNOWN_BRANCH,
        ),
    ),
)
