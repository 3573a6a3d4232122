"""Troubles that a sweep tries: faults, documented errors, assumptions, third parties, time.

A run of a sweep has one trouble, or two faults: the second fault strikes a request that the program sends
because of the first fault.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reseller_sandbox import refusals
from reseller_sandbox.control.journal import RequestRecord
from reseller_sandbox.refusals import Category, Refused, Rule
from reseller_sandbox.registry.assumptions import alternative_values, public_name, spelt
from reseller_sandbox.registry.contract import ApiOperation
from reseller_sandbox.registry.model import Purpose
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.tools.invariants import Expected
from reseller_sandbox.values import money
from reseller_sandbox.values.matching import NO_OPERATION
from reseller_sandbox.values.names import suffixes
from reseller_sandbox.values.text_checks import nearest

#: Names of the fault rules of a run: for the trouble, for the second fault, and for the trigger of a third
#: party's action.
_FAULT, _SECOND, _TRIGGER = "sweep", "sweep-again", "sweep-before"

#: A placeholder ``{{…}}`` in the text of an error.
_BLANK = re.compile(r"\{\{.*?\}\}")

#: By default, the outcome must be the same as without trouble.
_SAME = Expected()

#: After an action of a third party, the requests of the program must have their effects.
_ASKED = Expected(same=False, asked=True)

#: The assumption with which the registry can refuse a registration that it has not processed.
_PROCESSING = {public_name("order_processing"): 86400}

#: Categories of errors after which a retry of the same request can succeed.
_PASSING = {Category.INTERNAL, Category.LIMIT}

#: The answers that the kinds ``server-error`` and ``server-error-after`` try, by status.
_STATUSES = {
    "500": {"status": 500, "body": {"error": "internal_error", "message": "Internal Server Error"}},
    "502": {"status": 502, "body": "<h1>502 Bad Gateway</h1>"},
    "503": {"status": 503, "body": "<h1>503 Service Unavailable</h1>", "retry_after": 1},
    "504": {"status": 504, "body": "<h1>504 Gateway Time-out</h1>"},
}

#: The number of consecutive requests that fail in an outage.
_OUTAGE = 3

#: For each kind of fault: its rule, and the phase of the request in which the rule is applied.
FAULTS: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "lost-request": ({"kind": "reset"}, "before"),
    "lost-answer": ({"kind": "reset"}, "after"),
    "slow-answer": ({"kind": "latency"}, "after"),
    "twice": ({"kind": "duplicate"}, "before"),
    "error": ({"kind": "error"}, "before"),
    "server-error": ({"kind": "error"}, "before"),
    "server-error-after": ({"kind": "error"}, "after"),
    "outage": ({"kind": "error", **_STATUSES["503"]}, "before"),
    "garbage": ({"kind": "garbage"}, "after"),
    "rate-limited": ({"kind": "rate_limit", "limit": 0, "window": 1}, "before"),
    "stale-read": ({"kind": "stale"}, "before"),
}

#: The kind of the run with prices whose sums are not exact in binary floating point.
PRICES = "prices"

#: The prices of that run. For example, ``4.35 + 8.70`` is ``13.049999999999999`` and ``int(4.35 * 100)`` is
#: ``434`` in binary floating point.
_PRICES = {
    "registration": "4.35",
    "renewal": "8.70",
    "transfer": "4.35",
    "restore": "17.40",
    "privacy": "1.15",
    "owner_change": "0.29",
}

#: Kinds of trouble that a sweep tries by default.
DEFAULT = (PRICES, *FAULTS)

#: Kinds of trouble that a sweep tries only if the user names them.
ASSUMPTIONS, EXTERNAL_CHANGES, TIME = "assumptions", "external-changes", "time"
EXTRA = (ASSUMPTIONS, EXTERNAL_CHANGES, TIME)

#: What a sweep leaves out without these kinds. Each kind is also an option of the command.
WORDS: Mapping[str, str] = {
    ASSUMPTIONS: "other values of the assumptions that answers depend on",
    EXTERNAL_CHANGES: "actions of third parties between two requests",
    TIME: "midnight, or an expiry, between two requests",
}

#: Kinds of second faults. Every other kind has the same consequences as one of these.
_ON_RECOVERY = ("lost-request", "lost-answer", "stale-read")

#: How a client can notice a trouble whose consequences it cannot prevent.
_NOTICE_TWICE = "reading the record, or the ledger, after the request"
_NOTICE_PRICE = "comparing the balance, or the ledger, before and after the request"

#: Rules of refusals that say that the request has nothing left to do. A program can take such a refusal for
#: success.
_DONE_ALREADY = {
    refusals.SWITCHED_ALREADY,
    refusals.ALREADY_YOURS,
    refusals.TRANSFER_PENDING,
    refusals.NO_TRANSFER,
    refusals.HOST_EXISTS,
    refusals.HANDLE_TAKEN,
    refusals.MAIL_TAKEN,
}

_READ_FIRST = (
    "The request took effect, although its answer did not arrive. Before you send it again, read the record, "
    "and compare it with the state from before the first attempt."
)
_TRY_SECOND = (
    "The request did not take effect. Send it again after a pause (Retry-After), and exit with an error if "
    "it never succeeds."
)
_READ_SECOND = (
    "The state changed between two requests. Read it again right before you act, and check the answer."
)

#: For each kind of trouble: how to change the program.
REMEDIES: Mapping[str, str] = {
    **dict.fromkeys(("lost-answer", "slow-answer", "server-error-after", "garbage"), _READ_FIRST),
    **dict.fromkeys(("lost-request", "server-error", "outage", "rate-limited"), _TRY_SECOND),
    **dict.fromkeys((EXTERNAL_CHANGES, TIME), _READ_SECOND),
    PRICES: "Compute amounts of money with decimals or in whole cents, never with binary floating point.",
    "twice": "A proxy repeated the request, and no client can prevent that. Read the record or the ledger "
    "after the request, and report what you did not order.",
    "error": "The API refused the request. Check the status and the error of each answer. If a request is "
    "refused, exit with an error, or leave the order out of the list of orders that you report.",
    "stale-read": "The answer showed an earlier state. If the request before succeeded, rely on its answer.",
    ASSUMPTIONS: "The documentation leaves this open. Accept each of the values, or stop at a value that you "
    "do not expect.",
}

#: For the kind ``time``: seconds from the start of a run to a due event, and maximum number of due events.
_MARGIN, _EVENTS = 1, 5


def kinds_named(text: str) -> tuple[str, ...]:
    """Return the kinds of trouble in a list such as ``all,-twice``. Raise ``BadSetting`` for an unknown kind.

    ``all`` means all ``DEFAULT`` kinds. If a list only excludes kinds, ``all`` is implied.
    """
    words = text.replace(",", " ").split()
    chosen: dict[str, None] = dict.fromkeys(DEFAULT if all(word.startswith("-") for word in words) else ())
    known = (*DEFAULT, *EXTRA, "all")
    for word in words:
        kind = word.removeprefix("-")
        if kind not in known:
            hint = nearest(kind, known) or f"; the kinds are {', '.join(known)}"
            raise BadSetting(f"unknown kind {kind!r}{hint}")
        for each in DEFAULT if kind == "all" else (kind,):
            if word.startswith("-"):
                chosen.pop(each, None)
            else:
                chosen[each] = None
    return tuple(chosen)


class SweptRequest(Struct, frozen=True):
    """A request of the swept program, with its numbers among the program's requests.

    ``nth`` is its number among the requests with the same operation and domain, and ``position`` its number
    among all requests. ``can_be_stale`` is whether it is a read that follows a request with an effect.
    """

    record: RequestRecord
    nth: int
    position: int
    can_be_stale: bool = False

    @property
    def operation(self) -> str:
        """The id of the request's operation, such as ``v3.renewDomain``."""
        return self.record.operation

    @property
    def match(self) -> dict[str, str]:
        """The ``match`` of a fault rule that applies to requests with this operation and domain."""
        name = {"domain": self.record.domains[0]} if self.record.domains else {}
        return {"operation": self.operation, **name}

    @property
    def key(self) -> tuple[str, tuple[str, ...], int]:
        """A value that identifies this request in every run of the program."""
        return self.operation, tuple(self.record.domains[:1]), self.nth

    def __str__(self) -> str:
        """Return the request as text. If it repeats an earlier request, add a number, such as ``(2)``."""
        return asked(self.record) + (f" ({self.nth})" if self.nth > 1 else "")


