"""For each operation a request that can be carried out, and what has to be there before it.

The names and handles are made up for that, so that they get in no one's way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from reseller_sandbox.core.model import Stage

NAME, FREE, HANDLE, CUSTOMER, HOST, CODE = (
    "to-cover.com",
    "not-yet-covered.com",
    "TO-COVER",
    990001,
    "ns1",
    "Code-To-Cover",
)

#: When the name expires, which a renewal in v2.0 has to say.
EXPIRES = "2030-06-01"


class Step(Struct, frozen=True, kw_only=True):
    """Something to ask of a power first: its operation (``names.add``) and what that is told."""

    call: str
    given: Mapping[str, Any]


class Sample(Struct, frozen=True, kw_only=True):
    """A request: its ``body``, the name it is ``about``, who holds that, and what else has to be there."""

    body: Any = None
    holder: str = "main"
    stage: Stage = Stage.ACTIVE
    needs: Sequence[Step] = ()
    about: str = NAME


#: What stands for the placeholders of paths; a name is said by the sample.
PLACES: Mapping[str, str] = {
    "version": "V2.0",
    "hostname": HOST,
    "host_name": HOST,
    "contact_id": HANDLE,
    "customer_id": str(CUSTOMER),
}

_CARD = {
    "name": "Cora Cover",
    "address": "1 Cover Street",
    "city": "Kyiv",
    "country": "UA",
    "phone": "+380.441234567",
    "mail": "cover@example.com",
}
_V2_CONTACT = {**_CARD, "zip": "01001", "customer_id": CUSTOMER}
_V3_CONTACT = {
    "name": "Cora Cover",
    "address1": "1 Cover Street",
    "city": "Kyiv",
    "zipcode": "01001",
    "country": "UA",
    "phone": "380.441234567",
    "email": "cover@example.com",
}


def name_at(stage: str, holder: str = "main", *, autorenew: bool = False) -> tuple[Step, ...]:
    """Return what puts the name there, at a stage; an arriving one comes to ``main``."""
    if stage == Stage.ARRIVING:
        coming = Step(call="transfers.add", given={"domain": NAME, "to": "main"})
        return *name_at(Stage.ACTIVE, "outside"), coming
    given: dict[str, Any] = {"name": NAME, "account": holder, "stage": str(stage), "auth_code": CODE}
    if autorenew:
        given["autorenew"] = True
    if stage == Stage.ACTIVE:
        given["expires"] = EXPIRES
    added = Step(call="names.add", given=given)
    return (SLOW, added) if stage in (Stage.REQUESTED, Stage.PROCESSING) else (added,)


#: What keeps a name at the stages that else take no time.
SLOW = Step(call="assumptions.set", given={"assume": {"v2.order_processing": 3600}})

#: What has a renewal tried again.
DAILY = Step(call="assumptions.set", given={"assume": {"lifecycle.autorenew.tries": "daily"}})
_CUSTOMER = Step(call="customers.add", given={"number": CUSTOMER, "account": "main", **_CARD, "zip": "01001"})
_CONTACT = Step(call="contacts.add", given={"handle": HANDLE, "account": "main", **_CARD, "zip": "01001"})
_GLUE = Step(call="hosts.add", given={"name": f"{HOST}.{NAME}", "ips": ["192.0.2.1"]})

_DECISION = Sample(needs=(Step(call="transfers.add", given={"domain": NAME, "to": "outside"}),))
_CANCELLATION = Sample(stage=Stage.ARRIVING)
_CUSTOMERS = Sample(needs=(_CUSTOMER,))
_CONTACTS = Sample(needs=(_CONTACT,))

#: By operation; one that is not here needs the name in its path and nothing else.
SAMPLES: Mapping[str, Sample] = {
    "v3.checkAvailability": Sample(body={"domainNames": [FREE]}),
    "v3.createDomain": Sample(body={"domain": {"domainName": FREE}}),
    "v3.renewDomain": Sample(body={"domain": {"domainName": NAME}}),
    "v3.setNameservers": Sample(body={"nameservers": ["ns1.example.net", "ns2.example.net"]}),
    "v3.createGlueRecord": Sample(body={"hostname": HOST, "ips": ["192.0.2.1"]}),
    "v3.updateGlueRecord": Sample(body={"ips": ["192.0.2.2"]}, needs=(_GLUE,)),
    "v3.deleteGlueRecord": Sample(needs=(_GLUE,)),
    "v3.getGlueRecord": Sample(needs=(_GLUE,)),
    "v3.requestTransfer": Sample(body={"domain": {"domainName": NAME}, "authCode": CODE}, holder="outside"),
    "v3.rejectTransfer": _DECISION,
    "v3.approveTransfer": _DECISION,
    "v3.cancelTransfer": _CANCELLATION,
    "v3.setAuthcode": Sample(body={"authcode": "New-Code-To-Cover"}),
    "v3.setContacts": Sample(body={"contacts": {"tech-contact": _V3_CONTACT}}),
    "v2.customer.create": Sample(body=_CARD),
    "v2.customer.edit": Sample(body=_CARD, needs=(_CUSTOMER,)),
    "v2.customer.info": _CUSTOMERS,
    "v2.customer.delete": _CUSTOMERS,
    "v2.contact.create": Sample(body=_V2_CONTACT, needs=(_CUSTOMER,)),
    "v2.contact.edit": Sample(body={**_CARD, "zip": "01001"}, needs=(_CONTACT,)),
    "v2.contact.info": _CONTACTS,
    "v2.contact.delete": _CONTACTS,
    "v2.domain.check": Sample(about=FREE),
    "v2.domain.register": Sample(
        about=FREE,
        body={
            **dict.fromkeys(
                ("contact_registrant", "contact_admin", "contact_tech", "contact_billing"), HANDLE
            ),
            "customer_id": CUSTOMER,
            "ns": {"array": ["ns1.example.net", "ns2.example.net"]},
            "period": 1,
        },
        needs=(_CUSTOMER, _CONTACT),
    ),
    "v2.domain.edit": Sample(body={"client_transfer_prohibited": 1}),
    "v2.domain.renew": Sample(body={"current_expiry_date": EXPIRES, "period": 1}),
    "v2.domain.restore": Sample(stage=Stage.REDEMPTION),
    "v2.transfer.request": Sample(
        body={"transfer_code": CODE, "customer_id": CUSTOMER}, holder="outside", needs=(_CUSTOMER,)
    ),
    "v2.transfer.status": _DECISION,
    "v2.transfer.approve": _DECISION,
    "v2.transfer.reject": _DECISION,
    "v2.transfer.cancel": _CANCELLATION,
    "v2.host.create": Sample(body={"ip": [{"ip": "192.0.2.1", "type": "v4"}]}),
    "v2.host.edit": Sample(body={"ip": {"add": ["type=>v4,ip=>192.0.2.2"]}}, needs=(_GLUE,)),
    "v2.host.info": Sample(needs=(_GLUE,)),
    "v2.host.delete": Sample(needs=(_GLUE,)),
}

#: By the name of a transition, an operation that makes it, and the stage of the name before.
TRANSITIONS: Mapping[str, tuple[str, Stage]] = {
    "nothing to active": ("v3.createDomain", Stage.ACTIVE),
    "nothing to requested": ("v2.domain.register", Stage.REQUESTED),
    "nothing to arriving": ("v3.requestTransfer", Stage.ACTIVE),
    "overdue to active": ("v3.renewDomain", Stage.OVERDUE),
    "redemption to active": ("v2.domain.restore", Stage.REDEMPTION),
    "active to redemption": ("v2.domain.delete", Stage.ACTIVE),
    "overdue to redemption": ("v2.domain.delete", Stage.OVERDUE),
    "active to nothing more": ("v3.approveTransfer", Stage.ACTIVE),
    "overdue to nothing more": ("v3.approveTransfer", Stage.OVERDUE),
    "arriving to nothing more": ("v3.cancelTransfer", Stage.ARRIVING),
}

#: By kind of fault, what a rule has to say beside it.
FAULTS: Mapping[str, Mapping[str, Any]] = {
    "error": {"error": "internal_error"},
    "latency": {"seconds": 0.1},
    "hang": {"seconds": 0.1},
    "bandwidth": {"rate": 100_000},
    "mutate": {"path": "status", "value": "mutated"},
    "rate_limit": {"limit": 0},
}
