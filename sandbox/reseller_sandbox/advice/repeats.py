"""Orders that were placed again after the answer to the first was lost, without a look at what it did."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from reseller_sandbox.advice.finding import Rule, Seen, Severity
from reseller_sandbox.advice.lost import answer_lost
from reseller_sandbox.advice.paging import LIST
from reseller_sandbox.advice.record import Record, cost, currency, ordered, reads
from reseller_sandbox.core import money, refusals
from reseller_sandbox.core.model import Order, Stage
from reseller_sandbox.core.names import to_unicode
from reseller_sandbox.worlds import Entry

#: What the same request is refused by once the first has been carried out.
TAKEN = (refusals.NAME_TAKEN,)
UNDER_WAY = (refusals.TRANSFER_PENDING, refusals.ALREADY_YOURS)


@dataclass(frozen=True, slots=True)
class _Lost:
    """An order whose answer was lost, and the requests that asked for it again."""

    first: Entry
    order: Order
    again: list[Entry] = field(default_factory=list)


def _repeated(
    word: str, arriving: bool, refused_by: Sequence[refusals.Rule]
) -> Callable[[Record], Iterator[Seen]]:
    def look(record: Record) -> Iterator[Seen]:
        for lost in _lost(record, arriving, refused_by):
            if lost.again:
                yield _seen(lost, word)

    return look


def _lost(record: Record, arriving: bool, refused_by: Sequence[refusals.Rule]) -> list[_Lost]:
    found: list[_Lost] = []
    unsettled: dict[tuple[str | None, str], _Lost] = {}
    for entry in record.entries:
        if reads(entry):
            _settle(unsettled, entry)
        order = ordered(entry)
        if order is not None and (order.stage is Stage.ARRIVING) is arriving and answer_lost(entry):
            unsettled[entry.account, order.name] = _Lost(entry, order)
            found.append(unsettled[entry.account, order.name])
        elif entry.refused is not None and entry.refused.rule in refused_by:
            for name in entry.domains:
                lost = unsettled.get((entry.account, name))
                if lost is not None and lost.first.operation == entry.operation:
                    lost.again.append(entry)
    return found


def _settle(unsettled: dict[tuple[str | None, str], _Lost], read: Entry) -> None:
    """A look at a name, or at the whole list, tells what became of it: what follows is done knowingly."""
    for account, name in list(unsettled):
        told = name in read.domains or read.operation == LIST
        if account == read.account and told and not read.lost:
            del unsettled[account, name]


def _seen(lost: _Lost, word: str) -> Seen:
    first, unit = lost.first, currency(lost.first)
    name = to_unicode(lost.order.name)
    paid = f", for {money.write(cost(first))} {unit}" if unit else ""
    repeats = ", ".join(entry.id for entry in lost.again)
    return Seen(
        account=first.account,
        domains=(name,),
        amount=cost(first) if unit else None,
        currency=unit,
        entries=(first.id, *(entry.id for entry in lost.again)),
        summary=f"{first.id} placed the {word} of {name}{paid}, and its answer was lost or late; {repeats} "
        "asked for the same again without a look at the name, and was refused. Whoever takes that for a "
        "failure has paid for a name without knowing it.",
    )


_INSTEAD = (
    "When an answer does not come, read the name first (getDomain, the list of names, domain info). If it is "
    "there, the order was carried out; only if it is not, place it again."
)

REGISTRATION_REPEATED = Rule(
    name="registration_repeated",
    severity=Severity.MONEY,
    about="A registration sent again after the answer to the first was lost, and refused because the first "
    "had taken the name.",
    instead=_INSTEAD,
    look=_repeated("registration", False, TAKEN),
)

TRANSFER_REPEATED = Rule(
    name="transfer_repeated",
    severity=Severity.MONEY,
    about="A transfer asked for again after the answer to the first request was lost, and refused because "
    "the first was under way.",
    instead=_INSTEAD,
    look=_repeated("transfer", True, UNDER_WAY),
)