def asked(record: RequestRecord) -> str:
    """Return the operation and the domains of a request, such as ``v3.renewDomain example.com``.

    If the request reaches no operation, return its method and path.
    """
    if record.operation == NO_OPERATION:
        return f"{record.method} {record.path}"
    return record.operation + (f" {', '.join(record.domains[:2])}" if record.domains else "")


Arm = Callable[["Sandbox"], object]


class Trouble(Struct, frozen=True, kw_only=True):
    """The trouble of one run, such as a fault: its ``kind``, its ``detail``, and the affected ``request``.

    ``arm`` prepares the world, and ``assume`` are its assumptions. ``expected`` says how the outcome may
    differ from that without trouble. If no client can prevent the consequences, ``notice`` says how a client
    can notice them. The run begins at ``start``, and during the run the clock advances by
    ``passes`` seconds. ``recovery`` is a second fault of the same run.
    """

    kind: str
    detail: str = ""
    request: SweptRequest | None = None
    arm: Arm = lambda _: None
    assume: Mapping[str, Any] = field(default_factory=dict)
    expected: Expected = _SAME
    notice: str = ""
    start: datetime | None = None
    passes: int = 0
    recovery: Trouble | None = None

    def __str__(self) -> str:
        """Return the kind of the trouble, with its detail in parentheses."""
        return f"{self.kind} ({self.detail})" if self.detail else self.kind

    @property
    def remedy(self) -> str:
        """How to change the program, so that it survives this trouble."""
        return REMEDIES[(self.recovery or self).kind]

    def begin(self, world: Sandbox) -> None:
        """Prepare a world for the run. Raise ``Refused`` if the trouble is impossible in this world."""
        if self.start is not None:
            world.clock.freeze()
            world.clock.set(self.start)
        # Add the second fault's rule first. In the opposite order, the request that the first fault affects
        # would not count for the second rule.
        if self.recovery is not None:
            self.recovery.arm(world)
        self.arm(world)

    def end(self, world: Sandbox) -> None:
        """Advance the clock at the end of the run, if the trouble has not advanced it during the run."""
        if self.passes:
            rules = world.faults.list().faults
            if not any(rule.name == _FAULT and rule.applied for rule in rules):
                world.clock.advance(self.passes)

    def is_applied(self, world: Sandbox) -> bool:
        """Whether the trouble really happened in the run: a fault was applied, or a third party acted."""
        faults = [fault for fault in world.faults.list().faults if fault.name in (_FAULT, _SECOND)]
        scheduled = [
            action
            for action in world.scheduled.list().scheduled
            if action.after is not None and _TRIGGER in str(action.after.get("fault", ""))
        ]
        return all(fault.applied for fault in faults) and all(
            action.applied and not action.refused for action in scheduled
        )


