"""Renewals paid twice, because the client did not know of the first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from decimal import Decimal

from reseller_sandbox.advice.finding import Case, Severity, rule
from reseller_sandbox.advice.lost import answer_lost
from reseller_sandbox.advice.record import Record, cost, currency, renewals
from reseller_sandbox.advice.words import plural, span, times
from reseller_sandbox.registry.model import LedgerEntry
from reseller_sandbox.values import money
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
        In v2.0, send that earlier date as current_expiry_date, and do not read it again: the service then
        refuses the second renewal. v3 has no such parameter.
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
