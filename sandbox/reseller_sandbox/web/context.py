"""The context of a request, from its route to the journal."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import flask
import msgspec
from msgspec import Struct, field
from werkzeug.datastructures import EnvironHeaders, Headers

from reseller_sandbox.faults import FaultRule, Strike
from reseller_sandbox.refusals import MALFORMED_BODY, Refusal, Refused
from reseller_sandbox.registry.assumptions import Assumptions, watched
from reseller_sandbox.registry.model import Account, Stage
from reseller_sandbox.registry.state import Change, relevant_order
from reseller_sandbox.server.delivery import Env
from reseller_sandbox.server.json_text import NestedTooDeeply, load_json
from reseller_sandbox.server.log import Words
from reseller_sandbox.server.secrecy import USUAL
from reseller_sandbox.values.clock import stopwatch
from reseller_sandbox.values.matching import CANNED, FAULT, NO_OPERATION, OK
from reseller_sandbox.values.names import well_formed
from reseller_sandbox.web.headers import IGNORED, header_value
from reseller_sandbox.worlds import Entry, Snapshot, World, redact

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

    from reseller_sandbox.web.interface import Endpoint, Interface

#: Keys of the WSGI environment: the world that the path prefix chose, and the prefix itself.
ENV_WORLD, ENV_PREFIX = "sandbox.world", "sandbox.prefix"

#: The path placeholders and body keys whose value is a domain name.
NAME_KEYS = ("domainName", "domain_name")

#: The content types of forms.
_FORM = re.compile(r"multipart/form-data|application/x-www-form-urlencoded", re.IGNORECASE)

#: The maximum number of domain names in a line of the log.
_NAMED = 3

#: The maximum size in bytes of a body that is searched for secrets before a log line is written. The search
#: blocks other requests.
_SEARCHED = 1 << 16


class RequestContext(Struct, dict=True):
    """A request and all facts that the steps of the pipeline determine about it.

    Faults and scheduled third-party actions match the context (``values.matching.Request``).

    ``target`` is the request target as sent. ``prefix`` is the part of the path that chose the world.
    ``path_arguments`` are the values of the path's placeholders.

    ``world`` and ``sender`` are set as soon as they are known. ``admitted`` is whether a route matched
    the request and its credentials are valid. ``rejected`` is the reason why the request reaches no
    operation. ``canned`` is the name of the canned answer to a request that no route matched. ``begun``
    is whether the request has its number. ``relied_on`` collects the assumptions that the response
    depends on. ``assumed`` has these assumptions with their values. ``ignored`` are keys without effect.
    ``headers_out`` are additional response headers.

    ``client_outcome`` is the outcome that the client sees if a fault replaces the operation's response:
    the name of an error, or ``fault``. ``held`` is a fault that delays the request. ``held_up`` is the
    delay in seconds. ``recorded`` is whether the journal entry has been written, with ``answer_headers``.
    ``has_encodings`` is whether the header Accept-Encoding decides about the body of the response, and
    ``compressed`` is the body in gzip, if the client gets it so.
    """

    interface: Interface
    endpoint: Endpoint | None
    method: str
    target: str
    path: str
    scheme: str
    headers: Headers
    query: Sequence[tuple[str, str]] = ()
    path_arguments: dict[str, str] = field(default_factory=dict)
    prefix: str = ""
    port: str = ""
    environ: WSGIEnvironment = field(default_factory=dict)
    body: bytes = b""
    began: float = field(default_factory=stopwatch)

    world: World | None = None
    sender: Account | None = None
    credentials_in_query: bool = False
    admitted: bool = False
    rejected: Refused | None = None
    canned: str = ""

    relied_on: set[str] = field(default_factory=set)
    ignored: tuple[str, ...] = ()
    headers_out: dict[str, str] = field(default_factory=dict)
    arguments: dict[str, Any] = field(default_factory=dict)

    # The fields from here on are effects of the request. ``without_effects`` leaves them out.
    begun: bool = False
    cause: str = ""
    step: int = 0
    before: Snapshot | None = None
    after: Snapshot | None = None
    changes: Sequence[Change] = ()
    refused: Refusal | None = None
    carried_out: bool = False
    faults: list[FaultRule] = field(default_factory=list)
    client_outcome: str = ""
    held: Strike | None = None
    held_up: float = 0.0
    status: int = 0
    is_unanswered: bool = False
    assumed: Sequence[tuple[str, object]] = ()
    recorded: bool = False
    answer_headers: dict[str, str] = field(default_factory=dict)
    has_encodings: bool = False
    compressed: bytes = b""

    @classmethod
    def of(cls, interface: Interface, endpoint: Endpoint | None, arguments: dict[str, str]) -> RequestContext:
        """Return the context of Flask's current request, without reading the body."""
        request: flask.Request = cast(Any, flask.request)._get_current_object()
        environ = request.environ
        return cls(
            interface,
            endpoint,
            request.method,
            environ.get("REQUEST_URI") or environ.get("RAW_URI") or request.full_path.rstrip("?"),
            request.path,
            request.scheme,
            EnvironHeaders(environ),
            list(request.args.items(multi=True)) if environ.get("QUERY_STRING") else (),
            arguments,
            environ.get(ENV_PREFIX, ""),
            environ.get("SERVER_PORT", ""),
            environ,
        )

    def without_effects(self) -> RequestContext:
        """Return a context of the same request without its number, its faults and its effects."""
        names = self.__struct_fields__
        return RequestContext(*[getattr(self, name) for name in names[: names.index("begun")]])

    # The request as received

    @property
    def base(self) -> str:
        """The address of the server, as the client wrote it in the Host header."""
        return f"{self.scheme}://{self.headers.get('Host', '')}"

    @cached_property
    def object(self) -> dict[str, Any]:
        """The JSON object in the body.

        It is empty if the body is missing or ``[]``. Raise ``malformed_body`` for other bodies.
        """
        text = self.body.strip()
        form = _FORM.match(self.headers.get("Content-Type", ""))
        if form is not None and text[:1] not in (b"{", b"[", b""):
            raise _malformed(f"it is {form[0].lower()}, not JSON")
        value = read_json(self.body) if text else {}
        if value == []:
            return {}
        if not isinstance(value, dict):
            raise _malformed("expected a JSON object")
        return value

    @property
    def object_if_any(self) -> dict[str, Any]:
        """The JSON object in the body, or an empty object if the body has none."""
        try:
            return self.object if self.body else {}
        except Refused:
            return {}

    @property
    def json(self) -> Any:
        """The JSON object in the body, or None without a body."""
        return self.object_if_any if self.body else None

    @cached_property
    def domains(self) -> tuple[str, ...]:
        """The valid domain names in the path and the body, in normal form."""
        names = dict.fromkeys(map(well_formed, self.spellings))
        return tuple([name for name in names if name is not None])

    @property
    def spellings(self) -> list[str]:
        """The domain names in the path and the body, as the client wrote them."""
        body = self.object_if_any
        inner, many = body.get("domain"), body.get("domainNames")
        holders = [self.path_arguments, body, inner if isinstance(inner, dict) else {}]
        texts = [holder[key] for holder in holders for key in NAME_KEYS if key in holder]
        texts += many if isinstance(many, list) else []
        return [text for text in texts if isinstance(text, str)]

    def query_value(self, name: str) -> str | None:
        """Return the first value of a query parameter."""
        return next((value for key, value in self.query if key == name), None)

    @property
    def instance(self) -> str:
        """The id that the server got when it started, or an empty string without a server."""
        return str(self.environ.get(Env.SERVED, ""))

    @property
    def operation(self) -> str:
        """The id of the operation, or a dash if no route matched the request.

        A canned answer has an id that begins with ``canned.``.
        """
        if self.endpoint is not None:
            return self.endpoint.id
        return f"{CANNED}{self.canned}" if self.canned else NO_OPERATION

    @property
    def reads(self) -> bool:
        """Whether the operation only reads."""
        return self.endpoint is not None and self.endpoint.reads

    # Sender and assumptions

    @property
    def account(self) -> str | None:
        """The name of the account, if the request is admitted."""
        return self.sender.name if self.sender is not None and self.admitted else None

    def recognise(self, sender: tuple[World, Account] | None) -> None:
        """Set the world and the sender of a refused request.

        If the path names a world, ignore a sender from a different world.
        """
        if sender is not None and self.world in (None, sender[0]):
            self.world, self.sender = sender

    def assumed_in(self, world: World) -> Assumptions:
        """Return the assumptions of ``world``. An assumption that is read is added to ``relied_on``."""
        return watched(world.assumptions, self.relied_on)

    def ignore(self, keys: Sequence[str]) -> None:
        """Report keys that have no effect on this request, although the operation reads them."""
        # A fault can run a request twice, so some keys may have been reported already.
        new = [key for key in keys if key not in self.ignored]
        if new:
            unread = self.headers_out.get(IGNORED)
            self.ignored = (*new, *self.ignored)
            self.headers_out[IGNORED] = header_value(", ".join([*new, *filter(None, [unread])]))

    # Effects and outcome

    def begin(self, world: World) -> None:
        """Give the request its number in ``world``, and store the state of ``world`` before the request."""
        self.world, self.begun = world, True
        if self.interface.journalled:
            with world.lock:
                if self.before is None:
                    world.settle()
                    self.before = world.snapshot
                self.cause = world.next_request()
                self.step = world.snapshot.log.number
                self.after = world.snapshot

    @property
    def number(self) -> int:
        """The number in the request's id (3 in ``r3``), or 0 if the request has no id yet."""
        return int(self.cause[1:].partition(":")[0]) if self.cause else 0

    @property
    def at(self) -> datetime:
        """The instant at which the request arrived."""
        assert self.before is not None
        return self.before.clock.instant

    @property
    def changed(self) -> bool:
        """Whether the request changed anything."""
        return bool(self.changes)

    @property
    def fault_names(self) -> list[str]:
        """The names of the faults that have applied to the request so far."""
        return [rule.name for rule in self.faults]

    @property
    def outcome(self) -> str:
        """The result that the client sees: ``ok``, the name of an error, or ``fault``."""
        if self.client_outcome:
            return self.client_outcome
        return self.refused.rule.code if self.refused is not None else OK

    @property
    def stage(self) -> Stage | None:
        """The stage of the domain before the request, or None unless the request has exactly one domain.

        The order is the sender's if there is one, otherwise the registrant's.
        """
        if len(self.domains) != 1 or self.before is None:
            return None
        order = relevant_order(self.before.state, self.sender, self.domains[0])
        return order.stage if order is not None else None

    def entry(self, status: int = 0, answer: bytes = b"", error: str = "") -> Entry:
        """Return a journal entry with all facts that are known about the request so far.

        The entry has the first headers of the request, with names and values cut to a maximum length.
        """
        assert self.before is not None
        sent = islice(self.headers.items(), redact.MOST_HEADERS)
        return Entry(
            id=self.cause,
            step=self.step,
            at=self.at,
            operation=self.operation,
            account=self.sender.name if self.sender is not None else None,
            domains=self.domains,
            method=self.method,
            raw_target=self.target,
            body=self.body,
            credentials_in_query=self.credentials_in_query,
            status=status,
            answer=answer,
            answer_headers=self.answer_headers,
            duration=stopwatch() - self.began,
            held_up=self.held_up,
            changes=tuple(self.changes),
            refused=self.refused,
            assumed=tuple(self.assumed),
            carried_out=self.carried_out,
            outcome=self.outcome,
            faults=tuple(self.faults),
            lost=bool(self.client_outcome),
            error="" if self.client_outcome == FAULT else error,
            stage=self.stage,
            ignored=self.ignored,
            sent={name[: redact.LONGEST_HEADER]: value[: redact.KEPT_OF_A_HEADER] for name, value in sent},
            secret_names=self.world.limits.secret_names if self.world is not None else (),
            scheme=self.scheme,
            port=self.port,
            arrived=self.held.request.arrived if self.held is not None else None,
            before=self.before,
            after=self.after or self.before,
        )

    # The request log

    def log_words(self) -> Words:
        """Return the description of the request for the log."""
        return Words(self._note, self._facts, self._is_page_read, self.is_unanswered)

    @property
    def _note(self) -> str:
        domains, account = self.domains, self.account
        about = [account] if account is not None else []
        if domains:
            more = len(domains) - _NAMED
            about.append(", ".join(domains[:_NAMED]) + (f" and {more} more" if more > 0 else ""))
        if self.faults:
            about.append(f"fault {', '.join(self.fault_names)}")
        details, reason = f" ({'; '.join(about)})" if about else "", self._reason
        return f"{self.operation} {self.outcome}{details}{reason and f': {reason}'}"

    @property
    def _facts(self) -> Mapping[str, Any]:
        facts = {
            "operation": self.operation,
            "outcome": self.outcome,
            "world": self.world.name if self.world is not None and self.begun else None,
            "request": self.cause,
            "account": self.account,
            "domains": self.domains,
            "fault": ", ".join(self.fault_names),
            "message": self._reason,
        }
        return {name: value for name, value in facts.items() if value}

    @property
    def _is_page_read(self) -> bool:
        """Whether the sandbox's own page sent the request to refresh its view."""
        if self.headers.get("Sec-Fetch-Site") != "same-origin":
            return False
        if self.interface.journalled:
            return self.world is not None and self.world.is_past
        return self.reads

    @property
    def _reason(self) -> str:
        """The message of the refusal without secrets.

        It is empty if the client sees another outcome, or if the body is too long to be searched for
        secrets.
        """
        if self.refused is None or self.client_outcome or len(self.body) > _SEARCHED:
            return ""
        secrecy = self.world.secrecy if self.world is not None else USUAL
        sent = redact.read_request(self.body), dict(self.query)
        return str(redact.masked(self.refused.message, secrecy, redact.secrets_in(sent, secrecy)))


