"""The journal: every request with its response and effect, and checks of expected requests.

Secrets are masked.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Literal, Unpack
from urllib.parse import unquote

from reseller_sandbox.control import har
from reseller_sandbox.control.events import LocalSubscription
from reseller_sandbox.control.ledger import Movement, movements
from reseller_sandbox.control.resource import Subscription, read, stream, write
from reseller_sandbox.control.results import (
    Keyed,
    MatchParameter,
    Number,
    PerSecond,
    RecordChange,
    Result,
    parse_match,
    record_change,
    record_of,
)
from reseller_sandbox.refusals import INVALID_PARAMETER, REQUESTS_DROPPED, UNKNOWN_REQUEST, Refused
from reseller_sandbox.registry.assumptions import decides
from reseller_sandbox.registry.state import account_named
from reseller_sandbox.values import money
from reseller_sandbox.values.clock import wire
from reseller_sandbox.values.kinds import TEXT, Instant, Text, choice, listed, whole
from reseller_sandbox.values.matching import MATCH, OK, Match, Matching, Miss
from reseller_sandbox.values.names import to_unicode
from reseller_sandbox.worlds import Entry, redact, verify
from reseller_sandbox.worlds.explain import Explanation, NameBefore, explain
from reseller_sandbox.worlds.verify import Verdict

#: The largest and the default ``limit``.
MOST, LISTED = 10_000, 100

#: Matches a text whose characters need no escape sequence in JSON.
_IN_RAW = re.compile(r"[\w.@/-]+")
_ESCAPE = re.compile(r"[\\%]")

_Times = Annotated[int, whole(0, 10**9)]
Search = Annotated[
    str, TEXT, "Text in the path, a body, a domain name or the message of a refusal. Case is ignored."
]
Format = Annotated[Literal["har", "ndjson"], choice("har", "ndjson")]
Until = Annotated[Instant, "The latest instant of the request."]


class RequestLine(Result, frozen=True, kw_only=True):
    """A short record of a request: its time, operation, account and outcome.

    ``number`` is the position of the request among all events of the world. ``path`` is the path as the
    client sent it, without the query. ``carried_out`` is true if the operation took effect. ``outcome`` is
    the result for the client, either ``ok`` or the name of an error. If no response of the interface arrived,
    ``outcome`` is ``fault``. ``fault`` is the fault rule that was applied. ``refused`` is the reason for a
    refusal. ``charged`` is the amount that the account paid. For a refund, the amount is negative.
    ``held_up_seconds`` is the delay that faults added to the response, even if the client did not wait for
    the response. A response that never comes adds no delay. ``fault_effects`` lists the effects of faults on
    the response: an error replaced it (``injected``), no response or only a part arrived (``lost``), or the
    response was ``delayed`` or ``altered``.
    """

    # A table in a terminal shows as many of these fields as fit, in this order.
    id: str
    at: datetime
    operation: str
    status: int
    outcome: str
    domains: tuple[str, ...]
    account: str | None
    charged: Decimal
    method: str
    path: str
    carried_out: bool
    fault: str | None
    fault_kind: str | None
    fault_effects: tuple[str, ...]
    refused: str | None
    number: int
    duration_ms: float
    held_up_seconds: float

    def __str__(self) -> str:
        """Return a short line: ``r3 v3.createDomain shop.com by main: ok``."""
        about = f" {', '.join(self.domains)}" if self.domains else ""
        done = ", though carried out" if self.carried_out and self.outcome != OK else ""
        late = f", held up {self.held_up_seconds:g} s" if self.held_up_seconds else ""
        applied = f" (fault {self.fault}{late})" if self.fault else ""
        by = f"by {self.account}" if self.account else "without an account"
        return f"{self.id} {self.operation}{about} {by}: {self.outcome}{done}{applied}"

    @property
    def mark(self) -> str:
        """Return the value for ``since`` with which a new stream continues after this record."""
        return self.id

    @property
    def line(self) -> str:
        """Return this record as one line of text for a terminal, with path, refusal and charge."""
        paid = f", {money.write(-self.charged)}" if self.charged else ""
        request = f"{wire(self.at)}  {self.status}  {self.method} {self.path}"
        return f"{request}  {self}{paid}" + (f": {self.refused}" if self.refused else "")


class SentRequest(Result, frozen=True, kw_only=True):
    """A request as the server received it.

    If a body was too long to be kept, ``cut`` is the original size of the body. ``ignored`` lists the keys of
    the request that had no effect.
    """

    method: str
    target: str
    headers: Mapping[str, Any]
    ignored: tuple[str, ...]
    body: Any
    cut: int | None


class SentResponse(Result, frozen=True, kw_only=True):
    """The response to a request.

    ``lost`` is true if the client did not receive the response because of a fault.
    """

    status: int
    headers: Mapping[str, Any]
    body: Any
    cut: int | None
    lost: bool


class NameState(Result, frozen=True, kw_only=True):
    """The state of a name when a request was refused: its holder, stage and pending transfer."""

    domain: str
    holder: str | None
    order: int | None
    stage: str | None
    since: datetime | None
    expires: datetime | None
    due: datetime | None
    flags: tuple[str, ...]
    transfer_completes: datetime | None


class RefusedState(Result, frozen=True, kw_only=True):
    """The state when a request was refused: the account's balance, and each name of the request."""

    account: str | None
    balance: Decimal | None
    currency: str | None
    domains: tuple[NameState, ...]


