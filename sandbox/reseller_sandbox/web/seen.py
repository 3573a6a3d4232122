"""A request as the rules of faults see it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from reseller_sandbox.core.matching import NO_OPERATION
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.web.bodies import read_object
from reseller_sandbox.web.exchange import Exchange
from reseller_sandbox.web.subjects import subjects
from reseller_sandbox.worlds import World


class Seen:
    """An exchange as rules look at it; what takes reading is read when a rule asks for it.

    ``status`` is that of the operation's answer, once there is one.
    """

    number = 0

    def __init__(self, exchange: Exchange, world: World) -> None:
        self._exchange = exchange
        self._incoming = exchange.incoming
        self.at = world.now()
        self.admitted = exchange.admitted
        self.status = 0

    @property
    def operation(self) -> str:
        """The operation's id."""
        endpoint = self._exchange.endpoint
        return endpoint.id if endpoint is not None else NO_OPERATION

    @property
    def reads(self) -> bool:
        """Whether the operation only reads."""
        endpoint = self._exchange.endpoint
        return endpoint is not None and endpoint.reads

    @property
    def method(self) -> str:
        """The HTTP method."""
        return self._incoming.method

    @property
    def path(self) -> str:
        """The path, without the world's prefix and the query."""
        return self._incoming.path

    @property
    def account(self) -> str | None:
        """The account's name, where it is let in."""
        account = self._incoming.account
        return account.name if account is not None and self.admitted else None

    @property
    def headers(self) -> Iterable[tuple[str, str]]:
        """The headers."""
        return self._incoming.headers.items()

    @property
    def query(self) -> Sequence[tuple[str, str]]:
        """The elements of the query."""
        return self._incoming.query

    @cached_property
    def domains(self) -> tuple[str, ...]:
        """The names it is about."""
        return subjects(self._incoming)

    @cached_property
    def json(self) -> Any:
        """Its JSON body."""
        try:
            return read_object(self._incoming.body) if self._incoming.body else None
        except Refused:
            return None

    @property
    def outcome(self) -> str:
        """What the client would be told."""
        return self._exchange.outcome

    @property
    def carried_out(self) -> bool:
        """Whether the operation was done."""
        return self._exchange.carried_out

    @property
    def changed(self) -> bool:
        """Whether it has changed anything."""
        return bool(self._exchange.changes)

    @property
    def struck_by(self) -> Sequence[str]:
        """The names of the faults that have struck it so far."""
        return [rule.name for rule in self._exchange.faults]
