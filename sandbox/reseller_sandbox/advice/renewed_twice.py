"""Renewals that were paid for twice, by a client that did not know of the first or did not wait for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from decimal import Decimal

from reseller_sandbox.advice.finding import Seen, Severity, rule
from reseller_sandbox.advice.lost import answer_lost
from reseller_sandbox.advice.record import Record, cost, currency, renewals
from reseller_sandbox.advice.words import plural, span, times
from reseller_sandbox.registry import money
from reseller_sandbox.registry.model import LedgerEntry
from reseller_sandbox.registry.names import to_unicode
from reseller_sandbox.worlds import Entry

#: Two renewals of a name for the same years, no further apart than this, are taken for one that came twice:
#: as long as an hourly job may take to come round.
SOON = timedelta(minutes=90)

#: The same where the client never got the first one's answer: it may come back to it much later.
AFTER_A_LOST_ANSWER = timedelta(days=1)


@rule(Severity.MONEY)
def renewed_twice(record: Record) -> Iterator[Seen]:
    """The same renewal, of the same name for the same years, carried out twice within an hour and a half;
    within a day, if the first answer was lost.

    Instead:
        Before a renewal is sent again, compare the name's expiry date with the one you knew before the first.
        In v2.0 send that one as current_expiry_date, not one read anew: the second is refused then. v3 has no
        such guard.
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


def _paid_twice(chain: list[tuple[Entry, LedgerEntry]]) -> Iterable[Seen]:
    if len(chain) < 2:
        return
    (first, charge), *again = chain
    wasted = sum((cost(entry, charge.cause) for entry, charge in again), Decimal(0))
    name, unit = to_unicode(charge.name), currency(first)
    lost = "; the answer to the first was lost or late" if answer_lost(first) else ""
    yield Seen(
        list({entry.id: entry for entry, _ in chain}.values()),
        f"{name} was renewed {times(len(chain))} for {plural(charge.years, 'year')} each "
        f"{span(chain[-1][1].at - charge.at)}{lost}: {money.write(wasted)} {unit} more than one renewal "
        "costs.",
        (name,),
        wasted,
    )
