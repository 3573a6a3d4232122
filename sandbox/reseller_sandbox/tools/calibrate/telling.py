"""Which request would tell what transcripts leave open: an operation, and what is particular about it."""

from __future__ import annotations

from collections.abc import Mapping

from reseller_sandbox.app_factory import contract
from reseller_sandbox.tools.calibrate.values import UNSEEN

#: By assumption, the operation to ask for, and how.
REQUESTS: dict[str, tuple[str, str]] = {
    "locks.registry_hold": ("v3.unlock", "for a name that its registry holds"),
    "hosts.private_addresses": ("v3.createGlueRecord", "with the address 10.0.0.1"),
    "requests.unknown_keys": ("v3.checkAvailability", "with a key more that the contract does not have"),
    "v2.versions": ("v2.domain.check", "with another version in the path"),
    "v2.token_headers": ("v2.domain.check", "with the token in another header"),
    "v2.http_status": ("v2.domain.info", "for a name that is not there"),
    "v2.customer_edit.by": ("v2.customer.edit", "without an id in the path, with the mail of a customer"),
    "v2.domain_info.shape": ("v2.domain.info", "for a name of the account"),
    "v2.domain_check.avail": ("v2.domain.check", "for any name"),
    "v2.zones.data": ("v2.domain.zones", "for all zones"),
    "v2.customer_delete.refusal_status": ("v2.customer.delete", "for a customer with active orders"),
    "v2.transfer_status": ("v2.transfer.status", "for a name with a transfer that has ended"),
    "v2.request_format": ("v2.transfer.request", "with a form for a body"),
    "v2.order_processing": (
        "v2.domain.register",
        "and then v3.getDomain at once, and again until it is active",
    ),
    "v2.contact.required": ("v2.contact.create", "without the company, the fax number and the region"),
    "v2.customer.required": (
        "v2.customer.create",
        "with a mail and a name alone, and with all but the company",
    ),
    "v2.phone": ("v2.contact.create", "with the telephone number +380 44 123 45 67"),
    "v2.ns.repeated": (
        "v2.domain.edit",
        "adding a name server that the name has, after v2.domain.info has shown it",
    ),
    "v2.names.form": (
        "v2.domain.renew",
        "for an internationalised name, once written in Unicode and once as xn--",
    ),
    "v2.zones.no_promotion": ("v2.domain.zones", "for zones without a promotion"),
    "v2.license": ("v2.domain.register", "in a zone that asks for a licence"),
    "v3.request.content_type": ("v3.checkAvailability", "with Content-Type: text/plain"),
    "v3.errors.http_status": ("v3.getDomain", "for a name that is not there"),
    "v3.availability.taken": (
        "v3.checkAvailability",
        "for a name of the account, after v3.getDomain has shown it",
    ),
    "v3.availability.unsupported": ("v3.checkAvailability", "for a name under a zone that does not exist"),
    "v3.availability.invalid": ("v3.checkAvailability", "for the name -.com"),
    "v3.contacts.required": ("v3.createDomain", "without contacts, and with the registrant alone"),
    "v3.contacts.fields": (
        "v3.createDomain",
        "with a contact that has a name alone, and one without a company",
    ),
    "v3.unlock_transfer.locked": ("v3.unlockTransfer", "for a name that is locked"),
    "v3.list.last_page": ("v3.listDomains", "for the last page"),
    "v3.list.parameters": ("v3.listDomains", "without perPage and page"),
    "v3.set_contacts.answer": ("v3.setContacts", "for any name of the account"),
    "v3.expired_status": ("v3.getDomain", "for a name that has expired"),
    "v3.update_lock.covers": ("v3.setNameservers", "for a name after v3.lockUpdate"),
    "v3.get_domain.order_id": ("v3.getDomain", "with the order-id of a name in its place"),
    "v3.ids": ("v3.balance", "by anybody"),
    "v3.names.form": (
        "v3.getDomain",
        "for an internationalised name, once written in Unicode and once as xn--",
    ),
    "v3.switches.repeated": ("v3.enableAutorenew", "for a name that has shown autorenewEnabled already"),
    "v3.create.autorenew": ("v3.createDomain", "with autorenewEnabled true, and without it"),
    "v3.create.locked": ("v3.createDomain", "with lockedEnabled true, and without it"),
    "v3.privacy.not_offered": ("v3.createDomain", "with privacyEnabled, in a zone without whois protection"),
    "v3.nameservers.own_glue": (
        "v3.setNameservers",
        "with a host below the name itself that has no glue record",
    ),
}

#: By assumption, what would tell it together with a fixture that has what there was at first.
WITH_FIXTURE: dict[str, tuple[str, str]] = {
    "v2.premium_names": ("v2.domain.check", "for a premium name that is free"),
    "v2.renew.maximum": ("v2.domain.renew", "for more years than the zone sells"),
    "v3.availability.reserved": (
        "v3.checkAvailability",
        "for a name kept back, and for one of the account's",
    ),
    "v3.availability.out_of_service": (
        "v3.checkAvailability",
        "for a free name in a zone out of service, and for one of the account's",
    ),
    "v3.purchase_cost": (
        "v3.renewDomain",
        "for an ordinary name with a wrong price, and a premium one without",
    ),
    "v3.privacy.charged": ("v3.createDomain", "with privacyEnabled, for two years"),
    "v3.privacy.renewal": ("v3.renewDomain", "for a name with privacyEnabled"),
    "v3.transfer.years": ("v3.requestTransfer", "for two years"),
    "lifecycle.early_delete.refunds": (
        "v2.domain.delete",
        "for a new name that was renewed, between two of v3.balance",
    ),
    "lifecycle.transfer_lock.from": (
        "v3.requestTransfer",
        "for an old name that came to another account by a transfer some days ago",
    ),
    "lifecycle.autorenew.tries": (
        "v3.getDomain",
        "for a name that could not be renewed at its expiry, some days after there was money for it",
    ),
    "v2.active_orders": ("v2.customer.delete", "for a customer whose only name has expired"),
    "v2.arriving_status": ("v2.domain.info", "for a name whose transfer to the account goes on"),
    "v2.renew.date_end": ("v2.domain.renew", "with a date_end that is not the one a renewal leads to"),
    "v3.contacts.left_out": (
        "v3.setContacts",
        "with a contact without a company, for a name whose contact has one, and v2.contact.info after it",
    ),
}

#: Why no answer tells an assumption, by its name.
NOT_SEEN: Mapping[str, str] = dict.fromkeys(
    UNSEEN, "what was signed cannot be seen without the secret; a refused request of your own tells it"
)


def telling_request(name: str) -> str:
    """Return which request would tell an assumption, in words."""
    operation, how = (REQUESTS | WITH_FIXTURE)[name]
    known = next(one for one in contract() if one.id == operation)
    return f"{known.method} {known.path}, {how}"
