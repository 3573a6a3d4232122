"""What the rules on orders that were placed again blindly have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from reseller_sandbox.advice.finding import Seen
from reseller_sandbox.advice.lost import Unknown, unknown_orders
from reseller_sandbox.advice.record import Record, cost, currency
from reseller_sandbox.core import money, refusals
from reseller_sandbox.core.names import to_unicode
from reseller_sandbox.worlds import Entry

INSTEAD = (
    "When an answer does not come, read the name first (getDomain, the list of names, domain info). If it is "
    "there, the order was carried out; only if it is not, place it again."
)


def repeated(wish: str, refused_by: Sequence[refusals.Rule]) -> Callable[[Record], Iterator[Seen]]:
    """Return what looks for orders placed again and refused, by one of these rules, because of the first."""

    def look(record: Record) -> Iterator[Seen]:
        for one in unknown_orders(record):
            again = [entry for entry in one.again if entry.refused and entry.refused.rule in refused_by]
            if one.wish == wish and again:
                yield _seen(one, again)

    return look


def _seen(one: Unknown, again: Sequence[Entry]) -> Seen:
    first, unit = one.first, currency(one.first)
    name = to_unicode(one.name)
    paid = f", for {money.write(cost(first))} {unit}" if unit else ""
    repeats = ", ".join(entry.id for entry in again)
    return Seen(
        account=first.account,
        domains=(name,),
        amount=cost(first) if unit else None,
        currency=unit,
        entries=(first.id, *(entry.id for entry in again)),
        summary=f"{first.id} placed the {one.wish} of {name}{paid}, and its answer was lost or late; "
        f"{repeats} asked for the same again without a look at the name, and was refused. Whoever takes that "
        "for a failure has paid for a name without knowing it.",
    )