class RefusalReason(Result, frozen=True, kw_only=True):
    """The reason for a refusal: the rule, the state, and the action that is possible instead.

    ``allowed_at`` is the instant from which the refused action is possible, if nothing else changes.
    ``assumptions`` are those by whose value the rule refuses or not.
    ``correction`` has a parameter of the request with its accepted value. It is empty if the remedy names no
    value.
    """

    rule: str
    message: str
    facts: Mapping[str, Any]
    met: RefusedState
    allowed: str
    allowed_at: datetime | None
    assumptions: Mapping[str, Any]
    correction: Mapping[str, Any]


class RequestRecord(RequestLine, frozen=True, kw_only=True):
    """A complete record of a request and its response, with secrets masked."""

    hidden = ("request", "answer", "changes", "assumptions", "ledger")

    request: SentRequest
    answer: SentResponse
    changes: tuple[RecordChange, ...]
    refusal: RefusalReason | None
    assumptions: Mapping[str, Any]
    ledger: tuple[Movement, ...]


class LineList(Result, frozen=True, kw_only=True):
    """Short records of the latest matching requests, oldest first.

    ``matching`` counts all matching requests in the journal. ``first`` and ``last`` are the ids of the oldest
    and the latest of them. ``kept`` counts the requests in the journal. ``dropped`` counts the requests that
    the journal no longer has. ``dropped_matching`` counts the dropped requests that match, null if the
    journal's totals cannot tell.
    """

    requests: tuple[RequestLine, ...]
    matching: int
    first: str | None
    last: str | None
    kept: int
    dropped: int
    dropped_matching: int | None


class RequestList(LineList, frozen=True, kw_only=True):
    """Complete records of the latest matching requests, oldest first."""

    requests: tuple[RequestRecord, ...]


class JournalExport(Result, frozen=True, kw_only=True):
    """The exported requests, as the text of a file."""

    hidden = ("text",)

    text: str


class ClearResult(Result, frozen=True, kw_only=True):
    """The number of requests that ``clear`` removed."""

    cleared: int


class NearMatch(Result, frozen=True, kw_only=True):
    """A request that nearly matched, and its differences from the expected request."""

    request: RequestLine
    misses: tuple[Miss, ...]

    def __str__(self) -> str:
        """Return the request and its differences in one line."""
        wrong = "; ".join(f"{miss.what} is {miss.actual!r}, not {miss.expected!r}" for miss in self.misses)
        return f"{self.request}: {wrong}"


class Verification(Result, frozen=True, kw_only=True):
    """Whether the world received the expected requests, with a message.

    ``count`` is the number of matching requests, with those that the journal has dropped. ``requests`` lists
    the latest matching requests in the journal. ``near_misses`` lists requests that nearly match.
    """

    verified: bool
    message: str
    count: int
    requests: tuple[RequestLine, ...]
    near_misses: tuple[NearMatch, ...]

    def __str__(self) -> str:
        """Return the message, with one line for each listed request and near miss."""
        lines = [self.message, *(f"  found {request}" for request in self.requests)]
        return "\n".join([*lines, *(f"  near: {miss}" for miss in self.near_misses)])


