"""Troubles of a request: faults, documented errors, assumptions, third parties."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from reseller_sandbox.advice.record import ORDERS
from reseller_sandbox.control.journal import RequestRecord
from reseller_sandbox.refusals import Category, Refused
from reseller_sandbox.registry.assumptions import kinds, spelt
from reseller_sandbox.registry.contract import ApiOperation
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.tools.invariants import Expected
from reseller_sandbox.values import money
from reseller_sandbox.values.matching import NO_OPERATION

#: The names of the fault rules that a run gets.
_STRIKES, _BEFORE = "sweep", "sweep-before"

#: A placeholder in the text of an error.
_BLANK = re.compile(r"\{\{.*?\}\}")

#: The default expectation: the outcome is that of a run without trouble.
_SAME = Expected()

#: Categories of errors after which a retry of the same request can succeed.
_PASSING = {Category.INTERNAL, Category.LIMIT}

#: By kind of trouble, the fault rule that causes it, and the phase of the request.
FAULTS: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "lost-request": ({"kind": "reset"}, "before"),
    "lost-answer": ({"kind": "reset"}, "after"),
    "slow-answer": ({"kind": "latency"}, "after"),
    "twice": ({"kind": "duplicate"}, "before"),
    "error": ({"kind": "error"}, "before"),
    "garbage": ({"kind": "garbage"}, "after"),
    "rate-limited": ({"kind": "rate_limit", "limit": 0, "window": 1}, "before"),
}

#: The kinds that are tried only on request.
ASSUMPTIONS, EXTERNAL_CHANGES = "assumptions", "external-changes"


class SweptRequest(Struct, frozen=True):
    """A request of the program, with its number among the similar requests.

    Two requests are similar if they have the same operation and the same domain.
    """

    record: RequestRecord
    nth: int

    @property
    def operation(self) -> str:
        """The operation of the request."""
        return self.record.operation

    @property
    def match(self) -> dict[str, str]:
        """The match of a fault rule for this request, to be used with its number."""
        name = {"domain": self.record.domains[0]} if self.record.domains else {}
        return {"operation": self.operation, **name}

    def __str__(self) -> str:
        """Return the request in a few words."""
        return asked(self.record) + (f" ({self.nth})" if self.nth > 1 else "")


def asked(record: RequestRecord) -> str:
    """Return a request as text: its operation and domains.

    If the request reaches no operation, return its method and path.
    """
    if record.operation == NO_OPERATION:
        return f"{record.method} {record.path}"
    return record.operation + (f" {', '.join(record.domains[:2])}" if record.domains else "")


Arm = Callable[["Sandbox"], object]


class Trouble(Struct, frozen=True, kw_only=True):
    """One thing that goes wrong in one run: its ``kind``, ``detail`` and request.

    ``arm`` prepares the world. ``assume`` sets assumptions in the world. ``expected`` says how the outcome
    may differ from the default one.
    """

    kind: str
    detail: str = ""
    request: SweptRequest | None = None
    arm: Arm = lambda _: None
    assume: Mapping[str, Any] = field(default_factory=dict)
    expected: Expected = _SAME

    def is_applied(self, world: Sandbox) -> bool:
        """Whether the trouble happened in the run."""
        faults = [fault for fault in world.faults.list().faults if fault.name == _STRIKES]
        scheduled = [
            action
            for action in world.scheduled.list().scheduled
            if action.after is not None and _is_ours(action.after)
        ]
        return all(fault.applied for fault in faults) and all(
            action.applied and not action.refused for action in scheduled
        )


def _is_ours(after: Mapping[str, Any]) -> bool:
    return _BEFORE in str(after.get("fault", ""))


def numbered(records: Iterable[RequestRecord], known: Iterable[str]) -> list[SweptRequest]:
    """Return the requests that reach an operation.

    Each has its number among the similar requests before it.
    """
    operations = frozenset(known)
    requests: list[SweptRequest] = []
    for record in records:
        if record.operation in operations:
            earlier = (other.record for other in requests if other.operation == record.operation)
            domain = set(record.domains[:1])
            similar = sum(domain <= set(other.domains) for other in earlier)
            requests.append(SweptRequest(record, 1 + similar))
    return requests


def of_request(
    request: SweptRequest, operation: ApiOperation, kinds: Sequence[str], slow: float
) -> Iterator[Trouble]:
    """Yield each trouble of these ``kinds`` that a request can have."""
    for kind in kinds:
        rule, phase = FAULTS[kind]
        if kind != "error":
            seconds = {"seconds": slow} if kind == "slow-answer" else {}
            yield _fault(request, kind, "", {**rule, **seconds}, phase)
            continue
        for error, rules in operation.errors.items():
            same = all(each.category in _PASSING for each in rules)
            yield _fault(
                request, kind, _BLANK.sub("…", error), {**rule, "error": error}, phase, Expected(same=same)
            )


def _fault(
    request: SweptRequest,
    kind: str,
    detail: str,
    rule: Mapping[str, Any],
    phase: str,
    expected: Expected = _SAME,
) -> Trouble:
    def arm(world: Sandbox) -> None:
        world.faults.add(name=_STRIKES, **_at(request, phase), **rule)

    return Trouble(kind=kind, detail=detail, request=request, arm=arm, expected=expected)


def _at(request: SweptRequest, phase: str) -> dict[str, Any]:
    when = {"nth": [request.nth], "phase": phase}
    return {"match": request.match, "when": when}


def external_changes(requests: Sequence[SweptRequest]) -> Iterator[Trouble]:
    """Yield the actions of third parties right before each request that is paid for."""
    for at, request in enumerate(requests):
        record = request.record
        if record.charged <= 0 or record.operation not in ORDERS:
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
            if ORDERS[record.operation] == "registration":
                plays["taken"] = ("register", record.domains, {}, Expected(same=False))
        for detail, (action, args, options, expected) in plays.items():
            arm = _played(before, action, args, options)
            yield Trouble(kind=EXTERNAL_CHANGES, detail=detail, request=request, arm=arm, expected=expected)


def _played(
    before: SweptRequest | None, action: str, args: tuple[Any, ...], options: Mapping[str, Any]
) -> Arm:
    """Return a function that schedules an action of a third party in a world.

    The action happens right after the request ``before``, or at the beginning if there is none.
    """

    def arm(world: Sandbox) -> None:
        simulate = world.simulate
        if before is not None:  # a latency of 0 s, only to have a fault that the action can follow
            world.faults.add("latency", name=_BEFORE, seconds=0, **_at(before, "after"))
            simulate = simulate.when(after={"fault": _BEFORE})
        getattr(simulate, action)(*args, **options)

    return arm


def of_assumptions(requests: Sequence[SweptRequest]) -> Iterator[Trouble]:
    """Yield every other value of each assumption that the requests rested on."""
    known = kinds()
    rested: dict[str, Any] = {}
    for request in requests:
        rested |= request.record.assumptions
    for name, value in rested.items():
        for other in known[name].shape.get("enum", ()):
            if other != value:
                detail = f"{name}={spelt(other)}"
                expected = Expected(same=False)
                yield Trouble(kind=ASSUMPTIONS, detail=detail, assume={name: other}, expected=expected)


def is_impossible(refused: Refused) -> bool:
    """Whether an action is impossible in its world.

    An example is the registration of a name that is already registered.
    """
    return refused.rule.category in (Category.CONFLICT, Category.NOT_FOUND, Category.INVALID)
