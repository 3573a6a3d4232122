"""Tables of records, with the key and the indexes of each kind of record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple

from reseller_sandbox.registry.model import (
    OUTSIDE,
    Account,
    Contact,
    Customer,
    Host,
    LedgerEntry,
    Order,
    ScheduledAction,
    Stage,
    Transfer,
    Zone,
)

#: An entry of the calendar: the instant, the kind of event, and the key of its record.
Due = tuple[datetime, str, Any]
Dues = tuple[Due, ...]

#: The fields of a zone that hold promotions. Their ends have the same names in the calendar.
PROMOTIONS = ("registration_promotion", "renewal_promotion")

#: Entries of sorted indexes, as (index, key), and of maps, as (map, key, value).
Keys = tuple[tuple[str, Any], ...]
Values = tuple[tuple[str, Any, Any], ...]


def nothing(_: Any) -> tuple[()]:
    """Return no index entries."""
    return ()


class Table(NamedTuple):
    """The table of one kind of record.

    ``due`` returns the calendar entries of a record, ``listed`` its entries in other sorted indexes, and
    ``looked_up`` its entries in maps. Each is a function of the record alone, so an index always agrees with
    its table.
    """

    name: str
    key: Callable[[Any], Any]
    due: Callable[[Any], Dues] = nothing
    listed: Callable[[Any], Keys] = nothing
    looked_up: Callable[[Any], Values] = nothing

    def entries(self, record: Any) -> Keys:
        """Return the entries of ``record`` in all sorted indexes, or none for None."""
        if record is None:
            return ()
        due = self.due(record)
        listed = self.listed(record)
        return (*[("calendar", entry) for entry in due], *listed) if due else listed

    def values(self, record: Any) -> Values:
        """Return the entries of ``record`` in maps, or none for None."""
        return () if record is None else self.looked_up(record)


def _account_looked_up(account: Account) -> Values:
    if account.client_id == OUTSIDE:
        return ()
    working = (
        ("key", ("account_by_key", account.key, account.client_id)),
        ("token", ("account_by_token", account.token, account.client_id)),
    )
    revoked = account.revoked
    return tuple([entry for credential, entry in working if not revoked or credential not in revoked])


def _customer_listed(customer: Customer) -> Keys:
    return (("customers_of_account", (customer.account, customer.customer_id)),)


def _customer_looked_up(customer: Customer) -> Values:
    return (("customer_by_mail", (customer.account, customer.card.mail.lower()), customer.customer_id),)


def _contact_listed(contact: Contact) -> Keys:
    if contact.customer_id is None:
        return ()
    return (("linked", ("customer_contact", contact.customer_id, contact.handle)),)


def _zone_due(zone: Zone) -> Dues:
    promotions = ((event, getattr(zone, event)) for event in PROMOTIONS)
    return tuple((promo.until, event, zone.name) for event, promo in promotions if promo is not None)


def _order_due(order: Order) -> Dues:
    due: Dues = ((order.due, "order", order.id),) if order.due is not None else ()
    return due if order.retry is None else (*due, (order.retry, "retry", order.id))


def _order_listed(order: Order) -> Keys:
    links: list[tuple[str, Any]] = [("contact", handle) for handle in sorted(set(order.contacts.handles()))]
    links += [("nameserver", server) for server in order.nameservers]
    if order.customer_id is not None:
        links.append(("customer", order.customer_id))
    linked = [("linked", (*link, order.id)) for link in links]
    return (("orders_of_account", (order.account, order.id)), *linked)


def _order_looked_up(order: Order) -> Values:
    own = ("own_order", (order.account, order.name), order.id)
    return (own,) if order.stage is Stage.ARRIVING else (own, ("holding_order", order.name, order.id))


def _transfer_due(transfer: Transfer) -> Dues:
    return ((transfer.completes, "transfer", transfer.name),) if transfer.pending else ()


def _scheduled_due(scheduled: ScheduledAction) -> Dues:
    return (
        ((scheduled.at, "scheduled", scheduled.id),)
        if scheduled.at is not None and scheduled.applied is None
        else ()
    )


def _scheduled_listed(scheduled: ScheduledAction) -> Keys:
    return (("waiting", (scheduled.id,)),) if scheduled.at is None and scheduled.applied is None else ()


#: The table of each kind of record.
TABLES: Mapping[type, Table] = {
    Account: Table("accounts", attrgetter("client_id"), looked_up=_account_looked_up),
    Customer: Table(
        "customers", attrgetter("customer_id"), listed=_customer_listed, looked_up=_customer_looked_up
    ),
    Contact: Table("contacts", attrgetter("handle"), listed=_contact_listed),
    Zone: Table("zones", attrgetter("name"), due=_zone_due),
    Order: Table("orders", attrgetter("id"), _order_due, _order_listed, _order_looked_up),
    Host: Table(
        "hosts", attrgetter("name"), listed=lambda host: (("hosts_of_domain", (host.domain, host.name)),)
    ),
    Transfer: Table("transfers", attrgetter("name"), due=_transfer_due),
    LedgerEntry: Table(
        "ledger", attrgetter("id"), listed=lambda entry: (("ledger_of_account", (entry.account, entry.id)),)
    ),
    ScheduledAction: Table("scheduled", attrgetter("id"), _scheduled_due, _scheduled_listed),
}

#: The kind of record that each kind of calendar entry refers to.
HOLDERS: Mapping[str, type] = {
    "order": Order,
    "retry": Order,
    "transfer": Transfer,
    "scheduled": ScheduledAction,
    **dict.fromkeys(PROMOTIONS, Zone),
}
