"""Troubles that a sweep tries: faults, documented errors, assumptions, third parties, time.

A run of a sweep has one trouble, or two faults: the second fault strikes a request that the program sends
because of the first fault.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reseller_sandbox.control.journal import RequestRecord
from reseller_sandbox.refusals import Category, Refused
from reseller_sandbox.registry.assumptions import alternative_values, spelt
from reseller_sandbox.registry.contract import ApiOperation
from reseller_sandbox.registry.model import Purpose
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.tools.invariants import Expected
from reseller_sandbox.values import money
from reseller_sandbox.values.matching import NO_OPERATION
from reseller_sandbox.values.text_checks import nearest

#: Names of the fault rules of a run: for the trouble, for the second fault, and for the trigger of a third
#: party's action.
_FAULT, _SECOND, _TRIGGER = "sweep", "sweep-again", "sweep-before"

#: A placeholder ``{{…}}`` in the text of an error.
_BLANK = re.compile(r"\{\{.*?\}\}")

#: By default, the outcome must be the same as without trouble.
_SAME = Expected()

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

#: Kinds of trouble that a sweep tries only if the user names them.
ASSUMPTIONS, EXTERNAL_CHANGES, TIME = "assumptions", "external-changes", "time"
EXTRA = (ASSUMPTIONS, EXTERNAL_CHANGES, TIME)

#: Kinds of second faults. Every other kind has the same consequences as one of these.
_ON_RECOVERY = ("lost-request", "lost-answer", "stale-read")

#: Kinds of trouble whose consequences no client can prevent.
UNPREVENTABLE = frozenset({"twice"})

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
    "twice": "A proxy repeated the request, and no client can prevent that. Read the record or the ledger "
    "after the request, and report what you did not order.",
    "error": "The API refused the request. Check the status and the error of each answer, and report it.",
    "stale-read": "The answer showed an earlier state. If the request before succeeded, rely on its answer.",
    ASSUMPTIONS: "The documentation leaves this open. Accept each of the values, or stop at a value that you "
    "do not expect.",
}

#: For the kind ``time``: seconds from the start of a run to a due event, and maximum number of due events.
_MARGIN, _EVENTS = 1, 5


def kinds_named(text: str) -> tuple[str, ...]:
    """Return the kinds of trouble in a list such as ``all,-twice``. Raise ``BadSetting`` for an unknown kind.

    ``all`` means all ``FAULTS``. If a list only excludes kinds, ``all`` is implied.
    """
    words = text.replace(",", " ").split()
    chosen: dict[str, None] = dict.fromkeys(FAULTS if all(word.startswith("-") for word in words) else ())
    for word in words:
        kind = word.removeprefix("-")
        if kind not in (*FAULTS, *EXTRA, "all"):
            known = (*FAULTS, *EXTRA, "all")
            hint = nearest(kind, known) or f"; the kinds are {', '.join(known)}"
            raise BadSetting(f"unknown kind {kind!r}{hint}")
        for each in FAULTS if kind == "all" else (kind,):
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
    differ from that without trouble. The run begins at ``start``, and during the run the clock advances by
    ``passes`` seconds. ``recovery`` is a second fault of the same run.
    """

    kind: str
    detail: str = ""
    request: SweptRequest | None = None
    arm: Arm = lambda _: None
    assume: Mapping[str, Any] = field(default_factory=dict)
    expected: Expected = _SAME
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


def numbered(records: Iterable[RequestRecord], known: Iterable[str]) -> list[SweptRequest]:
    """Return the requests that call an operation in ``known``, each with its ``nth`` and its ``position``."""
    operations = frozenset(known)
    requests: list[SweptRequest] = []
    changed = False
    for position, record in enumerate(records, 1):
        if record.operation in operations:
            earlier = (other.record for other in requests if other.operation == record.operation)
            domain = set(record.domains[:1])
            similar = sum(domain <= set(other.domains) for other in earlier)
            stale = changed and not record.changes and record.method == "GET"
            requests.append(SweptRequest(record, 1 + similar, position, stale))
            changed = changed or bool(record.changes)
    return requests


def of_request(
    request: SweptRequest, operation: ApiOperation, kinds: Sequence[str], slow: float
) -> Iterator[Trouble]:
    """Yield a trouble on ``request`` for each of these ``kinds``.

    ``slow`` is the delay of a slow answer in seconds.
    """
    for kind in kinds:
        if kind == "error":
            for error, rules in operation.errors.items():
                expected = Expected(same=all(each.category in _PASSING for each in rules))
                yield _fault(request, kind, _BLANK.sub("…", error), {"error": error}, expected)
        elif kind in ("server-error", "server-error-after"):
            for status, answer in _STATUSES.items():
                yield _fault(request, kind, status, answer)
        elif kind == "slow-answer":
            yield _fault(request, kind, "", {"seconds": slow})
        elif kind in FAULTS and (kind != "stale-read" or request.can_be_stale):
            yield _fault(request, kind)


