"""An interface over HTTP: its endpoints, and how it authenticates, reads and answers requests."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from functools import cache, cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct

from reseller_sandbox import refusals as r
from reseller_sandbox.refusals import PLAIN, Refused, Rule, Wording
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.contract import ApiOperation
from reseller_sandbox.registry.model import Account, Purpose
from reseller_sandbox.registry.state import Change, Draft
from reseller_sandbox.registry.stepwise import json_pieces
from reseller_sandbox.server.delivery import Stream
from reseller_sandbox.settings import Settings
from reseller_sandbox.values.clock import local
from reseller_sandbox.values.names import NameText
from reseller_sandbox.web.context import RequestContext, json_bytes
from reseller_sandbox.web.errors import (
    ANY_OPERATION,
    ANYWHERE,
    BODY_SHAPE,
    TRANSPORT,
    ErrorEntry,
    body_of,
    documented_error,
    status_of,
)
from reseller_sandbox.web.headers import HEADERS, REFUSAL, refusal_value
from reseller_sandbox.worlds import UNCHECKED, Engine, World

if TYPE_CHECKING:
    from marshmallow import Schema

_CONTROL = re.compile(r"(/_worlds/[^/]*)?/_sandbox(/|$)")


class Call(Struct):
    """The input of an operation: a draft to work on, the account, and the arguments of the request.

    The operation reports the keys that have no effect on this request with ``ignore``, and adds to
    ``refused`` why it refuses a part of the request.
    """

    draft: Draft
    account: Account
    arguments: dict[str, Any]
    ignored: list[str]
    refused: list[Refused]

    @property
    def assumed(self) -> Assumptions:
        """The assumptions of the world. The response names each assumption that the operation reads."""
        return self.draft.assumed

    def local(self, instant: datetime) -> datetime:
        """Return an instant in the time zone of dates that are written without a zone."""
        return local(instant, self.assumed.time_zone)

    def ignore(self, key: str, reason: str, *, contradicted: bool) -> None:
        """Report a key that has no effect on this request.

        ``contradicted`` is whether the result differs from the value of the key. Otherwise, nobody checked
        the value.
        """
        self.ignored.append(f"{key}; {'' if contradicted else f'{UNCHECKED}, '}{reason}")


class Schemas(Struct, frozen=True, eq=False):
    """The schemas of an operation: of the answer, and of each part of the request.

    ``path`` describes the placeholders that are not plain text.
    """

    answer: Schema
    body: Schema | None = None
    query: Schema | None = None
    path: Schema | None = None


# Endpoints are compared and hashed by identity, because that is fast.
@dataclass(frozen=True, kw_only=True, eq=False)
class Endpoint:
    """An operation with its paths, input, answer and possible refusals.

    ``make_schemas`` is called when the schemas are first used. ``converters`` are those of placeholders
    that are not one segment of text. ``refuses`` is in the order of the checks. The docstring of ``handle``
    is the operation's description. ``lengthy_from`` is the body size in bytes from which the operation runs
    on a separate thread. ``only_reads`` marks an operation that changes nothing although its method is not
    GET. ``streams`` marks a streamed answer. ``forms`` are the content types of its answers. ``subject`` is
    the class that the operation belongs to, if that is not a module. ``lists_names``, ``orders``, ``price``
    and ``guard`` are those of ``ApiOperation``.
    """

    id: str
    method: str
    paths: tuple[str, ...]
    handle: Callable[[Any], Any]
    make_schemas: Callable[[], Schemas]
    converters: Mapping[str, str] = field(default_factory=dict)
    refuses: tuple[Rule, ...] = ()
    lengthy_from: int | None = None
    status: int = 200
    only_reads: bool = False
    streams: bool = False
    forms: tuple[str, ...] = ("application/json",)
    subject: Any = None
    lists_names: bool = False
    orders: Purpose | None = None
    price: tuple[str, ...] = ()
    guard: str = ""

    @cached_property
    def schemas(self) -> Schemas:
        """The schemas of the operation."""
        return self.make_schemas()

    @property
    def reads(self) -> bool:
        """Whether the operation never changes anything."""
        return self.method == "GET" or self.only_reads

    def rules(self) -> tuple[str, ...]:
        """Return the paths as routing rules. A placeholder without a converter matches one segment."""
        converters = {"version": "version", **self.converters}

        def rule(match: re.Match[str]) -> str:
            return f"<{converters.get(match[1], 'string')}:{match[1]}>"

        return tuple(re.sub(r"\{(\w+)\}", rule, path) for path in self.paths)


def route(
    name: str,
    method: str,
    *paths: str,
    answer: Schema,
    body: Schema | None = None,
    query: Schema | None = None,
    path: Schema | None = None,
    **more: Any,
) -> Callable[..., Endpoint]:
    """Return a decorator that declares an operation. ``more`` are other fields of ``Endpoint``.

    A field of ``query`` or ``path`` can have the converter of its placeholder in its attribute ``route``.
    """
    schemas = Schemas(answer, body, query, path)
    fields = [item for schema in (query, path) if schema is not None for item in schema.fields.items()]
    converters = {key: field.route for key, field in fields if hasattr(field, "route")}
    return lambda handle: Endpoint(
        id=name,
        method=method,
        paths=paths,
        handle=handle,
        make_schemas=lambda: schemas,
        converters=converters,
        **more,
    )


def refuses(*rules: Rule) -> Callable[[Endpoint], Endpoint]:
    """Return a decorator that declares the refusals of an operation, in the order of its checks."""
    return lambda endpoint: replace(endpoint, refuses=rules)


def endpoints_of(*modules: ModuleType) -> tuple[Endpoint, ...]:
    """Return the operations that ``modules`` declare, in the order of their declaration."""
    values = (value for module in modules for value in vars(module).values())
    return tuple(value for value in values if isinstance(value, Endpoint))


def is_control(path: str) -> bool:
    """Whether a path belongs to the control interface, with or without a world's prefix."""
    return _CONTROL.match(path) is not None


