"""An interface on the wire: rows, and how they authenticate, read, answer and refuse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from reseller_sandbox.core.assumptions import Assumptions
from reseller_sandbox.core.model import Account
from reseller_sandbox.core.refusals import Refused, Rule, Wording
from reseller_sandbox.core.state import Draft
from reseller_sandbox.server.delivery import Stream
from reseller_sandbox.web.endpoint import Call, Endpoint
from reseller_sandbox.web.errors import Shown
from reseller_sandbox.web.incoming import Incoming
from reseller_sandbox.web.strict_json import write
from reseller_sandbox.worlds import Outcome, World
from reseller_sandbox.worlds.past import require_present

if TYPE_CHECKING:
    from marshmallow import Schema


class Answer(Struct, frozen=True, dict=True):
    """A status and a JSON value, ready to be written; bytes are written as they are.

    Without a content type of its own it has that of its interface. A ``stream`` follows where it goes on.
    ``error`` is the error that it tells, as faults name it.
    """

    status: int
    body: Any
    content_type: str = ""
    stream: Stream | None = None
    error: str = ""

    @cached_property
    def content(self) -> bytes:
        """The bytes of the body."""
        return self.body if isinstance(self.body, bytes) else write(self.body)


class Interface(Protocol):
    """A family of endpoints that authenticate, take bodies and refuse alike."""

    @property
    def name(self) -> str:
        """The first part of its endpoints' ids."""

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """Its rows."""

    @property
    def journalled(self) -> bool:
        """Whether its requests are numbered and kept in their world's journal."""

    @property
    def common(self) -> tuple[Rule, ...]:
        """What any of its endpoints may refuse, beside its own."""

    @property
    def wording(self) -> Wording:
        """Its words for the terms of the domain."""

    @property
    def content_type(self) -> str:
        """What its answers are declared as."""

    @property
    def error_shape(self) -> Mapping[str, object]:
        """The JSON Schema of its refusals' bodies."""

    @property
    def placeholders(self) -> Schema | None:
        """What documents say of placeholders that stand in many of its paths, if there are such."""

    @property
    def headers(self) -> tuple[str, ...]:
        """The headers of ``web.headers.TOLD`` that its answers may have."""

    def takes(self, assumed: Assumptions) -> tuple[str, ...]:
        """Return the content types that bodies may have."""

    def security(self, assumed: Assumptions) -> Mapping[str, str]:
        """Return the headers that let a request in, all of them together, and in words what each carries."""

    def shown(self, endpoint: Endpoint, rule: Rule, assumed: Assumptions) -> Iterable[Shown]:
        """Return how documents show a rule that ``endpoint`` refuses by: the errors that it becomes."""

    def authenticate(self, incoming: Incoming) -> tuple[World, Account | None]:
        """Return the world that a request is for, and whose it is; refuse by one of ``common``."""

    def arguments(self, endpoint: Endpoint, incoming: Incoming, world: World) -> dict[str, Any]:
        """Return what the request asks for, read by the endpoint's schemas."""

    def carry_out(
        self,
        endpoint: Endpoint,
        world: World,
        account: Account | None,
        arguments: dict[str, Any],
        incoming: Incoming,
        cause: str,
    ) -> Outcome[Any]:
        """Let the endpoint's operation take effect."""

    def accept(self, endpoint: Endpoint, result: Any, incoming: Incoming) -> Answer:
        """Return the answer to an operation that was done."""

    def refuse(self, refused: Refused, incoming: Incoming, endpoint: Endpoint | None) -> Answer:
        """Return the answer to a request that was refused."""

    def inject(
        self, error: str, facts: Mapping[str, object], incoming: Incoming, endpoint: Endpoint | None
    ) -> Answer:
        """Return the answer to a request that is said to have failed with ``error``.

        Its message leaves open what is missing in ``facts``. An error that is not one of ``known_errors`` is
        an internal error here.
        """

    @property
    def known_errors(self) -> frozenset[str]:
        """The names of the errors that it can inject."""


class Transacting:
    """What the interfaces that act in worlds share: each operation is a transaction of its world."""

    def carry_out(
        self,
        endpoint: Endpoint,
        world: World,
        account: Account | None,
        arguments: dict[str, Any],
        incoming: Incoming,
        cause: str,
    ) -> Outcome[Any]:
        """Carry the operation out on a draft of the world."""
        assert account is not None
        if not endpoint.reads:
            require_present(world)
        client_id, ignored = account.client_id, list[str]()

        def work(draft: Draft) -> Any:
            return endpoint.handle(Call(draft, draft.state.accounts[client_id], arguments, ignored))

        settled = world is incoming.world  # when the request began; another is one of the past
        outcome = world.transact(cause, work, incoming.assumed, endpoint.id, settled=settled)
        if ignored:
            incoming.ignore(ignored)
        return outcome

    def accept(self, endpoint: Endpoint, result: Any, incoming: Incoming) -> Answer:  # noqa: ARG002
        """Return the result through the endpoint's schema."""
        return Answer(endpoint.status, endpoint.answer.dump(result))