def _fault(
    request: SweptRequest,
    kind: str,
    detail: str = "",
    rule: Mapping[str, Any] | None = None,
    expected: Expected = _SAME,
    name: str = _FAULT,
) -> Trouble:
    common, phase = FAULTS[kind]
    at = _at(request, phase)
    if kind == "outage":
        at = {"when": {"nth": [request.position + number for number in range(_OUTAGE)], "phase": phase}}

    def arm(world: Sandbox) -> None:
        world.faults.add(name=name, **at, **common, **(rule or {}))

    return Trouble(kind=kind, detail=detail, request=request, arm=arm, expected=expected)


def _at(request: SweptRequest, phase: str) -> dict[str, Any]:
    when = {"nth": [request.nth], "phase": phase}
    return {"match": request.match, "when": when}


def pairs(
    runs: Iterable[tuple[Trouble, Sequence[SweptRequest]]],
    baseline: Sequence[SweptRequest],
    only: Callable[[str], bool],
) -> Iterator[Trouble]:
    """Yield each fault, combined with a second fault on a request that the first fault causes.

    ``runs`` are the troubles of earlier runs, each with the requests of the run. A *recovery request* is a
    request that the ``baseline`` run does not send. If several faults on one request lead to the same
    recovery, only the first of them is used.
    """
    usual, seen = {request.key for request in baseline}, set[object]()
    for trouble, requests in runs:
        if trouble.kind not in FAULTS or trouble.request is None:
            continue
        recovery = [request for request in requests if request.key not in usual and only(request.operation)]
        phase = FAULTS[trouble.kind][1]
        family = (trouble.request.key, phase, tuple(request.key for request in recovery))
        if family in seen:
            continue
        seen.add(family)
        for request in recovery:
            for kind in _ON_RECOVERY:
                if kind != "stale-read" or request.can_be_stale:
                    yield replace(trouble, recovery=_fault(request, kind, name=_SECOND))


def external_changes(
    requests: Sequence[SweptRequest], operations: Mapping[str, ApiOperation]
) -> Iterator[Trouble]:
    """Yield troubles in which a third party changes something, such as a price, right before a paid order."""
    for at, request in enumerate(requests):
        record = request.record
        order = operations[record.operation].orders if record.charged > 0 else None
        if order is None:
            continue
        before = requests[at - 1] if at else None
        plays: dict[str, tuple[str, tuple[Any, ...], dict[str, Any], Expected]] = {
            "balance": ("adjust_balance", (record.account,), {"to": 0}, Expected(same=False))
        }
        if len(record.domains) == 1:
            price = money.write(record.charged * 2)
            prices = {"registration": price, "renewal": price, "transfer": price}
            priced = Expected(same=False, priced=True)
            plays["price"] = ("set_premium", record.domains, prices, priced)
            if order is Purpose.REGISTRATION:
                plays["taken"] = ("register", record.domains, {}, Expected(same=False))
        for detail, (action, args, options, expected) in plays.items():
            arm = _third_party_action(before, action, args, options)
            yield Trouble(kind=EXTERNAL_CHANGES, detail=detail, request=request, arm=arm, expected=expected)


def _third_party_action(
    before: SweptRequest | None, action: str, args: tuple[Any, ...], options: Mapping[str, Any]
) -> Arm:
    """Return a function that makes a third party act in a world during a run.

    The action happens right after the request ``before``, or immediately if ``before`` is None.
    """

    def arm(world: Sandbox) -> None:
        simulate = world.simulate
        if before is not None:
            # A fault triggers the action. Its delay of 0 s has no other effect.
            world.faults.add("latency", name=_TRIGGER, seconds=0, **_at(before, "after"))
            simulate = simulate.when(after={"fault": _TRIGGER})
        getattr(simulate, action)(*args, **options)

    return arm


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
            yield _time_passes(before, request, detail, 2 * _MARGIN, start=start)


def _time_passes(
    before: SweptRequest, request: SweptRequest, detail: str, seconds: int, **more: Any
) -> Trouble:
    def arm(world: Sandbox) -> None:
        world.faults.add("time_passes", name=_FAULT, by=seconds, **_at(before, "after"))

    return Trouble(kind=TIME, detail=detail, request=request, arm=arm, passes=seconds, **more)


def of_assumptions(requests: Sequence[SweptRequest]) -> Iterator[Trouble]:
    """For each assumption on which an answer depended, yield a trouble for each other value.

    If the value is the processing time of an order, the clock advances until the order is processed. Then the
    outcome must be the same as with an immediate order.
    """
    alternatives = alternative_values()
    rested: dict[str, Any] = {}
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