def numbered(records: Iterable[RequestRecord], known: Iterable[str], stale: float) -> list[SweptRequest]:
    """Return the requests that call an operation in ``known``, each with its ``nth`` and its ``position``.

    ``stale`` is the maximum age of a stale answer in seconds.
    """
    operations = frozenset(known)
    requests: list[SweptRequest] = []
    changed = datetime.min.replace(tzinfo=UTC)
    for position, record in enumerate(records, 1):
        if record.operation in operations:
            earlier = (other.record for other in requests if other.operation == record.operation)
            domain = set(record.domains[:1])
            similar = sum(domain <= set(other.domains) for other in earlier)
            is_soon = (record.at - changed).total_seconds() <= stale
            can_be_stale = is_soon and not record.changes and record.method == "GET"
            requests.append(SweptRequest(record, 1 + similar, position, can_be_stale))
            changed = record.at if record.changes else changed
    return requests


def of_request(
    request: SweptRequest,
    operation: ApiOperation,
    kinds: Sequence[str],
    parameters: Mapping[str, Mapping[str, object]],
) -> Iterator[Trouble]:
    """Yield a trouble on ``request`` for each of these ``kinds``.

    ``parameters`` are those of the fault rule, for some kinds.
    """
    for kind in kinds:
        if kind == "error":
            for error, rules in operation.errors.items():
                passes = all(each.category in _PASSING for each in rules)
                is_left = not all(_is_done_already(operation, each) for each in rules)
                expected = Expected(same=passes, asked=not passes and is_left)
                yield _fault(request, kind, _BLANK.sub("…", error), {"error": error}, expected)
        elif kind in ("server-error", "server-error-after"):
            for status, answer in _STATUSES.items():
                yield _fault(request, kind, status, answer)
        elif kind in FAULTS and (kind != "stale-read" or request.can_be_stale):
            yield _fault(request, kind, "", parameters.get(kind))


def _is_done_already(operation: ApiOperation, rule: Rule) -> bool:
    """Whether a refusal says that an operation has nothing left to do, such as to delete a missing record."""
    is_missing = operation.method == "DELETE" and rule.category is Category.NOT_FOUND
    return is_missing or rule in _DONE_ALREADY


