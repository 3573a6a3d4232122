"""The transfers of a fixture: pending ones with the orders that are arriving by them, and past ones."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sandbox.core import prices
from sandbox.core.clock import days
from sandbox.core.model import OUTSIDE, Account, Order, Stage, Transfer, TransferStatus
from sandbox.core.zones import zone_of
from sandbox.seeds import holdings, money
from sandbox.seeds.fields import When
from sandbox.seeds.problems import nearest, shown
from sandbox.seeds.site import Path, Site

#: How long ago a transfer was asked for that does not say.
USUAL_AGE = days(1)

APPROVED = (TransferStatus.CLIENT_APPROVED, TransferStatus.SERVER_APPROVED)


def build(site: Site, ids: holdings.Numbers) -> None:
    """Add the transfers, their arriving orders and what those were charged to the records."""
    seen: set[str] = set()
    for text, entry in site.section("transfers").items():
        path = ("transfers", text)
        name = site.name(path, text)
        if name is None:
            continue
        if name in seen:
            site.report(path, f"{shown(text)} has a transfer already", key=True)
        seen.add(name)
        held = site.orders.get(name)
        if held is not None:
            _transfer(site, path, held, entry, ids)
        elif name not in site.orders:
            hint = nearest(name, site.orders)
            site.report(path, f"neither domains nor taken has {shown(text)}{hint}", key=True)


def _transfer(site: Site, path: Path, held: Order, entry: Mapping[str, Any], ids: holdings.Numbers) -> None:
    status = entry.get("status", TransferStatus.PENDING)
    other = _other_party(site, path, held, entry, status)
    requested = site.date(entry.get("requested"), site.now - USUAL_AGE)
    if other is None:
        return
    if status is not TransferStatus.PENDING:
        _past(site, path, held, other, requested, status, entry, ids)
    elif held.stage not in (Stage.ACTIVE, Stage.OVERDUE):
        site.report(path, f"a name that is {held.stage} cannot be leaving", key=True)
    else:
        _pending(site, path, held, other, requested, entry, ids)


def _other_party(
    site: Site, path: Path, held: Order, entry: Mapping[str, Any], status: TransferStatus
) -> Account | None:
    """Who the transfer is with: the one of ``to`` and ``from`` that does not hold the name now."""
    words = {"to": entry.get("gaining"), "from": entry.get("losing")}
    holder, other = ("to", "from") if status in APPROVED else ("from", "to")
    if words[holder] is not None:
        account = site.account((*path, holder), words[holder])
        if account is not None and account.client_id != held.account:
            site.report((*path, holder), f"{words[holder]} does not hold the name")
    if words[other] is None:
        site.report(path, f"{shown(other)} is missing here")
        return None
    account = site.account((*path, other), words[other])
    if account is not None and account.client_id == held.account:
        site.report((*path, other), f"{words[other]} holds the name already")
        return None
    return account


def _pending(
    site: Site,
    path: Path,
    held: Order,
    gaining: Account,
    requested: datetime,
    entry: Mapping[str, Any],
    ids: holdings.Numbers,
) -> None:
    usual: dict[str, Any] = {
        "created": When(instant=held.created),
        "expires": When(instant=held.expires),
        "since": When(instant=requested),
        "nameservers": held.nameservers,
        "auth_code": "",
    }
    wanted = {**usual, **entry.get("order", {}), "stage": Stage.ARRIVING}
    order = holdings.order(site, (*path, "order"), held.name, gaining, ids.take(wanted), wanted)
    zone = zone_of(site.state, held.name)
    if "charges" in entry:
        charges = site.entries((*path, "charges"), entry["charges"])
    elif gaining.client_id == OUTSIDE:
        charges = ()
    else:
        charges = money.charged(
            site, order, prices.transfer(zone, prices.label_of(held.name, zone), order.years)
        )
    transfer = Transfer(
        name=held.name,
        status=TransferStatus.PENDING,
        gaining=gaining.client_id,
        losing=held.account,
        gaining_order=order.id,
        losing_order=held.id,
        requested=requested,
        completes=site.date(entry.get("completes"), requested + days(zone.policy.transfer)),
        charges=charges,
    )
    site.records += [order, transfer]


def _past(
    site: Site,
    path: Path,
    held: Order,
    other: Account,
    requested: datetime,
    status: TransferStatus,
    entry: Mapping[str, Any],
    ids: holdings.Numbers,
) -> None:
    if "order" in entry:
        site.report((*path, "order"), "only a pending transfer has an arriving order", key=True)
    approved = status in APPROVED
    policy = zone_of(site.state, held.name).policy
    gaining_order = entry.get("gaining_order") or (held.id if approved else ids.take({}))
    losing_order = entry.get("losing_order") or (ids.take({}) if approved else held.id)
    ids.used.update((gaining_order, losing_order))
    site.records.append(
        Transfer(
            name=held.name,
            status=status,
            gaining=held.account if approved else other.client_id,
            losing=other.client_id if approved else held.account,
            gaining_order=gaining_order,
            losing_order=losing_order,
            requested=requested,
            completes=site.date(entry.get("completes"), requested + days(policy.transfer)),
            charges=site.entries((*path, "charges"), entry.get("charges", ())),
        )
    )