class Journal(Keyed[RequestRecord]):
    """The requests to this world, with their responses, changes and refusals."""

    @read("GET journal", long=True)
    def list(
        self,
        *,
        text: Search | None = None,
        until: Until | None = None,
        before: Number | None = None,
        limit: Annotated[int, whole(0, MOST)] = LISTED,
        **match: Unpack[Matching],
    ) -> RequestList:
        """Return complete records of the latest matching requests.

        Args:
            before: Number of an event. List only requests before this event, to page back.
            limit: Largest number of requests to list. The latest requests are listed.
        """
        entries, totals = self._page(text, until, before, limit, match)
        return RequestList(requests=tuple(map(request_record, entries)), **totals)

    @read("POST journal/lines", long=True)
    def lines(
        self,
        *,
        text: Search | None = None,
        until: Until | None = None,
        before: Number | None = None,
        limit: Annotated[int, whole(0, MOST)] = LISTED,
        **match: Unpack[Matching],
    ) -> LineList:
        """Return short records of the latest matching requests, without bodies and changes.

        This operation is much faster than ``list``.

        Args:
            before: Number of an event. List only requests before this event, to page back.
            limit: Largest number of requests to list. The latest requests are listed.
        """
        entries, totals = self._page(text, until, before, limit, match)
        return LineList(requests=tuple(map(request_line, entries)), **totals)

    def _page(
        self, text: str | None, until: object, before: int | None, limit: int, match: Matching
    ) -> tuple[Iterable[Entry], dict[str, Any]]:
        """Return the entries to list, and the other fields of the result, such as ``matching``."""
        journal, matching = self._world.journal, self._matching(text, until, match)
        dropped = verify.count_dropped(journal.requests, parse_match(self, match))
        # The totals know neither texts nor times.
        least = dropped.least if text is None and until is None else 0
        totals = {
            "matching": len(matching),
            "first": matching[0].id if matching else None,
            "last": matching[-1].id if matching else None,
            "kept": len(journal),
            "dropped": journal.dropped,
            "dropped_matching": least if least == dropped.most else None,
        }
        return deque((entry for entry in matching if before is None or entry.step < before), limit), totals

    def _matching(self, text: str | None, until: Any, match: Matching) -> tuple[Entry, ...]:
        return tuple(
            entry
            for entry in verify.find(self._world, parse_match(self, match))
            if (until is None or entry.at <= until) and (text is None or _has_text(entry, text))
        )

    @read("GET journal/{request:path}", UNKNOWN_REQUEST)
    def get(self, request: Text, /) -> RequestRecord:
        """Return one request with its response, its changes and the reason for a refusal.

        Args:
            request: The id of the request, such as ``r12``; ``last`` is the latest.
        """
        return request_record(self._world.journal.get(request))

    @read("POST journal/export", long=True)
    def export(
        self,
        *,
        format: Format = "har",  # noqa: A002 - the name of the parameter in every interface
        text: Search | None = None,
        until: Until | None = None,
        **match: Unpack[Matching],
    ) -> JournalExport:
        """Return the matching requests as a file for other programs, with secrets masked.

        Args:
            format: ``har`` is an HTTP archive for browsers and proxies. ``ndjson`` has a line of JSON
                for each request.
        """
        entries = self._matching(text, until, match)
        if format == "har":
            return JournalExport(text=har.archive((entry, request_record(entry)) for entry in entries))
        records = map(redact.plain, map(request_record, entries))
        lines = (f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)
        return JournalExport(text="".join(lines))

    def __iter__(self) -> Iterator[RequestRecord]:
        """Yield every request in the journal, oldest first."""
        return iter(self.list(limit=MOST).requests)

    @stream("GET journal/follow")
    def follow(
        self, *, text: Search | None = None, per_second: PerSecond | None = None, **match: Unpack[Matching]
    ) -> Subscription[RequestLine]:
        """Yield a short record of each matching request, as soon as the request is in the journal.

        If you give ``since``, the stream first yields the later requests that the journal still has.
        """
        matches = parse_match(self, match)
        matches_later = Match({name: part for name, part in matches.items() if name != "since"})
        follower, entries = self._world.journal.follow()
        follower.begin(filter(matches, entries) if "since" in match else ())
        return LocalSubscription(
            f"journal {matches_later} {text}",
            follower,
            lambda entry: (
                isinstance(entry, Entry) and matches_later(entry) and (text is None or _has_text(entry, text))
            ),
            request_line,
            per_second,
        )

    @write("DELETE journal")
    def clear(self) -> ClearResult:
        """Remove every request from the journal.

        The changes of these requests stay, but you can no longer rewind to the requests.
        """
        return ClearResult(cleared=self._world.forget_requests())

    @read("POST journal/verify", REQUESTS_DROPPED, long=True)
    def verify(
        self,
        match: MatchParameter | None = None,
        *,
        times: _Times | None = None,
        at_least: _Times | None = None,
        at_most: _Times | None = None,
        in_order: Annotated[Sequence[Matching], listed(MATCH)] | None = None,
    ) -> Verification:
        """Return whether the world received the expected requests. If not, also return the nearest matches.

        Pass either ``match`` or ``in_order``. If you pass only ``match``, at least one request must match.
        Requests that the journal has dropped count, too. If its totals cannot tell whether they match, the
        call is refused.

        Args:
            match: The requests that you expect.
            times: The exact expected number of requests.
            at_least: The smallest expected number of requests.
            at_most: The largest expected number of requests.
            in_order: The requests that you expect in this order. Other requests can come between them.
        """
        world = self._world
        if (match is None) is (in_order is None):
            raise Refused(INVALID_PARAMETER, problems="requires exactly one of match and in_order")
        if match is not None:
            matches = parse_match(self, match, "match")
            return _verification(verify.count(world, matches, exactly=times, least=at_least, most=at_most))
        if (times, at_least, at_most) != (None, None, None):
            raise Refused(
                INVALID_PARAMETER, problems="in_order cannot be combined with times, at_least or at_most"
            )
        sequence = [parse_match(self, item, f"in_order[{at}]") for at, item in enumerate(in_order or ())]
        return _verification(verify.in_order(world, sequence))

    def expect(
        self,
        *,
        times: int | None = None,
        at_least: int | None = None,
        at_most: int | None = None,
        **match: Unpack[Matching],
    ) -> tuple[RequestLine, ...]:
        """Assert that the world received matching requests. Return these requests.

        Give the exact number (``times``), or bounds. Without a number, you expect at least one request. The
        AssertionError lists the requests that nearly match, with their differences.
        """
        __tracebackhide__ = True
        return _asserted(self.verify(match, times=times, at_least=at_least, at_most=at_most))

    def expect_in_order(self, *matches: Matching) -> tuple[RequestLine, ...]:
        """Assert that the world received requests in the order of ``matches``. Return these requests."""
        __tracebackhide__ = True
        return _asserted(self.verify(in_order=matches))

    def count(self, **match: Unpack[Matching]) -> int:
        """Return the number of matching requests, with those that the journal has dropped.

        Refuse with ``requests_dropped`` if the journal cannot tell how many dropped requests match.
        """
        found = self.list(limit=0, **match)
        if found.dropped_matching is None:
            raise verify.unanswerable(found.kept, found.dropped, verify.NUMBER)
        return found.matching + found.dropped_matching

    def why(self, request: str) -> RefusalReason | None:
        """Return the reason for the refusal of a request, or None if the request was accepted."""
        return self.get(request).refusal