def _fault(
    request: SweptRequest,
    kind: str,
    detail: str,
    rule: Mapping[str, Any] | None,
    expected: Expected = _SAME,
    name: str = _FAULT,
) -> Trouble:
    common, phase = FAULTS[kind]
    at = _at(request, phase)
    if kind == "outage":
        at = {"when": {"nth": [request.position + number for number in range(_OUTAGE)], "phase": phase}}

    def arm(world: Sandbox) -> None:
        world.faults.add(name=name, **at, **common, **(rule or {}))

    return Trouble(
        kind=kind,
        detail=detail,
        request=request,
        arm=arm,
        expected=expected,
        notice=_NOTICE_TWICE if kind == "twice" else "",
    )


def _at(request: SweptRequest, phase: str) -> dict[str, Any]:
    when = {"nth": [request.nth], "phase": phase}
    return {"match": request.match, "when": when}


def family_of(trouble: Trouble) -> object:
    """Return a value that is equal for faults that can lead to the same recovery.

    Such faults strike one request in one phase. The processes that share a sweep do not divide them.
    """
    if trouble.kind not in FAULTS or trouble.request is None:
        return None
    return trouble.request.key, FAULTS[trouble.kind][1]


def pairs(
    runs: Iterable[tuple[int, Trouble, Sequence[SweptRequest]]],
    baseline: Sequence[SweptRequest],
    only: Callable[[str], bool],
    parameters: Mapping[str, Mapping[str, object]],
) -> Iterator[tuple[int, Trouble]]:
    """Yield each fault, combined with a second fault on a request that the first fault causes.

    ``runs`` are the troubles of earlier runs, each with its number and with the requests of the run. Each
    combination has the number of its first fault. A *recovery request* is a request that the ``baseline`` run
    does not send. If several faults on one request lead to the same recovery, only the first of them is used.
    """
    usual, seen = {request.key for request in baseline}, set[object]()
    for number, trouble, requests in runs:
        if (family := family_of(trouble)) is None:
            continue
        recovery = [request for request in requests if request.key not in usual and only(request.operation)]
        if (family, tuple(request.key for request in recovery)) in seen:
            continue
        seen.add((family, tuple(request.key for request in recovery)))
        for request in recovery:
            for kind in _ON_RECOVERY:
                if kind != "stale-read" or request.can_be_stale:
                    second = _fault(request, kind, "", parameters.get(kind), name=_SECOND)
                    yield number, replace(trouble, recovery=second)


#: An action of a third party. It gets a world, or an object whose resources schedule their actions.
_Act = Callable[[Any], object]


def external_changes(
    requests: Sequence[SweptRequest], operations: Mapping[str, ApiOperation], world: Sandbox
) -> Iterator[Trouble]:
    """Yield troubles in which a third party changes something, such as a price, right before a request.

    ``world`` is the world at the end of a run without trouble. Actions that are impossible at that point of
    the run are left out.
    """
    registered: set[str] = set()
    for at, request in enumerate(requests):
        record, operation = request.record, operations[request.operation]
        before = requests[at - 1] if at else None
        for detail, act, expected, notice in _plays(record, operation):
            if _is_possible(world, record, act):
                yield Trouble(
                    kind=EXTERNAL_CHANGES,
                    detail=detail,
                    request=request,
                    arm=_third_party_action(before, act),
                    expected=expected,
                    notice=notice,
                )
        for name in registered.intersection(record.domains):
            yield Trouble(
                kind=EXTERNAL_CHANGES,
                detail="registration refused",
                request=request,
                arm=_third_party_action(before, partial(_act_on, "refuse_registration", name)),
                expected=_ASKED,
                assume=_PROCESSING,
            )
        if operation.orders is Purpose.REGISTRATION and record.charged > 0:
            registered.update(record.domains)


def _plays(record: RequestRecord, operation: ApiOperation) -> Iterator[tuple[str, _Act, Expected, str]]:
    """Yield the actions of third parties that can matter to a request: name, action, expectation, notice."""
    is_paid = operation.orders is not None and record.charged > 0
    if is_paid:
        yield "balance", lambda world: world.accounts.set_balance(record.account, 0), _ASKED, ""
    if len(record.domains) != 1:
        return
    [name] = record.domains
    if is_paid:
        twice = money.write(record.charged * 2)
        prices = dict.fromkeys(("registration", "renewal", "transfer"), twice)
        priced = Expected(same=False, asked=True, priced=True)
        if operation.price:
            yield "price", lambda world: world.simulate.set_premium(name, **prices), priced, ""
        else:
            yield "price", lambda world: _set_prices(world, name, prices), priced, _NOTICE_PRICE
    for action, words in _DETAILS.items():
        if action != "register" or not operation.reads:
            yield words, partial(_act_on, action, name), _ASKED, ""


