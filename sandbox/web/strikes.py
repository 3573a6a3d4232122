"""The way of a request through the faults of its world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from flask import request

from sandbox.core.refusals import Refused
from sandbox.core.state import Change
from sandbox.faults import FaultBook
from sandbox.web.generation import Answer, Endpoint
from sandbox.web.struck import Seen, Struck
from sandbox.web.transport import ENV_DELIVERY, Again, Close, Delivery
from sandbox.worlds import World

if TYPE_CHECKING:
    from sandbox.core.model import Account
    from sandbox.web.pipeline import Exchange, Pipeline

#: What stands in the journal where there was no answer.
NO_ANSWER = Answer(0, b"")


class Postponed(Exception):
    """The request is to be taken up again, as ``again`` says."""

    def __init__(self, again: Again) -> None:
        super().__init__()
        self.again = again


def perform(
    pipeline: Pipeline, exchange: Exchange, endpoint: Endpoint, world: World, account: Account | None
) -> Answer:
    """Answer a request as the faults of ``world`` will have it; under its lock.

    Raises :class:`Postponed` when the operation is to take effect only after a delay.
    """
    seen = Seen(endpoint, exchange.incoming)
    before = exchange.held or _arrive(seen, world)
    if exchange.held is not None and not _released(before, world):
        # The world has gone back to before the request came: it never did, and nobody is to hear of it.
        request.environ[ENV_DELIVERY] = Delivery(cut=Close())
        return NO_ANSWER
    ...
