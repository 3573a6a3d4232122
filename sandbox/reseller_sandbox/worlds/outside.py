"""The other side of a world, to play: strangers, other registrars, registries, the service's own staff."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import wraps
from typing import Any, Required, TypedDict, TypeVar

from reseller_sandbox.core import outside, plans, terms
from reseller_sandbox.core.globs import Glob
from reseller_sandbox.core.happenings import Happening
from reseller_sandbox.core.model import After, Plan
from reseller_sandbox.core.refusals import INVALID_PARAMETER, UNKNOWN_OPERATION, Refused
from reseller_sandbox.core.signatures import group, kind_of, read_by
from reseller_sandbox.core.state import Draft
from reseller_sandbox.core.values import Answered, Name, Text, When
from reseller_sandbox.worlds.world import World

T = TypeVar("T")

#: A request to wait for: an operation's id or a pattern of them, alone or with a domain and an answer.
Wait = str | Mapping[str, str]


class Waiting(TypedDict, total=False):
    """Which request of a client a plan waits for."""

    operation: Required[Text]
    domain: Name
    answer: Answered


#: What a plan may be told of the request that it waits for.
WAIT = group(Waiting)


def _method(action: outside.Action) -> Callable[..., Any]:
    """An action as a method that takes ``at`` and ``after`` as well, and its first parameter by place."""
    told = inspect.signature(action, eval_str=False)
    kinds = list(told.parameters.values())[1:]
    first = kinds[0].replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)
    later = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in (("at", "When | None"), ("after", "Wait | None"))
    ]
    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = inspect.Signature([this, first, *kinds[1:], *later], return_annotation="Happening | Plan")

    @wraps(action)
    def method(self: OutsideControl, *args: Any, **kwargs: Any) -> Happening | Plan:
        given = signature.bind(self, *args, **kwargs).arguments
        del given["self"]
        at, after = given.pop("at", None), given.pop("after", None)
        return self.act(action.__name__, given, at=at, after=after)

    method.__signature__ = signature  # type: ignore[attr-defined]
    return method


class OutsideControl:
    """The rest of the world, for a test to play.

    >>> sandbox.outside.register("example.com")
    >>> sandbox.outside.adjust_balance("main", to=0, at="P3D")
    >>> sandbox.outside.register("example.net", after="v3.checkAvailability")

    Each action happens at once and answers what it did, or becomes a plan: ``at`` an instant or a length of
    time ahead, or ``after`` the next accepted request of any client that matches (an operation's
    id or pattern, or a mapping that has also a ``domain`` and an ``answer``: accepted, refused or any).
    Every action raises ``Refused``; a plan does where time would not mend it.
    ``operations`` are those that there are.
    """

    def __init__(self, world: World, operations: Sequence[str]) -> None:
        self._world = world
        self._operations = operations

    def act(
        self, action: str, given: Mapping[str, Any], *, at: Any = None, after: Wait | None = None
    ) -> Happening | Plan:
        """Carry out the action of that name now, or plan it."""
        told = outside.read(action, given)
        known = (one for one in outside.parameters(action) if one.name in told)
        with self._world.acting(
            f"outside.{action}", **{one.name: one.kind.write(told[one.name]) for one in known}
        ) as deed:
            done = self._act(action, told, at, after)
            if isinstance(done, Plan):
                deed.effect["plan"] = done.id
            else:
                deed.happening = done
            return done

    def _act(self, action: str, told: Mapping[str, Any], at: Any, after: Wait | None) -> Happening | Plan:
        if at is None and after is None:
            return self._now(action, told)
        if at is not None and after is not None:
            raise Refused(INVALID_PARAMETER, problems="at and after do not go together")
        when = _read_at(at) if at is not None else None
        wait = self._wait(after) if after is not None else None
        return self._transact(action, lambda draft: plans.make(draft, action, told, at=when, after=wait))

    def _now(self, action: str, told: Mapping[str, Any]) -> Happening:
        return self._transact(action, lambda draft: outside.carry_out(draft, action, told))

    def plans(self) -> list[Plan]:
        """Every plan, in the order of their making: those to come, and what came of the others."""
        found = self._world.state.plans
        return [found[number] for number in sorted(found)]

    def cancel(self, plan: int) -> Plan:
        """Give a plan up, or forget one that has struck; refuses with ``unknown_plan``."""

        def work(draft: Draft) -> Plan:
            found = plans.find(draft.state, plan)
            draft.remove(found)
            return found

        with self._world.acting("outside.cancel", plan=plan):
            return self._transact("cancel", work)

    def _transact(self, action: str, work: Callable[[Draft], T]) -> T:
        name = f"outside.{action}"
        outcome = self._world.transact(name, work, operation=name)
        if outcome.refused is not None:
            raise outcome.refused
        assert outcome.result is not None
        return outcome.result

    def _wait(self, after: Wait) -> After:
        given = {"operation": after} if isinstance(after, str) else after
        if not isinstance(given, Mapping):
            raise Refused(INVALID_PARAMETER, problems="after must be an operation, or an object that has one")
        told = read_by(WAIT, given, "after.")
        wait = After(
            operation=told["operation"], name=told.get("domain", ""), answer=told.get("answer", "accepted")
        )
        if not any(map(Glob(wait.operation).matches, self._operations)):
            near = get_close_matches(wait.operation, self._operations, 3, 0.0)
            raise Refused(UNKNOWN_OPERATION, operation=wait.operation, nearest=", ".join(near))
        return wait

    register = _method(outside.register)
    hold = _method(outside.hold)
    release_hold = _method(outside.release_hold)
    drop = _method(outside.drop)
    release = _method(outside.release)
    request_transfer = _method(outside.request_transfer)
    approve_transfer = _method(outside.approve_transfer)
    reject_transfer = _method(outside.reject_transfer)
    cancel_transfer = _method(outside.cancel_transfer)
    complete_transfer = _method(outside.complete_transfer)
    set_prices = _method(terms.set_prices)
    set_promotion = _method(terms.set_promotion)
    set_premium = _method(terms.set_premium)
    set_service = _method(terms.set_service)
    adjust_balance = _method(terms.adjust_balance)
    revoke_credentials = _method(terms.revoke_credentials)
    restore_credentials = _method(terms.restore_credentials)


def _read_at(at: Any) -> str:
    try:
        return str(kind_of(When).read(at))
    except ValueError as problem:
        raise Refused(INVALID_PARAMETER, problems=f"at {problem}") from None
