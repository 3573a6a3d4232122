"""The records of a request: in one line, and with everything that is known of it; secrets are masked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from reseller_sandbox.core import money
from reseller_sandbox.core.clock import wire
from reseller_sandbox.core.matching import OK
from reseller_sandbox.core.state import account_named
from reseller_sandbox.powers.ledger import Movement, movement
from reseller_sandbox.powers.records import RecordChange, record_change, record_of
from reseller_sandbox.powers.result import Result
from reseller_sandbox.server.secrecy import is_secret
from reseller_sandbox.worlds import Entry, plain, redact
from reseller_sandbox.worlds.explain import Explanation, NameMet, explain


class RequestLine(Result, frozen=True, kw_only=True):
    """A request in one line: who asked for what, when, and what came of it.

    ``number`` is its place among all that changed the world, ``path`` is as it was sent, without the
    query. ``carried_out`` is whether the operation was done, ``outcome`` what the client was told
    (``ok``, an error's name, or ``fault`` where no answer of the interface's own arrived), ``fault``
    what struck, ``refused`` why it was refused, ``charged`` what the account paid for it (below zero:
    what it got back). ``held_up_seconds`` is for how long faults held the answer up, whether the client
    waited for it or not; an answer that never comes adds nothing.
    """

    # in the order in which a table has room for them
    id: str
    at: datetime
    operation: str
    status: int
    outcome: str
    domains: tuple[str, ...]
    account: str | None
    charged: Decimal
    method: str
    path: str
    carried_out: bool
    fault: str | None
    fault_kind: str | None
    refused: str | None
    number: int
    duration_ms: float
    held_up_seconds: float

    def __str__(self) -> str:
        """Return the request in a few words."""
        about = f" {', '.join(self.domains)}" if self.domains else ""
        done = ", though carried out" if self.carried_out and self.outcome != OK else ""
        late = f", held up {self.held_up_seconds:g} s" if self.held_up_seconds else ""
        struck = f" (fault {self.fault}{late})" if self.fault else ""
        return (
            f"{self.id} {self.operation}{about} by {self.account or 'nobody'}: {self.outcome}{done}{struck}"
        )

    @property
    def mark(self) -> str:
        """Return what ``since`` takes to go on after this record."""
        return self.id

    @property
    def told(self) -> str:
        """Return the request in one line, for people who watch, with its way, refusal and money."""
        paid = f", {money.write(-self.charged)}" if self.charged else ""
        asked = f"{wire(self.at)}  {self.status}  {self.method} {self.path}"
        return f"{asked}  {self}{paid}" + (f": {self.refused}" if self.refused else "")


class Sent(Result, frozen=True, kw_only=True):
    """A request as it came. ``cut`` is the size of a body that was too long to be kept whole.

    ``ignored`` are the keys that had no effect.
    """

    method: str
    target: str
    headers: Mapping[str, Any]
    ignored: tuple[str, ...]
    body: Any
    cut: int | None


class Answered(Result, frozen=True, kw_only=True):
    """The answer to a request; ``lost`` is whether a fault kept it from the client."""

    status: int
    body: Any
    cut: int | None
    lost: bool


class MetName(Result, frozen=True, kw_only=True):
    """A name when a request was refused: who held it, at which stage, and a pending transfer."""

    domain: str
    holder: str | None
    order: int | None
    stage: str | None
    since: datetime | None
    expires: datetime | None
    due: datetime | None
    flags: tuple[str, ...]
    transfer_completes: datetime | None


class MetState(Result, frozen=True, kw_only=True):
    """The state when a request was refused: its account's money, and each name it was about."""

    account: str | None
    balance: Decimal | None
    currency: str | None
    domains: tuple[MetName, ...]


class Why(Result, frozen=True, kw_only=True):
    """Why a request was refused: the rule and its message, the state then, the nearest allowed move.

    ``allowed_at`` is the instant at which time alone makes that possible.
    """

    rule: str
    message: str
    facts: Mapping[str, Any]
    met: MetState
    allowed: str
    allowed_at: datetime | None