# JSON, read strictly


#: Converts a value to compact UTF-8 JSON. Half a surrogate pair raises UnicodeEncodeError.
json_bytes = msgspec.json.Encoder(decimal_format="number").encode


def _malformed(problem: str) -> Refused:
    return Refused(MALFORMED_BODY, problem=problem)


def read_json(raw: bytes) -> object:
    """Return the value of the JSON text ``raw``. Raise ``malformed_body`` if ``raw`` is not valid JSON.

    Numbers with a fraction become ``Decimal``, so that a price keeps every digit. Values outside standard
    JSON are refused with their position: NaN, a repeated key, bad UTF-8, half a surrogate pair.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _malformed(f"byte {error.start} is not UTF-8") from None
    if text.startswith("\ufeff"):
        raise _malformed("the text begins with a byte order mark, which JSON does not allow")
    try:
        value = load_json(text, **_STRICT)
        if "\\ud" in text or "\\uD" in text:
            json_bytes(value)  # raises an error if a string has half a surrogate pair
    except json.JSONDecodeError as error:
        problem = (error.msg[:1].lower() + error.msg[1:]).removesuffix(" at")
        place = f"line {error.lineno}, column {error.colno}"
        raise _malformed(f"JSON syntax error: {problem} at {place}") from None
    except UnicodeEncodeError:
        raise _malformed("a JSON string has half a surrogate pair") from None
    except NestedTooDeeply as error:
        raise _malformed(f"the JSON {error}") from None
    except ValueError:
        raise _malformed("a JSON number has too many digits") from None
    return value


def _decimal(digits: str) -> Decimal:
    if len(digits) > 100:
        raise _malformed("a JSON number has too many digits")
    number = Decimal(digits)
    if number.is_finite() and abs(number.adjusted()) < 100:
        return number
    raise _malformed(f"the number {digits} is out of range")


def _reject_constant(name: str) -> None:
    raise _malformed(f"{name} is not a JSON value")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        (key, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise _malformed(f"the key {key[:60]!r} occurs twice in one object")
    return value


# The hook for objects runs Python code, so other threads can run while a large body is decoded.
_STRICT = {"parse_float": _decimal, "parse_constant": _reject_constant, "object_pairs_hook": _object}