def _verification(verdict: Verdict) -> Verification:
    return Verification(
        verified=verdict.verified,
        message=verdict.message,
        count=verdict.count,
        requests=tuple(map(request_line, verdict.matching[-LISTED:])),
        near_misses=tuple(
            NearMatch(request=request_line(near.entry), misses=near.misses) for near in verdict.near
        ),
    )


def _asserted(verification: Verification) -> tuple[RequestLine, ...]:
    __tracebackhide__ = True
    if not verification.verified:
        raise AssertionError(str(verification))
    return verification.requests


def request_line(entry: Entry) -> RequestLine:
    """Return the short record of a journal entry."""
    secrets = (
        _secrets(entry, redact.read_request(entry.body), redact.read(entry.answer)) if entry.refused else ()
    )
    return record_of(RequestLine, entry, **_line(entry, secrets))


def _shown(name: str, value: str, entry: Entry) -> str:
    """Return the value of a response header with its secrets masked.

    The value of ``X-Sandbox-Signature`` is not the secret that its name says: it names assumptions.
    """
    if name.startswith("X-Sandbox-"):
        return entry.secrecy.text_masked(value)
    return entry.secrecy.header_masked(name, value)


def request_record(entry: Entry) -> RequestRecord:
    """Return the complete record of a journal entry, with secrets masked."""
    body, answer = redact.read_request(entry.body), redact.read(entry.answer)
    secrets = list(_secrets(entry, body, answer))
    masked = partial(redact.masked, secrecy=entry.secrecy, secrets=secrets)
    explained = explain(entry)
    return record_of(
        RequestRecord,
        entry,
        **_line(entry, secrets),
        request=record_of(
            SentRequest,
            entry,
            target=masked(entry.target),
            headers=masked(dict(entry.headers)),
            body=masked(body),
            cut=entry.body_size,
        ),
        answer=record_of(
            SentResponse,
            entry,
            headers={
                name: masked(_shown(name, value, entry)) for name, value in entry.answer_headers.items()
            },
            body=masked(answer),
            cut=entry.answer_size,
        ),
        changes=tuple(record_change(change, entry.secrecy) for change in entry.changes),
        refusal=_refusal_reason(explained, entry, secrets) if explained is not None else None,
        assumptions={name: redact.plain(value) for name, value in entry.assumed},
        ledger=movements(entry.charges, entry.after.state),
    )