class RequestRecord(RequestLine, frozen=True, kw_only=True):
    """Everything that is known of a request; secrets are masked."""

    hidden = ("request", "answer", "changes", "assumptions", "ledger")

    request: Sent
    answer: Answered
    changes: tuple[RecordChange, ...]
    refusal: Why | None
    assumptions: Mapping[str, Any]
    ledger: tuple[Movement, ...]


def request_line(entry: Entry) -> RequestLine:
    """Return a request in one line."""
    secrets = _secrets(entry, redact.read(entry.body), redact.read(entry.answer)) if entry.refused else ()
    return record_of(RequestLine, entry, **_line(entry, secrets))


def request_record(entry: Entry) -> RequestRecord:
    """Return everything that is known of a request."""
    body, answer = redact.read(entry.body), redact.read(entry.answer)
    secrets = list(_secrets(entry, body, answer))
    explained = explain(entry)
    return record_of(
        RequestRecord,
        entry,
        **_line(entry, secrets),
        request=record_of(
            Sent,
            entry,
            target=redact.masked(entry.target, secrets),
            headers=redact.masked(dict(entry.headers), secrets),
            body=redact.masked(body, secrets),
            cut=entry.body_size,
        ),
        answer=record_of(Answered, entry, body=redact.masked(answer, secrets), cut=entry.answer_size),
        changes=tuple(map(record_change, entry.changes)),
        refusal=_why(explained, secrets) if explained is not None else None,
        assumptions={name: plain.plain(value) for name, value in entry.assumed},
        ledger=tuple(movement(charge, entry.after.state) for charge in entry.charges),
    )


def _line(entry: Entry, secrets: Iterable[str]) -> dict[str, Any]:
    return {
        "refused": redact.masked(entry.refused.message, secrets) if entry.refused is not None else None,
        "path": redact.masked(entry.target.partition("?")[0], secrets),
        "charged": sum((-charge.amount for charge in entry.charges), money.NOTHING),
        "number": entry.step,
        "duration_ms": round(entry.duration * 1000, 3),
        "held_up_seconds": round(entry.held_up, 3),
    }


def _why(explanation: Explanation, secrets: list[str]) -> Why:
    """Return an explanation as it is shown; its facts leave out the value of a secret field."""
    refused, account, allowed = explanation.refused, explanation.account, explanation.allowed
    facts = plain.plain(refused.said)
    if is_secret(str(facts.get("field", ""))):
        facts.pop("value", None)
    return Why(
        rule=refused.rule.code,
        message=redact.masked(refused.message, secrets),
        facts=redact.masked(facts, secrets),
        met=MetState(
            account=account.name if account is not None else None,
            balance=account.balance if account is not None else None,
            currency=account.currency if account is not None else None,
            domains=tuple(map(_met, explanation.names)),
        ),
        allowed=redact.masked(allowed.words, secrets),
        allowed_at=allowed.at,
    )


def _met(met: NameMet) -> MetName:
    order, transfer = met.order, met.transfer
    return MetName(
        domain=met.name,
        holder=met.holder,
        order=order.id if order is not None else None,
        stage=str(order.stage) if order is not None else None,
        since=order.since if order is not None else None,
        expires=order.expires if order is not None else None,
        due=order.due if order is not None else None,
        flags=tuple(sorted(order.flags)) if order is not None else (),
        transfer_completes=transfer.completes if transfer is not None else None,
    )


def _secrets(entry: Entry, body: Any, answer: Any) -> Iterator[str]:
    """Yield every secret of the request, its answer and its account, to be masked wherever it stands."""
    yield from redact.secrets_in(body)
    yield from redact.secrets_in(answer)
    for change in entry.changes:
        for one in (change.before, change.after):
            yield from plain.secrets_of(one)
    yield from plain.secrets_of(account_named(entry.before.state, entry.account))
