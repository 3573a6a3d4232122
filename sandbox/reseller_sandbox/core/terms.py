"""The terms of business: what registries ask and allow in their zones, and what the service does to accounts.

Each is an action of the other side, as those in ``outside`` are.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from reseller_sandbox.core import ledger, prices
from reseller_sandbox.core.complaints import there_are
from reseller_sandbox.core.happenings import Happening, concerning
from reseller_sandbox.core.lookups import own_accounts
from reseller_sandbox.core.model import Account, Premium, Promotion
from reseller_sandbox.core.model import Zone as ZoneRecord
from reseller_sandbox.core.names import to_unicode
from reseller_sandbox.core.refusals import INVALID_PARAMETER, UNKNOWN_ACCOUNT, UNKNOWN_ZONE, Refused
from reseller_sandbox.core.state import Draft, State
from reseller_sandbox.core.values import (
    AMOUNT,
    CHANGE,
    WHEN,
    Amount,
    Change,
    Credentials,
    Name,
    Switch,
    Term,
    Text,
    When,
    Zone,
    instant,
)
from reseller_sandbox.core.zones import zone_of

# Zones


def set_prices(
    draft: Draft,
    zone: Zone,
    *,
    registration: Amount | None = None,
    renewal: Amount | None = None,
    transfer: Amount | None = None,
    restore: Amount | None = None,
    privacy: Amount | None = None,
    owner_change: Amount | None = None,
) -> Happening:
    """Let a zone's registry change its prices; those left out stay.

    Args:
        registration: The price of a year's registration.
        renewal: The price of a year's renewal.
        transfer: The price of a transfer.
        restore: The price of a restore.
        privacy: The price of a year's privacy.
        owner_change: The price of a change of owner.
    """
    given = {
        "registration": registration,
        "renewal": renewal,
        "transfer": transfer,
        "restore": restore,
        "privacy": privacy,
        "owner_change": owner_change,
    }
    changed = {name: AMOUNT(price) for name, price in given.items() if price is not None}
    if not changed:
        raise Refused(INVALID_PARAMETER, problems=f"set_prices takes at least one of {', '.join(given)}")
    found = _zone(draft.state, zone)
    return _changed(draft, "set_prices", replace(found, prices=replace(found.prices, **changed)))


def set_promotion(
    draft: Draft, zone: Zone, *, of: Term, price: Amount | None = None, until: When | None = None
) -> Happening:
    """Lower a zone's yearly price for registration or renewal until an instant.

    Without ``price`` and ``until`` the promotion that is on ends.

    Args:
        of: Which of its prices.
        price: The lower price of a year.
        until: When it ends: an instant, or a length of time from when it begins.
    """
    if (price is None) is not (until is None):
        raise Refused(INVALID_PARAMETER, problems="price and until go together")
    found = _zone(draft.state, zone)
    promotion: Any = None
    if price is not None and until is not None:
        promotion = Promotion(price=AMOUNT(price), until=_ahead(draft, until))
    return _changed(draft, "set_promotion", replace(found, **{f"{of}_promotion": promotion}))


def set_premium(
    draft: Draft,
    domain: Name,
    *,
    registration: Amount | None = None,
    renewal: Amount | None = None,
    transfer: Amount | None = None,
) -> Happening:
    """Let a registry make a name a premium one with its own prices; without any, it is an ordinary one again.

    Args:
        registration: Its price for a year's registration.
        renewal: Its price for a year's renewal; as for registration where it is left out.
        transfer: Its price for a transfer; as for registration where it is left out.
    """
    zone = zone_of(draft.state, domain)
    label = prices.label_of(domain, zone)
    kept = {name: own for name, own in zone.premium if name != label}
    if registration is not None:
        kept[label] = Premium(
            registration=AMOUNT(registration),
            renewal=AMOUNT(registration if renewal is None else renewal),
            transfer=AMOUNT(registration if transfer is None else transfer),
        )
    elif renewal is not None or transfer is not None:
        raise Refused(INVALID_PARAMETER, problems="registration is missing beside renewal and transfer")
    draft.put(replace(zone, premium=tuple(sorted(kept.items(), key=lambda pair: pair[0]))))
    return Happening(at=draft.now, event="set_premium", subject=domain)


def set_service(draft: Draft, zone: Zone, *, in_service: Switch) -> Happening:
    """Let a zone's registry go out of service, or come back.

    Args:
        in_service: Whether it can be reached.
    """
    return _changed(draft, "set_service", replace(_zone(draft.state, zone), in_service=in_service))


# Accounts


def adjust_balance(
    draft: Draft, account: Text, *, by: Change | None = None, to: Change | None = None
) -> Happening:
    """Move an account's balance by an amount, or to one.

    Args:
        by: By how much: below zero takes money away.
        to: The balance to have then.
    """
    if (by is None) is (to is None):
        raise Refused(INVALID_PARAMETER, problems="adjust_balance takes either by or to")
    found = account_called(draft.state, account)
    amount = CHANGE(by) if by is not None else CHANGE(to) - found.balance
    if amount:
        ledger.adjust(draft, found, amount)
    return concerning(draft, "adjust_balance", found, charged=-amount)


def revoke_credentials(draft: Draft, account: Text, *, which: Credentials = "both") -> Happening:
    """Let an account's API key, its v2.0 token, or both, stop working.

    Args:
        which: Which of them.
    """
    return _revoked(draft, "revoke_credentials", account, lambda revoked: revoked | _credentials(which))


def restore_credentials(draft: Draft, account: Text, *, which: Credentials = "both") -> Happening:
    """Let an account's credentials work again.

    Args:
        which: Which of them.
    """
    return _revoked(draft, "restore_credentials", account, lambda revoked: revoked - _credentials(which))


def account_called(state: State, word: str) -> Account:
    """Return the account of that name or client id; refuse with ``unknown_account``."""
    accounts = own_accounts(state)
    for account in accounts:
        if word in (account.name, str(account.client_id)):
            return account
    known = there_are((account.name for account in accounts), "accounts")
    raise Refused(UNKNOWN_ACCOUNT, account=word[:80], known=known)


def _credentials(which: str) -> set[str]:
    return {"key", "token"} if which == "both" else {which}


def _revoked(draft: Draft, event: str, word: str, change: Callable[[set[str]], set[str]]) -> Happening:
    account = account_called(draft.state, word)
    draft.put(replace(account, revoked=tuple(sorted(change(set(account.revoked))))))
    return concerning(draft, event, account)


def _zone(state: State, name: str) -> ZoneRecord:
    zone = state.zones.get(name)
    if zone is None:
        known = there_are(map(to_unicode, sorted(state.zones)), "zones")
        raise Refused(UNKNOWN_ZONE, zone=to_unicode(name), known=known)
    return zone


def instant_ahead(now: datetime, name: str, given: Any) -> datetime:
    """Return the instant that a parameter of the kind ``When`` means; refuse with ``invalid_parameter``."""
    try:
        return instant(WHEN(given), now)
    except ValueError as problem:
        raise Refused(INVALID_PARAMETER, problems=f"{name}: {problem}") from None


def _ahead(draft: Draft, until: Any) -> datetime:
    end = instant_ahead(draft.now, "until", until)
    if end <= draft.now:
        raise Refused(INVALID_PARAMETER, problems=f"until is {until}, which is past already")
    return end


def _changed(draft: Draft, event: str, zone: ZoneRecord) -> Happening:
    draft.put(zone)
    return Happening(at=draft.now, event=event, subject=zone.name)