def _has_text(entry: Entry, text: str) -> bool:
    """Whether the target, a name, a body or the refusal of a request contains ``text``.

    Secrets are masked before the search, so that a search cannot reveal a secret.
    """
    sought = text.casefold()
    message = entry.refused.message if entry.refused is not None else ""
    message = " ".join((*map(to_unicode, entry.domains), message))
    bodies = (body.decode("utf-8", "replace") for body in (entry.body, entry.answer))
    raw = " ".join((entry.raw_target, *bodies, message)).casefold()
    if sought not in raw and _IN_RAW.fullmatch(sought) and not _ESCAPE.search(raw):
        # The request cannot contain the text. Skip the masking, which takes a hundred times as long.
        return False
    body, answer = redact.read_request(entry.body), redact.read(entry.answer)
    parts = (entry.target, unquote(entry.target), message, body, answer)
    masked = redact.masked(parts, entry.secrecy, _secrets(entry, body, answer))
    shown = json.dumps(masked, ensure_ascii=False).casefold()
    return sought in shown or json.dumps(sought, ensure_ascii=False)[1:-1] in shown


def _line(entry: Entry, secrets: Iterable[str]) -> dict[str, object]:
    masked = partial(redact.masked, secrecy=entry.secrecy, secrets=secrets)
    return {
        "refused": masked(entry.refused.message) if entry.refused is not None else None,
        "path": masked(entry.target.partition("?")[0]),
        "charged": sum((-charge.amount for charge in entry.charges), money.NOTHING),
        "number": entry.step,
        "duration_ms": round(entry.duration * 1000, 3),
        "held_up_seconds": round(entry.held_up, 3),
    }


def _refusal_reason(explanation: Explanation, entry: Entry, secrets: list[str]) -> RefusalReason:
    """Return the record of an explanation, without the value of a secret field."""
    refused, allowed = explanation.refused, explanation.allowed
    account: Any = explanation.account
    facts = redact.plain(refused.worded_facts)
    masked = partial(redact.masked, secrecy=entry.secrecy, secrets=secrets)
    if entry.secrecy.is_secret(str(facts.get("field", ""))):
        facts.pop("value", None)
    return RefusalReason(
        rule=refused.rule.code,
        message=masked(refused.message),
        facts=masked(facts),
        met=RefusedState(
            account=account and account.name,
            balance=account and account.balance,
            currency=account and account.currency,
            domains=tuple(map(_name_state, explanation.names)),
        ),
        allowed=masked(allowed.words),
        allowed_at=allowed.at,
        assumptions={
            name: redact.plain(value) for name, value in entry.assumed if decides(name, refused.rule.code)
        },
        correction=masked(redact.plain(refused.correction)),
    )


def _name_state(met: NameBefore) -> NameState:
    order: Any = met.order
    return NameState(
        domain=met.name,
        holder=met.holder,
        order=order and order.id,
        stage=order and str(order.stage),
        **{name: getattr(order, name, None) for name in ("since", "expires", "due")},
        flags=tuple(sorted(order.flags)) if order else (),
        transfer_completes=getattr(met.transfer, "completes", None),
    )


def _secrets(entry: Entry, body: object, answer: object) -> Iterator[str]:
    """Yield the secrets of a request, of its response and of its account."""
    yield from redact.secrets_in(body, entry.secrecy)
    yield from redact.secrets_in(answer, entry.secrecy)
    for change in entry.changes:
        for record in (change.before, change.after):
            yield from redact.secrets_of(record, entry.secrecy)
    yield from redact.secrets_of(account_named(entry.before.state, entry.account), entry.secrecy)
