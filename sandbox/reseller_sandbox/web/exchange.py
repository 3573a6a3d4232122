"""A request on its way through, and what has come of it so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.core.matching import NO_OPERATION, OK
from reseller_sandbox.core.model import Account
from reseller_sandbox.core.refusals import Refusal, Refused
from reseller_sandbox.core.state import Change
from reseller_sandbox.faults import FaultRule, Strike
from reseller_sandbox.server.requestlog import masked
from reseller_sandbox.web.generation import Answer, Endpoint, Generation, Incoming
from reseller_sandbox.web.subjects import subjects
from reseller_sandbox.worlds import Entry, Moment, Outcome, World, redact
from reseller_sandbox.worlds.moment import after_request


@dataclass(slots=True)
class Exchange:
    """One request and its answer in the making; ``began`` is what the stopwatch showed when it came.

    ``admitted`` is whether a row took the request and its credentials let it in, ``carried_out`` whether
    the operation has been done. ``instead`` is what the client is told where
    faults keep the operation's own answer from arriving: an error's name, or ``fault``.
    """

    generation: Generation
    endpoint: Endpoint | None
    incoming: Incoming
    began: float
    world: World | None = None
    cause: str = ""
    step: int = 0
    before: Moment | None = None
    after: Moment | None = None
    changes: Sequence[Change] = ()
    refused: Refusal | None = None
    faults: list[FaultRule] = field(default_factory=list)
    admitted: bool = False
    carried_out: bool = False
    instead: str = ""
    held: Strike | None = None

    @property
    def operation(self) -> str:
        """The operation's id, or a dash where no row has taken the request."""
        return self.endpoint.id if self.endpoint is not None else NO_OPERATION

    @property
    def struck_by(self) -> str:
        """The names of the faults that struck it."""
        return ", ".join(rule.name for rule in self.faults)

    @property
    def note(self) -> str:
        """What the request log says of it."""
        return f"{self.operation} {self.outcome}" + (f" (fault {self.struck_by})" if self.faults else "")

    @property
    def outcome(self) -> str:
        """What the client is told, in a word."""
        if self.instead:
            return self.instead
        return self.refused.rule.code if self.refused is not None else OK

    def begin(self, world: World) -> None:
        """Give the request its name in its world, and remember the moment it came at."""
        self.world = world
        if self.generation.journalled:
            with world.lock:
                world.settle()
                self.before = world.moment
                self.cause = world.next_request()
                self.step = world.moment.log.number
                self.after = world.moment

    def act(self, endpoint: Endpoint, world: World, account: Account | None, cause: str) -> Answer:
        """Carry out the operation in ``world``; raises ``Refused``."""
        try:
            outcome = self._attempt(endpoint, world, account, cause)
            self._set_plans_off(endpoint, accepted=outcome.refused is None)
        finally:
            self.after = world.moment
        if outcome.refused is not None:
            raise outcome.refused
        self.carried_out = True
        self.changes = outcome.changes
        return self.generation.accept(endpoint, outcome.result, self.incoming, world)

    def _attempt(self, endpoint: Endpoint, world: World, account: Account | None, cause: str) -> Outcome[Any]:
        try:
            asked = self.generation.arguments(endpoint, self.incoming, world)
            return self.generation.carry_out(endpoint, world, account, asked, self.incoming, cause)
        except Refused as refused:  # as early as in reading what is asked for
            return Outcome(refused=refused)

    def _set_plans_off(self, endpoint: Endpoint, *, accepted: bool) -> None:
        """Let what was planned for after this request happen: now, be the request answered from the past."""
        if self.cause and self.world is not None and self.world.state.waiting:
            planned = after_request(endpoint.id, subjects(self.incoming), accepted=accepted)
            self.world.travel(planned, cause=self.step)

    def refuse(self, refused: Refused) -> Answer:
        """The answer to a request that was refused."""
        self.refused = refused.spoken_in(self.generation.wording)
        return self.generation.refuse(refused, self.incoming, self.incoming.world, self.endpoint)

    def record(self, world: World, status: int, answer: bytes, assumed: Sequence[tuple[str, object]]) -> None:
        """Write what came of it into the journal of its world."""
        incoming = self.incoming
        assert self.before is not None
        assert self.after is not None
        world.journal.add(
            Entry(
                id=self.cause,
                step=self.step,
                at=self.before.clock.instant,
                operation=self.operation,
                account=incoming.account.name if incoming.account is not None else None,
                domains=subjects(incoming),
                method=incoming.method,
                target=masked(incoming.target),
                body=incoming.body,
                credentials_in_query=incoming.credentials_in_query,
                status=status,
                answer=answer,
                duration=stopwatch() - self.began,
                changes=tuple(self.changes),
                refused=self.refused,
                assumed=tuple(assumed),
                carried_out=self.carried_out,
                outcome=self.outcome,
                faults=tuple(self.faults),
                lost=bool(self.instead),
                ignored=incoming.ignored,
                sent=redact.cut(incoming.sent()),
                before=self.before,
                after=self.after,
            )
        )
