"""Faults at work on a request: before its operation takes effect, and after."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flask import request

from sandbox.core.clock import Clock
from sandbox.core.refusals import INTERNAL_ERROR, Refused
from sandbox.faults import FaultRule, Phase
from sandbox.web.bodies import read_object
from sandbox.web.generation import Answer, Endpoint
from sandbox.web.strict_json import write
from sandbox.web.subjects import subjects
from sandbox.web.transport import (
    ENV_DELIVERY,
    Again,
    Close,
    Cut,
    Delivery,
    Drip,
    Garbage,
    Hang,
    Reset,
    Truncate,
)
from sandbox.worlds import World

if TYPE_CHECKING:
    from sandbox.core.model import Account
    from sandbox.web.pipeline import Exchange, Pipeline

#: What stands for an answer in the journal where none was given.
NOTHING = Answer(0, b"")


class Postponed(Exception):
    """The request is to be taken up again, as ``again`` says."""

    def __init__(self, again: Again) -> None:
        super().__init__()
        self.again = again


class Held:
    """A request that waits for its delay to pass, with what has struck it already."""

    def __init__(self, strikes: Strikes) -> None:
        self.strikes = strikes


def perform(
    pipeline: Pipeline, exchange: Exchange, endpoint: Endpoint, world: World, account: Account | None
) -> Answer:
    """Answer a request as the faults of ``world`` will have it, under its lock.

    Raises :class:`Postponed` when the operation is to take effect only after a delay.
    """
    early = _arrive(exchange, world)
    if early is None:
        request.environ[ENV_DELIVERY] = Delivery(cut=Close())
        return NOTHING
    faults = world.moment.faults
    pipeline.begin(exchange, world)
    world.moment = replace(world.moment, faults=faults)
    exchange.after = world.moment
    return _end(early, exchange)
