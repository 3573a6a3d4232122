"""The catalogue of advice rules, and the search for findings."""

from __future__ import annotations

from reseller_sandbox.advice.finding import AdviceRule, Finding
from reseller_sandbox.advice.funds import auto_renewal_unpaid
from reseller_sandbox.advice.lost import lost_answer_ignored, registration_repeated, transfer_repeated
from reseller_sandbox.advice.pace import polled_without_pause, rate_limit_ignored
from reseller_sandbox.advice.paging import pages_not_followed
from reseller_sandbox.advice.parameters import credentials_in_query, keys_ignored, renewed_without_guard
from reseller_sandbox.advice.prices import premium_without_price, price_not_enforced, wrong_price_repeated
from reseller_sandbox.advice.record import Record, currency
from reseller_sandbox.advice.renewals import renewed_after_auto_renewal, renewed_twice
from reseller_sandbox.registry.contract import Contract
from reseller_sandbox.worlds import World

#: All rules. Findings with the same first request have this order.
RULES: tuple[AdviceRule, ...] = (
    renewed_twice,
    renewed_after_auto_renewal,
    registration_repeated,
    transfer_repeated,
    lost_answer_ignored,
    auto_renewal_unpaid,
    pages_not_followed,
    premium_without_price,
    wrong_price_repeated,
    price_not_enforced,
    renewed_without_guard,
    credentials_in_query,
    keys_ignored,
    polled_without_pause,
    rate_limit_ignored,
)


def advise(world: World, contract: Contract) -> list[Finding]:
    """Return the findings for a world, in the order of their first requests.

    Only requests in the journal count, not requests that it dropped or that a rewind abandoned.
    """
    operations = {operation.id: operation for operation in contract}
    with world.lock:
        world.settle()
        entries = tuple(world.journal)
        record = Record(
            entries=entries, beginning=world.origin, present=world.snapshot, operations=operations
        )
    cases = [(rule, case) for rule in RULES for case in rule.find_cases(record)]
    cases.sort(key=lambda pair: pair[1].entries[0].number)  # stable: ties keep the catalogue's order
    return [
        Finding(
            rule=rule.name,
            severity=rule.severity,
            account=case.entries[0].account,
            domains=case.domains,
            summary=case.summary,
            instead=rule.instead,
            amount=case.amount,
            currency=currency(case.entries[0]) if case.amount is not None else None,
            entries=tuple(entry.id for entry in case.entries),
        )
        for rule, case in cases
    ]
