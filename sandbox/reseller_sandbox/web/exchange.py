"""A request on its way through, and what has come of it so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct, field

from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.core.matching import FAULT, NO_OPERATION, OK
from reseller_sandbox.core.model import Account, Stage
from reseller_sandbox.core.refusals import Refusal, Refused
from reseller_sandbox.core.state import Change, order_met
from reseller_sandbox.faults import FaultRule, Strike
from reseller_sandbox.web.endpoint import Endpoint
from reseller_sandbox.web.incoming import Incoming
from reseller_sandbox.web.interface import Answer, Interface
from reseller_sandbox.worlds import Entry, Moment, World, redact
from reseller_sandbox.worlds.moment import after_request

#: How many of its names a line of the log says.
_NAMED = 3

#: How long a body may be to be searched for secrets before the next request is answered.
_SEARCHED = 1 << 16


class Exchange(Struct):
    """One request and its answer in the making, which faults and plans look at (``core.matching``).

    ``began`` is what the stopwatch showed when it came, ``admitted`` whether a row took the request and its
    credentials let it in, ``carried_out`` whether the operation has been done. ``instead`` is what the client
    is told where faults keep the operation's own answer from arriving: an error's name, or ``fault``.
    ``status`` is that of its answer: of the operation's own until faults have made another. ``held_up``
    is for how many seconds they keep the client waiting. ``noted`` is whether the journal has had its chance
    at it, and ``assumed`` which assumptions it then rested on.
    """

    interface: Interface
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
    held_up: float = 0.0
    status: int = 0
    is_unanswered: bool = False
    number: int = 0
    noted: bool = False
    assumed: Sequence[tuple[str, object]] = ()

    @property
    def operation(self) -> str:
        """The operation's id, or a dash where no row has taken the request."""
        return self.endpoint.id if self.endpoint is not None else NO_OPERATION

    @property
    def reads(self) -> bool:
        """Whether the operation only reads."""
        return self.endpoint is not None and self.endpoint.reads

    @property
    def at(self) -> datetime:
        """The instant at which it came."""
        assert self.before is not None
        return self.before.clock.instant

    @property
    def method(self) -> str:
        """The HTTP method."""
        return self.incoming.method

    @property
    def path(self) -> str:
        """The path, without the world's prefix and the query."""
        return self.incoming.path

    @property
    def account(self) -> str | None:
        """The account's name, where it is let in."""
        account = self.incoming.account
        return account.name if account is not None and self.admitted else None

    @property
    def headers(self) -> Iterable[tuple[str, str]]:
        """The headers."""
        return self.incoming.headers.items()

    @property
    def query(self) -> Sequence[tuple[str, str]]:
        """The elements of the query."""
        return self.incoming.query

    @property
    def domains(self) -> tuple[str, ...]:
        """The names it is about."""
        return self.incoming.names

    @property
    def json(self) -> Any:
        """The JSON body, or None where there is none."""
        return self.incoming.object_if_any if self.incoming.body else None

    @property
    def changed(self) -> bool:
        """Whether it has changed anything."""
        return bool(self.changes)

    @property
    def struck_by(self) -> list[str]:
        """The names of the faults that have struck it so far."""
        return [rule.name for rule in self.faults]

    @property
    def fault(self) -> str:
        """The names of the faults that have struck it, in one line."""
        return ", ".join(self.struck_by)

    @property
    def note(self) -> str:
        """What the request log says of it."""
        domains, account = self.domains, self.account
        about = [account] if account is not None else []
        if domains:
            more = len(domains) - _NAMED
            about.append(", ".join(domains[:_NAMED]) + (f" and {more} more" if more > 0 else ""))
        if self.faults:
            about.append(f"fault {self.fault}")
        whose, why = f" ({'; '.join(about)})" if about else "", self.why
        return f"{self.operation} {self.outcome}{whose}{why and f': {why}'}"

    @property
    def why(self) -> str:
        """Why it is refused, without secrets; nothing where the client is told something else, or ok.

        Nothing either where a long body would have to be searched for those.
        """
        if self.refused is None or self.instead or len(self.incoming.body) > _SEARCHED:
            return ""
        said = redact.read(self.incoming.body), dict(self.query)
        return str(redact.masked(self.refused.message, redact.secrets_in(said)))

    @property
    def is_look(self) -> bool:
        """Whether the sandbox's own page asks by itself for what it shows."""
        if self.incoming.headers.get("Sec-Fetch-Site") != "same-origin":
            return False
        if self.interface.journalled:
            return self.world is not None and self.world.is_past
        return self.reads

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the request log says of it to programs."""
        told = {
            "operation": self.operation,
            "outcome": self.outcome,
            "world": self.world.name if self.world is not None else None,
            "request": self.cause,
            "account": self.account,
            "domains": self.domains,
            "fault": self.fault,
            "message": self.why,
        }
        return {name: value for name, value in told.items() if value}

    @property
    def outcome(self) -> str:
        """What the client is told, in a word."""
        if self.instead:
            return self.instead
        return self.refused.rule.code if self.refused is not None else OK

    @property
    def stage(self) -> Stage | None:
        """The stage of the name it is about, before it: of the account's own order, or the holder's."""
        names = self.incoming.names
        if len(names) != 1 or self.before is None:
            return None
        order = order_met(self.before.state, self.incoming.account, names[0])
        return order.stage if order is not None else None

    def anew(self) -> Exchange:
        """Return the same request as it was before anything came of it."""
        return Exchange(self.interface, self.endpoint, self.incoming, self.began, admitted=self.admitted)

    def begin(self, world: World) -> None:
        """Give the request its name in its world, and remember the moment at which it came."""
        self.world = world
        if self.interface.journalled:
            with world.lock:
                if self.before is None:
                    world.settle()
                    self.before = world.moment
                self.cause = world.next_request()
                self.step = world.moment.log.number
                self.after = world.moment

    def act(self, endpoint: Endpoint, world: World, account: Account | None, cause: str) -> Answer:
        """Carry out the operation in ``world``; raise ``Refused``."""
        try:
            asked = self.interface.arguments(endpoint, self.incoming, world)
            outcome = self.interface.carry_out(endpoint, world, account, asked, self.incoming, cause)
        finally:
            self.after = world.moment
        if outcome.refused is not None:
            raise outcome.refused
        self.carried_out = True
        self.changes = outcome.changes
        return self.interface.accept(endpoint, outcome.result, self.incoming)

    def set_plans_off(self, answer: Answer) -> None:
        """Let what was planned for after this request happen, which has its ``answer``."""
        self.status = answer.status
        if self.cause and self.world is not None and self.world.state.waiting:
            self.world.travel(after_request(self), cause=self.step)
            self.after = self.world.moment

    def refuse(self, refused: Refused) -> Answer:
        """Return the answer to a request that was refused."""
        refused.with_traceback(None)  # whose frames hold the refusal, and would outlast the request with it
        self.refused = refused.spoken_in(self.interface.wording)
        return self.interface.refuse(refused, self.incoming, self.endpoint)

    def record(
        self,
        world: World,
        status: int,
        answer: bytes,
        assumed: Sequence[tuple[str, object]] = (),
        error: str = "",
    ) -> None:
        """Write what came of it into the journal of its world."""
        world.journal.add(self.entry(status, answer, assumed, error))

    def entry(
        self,
        status: int = 0,
        answer: bytes = b"",
        assumed: Sequence[tuple[str, object]] = (),
        error: str = "",
    ) -> Entry:
        """Return what a journal keeps of it, as far as it has come."""
        incoming = self.incoming
        assert self.before is not None
        return Entry(
            id=self.cause,
            step=self.step,
            at=self.at,
            operation=self.operation,
            account=incoming.account.name if incoming.account is not None else None,
            domains=incoming.names,
            method=incoming.method,
            raw_target=incoming.target,
            body=incoming.body,
            credentials_in_query=incoming.credentials_in_query,
            status=status,
            answer=answer,
            duration=stopwatch() - self.began,
            held_up=self.held_up,
            changes=tuple(self.changes),
            refused=self.refused,
            assumed=tuple(assumed),
            carried_out=self.carried_out,
            outcome=self.outcome,
            faults=tuple(self.faults),
            lost=bool(self.instead),
            error="" if self.instead == FAULT else error,
            stage=self.stage,
            ignored=incoming.ignored,
            sent=redact.cut(incoming.sent()),
            scheme=incoming.scheme,
            port=incoming.port,
            arrived=self.held.arrived if self.held is not None else None,
            before=self.before,
            after=self.after or self.before,
        )
