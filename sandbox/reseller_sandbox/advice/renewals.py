"""Renewals that were paid for twice, by a client that did not know of the first or did not wait for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from decimal import Decimal

from reseller_sandbox.advice.finding import Rule, Seen, Severity
from reseller_sandbox.advice.lost import answer_lost
from reseller_sandbox.advice.record import Record, cost, currency, renewals
from reseller_sandbox.advice.words import plural, span, times
from reseller_sandbox.core import money
from reseller_sandbox.core.clock import wire
from reseller_sandbox.core.model import LedgerEntry, Purpose
from reseller_sandbox.core.names import to_unicode
from reseller_sandbox.worlds import Entry

#: Two renewals of a name for the same years, no further apart than this, are taken for one that came twice.
SOON = timedelta(hours=1)

#: The same where the client never got the first one's answer: it may come back to it much later.
AFTER_A_LOST_ANSWER = timedelta(days=1)

#: How long after an automatic renewal one that is asked for is taken not to know of it.
AFTER_AN_AUTOMATIC_ONE = timedelta(days=1)


def _twice(record: Record) -> Iterator[Seen]:
    running: dict[tuple[int, str], list[tuple[Entry, LedgerEntry]]] = {}
    for entry in record.entries:
        for charge in renewals(entry):
            chain = running.setdefault((charge.account, charge.name), [])
            if chain and not _same_again(*chain[-1], entry, charge):
                yield from _paid_twice(chain)
                chain.clear()
            chain.append((entry, charge))
    for chain in running.values():
        yield from _paid_twice(chain)


def _same_again(first: Entry, paid: LedgerEntry, second: Entry, paid_again: LedgerEntry) -> bool:
    limit = AFTER_A_LOST_ANSWER if answer_lost(first) else SOON
    return paid.years == paid_again.years and second.at - first.at <= limit


def _paid_twice(chain: list[tuple[Entry, LedgerEntry]]) -> Iterable[Seen]:
    if len(chain) < 2:
        return
    (first, charge), *again = chain
    wasted = sum((cost(entry, charge.cause) for entry, charge in again), Decimal(0))
    name, unit = to_unicode(charge.name), currency(first)
    lost = "; the answer to the first was lost or late" if answer_lost(first) else ""
    yield Seen(
        account=first.account,
        domains=(name,),
        amount=wasted,
        currency=unit,
        entries=tuple(dict.fromkeys(entry.id for entry, _ in chain)),
        summary=f"{name} was renewed {times(len(chain))} for {plural(charge.years, 'year')} each "
        f"{span(chain[-1][1].at - charge.at)}{lost}: {money.write(wasted)} {unit} more than one "
        "renewal costs.",
    )


RENEWED_TWICE = Rule(
    name="renewed_twice",
    severity=Severity.MONEY,
    about="The same renewal, of the same name for the same years, carried out twice within an hour; "
    "within a day, if the first answer was lost.",
    instead="Before a renewal is sent again, compare the name's expiry date with the one you knew before the "
    "first. In v2.0 send that one as current_expiry_date, not one read anew: the second is refused then. v3 "
    "has no such guard.",
    look=_twice,
)


def _after_automatic(record: Record) -> Iterator[Seen]:
    state = record.present.state
    for entry in record.entries:
        charge = next(iter(renewals(entry)), None)
        earlier = _automatic(record, charge) if charge is not None else None
        if charge is None or earlier is None:
            continue
        name, unit = to_unicode(charge.name), state.accounts[charge.account].currency
        by_itself = money.write(_paid(record, earlier))
        yield Seen(
            account=entry.account,
            domains=(name,),
            amount=cost(entry),
            currency=unit,
            entries=(entry.id,),
            summary=f"{name} renewed itself on {wire(earlier.at)} for {by_itself} {unit} and "
            f"was renewed by request {span(charge.at - earlier.at)}, for {money.write(cost(entry))} {unit} "
            "more.",
        )


def _automatic(record: Record, charge: LedgerEntry) -> LedgerEntry | None:
    """The automatic renewal shortly before the one that ``charge`` paid."""
    ledger = record.present.state.ledger
    for number in range(charge.id - 1, 0, -1):
        earlier = ledger.get(number)
        if earlier is None or charge.at - earlier.at > AFTER_AN_AUTOMATIC_ONE:
            return None
        if earlier.order == charge.order and renewed_itself(earlier):
            return earlier
    return None


def _paid(record: Record, renewal: LedgerEntry) -> Decimal:
    """Return what a renewal by itself took: its own entry, and that of the protection beside it."""
    beside = record.present.state.ledger.get(renewal.id + 1)
    with_it = beside is not None and (beside.cause, beside.at) == (renewal.cause, renewal.at)
    return -renewal.amount - (beside.amount if beside is not None and with_it else 0)


def renewed_itself(entry: LedgerEntry) -> bool:
    """Whether time, not a request, made this payment of a renewal."""
    return entry.purpose is Purpose.RENEWAL and entry.refunds is None and entry.cause.startswith("event:")


RENEWED_AFTER_ITSELF = Rule(
    name="renewed_after_auto_renewal",
    severity=Severity.MONEY,
    about="A renewal by request within a day after the name had renewed itself.",
    instead="Let either auto-renewal or your own job renew a name, or read its expiry date before you do.",
    look=_after_automatic,
)
