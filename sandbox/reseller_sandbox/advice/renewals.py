"""Rules about names that were renewed twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from decimal import Decimal

from reseller_sandbox.advice.finding import Case, Severity, rule
from reseller_sandbox.advice.lost import answer_lost
from reseller_sandbox.advice.record import Record, cost, currency, is_automatic_renewal, renewals
from reseller_sandbox.advice.words import plural, span, times
from reseller_sandbox.registry.model import LedgerEntry
from reseller_sandbox.values import money
from reseller_sandbox.values.clock import wire
from reseller_sandbox.values.names import to_unicode
from reseller_sandbox.worlds import Entry

#: Maximum time between two equal renewals of a domain that count as the same renewal sent twice:
#: the longest interval between two runs of an hourly job.
SOON = timedelta(minutes=90)

#: The same if the first response was lost, because the client may retry much later.
AFTER_A_LOST_ANSWER = timedelta(days=1)


@rule(Severity.MONEY)
def renewed_twice(record: Record) -> Iterator[Case]:
    """The same renewal, of a name for the same years, carried out twice in 90 minutes.
    If the response to the first was lost, the limit is a day.

    Instead:
        Before you repeat a renewal, compare the name's expiry date with the date before the first attempt.
        If the operation takes that earlier date (current_expiry_date), send it, and do not read the date
        again: the service then refuses the second renewal.
    """
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


def _paid_twice(chain: list[tuple[Entry, LedgerEntry]]) -> Iterable[Case]:
    if len(chain) < 2:
        return
    (first, charge), *again = chain
    wasted = sum((cost(entry, charge.cause) for entry, charge in again), Decimal(0))
    name, unit = to_unicode(charge.name), currency(first)
    lost = "; the answer to the first was lost or late" if answer_lost(first) else ""
    yield Case(
        list({entry.id: entry for entry, _ in chain}.values()),
        f"{name} was renewed {times(len(chain))} for {plural(charge.years, 'year')} each "
        f"{span(chain[-1][1].at - charge.at)}{lost}: {money.write(wasted)} {unit} more than one renewal "
        "costs.",
        (name,),
        wasted,
    )


#: A renewal by request within this time after an automatic renewal counts as a mistake.
AFTER_AN_AUTOMATIC_ONE = timedelta(days=1)


@rule(Severity.MONEY)
def renewed_after_auto_renewal(record: Record) -> Iterator[Case]:
    """A renewal by request within a day after the name's automatic renewal.

    Instead:
        Renew a name either with auto-renewal or with your own job. Otherwise, read the expiry date before
        each renewal.
    """
    state = record.present.state
    for entry in record.entries:
        charge = next(iter(renewals(entry)), None)
        earlier = _automatic(record, charge) if charge is not None else None
        if charge is None or earlier is None:
            continue
        name, unit = to_unicode(charge.name), state.accounts[charge.account].currency
        automatic = money.write(_paid(record, earlier))
        yield Case(
            [entry],
            f"{name} was renewed automatically on {wire(earlier.at)} for {automatic} {unit} and "
            f"again by request {span(charge.at - earlier.at)}, for {money.write(cost(entry))} {unit} more.",
            (name,),
            cost(entry),
        )


def _automatic(record: Record, charge: LedgerEntry) -> LedgerEntry | None:
    """Return the automatic renewal shortly before ``charge``, or None."""
    ledger = record.present.state.ledger
    for number in range(charge.id - 1, 0, -1):
        earlier = ledger.get(number)
        if earlier is None or charge.at - earlier.at > AFTER_AN_AUTOMATIC_ONE:
            return None
        if earlier.order == charge.order and is_automatic_renewal(earlier):
            return earlier
    return None


def _paid(record: Record, renewal: LedgerEntry) -> Decimal:
    """Return the cost of an automatic renewal, including privacy."""
    privacy = record.present.state.ledger.get(renewal.id + 1)
    if privacy is None or (privacy.cause, privacy.at) != (renewal.cause, renewal.at):
        return -renewal.amount
    return -renewal.amount - privacy.amount
