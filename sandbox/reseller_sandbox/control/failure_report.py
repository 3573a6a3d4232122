"""The report of a failed test: a world's requests, settings and advice."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from http import HTTPStatus
from pathlib import Path

from reseller_sandbox.control.catalogue import Resources
from reseller_sandbox.control.events import MOST
from reseller_sandbox.control.faults import NEVER_APPLIED, FaultRecord
from reseller_sandbox.control.journal import RequestRecord
from reseller_sandbox.control.simulate import ScheduledRecord
from reseller_sandbox.recording import open_command
from reseller_sandbox.refusals import Refused
from reseller_sandbox.values import money
from reseller_sandbox.values.clock import wire
from reseller_sandbox.values.matching import OK

#: A report lists the latest requests, at most this many.
LAST = 5

#: The maximum length of a request's target, and of its message, in a report.
_LONGEST = 300


def failure_report(sandbox: Resources, world: str, file: Path | None = None) -> str:
    """Return a report on a world, to print after a test has failed.

    If ``file`` is given, write the world's recording to it.
    """
    try:
        return "\n".join(_lines(sandbox, world, file))
    except Refused as problem:
        return f"no report on this world: {problem}"


def world_settings(sandbox: Resources, world: str) -> list[tuple[str, list[str]]]:
    """Return the settings and the advice of a world, as titles with lines. Leave out titles without lines."""
    record = sandbox.worlds.get(world)
    actions = sandbox.scheduled.list().scheduled
    settings = (
        ("clock", [f"{wire(record.now)}, {'frozen' if record.frozen else 'running'}"]),
        ("seed", [record.seed]),
        ("assumed", [f"{name} = {value}" for name, value in record.assumptions.items()]),
        ("faults", [fault_line(rule) for rule in sandbox.faults.list().faults]),
        ("scheduled", [scheduled_line(action) for action in actions if action.applied is None]),
        ("advice", advice_lines(sandbox)),
    )
    return [(title, lines) for title, lines in settings if lines]


def idle_faults(sandbox: Resources, *, besides: Collection[str] = ()) -> Iterator[str]:
    """Yield a line for each fault that was never applied, except the faults named in ``besides``.

    Faults that were removed count, too.
    """
    words = "was never applied, requests matched:"
    for event in sandbox.events.list(kind="control", name="*faults.*", limit=MOST).events:
        for name, matched in event.effect.get(NEVER_APPLIED, {}).items():
            if name not in besides:
                yield f"the fault {name}, which was removed, {words} {matched}"
    for fault in sandbox.faults.list().faults:
        if not fault.applied and fault.name not in besides:
            yield f"the fault {_named(fault)} {words} {fault.matched}"


def _lines(sandbox: Resources, world: str, file: Path | None) -> Iterator[str]:
    for title, lines in world_settings(sandbox, world):
        for number, line in enumerate(lines):
            yield f"{title if not number else '':10}{line}"
    latest = sandbox.journal.list(limit=LAST)
    count = f"the last {LAST} of {latest.matching}" if latest.matching > LAST else f"{latest.matching}"
    yield f"requests  {count if latest.matching else 'none'}"
    for request in latest.requests:
        yield from _request(request)
    if file is not None:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            sandbox.recording.write(file)
        except OSError as problem:
            yield f"open it   not possible, because the recording cannot be written: {problem}"
        else:
            yield f"open it   {open_command(file)}"


def _request(record: RequestRecord) -> Iterator[str]:
    paid = f", {record.account} {_payment(record.charged)}" if record.charged else ""
    applied = f", fault {record.fault} ({record.fault_kind})" if record.fault else ""
    done = ", though it was carried out" if record.carried_out and record.outcome != OK else ""
    outcome = f"{int(record.status)} {record.outcome}" if record.status else "no response"
    sent = f"{record.request.method} {record.request.target[:_LONGEST]}"
    message = _message(record)
    yield f"  {record.id:5}{sent}: {outcome}{message and f' ({message})'}{done}{applied}{paid}"
    if record.request.ignored:
        yield f"       ignored: {', '.join(record.request.ignored)}"
    if record.refusal is not None and record.refusal.allowed:
        when = f" (from {wire(record.refusal.allowed_at)} on)" if record.refusal.allowed_at else ""
        yield f"       possible: {record.refusal.allowed[:_LONGEST]}{when}"


def _message(record: RequestRecord) -> str:
    """Return the message of an error: the reason of a refusal, or the text in the response of a fault."""
    if record.refusal is not None:
        return record.refusal.message[:_LONGEST]
    if record.outcome == OK or int(record.status) < HTTPStatus.BAD_REQUEST:
        return ""
    body = record.answer.body
    texts = body.values() if isinstance(body, dict) else [body]
    longest = max((text for text in texts if isinstance(text, str)), key=len, default="")
    return " ".join(longest.split())[:_LONGEST]


def _payment(charged: Decimal) -> str:
    return f"paid {money.write(charged)}" if charged > 0 else f"got {money.write(-charged)} back"


def fault_line(fault: FaultRecord) -> str:
    """Return a fault rule with its counts as one line of text."""
    state = ", paused" if fault.paused else ", exhausted" if fault.exhausted else ""
    return f"{_named(fault)}: matched {fault.matched}, applied {fault.applied}{state}"


def _named(fault: FaultRecord) -> str:
    about = f" for {_matching(fault.match)}" if fault.match else ""
    return f"{fault.name} ({fault.kind}{about})"


def scheduled_line(scheduled: ScheduledRecord) -> str:
    """Return a scheduled action as one line of text."""
    parameters = " ".join(
        str(value) for value in scheduled.parameters.values() if isinstance(value, str | int)
    )
    when = f"at {wire(scheduled.at)}" if scheduled.after is None else f"after {_matching(scheduled.after)}"
    return f"{scheduled.id} ({scheduled.action} {parameters}, {when})"


def _matching(match: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in match.items())


def advice_lines(sandbox: Resources) -> list[str]:
    """Return a line of text for each finding of advice, and one if advice did not check every request."""
    report = sandbox.advice.list()
    lines = [
        f"{finding.rule} ({finding.severity}): {finding.summary} [{', '.join(finding.entries)}]"
        for finding in report.findings
    ]
    if report.dropped:
        lines.append(f"not checked: {report.dropped} requests that the journal has dropped (--journal)")
    return lines
