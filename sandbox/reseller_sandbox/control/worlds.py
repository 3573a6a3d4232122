"""Worlds: fork, list, look at and delete them; write one as a fixture, and read one from a fixture."""

from __future__ import annotations

from typing import Any

from marshmallow import ValidationError, fields, validates_schema

from reseller_sandbox.control.call import ControlCall, Strict
from reseller_sandbox.control.history import LeftBehind, left_behind
from reseller_sandbox.core import refusals
from reseller_sandbox.core.clock import instant_given
from reseller_sandbox.core.model import OUTSIDE
from reseller_sandbox.core.refusals import INVALID_PARAMETER, MALFORMED_BODY, SET_BACK, Refused, Rule
from reseller_sandbox.web.errors import EMPTY_BODY
from reseller_sandbox.web.fields import Amount, Instant, Listed, Shape, Text, Truth, Within
from reseller_sandbox.web.generation import Endpoint
from reseller_sandbox.worlds import Fork, World

#: What naming a point of a world's past may refuse.
POINT_RULES: tuple[Rule, ...] = (
    refusals.UNKNOWN_POINT,
    refusals.UNKNOWN_REQUEST,
    refusals.UNKNOWN_SNAPSHOT,
    refusals.UNKNOWN_BRANCH,
)

#: From how many bytes of body on a fixture may take noticeable time to read.
LONG_FIXTURE = 1 << 14


class WorldListed(Shape):
    """A world: its name, the path prefix that chooses it, its time, and how much it has seen.

    ``requests`` counts those it has had, ``idle_seconds`` is for how long nobody has used it, by the
    machine's clock.
    """

    id = Text()
    prefix = Text()
    now = Instant()
    frozen = Truth()
    seed = Text()
    requests = fields.Integer()
    orders = fields.Integer()
    idle_seconds = fields.Float()


class AccountShown(Shape):
    """An account and what a client needs to act for it, where that is not ``revoked``."""

    name = Text()
    client_id = fields.Integer()
    key = Text()
    secret = Text()
    token = Text()
    revoked = Listed(Text())
    balance = Amount()
    currency = Text()


class WorldShown(WorldListed):
    """A world, with the accounts that act in it and the assumptions that differ from the defaults."""

    accounts = Listed(Within(AccountShown))
    assumptions = fields.Dict()


class WorldsShown(Shape):
    """Every world, the oldest first, and how many there may be."""

    worlds = Listed(Within(WorldListed))
    limit = fields.Integer()


class ForkWanted(Strict):
    """What a new world is to be; all of it may be left out, for a fork of the world that is asked.

    Its source is ``world`` (a world's name) at ``point`` (``now``, ``start``, ``before:r3``, ``after:r3``,
    ``snapshot:NAME``, ``branch:NAME``), or ``fixture`` (a packaged one's name), or ``state`` (the YAML of
    one). ``name`` is what it will be called, ``now`` the instant its clock begins at (or ``real``),
    ``frozen`` whether that stands still, ``assume`` assumptions that differ, ``seed`` what codes are drawn
    from.
    """

    world = Text()
    point = Text()
    fixture = Text()
    state = Text()
    name = Text()
    now = Text()
    frozen = Truth()
    assume = fields.Dict(keys=Text(), error_messages={"invalid": "must be an object"})
    seed = Text()

    @validates_schema
    def one_source(self, given: dict[str, Any], **_: Any) -> None:
        """At most one of the sources."""
        sources = [name for name in ("world", "fixture", "state") if name in given]
        if len(sources) > 1:
            raise ValidationError(f"takes one source, not {' and '.join(sources)}")
        if "point" in given and sources not in ([], ["world"]):
            raise ValidationError("point goes with a world, not with a fixture")


class FixtureWritten(Shape):
    """A world as a fixture in YAML."""

    world = Text()
    fixture = Text()


class FixtureWanted(Strict):
    """A fixture in YAML."""

    fixture = Text(required=True)


class Loaded(WorldShown):
    """The world as it is now, and the branch that keeps what it was."""

    branch = Within(LeftBehind)


