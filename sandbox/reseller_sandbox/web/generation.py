"""The wording of the interface: an endpoint is a row, a generation is rows with their manners."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from marshmallow import Schema

from reseller_sandbox.core.assumptions import Assumptions, watched
from reseller_sandbox.core.model import Account
from reseller_sandbox.core.refusals import Refused, Rule, Wording
from reseller_sandbox.core.state import Draft
from reseller_sandbox.web.strict_json import write
from reseller_sandbox.worlds import Outcome, World

#: The headers that WSGI spells like anything else.
_UNMARKED = ("CONTENT_TYPE", "CONTENT_LENGTH")


@dataclass(slots=True)
class Incoming:
    """One HTTP request, read whole.

    ``target`` is the request target as sent, ``prefix`` the part of it that chose the world,
    ``port`` the one it came in on, ``arguments`` what the path's placeholders matched. ``world`` and
    ``account`` are set as soon as they are known, be the request let in or not. ``assumed`` collects the
    assumptions that the answer rests on, ``ignored`` the keys that nothing reads, ``headers_out`` what the
    answer's headers say beside the usual. ``environ`` is what WSGI says of the request.
    """

    method: str
    target: str
    path: str
    scheme: str
    headers: Mapping[str, str]
    query: Sequence[tuple[str, str]]
    body: bytes
    arguments: dict[str, str] = field(default_factory=dict)
    prefix: str = ""
    port: str = ""
    world: World | None = None
    account: Account | None = None
    credentials_in_query: bool = False
    ignored: tuple[str, ...] = ()
    assumed: set[str] = field(default_factory=set)
    headers_out: dict[str, str] = field(default_factory=dict)
    environ: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def sent(self) -> Iterable[tuple[str, str]]:
        """Return the headers as they are at hand, be it as WSGI spells their names."""
        if not self.environ:
            return self.headers.items()
        found = [(name[5:], value) for name, value in self.environ.items() if name[:5] == "HTTP_"]
        return found + [(name, self.environ[name]) for name in _UNMARKED if self.environ.get(name)]

    def query_value(self, name: str) -> str | None:
        """The first value of a query element, whatever the case of its name."""
        wanted = name.lower()
        return next((value for key, value in self.query if key.lower() == wanted), None)

    def recognise(self, sender: tuple[World, Account] | None) -> None:
        """Note whose request this is although it is not let in, unless the path chose another world."""
        if sender is not None and self.world in (None, sender[0]):
            self.world, self.account = sender


@dataclass(slots=True)
class Call:
    """What an operation is handed: a draft to work on, whose account it is, and what was asked."""

    draft: Draft
    account: Account
    arguments: dict[str, Any]

    @property
    def assumed(self) -> Assumptions:
        """What the contract's silences are taken to mean; reading one is noted for the answer."""
        return self.draft.assumed


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One row: an operation with its paths, what it takes, what it answers and what it may refuse.

    ``path`` is the schema of placeholders that are more than text. ``refuses`` is in the order in which
    the checks are made. ``handle``'s docstring is the operation's description. ``only_reads`` is the mark
    of one that changes nothing though it is no GET, ``streams`` that of one whose answer goes on.
    """

    id: str
    method: str
    paths: tuple[str, ...]
    handle: Callable[[Any], Any]
    answer: Schema
    body: Schema | None = None
    query: Schema | None = None
    path: Schema | None = None
    refuses: tuple[Rule, ...] = ()
    lengthy_from: int | None = None
    status: int = 200
    only_reads: bool = False
    streams: bool = False

    @property
    def reads(self) -> bool:
        """Whether it changes nothing, whatever it is asked."""
        return self.method == "GET" or self.only_reads

    def rules(self) -> tuple[str, ...]:
        """The paths as routing rules: a placeholder takes what its field's ``route`` says, or one segment."""
        known = [schema.fields.items() for schema in (self.query, self.path) if schema is not None]
        forms = {name: getattr(kind, "route", "string") for fields in known for name, kind in fields}
        forms["version"] = "version"

        def rule(found: re.Match[str]) -> str:
            return f"<{forms.get(found[1], 'string')}:{found[1]}>"

        return tuple(re.sub(r"\{(\w+)\}", rule, path) for path in self.paths)


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and a JSON value, ready to be written; bytes are written as they are.

    Without a content type of its own it has that of its generation.
    """

    status: int
    body: Any
    content_type: str = ""


def content(answer: Answer) -> bytes:
    """The bytes of an answer's body."""
    return answer.body if isinstance(answer.body, bytes) else write(answer.body)


class Generation(Protocol):
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
    def credentials(self) -> tuple[str, ...]:
        """The headers that its requests carry, all of them together; none where anybody is let in."""

    @property
    def content_type(self) -> str:
        """What its answers are declared as."""

    @property
    def error_shape(self) -> Mapping[str, object]:
        """The JSON Schema of its refusals' bodies."""

    def described(self, endpoint: Endpoint, rule: Rule) -> Iterable[tuple[int, str]]:
        """How a rule looks in its documents when ``endpoint`` refuses by it: HTTP statuses and words."""

    def owns(self, path: str) -> bool:
        """Whether a path that no row has looks like one of this generation's."""

    def authenticate(self, incoming: Incoming) -> tuple[World, Account | None]:
        """Whose request it is."""

    def arguments(self, endpoint: Endpoint, incoming: Incoming, world: World) -> dict[str, Any]:
        """What the request asks for, read by the endpoint's schemas."""

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

    def accept(self, endpoint: Endpoint, result: Any, incoming: Incoming, world: World) -> Answer:
        """The answer to what was done."""

    def refuse(
        self, refused: Refused, incoming: Incoming, world: World | None, endpoint: Endpoint | None
    ) -> Answer:
        """The answer to what was not."""

    def inject(
        self,
        error: str,
        facts: Mapping[str, object],
        incoming: Incoming,
        world: World,
        endpoint: Endpoint | None,
    ) -> Answer:
        """The answer to what is said to have failed with ``error``, one of its ``known_errors``.

        What is not among ``facts`` its message leaves open. An error of another interface is an internal
        error here.
        """

    @property
    def known_errors(self) -> frozenset[str]:
        """The names of the errors that it can inject."""


class Transacting:
    """What the generations that act in worlds share: each operation is a transaction of its world."""

    def carry_out(
        self,
        endpoint: Endpoint,
        world: World,
        account: Account | None,
        arguments: dict[str, Any],
        incoming: Incoming,
        cause: str,
    ) -> Outcome[Any]:
        """On a draft of the world."""
        assert account is not None
        client_id = account.client_id

        def work(draft: Draft) -> Any:
            return endpoint.handle(Call(draft, draft.state.accounts[client_id], arguments))

        return world.transact(cause, work, incoming.assumed, endpoint.id)

    def accept(self, endpoint: Endpoint, result: Any, incoming: Incoming, world: World) -> Answer:  # noqa: ARG002
        """The result through the endpoint's schema."""
        return Answer(endpoint.status, endpoint.answer.dump(result))


def assumed_by(world: World, incoming: Incoming) -> Assumptions:
    """The world's assumptions, noting for the answer which are read."""
    return watched(world.assumptions, incoming.assumed)