#: The actions of third parties on a name, with their words in a report.
_DETAILS = {
    "register": "taken",
    "hold": "held by the registry",
    "drop": "deleted",
    "reject_transfer": "transfer rejected",
    "cancel_transfer": "transfer cancelled",
}


def _act_on(action: str, name: str, world: Any) -> None:
    getattr(world.simulate, action)(name)


def _set_prices(world: Any, name: str, prices: Mapping[str, str]) -> None:
    """Change the prices of the zone of a name."""
    for suffix in suffixes(name):
        with suppress(Refused):
            world.simulate.set_prices(suffix, **prices)
            return


def _is_possible(world: Sandbox, record: RequestRecord, act: _Act) -> bool:
    """Whether a third party can act before a request of the run in ``world``."""
    with world.fork(point=f"before:{record.id}") as earlier:
        try:
            act(earlier)
        except Refused as refused:
            if is_impossible(refused):
                return False
            raise
    return True


def _third_party_action(before: SweptRequest | None, act: _Act) -> Arm:
    """Return a function that makes a third party act in a world during a run.

    The action happens right after the request ``before``, or immediately if ``before`` is None.
    """

    def arm(world: Sandbox) -> None:
        if before is None:
            act(world)
            return
        # A fault triggers the action. Its delay of 0 s has no other effect.
        world.faults.add("latency", name=_TRIGGER, seconds=0, **_at(before, "after"))
        later: Any = {"after": {"fault": _TRIGGER}}
        act(SimpleNamespace(simulate=world.simulate.when(**later), accounts=world.accounts.when(**later)))

    return arm


def of_prices(requests: Sequence[SweptRequest]) -> Iterator[Trouble]:
    """Yield a trouble in which the zones of the paid names have prices with inexact sums in floats."""
    names = dict.fromkeys(name for request in requests for name in request.record.domains)
    if not any(request.record.charged for request in requests):
        return

    def arm(world: Sandbox) -> None:
        for name in names:
            _set_prices(world, name, _PRICES)

    numbers = f"{_PRICES['registration']}, {_PRICES['renewal']}, …"
    yield Trouble(kind=PRICES, detail=numbers, arm=arm, expected=Expected(sums_only=True))


def of_time(requests: Sequence[SweptRequest], prepared: Sandbox) -> Iterator[Trouble]:
    """Yield troubles in which midnight, or a due event of a name, falls between two requests.

    The run begins one second before that instant.
    """
    now = prepared.clock.now
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    events = {"midnight": midnight}
    for name in dict.fromkeys(name for request in requests for name in request.record.domains[:1]):
        for event in prepared.clock.due(domain=name, limit=1).due:
            events[f"{name}: {event.event}"] = event.at
    for detail, instant in list(events.items())[: 1 + _EVENTS]:
        start = instant - timedelta(seconds=_MARGIN)
        if start < now:
            continue
        for before, request in pairwise(requests):
            yield _time_passes(before, request, detail, start)


def _time_passes(before: SweptRequest, request: SweptRequest, detail: str, start: datetime) -> Trouble:
    def arm(world: Sandbox) -> None:
        world.faults.add("time_passes", name=_FAULT, by=2 * _MARGIN, **_at(before, "after"))

    return Trouble(kind=TIME, detail=detail, request=request, arm=arm, start=start, passes=2 * _MARGIN)


def of_assumptions(requests: Sequence[SweptRequest]) -> Iterator[Trouble]:
    """For each assumption on which an answer depended, yield a trouble for each other value.

    If the value is the processing time of an order, the clock advances until the order is processed. Then the
    outcome must be the same as with an immediate order.
    """
    alternatives = alternative_values()
    rested: dict[str, object] = {}
    for request in requests:
        rested |= request.record.assumptions
    for name, value in rested.items():
        for other in alternatives[name]:
            if other == value:
                continue
            detail = f"{name}={spelt(other)}"
            trouble = Trouble(
                kind=ASSUMPTIONS, detail=detail, assume={name: other}, expected=Expected(same=False)
            )
            if isinstance(other, int) and not isinstance(other, bool):  # a processing time in seconds
                trouble = replace(trouble, expected=_SAME, passes=2 * other)
            yield trouble


def is_impossible(refused: Refused) -> bool:
    """Whether a refusal says that an action is impossible in a world.

    For example, a third party cannot register a name that is already registered.
    """
    return refused.rule.category in (Category.CONFLICT, Category.NOT_FOUND, Category.INVALID)
