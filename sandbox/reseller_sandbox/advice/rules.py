"""The catalogue of advice rules, and the search for findings."""

from __future__ import annotations

from reseller_sandbox.advice import orders, reading, requests
from reseller_sandbox.advice.finding import AdviceRule, Finding, Record, currency, names
from reseller_sandbox.registry.contract import Contract
from reseller_sandbox.worlds import World

#: All rules, in the order of their declaration. This is also the order of findings with the same first
#: request.
RULES: tuple[AdviceRule, ...] = tuple(
    rule
    for module in (orders, reading, requests)
    for rule in vars(module).values()
    if isinstance(rule, AdviceRule)
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
            entries=entries, beginning=world.history.origin, present=world.snapshot, operations=operations
        )
    cases = [(rule, case) for rule in RULES for case in rule.find_cases(record)]
    # The sort is stable, so cases with the same first request keep the order of RULES.
    cases.sort(key=lambda pair: pair[1].entries[0].number)
    return [
        Finding(
            rule=rule.name,
            severity=rule.severity,
            account=case.entries[0].account,
            domains=names(*case.entries) if case.domains is None else case.domains,
            summary=case.summary,
            instead=rule.instead,
            amount=case.amount,
            currency=currency(case.entries[0]) if case.amount is not None else None,
            entries=tuple(entry.id for entry in case.entries),
        )
        for rule, case in cases
    ]
