"""What is said of a world when its test is over: what happened in it, and what was left over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from reseller_sandbox.core import money
from reseller_sandbox.core.clock import wire
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.powers.fault_records import FaultRecord
from reseller_sandbox.powers.journal_records import RequestRecord
from reseller_sandbox.powers.plans import PlanRecord
from reseller_sandbox.remote import Unreachable
from reseller_sandbox.sandbox import Sandbox

#: How many of the last requests are told.
LAST = 5

#: How much of one body or message is told.
_LONGEST = 300


def told(sandbox: Sandbox, file: Path | None = None) -> str:
    """Return what happened in a world, for the reader of a failed test; write its capsule to a ``file``."""
    try:
        return "\n".join(_lines(sandbox, file))
    except (Refused, Unreachable) as problem:
        return f"nothing can be told of this world: {problem}"


def left_over(sandbox: Sandbox, strict: Iterable[str], seeded: Iterable[str]) -> list[str]:
    """Return a line for all of ``strict`` that is left over in a world.

    That is a fault that struck nothing, but for those ``seeded``, a plan that never struck, or advice.
    """
    lines: list[str] = []
    if "faults" in strict:
        known = frozenset(seeded)
        idle = (one for one in sandbox.faults.list().faults if not one.struck and one.name not in known)
        lines += (f"the fault {_fault(one)} was armed and never struck" for one in idle)
    if "plans" in strict:
        waiting = (one for one in sandbox.plans.list().plans if one.struck is None)
        lines += (f"the plan {_plan(one)} never struck" for one in waiting)
    if "advice" in strict:
        lines += (f"advice: {one}" for one in _advice(sandbox))
    return lines


def _lines(sandbox: Sandbox, file: Path | None) -> Iterator[str]:
    world = sandbox.worlds.get(sandbox.door.name)
    clock = "standing still" if world.frozen else "running"
    yield f"clock     {wire(world.now)}, {clock}"
    yield f"seed      {world.seed}"
    for title, lines in (
        ("assumed", [f"{name} = {value}" for name, value in world.assumptions.items()]),
        ("faults", [_fault(one) for one in sandbox.faults.list().faults]),
        ("plans", [_plan(one) for one in sandbox.plans.list().plans if one.struck is None]),
        ("advice", _advice(sandbox)),
    ):
        for number, line in enumerate(lines):
            yield f"{title if not number else '':10}{line}"
    found = sandbox.journal.find(limit=LAST)
    count = f"the last {LAST} of {found.matching}" if found.matching > LAST else f"{found.matching}"
    yield f"requests  {count if found.matching else 'none'}"
    for one in found.requests:
        yield from _request(one)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        sandbox.capsule.write(file)
        yield f"open it   reseller-sandbox open {file}"


def _request(one: RequestRecord) -> Iterator[str]:
    paid = f", {one.account} {_moved(one.charged)}" if one.charged else ""
    struck = f", fault {one.fault} ({one.fault_kind})" if one.fault else ""
    done = ", though it was carried out" if one.carried_out and one.outcome != "ok" else ""
    came = f"{int(one.status)} {one.outcome}" if one.status else "no answer"
    yield f"  {one.id:5}{one.request.method} {one.request.target[:_LONGEST]}: {came}{done}{struck}{paid}"
    if one.request.ignored:
        yield f"       ignored: {', '.join(one.request.ignored)}"
    if one.refusal is not None:
        yield f"       refused: {one.refusal.message[:_LONGEST]}"
        if one.refusal.allowed:
            when = f" (from {wire(one.refusal.allowed_at)} on)" if one.refusal.allowed_at else ""
            yield f"       possible: {one.refusal.allowed[:_LONGEST]}{when}"


def _moved(charged: Decimal) -> str:
    return f"paid {money.write(charged)}" if charged > 0 else f"got {money.write(-charged)} back"


def _fault(one: FaultRecord) -> str:
    state = ", paused" if one.paused else ", spent" if one.spent else ""
    about = f" for {_matching(one.match)}" if one.match else ""
    return f"{one.name} ({one.kind}{about}): matched {one.matched}, struck {one.struck}{state}"


def _plan(one: PlanRecord) -> str:
    given = " ".join(str(value) for value in one.given.values() if isinstance(value, str | int))
    if one.at is not None:
        when = f"at {wire(one.at)}"
    else:
        when = f"after {_matching(one.after)}" if one.after is not None else "at once"
    return f"{one.id} ({one.action} {given}, {when})"


def _matching(match: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in match.items())


def _advice(sandbox: Sandbox) -> list[str]:
    return [
        f"{one.rule} ({one.severity}): {one.summary} [{', '.join(one.entries)}]"
        for one in sandbox.advice.list().findings
    ]
