"""The report of a failed test as one HTML file that needs no network."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from reseller_sandbox.control.failure_report import world_settings
from reseller_sandbox.control.journal import RequestRecord
from reseller_sandbox.control.ledger import AccountBalance, Movement
from reseller_sandbox.reports.html import rendered
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.values.clock import wire

#: For each world, the report lists at most this many requests, movements of money, and events.
LATEST = 100


@dataclass(frozen=True)
class FailedWorld:
    """One world of a failed test: its settings, requests, money, events and recording."""

    name: str
    settings: list[tuple[str, list[str]]]
    requests: tuple[RequestRecord, ...]
    earlier: int
    movements: tuple[Movement, ...]
    balances: tuple[AccountBalance, ...]
    events: list[str]
    recording: Path | None


def read_world(sandbox: Sandbox, recording: Path | None) -> FailedWorld:
    """Return a world's requests, money and events for the report. Raise ``Refused`` or ``Unreachable``."""
    journal, ledger = sandbox.journal.list(limit=LATEST), sandbox.ledger.list(limit=LATEST)
    return FailedWorld(
        name=sandbox.transport.name,
        settings=world_settings(sandbox, sandbox.transport.name),
        requests=journal.requests,
        earlier=journal.matching - len(journal.requests),
        movements=tuple(entry for entry in ledger.entries if entry.cause != "fixture"),
        balances=ledger.balances,
        events=[event.line for event in sandbox.events.list(limit=LATEST).events],
        recording=recording,
    )


def page(test: str, failure: str, worlds: Iterable[FailedWorld]) -> str:
    """Return the report of a test as HTML. ``failure`` is the text of the test's error."""
    filters: dict[str, Callable[..., object]] = {"wire": wire, "body": _body}
    return rendered("failure.html", filters, test=test, failure=failure, worlds=list(worlds))


def _body(body: object) -> str:
    """Return the body of a request or a response as text, with JSON indented."""
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, indent=2, default=str)
