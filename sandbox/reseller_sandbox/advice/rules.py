"""The catalogue of what advice looks for, and the search itself."""

from __future__ import annotations

from reseller_sandbox.advice.credentials import CREDENTIALS_IN_QUERY
from reseller_sandbox.advice.finding import Finding, Rule
from reseller_sandbox.advice.funds import AUTO_RENEWAL_UNPAID
from reseller_sandbox.advice.guards import RENEWED_WITHOUT_GUARD
from reseller_sandbox.advice.hammering import RATE_LIMIT_IGNORED
from reseller_sandbox.advice.ignored import KEYS_IGNORED
from reseller_sandbox.advice.lost_answers import LOST_ANSWER_IGNORED
from reseller_sandbox.advice.paging import PAGES_NOT_FOLLOWED
from reseller_sandbox.advice.polling import POLLED_WITHOUT_PAUSE
from reseller_sandbox.advice.premium import PREMIUM_WITHOUT_PRICE
from reseller_sandbox.advice.record import Record
from reseller_sandbox.advice.registration_repeated import REGISTRATION_REPEATED
from reseller_sandbox.advice.renewed_after_itself import RENEWED_AFTER_ITSELF
from reseller_sandbox.advice.renewed_twice import RENEWED_TWICE
from reseller_sandbox.advice.transfer_repeated import TRANSFER_REPEATED
from reseller_sandbox.advice.wrong_price import WRONG_PRICE_REPEATED
from reseller_sandbox.worlds import World

#: Everything that is looked for; findings of equal place come in this order.
RULES: tuple[Rule, ...] = (
    RENEWED_TWICE,
    RENEWED_AFTER_ITSELF,
    REGISTRATION_REPEATED,
    TRANSFER_REPEATED,
    LOST_ANSWER_IGNORED,
    AUTO_RENEWAL_UNPAID,
    PAGES_NOT_FOLLOWED,
    PREMIUM_WITHOUT_PRICE,
    WRONG_PRICE_REPEATED,
    RENEWED_WITHOUT_GUARD,
    CREDENTIALS_IN_QUERY,
    KEYS_IGNORED,
    POLLED_WITHOUT_PAUSE,
    RATE_LIMIT_IGNORED,
)


def advise(world: World) -> list[Finding]:
    """What there is to say about a world's requests, in the order of the first that shows it.

    Requests that the journal has dropped, or that a rewind left behind, are not spoken of.
    """
    with world.lock:
        world.settle()
        record = Record(entries=tuple(world.journal), beginning=world.origin, present=world.moment)
    findings = [
        Finding(
            rule=rule.name,
            severity=rule.severity,
            account=seen.account,
            domains=seen.domains,
            summary=seen.summary,
            instead=rule.instead,
            amount=seen.amount,
            currency=seen.currency,
            entries=seen.entries,
        )
        for rule in RULES
        for seen in rule.look(record)
    ]
    return sorted(findings, key=_place)  # stable, so that the catalogue's order decides the rest


def _place(finding: Finding) -> float:
    return int(finding.entries[0][1:]) if finding.entries else float("inf")
