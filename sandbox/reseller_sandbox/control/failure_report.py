"""The report of a failure: the requests of a world, its settings, and its advice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from reseller_sandbox.control.catalogue import Resources
from reseller_sandbox.control.faults import FaultRecord
from reseller_sandbox.control.journal import RequestRecord
from reseller_sandbox.control.simulate import ScheduledRecord
from reseller_sandbox.control.worlds import WorldRecord
from reseller_sandbox.registry import money
from reseller_sandbox.registry.clock import wire
from reseller_sandbox.registry.refusals import Refused

#: How many of the last requests are told.
LAST = 5

#: How much of one body or message is told.
_LONGEST = 300


def failure_report(sandbox: Resources, world: str, file: Path | None = None) -> str:
    """Return a report on a world for the reader of a failed test; write the world's recording to ``file``."""
    try:
        return "\n".join(_lines(sandbox, sandbox.worlds.get(world), file))
    except Refused as problem:
        return f"nothing can be told of this world: {problem}"


def _lines(sandbox: Resources, world: WorldRecord, file: Path | None) -> Iterator[str]:
    clock = "standing still" if world.frozen else "running"
    yield f"clock     {wire(world.now)}, {clock}"
    yield f"seed      {world.seed}"
    for title, lines in (
        ("assumed", [f"{name} = {value}" for name, value in world.assumptions.items()]),
        ("faults", [fault_line(one) for one in sandbox.faults.list().faults]),
        (
            "scheduled",
            [scheduled_line(one) for one in sandbox.scheduled.list().scheduled if one.applied is None],
        ),
        ("advice", advice_lines(sandbox)),
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
        sandbox.recording.write(file)
        yield f"open it   reseller-sandbox open {file}"


def _request(one: RequestRecord) -> Iterator[str]:
    paid = f", {one.account} {_moved(one.charged)}" if one.charged else ""
    applied = f", fault {one.fault} ({one.fault_kind})" if one.fault else ""
    done = ", though it was carried out" if one.carried_out and one.outcome != "ok" else ""
    came = f"{int(one.status)} {one.outcome}" if one.status else "no answer"
    yield f"  {one.id:5}{one.request.method} {one.request.target[:_LONGEST]}: {came}{done}{applied}{paid}"
    if one.request.ignored:
        yield f"       ignored: {', '.join(one.request.ignored)}"
    if one.refusal is not None:
        yield f"       refused: {one.refusal.message[:_LONGEST]}"
        if one.refusal.allowed:
            when = f" (from {wire(one.refusal.allowed_at)} on)" if one.refusal.allowed_at else ""
            yield f"       possible: {one.refusal.allowed[:_LONGEST]}{when}"


def _moved(charged: Decimal) -> str:
    return f"paid {money.write(charged)}" if charged > 0 else f"got {money.write(-charged)} back"


def fault_line(one: FaultRecord) -> str:
    state = ", paused" if one.paused else ", spent" if one.exhausted else ""
    about = f" for {_matching(one.match)}" if one.match else ""
    return f"{one.name} ({one.kind}{about}): matched {one.matched}, struck {one.applied}{state}"


def scheduled_line(one: ScheduledRecord) -> str:
    given = " ".join(str(value) for value in one.given.values() if isinstance(value, str | int))
    if one.at is not None:
        when = f"at {wire(one.at)}"
    else:
        when = f"after {_matching(one.after)}" if one.after is not None else "at once"
    return f"{one.id} ({one.action} {given}, {when})"


def _matching(match: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in match.items())


def advice_lines(sandbox: Resources) -> list[str]:
    return [
        f"{one.rule} ({one.severity}): {one.summary} [{', '.join(one.entries)}]"
        for one in sandbox.advice.list().findings
    ]
