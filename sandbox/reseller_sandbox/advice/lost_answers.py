"""Orders that were carried out and paid for, whose answers were lost, and that nobody looked into."""

from __future__ import annotations

from collections.abc import Iterator

from reseller_sandbox.advice.finding import Rule, Seen, Severity
from reseller_sandbox.advice.lost import Unknown, unknown_orders
from reseller_sandbox.advice.record import Record, cost, currency
from reseller_sandbox.advice.repeats import INSTEAD
from reseller_sandbox.core import money
from reseller_sandbox.core.names import to_unicode


def _ignored(record: Record) -> Iterator[Seen]:
    for one in unknown_orders(record):
        if one.first.lost and not one.told and not _answered(one) and cost(one.first):
            yield _seen(one)


def _answered(one: Unknown) -> bool:
    """Whether the same was asked for again and got to the registry, of which other rules speak."""
    return any(entry.carried_out or entry.refused for entry in one.again)


def _seen(one: Unknown) -> Seen:
    first, name = one.first, to_unicode(one.name)
    unit = currency(first)
    return Seen(
        account=first.account,
        domains=(name,),
        amount=cost(first),
        currency=unit,
        entries=(first.id, *(entry.id for entry in one.again)),
        summary=f"The {one.wish} of {name} was carried out, for {money.write(cost(first))} {unit}, and the "
        f"answer to {first.id} was lost. Nothing has asked since what became of it: whoever takes that for a "
        "failure has paid without knowing it.",
    )


LOST_ANSWER_IGNORED = Rule(
    name="lost_answer_ignored",
    severity=Severity.MONEY,
    about="An order that was carried out and paid for, whose answer was lost, and whose name was not looked "
    "at since.",
    instead=INSTEAD,
    look=_ignored,
)
