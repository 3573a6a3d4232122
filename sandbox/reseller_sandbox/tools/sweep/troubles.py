"""What can go wrong with a request: faults, every documented error, other assumptions, other people."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from reseller_sandbox.advice.record import ORDERS
from reseller_sandbox.control.journal import RequestRecord
from reseller_sandbox.registry import money
from reseller_sandbox.registry.assumptions import kinds, spelt
from reseller_sandbox.registry.contract import ApiOperation
from reseller_sandbox.registry.matching import NO_OPERATION
from reseller_sandbox.registry.refusals import Category, Refused
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.tools.invariants import Expected

#: The names of the rules that a run is given.
_STRIKES, _BEFORE = "sweep", "sweep-before"

#: What stands in the text of an error for what is filled in.
_BLANK = re.compile(r"\{\{.*?\}\}")

#: What is expected by itself: that the program comes to where it usually does.
_SAME = Expected()

#: Errors after which the same request may well be granted.
_PASSING = {Category.INTERNAL, Category.LIMIT}

#: By kind of trouble, the rule of faults that makes it happen to a request, and the phase of that.
FAULTS: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "lost-request": ({"kind": "reset"}, "before"),
    "lost-answer": ({"kind": "reset"}, "after"),
    "slow-answer": ({"kind": "latency"}, "after"),
    "twice": ({"kind": "duplicate"}, "before"),
    "error": ({"kind": "error"}, "before"),
    "garbage": ({"kind": "garbage"}, "after"),
    "rate-limited": ({"kind": "rate_limit", "limit": 0, "window": 1}, "before"),
}

#: The kinds that are tried on request alone.
ASSUMPTIONS, OUTSIDERS = "assumptions", "outsiders"


class SweptRequest(Struct, frozen=True):
    """A request of the program, known by its operation, its name, and how many of that came before it."""

    record: RequestRecord
    nth: int

    @property
    def operation(self) -> str:
        """Its operation."""
        return self.record.operation

    @property
    def match(self) -> dict[str, str]:
        """What it is matched by, together with its number."""
        name = {"domain": self.record.domains[0]} if self.record.domains else {}
        return {"operation": self.operation, **name}

    def __str__(self) -> str:
        """Return the request in a few words."""
        return asked(self.record) + (f" ({self.nth})" if self.nth > 1 else "")


def asked(one: RequestRecord) -> str:
    """Return what a request was: an operation, and of what, or its way where no operation takes it."""
    if one.operation == NO_OPERATION:
        return f"{one.method} {one.path}"
    return one.operation + (f" {', '.join(one.domains[:2])}" if one.domains else "")


Arm = Callable[["Sandbox"], object]


class Trouble(Struct, frozen=True, kw_only=True):
    """One thing that goes wrong in one run: its ``kind``, which of that, and the request it is about.

    ``arm`` prepares a world; ``assume`` is what silences mean there; ``expected`` is what may be expected.
    """

    kind: str
    detail: str = ""
    request: SweptRequest | None = None
    arm: Arm = lambda _: None
    assume: Mapping[str, Any] = field(default_factory=dict)
    expected: Expected = _SAME

    def is_applied(self, world: Sandbox) -> bool:
        """Whether it has come to that in the run."""
        faults = [one for one in world.faults.list().faults if one.name == _STRIKES]
        scheduled = [
            one for one in world.scheduled.list().scheduled if one.after is not None and _is_ours(one.after)
        ]
        return all(one.applied for one in faults) and all(
            one.applied and not one.refused for one in scheduled
        )


def _is_ours(after: Mapping[str, Any]) -> bool:
    return _BEFORE in str(after.get("fault", ""))


def numbered(records: Iterable[RequestRecord], known: Iterable[str]) -> list[SweptRequest]:
    """Return the requests that reach an operation, each with its number among those that it is like."""
    operations = frozenset(known)
    found: list[SweptRequest] = []
    for one in records:
        if one.operation in operations:
            like = (other.record for other in found if other.operation == one.operation)
            about = one.domains[:1]
            found.append(SweptRequest(one, 1 + sum(set(about) <= set(other.domains) for other in like)))
    return found


def of_request(
    request: SweptRequest, operation: ApiOperation, kinds: Sequence[str], slow: float
) -> Iterator[Trouble]:
    """Yield each thing of these ``kinds`` that can go wrong with a request."""
    for kind in kinds:
        rule, phase = FAULTS[kind]
        if kind != "error":
            seconds = {"seconds": slow} if kind == "slow-answer" else {}
            yield _fault(request, kind, "", {**rule, **seconds}, phase)
            continue
        for error, rules in operation.errors.items():
            same = all(one.category in _PASSING for one in rules)
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


def of_others(requests: Sequence[SweptRequest]) -> Iterator[Trouble]:
    """Yield what other people can do right before each request that is paid for."""
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
        for detail, (action, args, given, expected) in plays.items():
            arm = _played(before, action, args, given)
            yield Trouble(kind=OUTSIDERS, detail=detail, request=request, arm=arm, expected=expected)


def _played(before: SweptRequest | None, action: str, args: tuple[Any, ...], given: Mapping[str, Any]) -> Arm:
    """Return what has an action happen between the request ``before`` and the next, or at the beginning."""

    def arm(world: Sandbox) -> None:
        simulate = world.simulate
        if before is not None:  # the mark of an answer that comes no later than usual
            world.faults.add("latency", name=_BEFORE, seconds=0, **_at(before, "after"))
            simulate = simulate.when(after={"fault": _BEFORE})
        getattr(simulate, action)(*args, **given)

    return arm


def of_assumptions(requests: Sequence[SweptRequest]) -> Iterator[Trouble]:
    """Yield every other value of each assumption that the requests rested on."""
    known = kinds()
    rested: dict[str, Any] = {}
    for request in requests:
        rested |= request.record.assumptions
    for name, value in rested.items():
        for other in known[name].values:
            if other != value:
                detail = f"{name}={spelt(other)}"
                expected = Expected(same=False)
                yield Trouble(kind=ASSUMPTIONS, detail=detail, assume={name: other}, expected=expected)


def is_impossible(refused: Refused) -> bool:
    """Whether nobody could have done what was to happen, such as to take a name that is held already."""
    return refused.rule.category in (Category.CONFLICT, Category.NOT_FOUND, Category.INVALID)