def show_all(call: ControlCall) -> dict[str, Any]:
    """Every world."""
    return {"worlds": [_listed(call, world) for world in call.worlds], "limit": call.worlds.limits.max_worlds}


def show(call: ControlCall) -> dict[str, Any]:
    """One world, with its accounts and their credentials."""
    return _shown(call, call.worlds.find(call.arguments["world"]))


def fork(call: ControlCall) -> dict[str, Any]:
    """Make a new world, with credentials of its own.

    They choose the world for every request that carries them, and so does the path prefix. A fork shares
    what it does not change, so it takes no longer however much its source holds.
    """
    given = dict(call.arguments)
    if "now" in given:
        try:
            given["now"] = instant_given(given["now"])
        except ValueError as problem:
            raise Refused(INVALID_PARAMETER, problems=f"now: {problem}") from None
    return _shown(call, call.worlds.fork(Fork(**{"world": call.world, **given})))


def delete(call: ControlCall) -> dict[str, Any]:
    """Delete a world, with all that it holds; the answer is the worlds that stay."""
    call.worlds.drop(call.arguments["world"])
    return show_all(call)


def export(call: ControlCall) -> dict[str, Any]:
    """The whole world as a fixture, credentials and codes included."""
    return {"world": call.world.name, "fixture": call.worlds.fixtures.written(call.world.present())}


def load(call: ControlCall) -> dict[str, Any]:
    """Let the world begin again as a fixture says.

    What it was stays as a branch. Credentials that another world has already are replaced by new ones.
    """
    left = call.worlds.load(call.world, call.arguments["fixture"])
    return {**_shown(call, call.world), "branch": left_behind(left)}


def _listed(call: ControlCall, world: World) -> dict[str, Any]:
    moment = world.present()
    return {
        "id": world.name,
        "prefix": f"/_worlds/{world.name}",
        "now": moment.clock.instant,
        "frozen": moment.clock.frozen,
        "seed": moment.state.seed,
        "requests": moment.requests,
        "orders": len(moment.state.orders),
        "idle_seconds": round(call.worlds.idle(world), 3),
    }


def _shown(call: ControlCall, world: World) -> dict[str, Any]:
    accounts = world.state.accounts
    return {
        **_listed(call, world),
        "accounts": [accounts[number] for number in sorted(accounts) if number != OUTSIDE],
        "assumptions": world.assumptions.departures(),
    }


_ALL = "/_sandbox/worlds"
_ONE = "/_sandbox/worlds/{world}"

ENDPOINTS = (
    Endpoint(id="control.worlds", method="GET", paths=(_ALL,), handle=show_all, answer=WorldsShown()),
    Endpoint(
        id="control.worlds.fork",
        method="POST",
        paths=(_ALL,),
        handle=fork,
        lengthy_from=LONG_FIXTURE,
        body=ForkWanted(),
        answer=WorldShown(),
        status=201,
        refuses=(
            MALFORMED_BODY,
            INVALID_PARAMETER,
            refusals.TOO_MANY_WORLDS,
            refusals.WORLD_EXISTS,
            refusals.INVALID_FIXTURE,
            refusals.TOO_MANY_FAULTS,
            *POINT_RULES,
            SET_BACK,
        ),
    ),
    Endpoint(id="control.worlds.show", method="GET", paths=(_ONE,), handle=show, answer=WorldShown()),
    Endpoint(
        id="control.worlds.delete",
        method="DELETE",
        paths=(_ONE,),
        handle=delete,
        answer=WorldsShown(),
        refuses=(*EMPTY_BODY, refusals.DEFAULT_WORLD),
    ),
    Endpoint(
        id="control.export",
        method="GET",
        paths=("/_sandbox/export",),
        handle=export,
        answer=FixtureWritten(),
        lengthy_from=0,
    ),
    Endpoint(
        id="control.import",
        method="POST",
        paths=("/_sandbox/import",),
        handle=load,
        lengthy_from=LONG_FIXTURE,
        body=FixtureWanted(),
        answer=Loaded(),
        refuses=(MALFORMED_BODY, INVALID_PARAMETER, refusals.INVALID_FIXTURE, refusals.TOO_MANY_FAULTS),
    ),
)