def max_body(settings: Settings, path: str) -> int:
    """Return the maximum body size of a request to ``path`` in bytes."""
    return settings.max_control_body if is_control(path) else settings.max_body


def write(value: object) -> bytes:
    """Return ``value`` as compact UTF-8 JSON. The keys keep their order."""
    try:
        return json_bytes(value)
    except UnicodeEncodeError:  # half a surrogate pair
        return write_in_pieces(value)


def write_in_pieces(value: object) -> bytes:
    """Return the same bytes as ``write``, but let other threads run in between."""
    return b"".join([piece.encode("utf-8", "backslashreplace") for piece in json_pieces(value, _text)])


def _text(value: object) -> str:
    """Return ``value`` as JSON text. Half a surrogate pair in a string stays unchanged."""
    try:
        return json_bytes(value).decode("utf-8")
    except UnicodeEncodeError:
        return _encode_with_surrogates(value)


def _default(value: object) -> object:
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(f"{type(value).__name__} cannot be converted to JSON")


_encode_with_surrogates = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_default).encode


class Answer(Struct, frozen=True, dict=True):
    """The status and the JSON value of a response. A body of bytes is sent without conversion.

    An answer without a content type has the content type of its interface. ``stream`` is the rest of a
    streamed answer. ``error`` is the name of the error, as faults name it.
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


#: The account of requests without credentials.
ANONYMOUS = Account(
    client_id=0,
    name="",
    key="",
    secret="",
    token="",
    currency="",
    opening=Decimal(0),
    reseller=False,
    contact="",
    nameservers=(),
)


class Interface:
    """A family of endpoints with common authentication, parsing and error format.

    ``name`` is the first part of the ids of its ``endpoints``. ``owner`` is the subject of messages about an
    unknown path. ``journalled`` is whether its requests are numbered and recorded in the journal of their
    world. ``common`` are the rules by which any of its endpoints may refuse, in the order of the checks.
    ``error_shape`` is the JSON Schema of its refusals. ``placeholders`` documents placeholders that many of
    its paths have. ``headers`` describes the additional headers of its answers.
    """

    name: str
    owner: str
    endpoints: tuple[Endpoint, ...]
    journalled: ClassVar[bool] = True
    common: tuple[Rule, ...] = (r.INVALID_HOST, r.BODY_TOO_LARGE, r.UNKNOWN_WORLD, r.UNSUPPORTED_ENCODING)
    wording: Wording = PLAIN
    content_type = "application/json"
    error_shape: Mapping[str, object] = BODY_SHAPE
    placeholders: ClassVar[Schema | None] = None
    headers: Mapping[str, str] = HEADERS

    def __init__(self, worlds: Engine, settings: Settings) -> None:
        self.worlds = worlds
        self.settings = settings

    def authenticate(self, request: RequestContext) -> None:
        """Set the world and the sender of a request, or refuse by a rule in ``common``.

        By default, requests need no credentials, and go to the world of their path or the default world.
        """

    def arguments(self, request: RequestContext, endpoint: Endpoint, world: World) -> dict[str, object]:
        """Return the arguments of the operation, read by the endpoint's schemas."""
        from reseller_sandbox.web.fields import load  # imported late, because marshmallow is slow to import

        query = dict(request.query)
        values = load(endpoint.schemas.query, query, world.secrecy)
        if endpoint.schemas.body is not None:
            values |= load(endpoint.schemas.body, request.object, world.secrecy)
        return values | request.path_arguments

    def carry_out(
        self, request: RequestContext, endpoint: Endpoint, world: World
    ) -> tuple[object, list[Change]]:
        """Run the operation on a draft of ``world``, which may be a past state.

        Return the result of the operation, and its changes. Raise ``Refused`` if it refuses.
        """
        sender, ignored, refused = request.sender, list[str](), list[Refused]()
        if not endpoint.reads:
            world.require_present()

        def work(draft: Draft) -> object:
            account = ANONYMOUS if sender is None else draft.state.accounts[sender.client_id]
            return endpoint.handle(Call(draft, account, request.arguments, ignored, refused))

        # The due events of the request's own world were carried out when the request began.
        settled = world is request.world
        try:
            return world.transact(request.cause, work, request.relied_on, endpoint.id, settled=settled)
        finally:
            if ignored:
                request.ignore(ignored)
            if refused:
                request.headers_out[REFUSAL] = refusal_value(*refused)

    def accept(self, request: RequestContext, endpoint: Endpoint, result: object) -> Answer:  # noqa: ARG002
        """Return the answer to a request that succeeded: ``result``, converted by the endpoint's schema."""
        return Answer(endpoint.status, endpoint.schemas.answer.dump(result))

    def error(self, request: RequestContext, refused: Refused) -> Answer:  # noqa: ARG002
        """Return the answer to a refusal. By default, its body has ``error`` (the code) and ``message``."""
        return Answer(status_of(refused.rule), body_of(refused), error=refused.rule.code)

    def refuse(self, request: RequestContext, refused: Refused) -> Answer:
        """Return the answer to a refusal, after a check that the endpoint declares its rule."""
        self.require_declared(request, refused)
        return self.error(request, refused)

    def name_form(self, request: RequestContext) -> str:  # noqa: ARG002
        """Return the form of internationalised names in messages (see ``names.written``)."""
        return "unicode"

    def reword(self, request: RequestContext, fact: object) -> object:
        """Return a fact of a refusal with its domain names in the form of this interface."""
        if not isinstance(fact, NameText):
            return fact
        return fact.rewritten(self.name_form(request), next(iter(request.spellings), None))

    def inject(self, request: RequestContext, error: str, facts: Mapping[str, object]) -> Answer:
        """Return the answer to a request for which a fault injects the error named ``error``.

        Missing facts are left open in the message. An error that is not one of ``known_errors`` becomes
        an internal error.
        """
        refused = Refused(self.rules().get(error, r.INTERNAL_ERROR), **facts)
        refused.in_wording(self.wording)
        return self.error(request, refused)

    def assumed(self, request: RequestContext) -> Assumptions:
        """Return the assumptions of the request's world, or of the default world if none is known."""
        return request.assumed_in(request.world or self.worlds.default)

    def require_declared(self, request: RequestContext, refused: Refused) -> None:
        """Raise AssertionError if the endpoint does not declare the rule of a refusal."""
        endpoint = request.endpoint
        if endpoint is None or refused.rule in (*self.common, *endpoint.refuses, *ANY_OPERATION):
            return
        raise AssertionError(f"{endpoint.id} does not declare the rule {refused.rule.code}")

    def unmatched(self, request: RequestContext, world: World) -> str:  # noqa: ARG002
        """Return the reason why no operation matches the path.

        If the reason is empty, the response suggests similar operations.
        """
        return ""

    def instead(self, request: RequestContext) -> str:  # noqa: ARG002
        """Return a hint for a method that no operation at the path has, or ""."""
        return ""

    @classmethod
    @cache
    def rules(cls) -> Mapping[str, Rule]:
        """Return every rule that the operations of this interface can raise, by code."""
        declared = (rule for endpoint in cls.endpoints for rule in endpoint.refuses)
        return {rule.code: rule for rule in (*ANYWHERE, *ANY_OPERATION, *cls.common, *declared)}

    @classmethod
    def known_errors(cls) -> frozenset[str]:
        """Return the names of the errors that faults may inject."""
        return frozenset(cls.rules())

    @classmethod
    def documented(cls, endpoint: Endpoint) -> Mapping[str, Sequence[Rule]]:
        """Return the documented errors of an operation, each with its rules."""
        rules = (*cls.common, *endpoint.refuses)
        return {rule.code: (rule,) for rule in rules if rule not in TRANSPORT}

    @classmethod
    def contract(cls, label: str) -> Iterator[ApiOperation]:
        """Yield the operations with their documentation, in the order of their declaration.

        ``label`` is the interface's name for people.
        """
        from marshmallow import fields

        for endpoint in cls.endpoints:
            status = getattr(endpoint.schemas.answer, "fields", {}).get("status")
            yield ApiOperation(
                id=endpoint.id,
                method=endpoint.method,
                path=min(endpoint.paths, key=lambda path: path.count("{")),
                refuses=endpoint.refuses,
                errors=cls.documented(endpoint),
                wording=cls.wording,
                shows_status=endpoint.reads and status is not None and not isinstance(status, fields.Boolean),
                label=label,
                package=cls.package(),
                reads=endpoint.reads,
                lists_names=endpoint.lists_names,
                orders=endpoint.orders,
                price=endpoint.price,
                guard=endpoint.guard,
            )

    @classmethod
    def package(cls) -> str:
        """Return the name of the package that has the files of the interface."""
        return sys.modules[cls.__module__].__package__ or ""

    def content_types(self, assumed: Assumptions) -> tuple[str, ...]:  # noqa: ARG002
        """Return the content types that request bodies may have."""
        return ("application/json",)

    def security(self, assumed: Assumptions) -> Mapping[str, str]:  # noqa: ARG002
        """Return the headers that together authenticate a request, with descriptions."""
        return {}

    def documented_errors(self, endpoint: Endpoint, rule: Rule, assumed: Assumptions) -> Iterable[ErrorEntry]:  # noqa: ARG002
        """Return the errors that the OpenAPI document lists for ``rule`` at ``endpoint``."""
        return [documented_error(rule, self.wording)]


class Mount:
    """The paths of an interface, and the function that loads the interface when it is first used.

    ``pattern`` is a regular expression that matches the paths. ``address`` is the common beginning of these
    paths, as people write it.
    """

    def __init__(self, pattern: str, address: str, load: Callable[[], Interface]) -> None:
        self.owns = re.compile(pattern).match
        self.address = address
        self._load = load

    @cached_property
    def interface(self) -> Interface:
        """The interface, loaded at the first use of this property."""
        return self._load()
