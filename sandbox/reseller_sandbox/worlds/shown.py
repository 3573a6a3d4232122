"""A journal's entries as data for whoever asks, without their secrets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reseller_sandbox.core.state import State
from reseller_sandbox.worlds import plain, redact
from reseller_sandbox.worlds.explain import Explanation, described, explain
from reseller_sandbox.worlds.journal import Entry
from reseller_sandbox.worlds.ledger import movement


def entry(shown: Entry) -> dict[str, Any]:
    """All that there is to say of a request: itself, its answer, what it changed, why it was refused."""
    body, answer = redact.read(shown.body), redact.read(shown.answer)
    secrets = list(_secrets(shown, body, answer))
    explained = explain(shown)
    return {
        **summary(shown),
        "request": {
            "method": shown.method,
            "target": redact.masked(shown.target, secrets),
            "body": redact.masked(body, secrets),
            "cut": shown.body_size,
            "ignored": list(shown.ignored),
            "headers": redact.masked(dict(shown.headers), secrets),
        },
        "answer": {
            "status": shown.status,
            "body": redact.masked(answer, secrets),
            "cut": shown.answer_size,
            "lost": shown.lost,
        },
        "changes": [plain.shown(change) for change in shown.changes],
        "refusal": redact.masked(_refusal(explained), secrets) if explained is not None else None,
        "assumptions": {name: plain.plain(value) for name, value in shown.assumed},
        "ledger": [movement(charge, shown.after.state) for charge in shown.charges],
    }


def summary(shown: Entry) -> dict[str, Any]:
    """A request in one line."""
    return {
        "id": shown.id,
        "at": shown.at,
        "operation": shown.operation,
        "account": shown.account,
        "domains": list(shown.domains),
        "status": shown.status,
        "carried_out": shown.carried_out,
        "outcome": shown.outcome,
        "fault": shown.fault,
        "fault_kind": shown.fault_kind,
        "duration_ms": round(shown.duration * 1000, 3),
    }


def _refusal(explanation: Explanation) -> dict[str, Any]:
    """An explanation as data; the value of a field that is a secret is not among its facts."""
    said = described(explanation)
    facts = said["facts"]
    if redact.is_secret(str(facts.get("field", ""))):
        said["facts"] = {name: fact for name, fact in facts.items() if name != "value"}
    shown: dict[str, Any] = plain.plain(said)
    return shown


def _secrets(shown: Entry, body: Any, answer: Any) -> Iterator[str]:
    """Every secret that the request, its answer or its account brings with it, to be masked anywhere."""
    yield from redact.secrets_in(body)
    yield from redact.secrets_in(answer)
    for change in shown.changes:
        for record in (change.before, change.after):
            yield from plain.secrets_of(record)
    yield from _account_secrets(shown.before.state, shown.account)


def _account_secrets(state: State, name: str | None) -> Iterator[str]:
    for number in sorted(state.accounts):
        if state.accounts[number].name == name:
            yield from plain.secrets_of(state.accounts[number])
