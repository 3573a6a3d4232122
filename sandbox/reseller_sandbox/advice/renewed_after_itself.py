"""Renewals by request of domains that were just renewed automatically."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal

from reseller_sandbox.advice.finding import Case, Severity, rule
from reseller_sandbox.advice.record import Record, cost, is_automatic_renewal, renewals
from reseller_sandbox.advice.words import span
from reseller_sandbox.registry.model import LedgerEntry
from reseller_sandbox.values import money
from reseller_sandbox.values.clock import wire
from reseller_sandbox.values.names import to_unicode

#: Maximum time between an automatic renewal and a renewal by request that counts as unaware of the first.
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
