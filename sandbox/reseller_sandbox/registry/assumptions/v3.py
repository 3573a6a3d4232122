"""Open points of the contract in v3."""

from __future__ import annotations

from dataclasses import dataclass

from reseller_sandbox.registry.assumptions.assumption_spec import WORD, free, one_of, switch


@dataclass(frozen=True)
class V3Assumptions:
    """Open points of the contract in v3.

    Args:
        signature_endpoint: The meaning of ENDPOINT in the signed string: the full URL, the path with its
            query, only the path, or any of them.
        signature_payload: The meaning of PAYLOAD for an empty body: an empty text, {} (or []), or either.
        signature_query: Whether the signed URL includes the key, if the query string carries it. The URL
            never includes the signature.
        content_type: Whether a body with any content type is read as JSON, or only one with a JSON type.
        v3_http_status: The HTTP status of a v3 error: one that fits the error, or always 200.
        availability_taken: The status of a registered name.
        availability_reserved: The status of a name that its registry reserves.
        availability_unsupported: The status of a name in no zone of the service. Its prices are 0.00, its
            periods 0.
        availability_invalid: The status of a malformed name, or one that its zone's rules forbid. Its prices
            are 0.00, its periods 0.
        availability_out_of_service: The status of a free name whose zone is out of service: that of an
            unknown zone, or available.
        contacts_required: The contacts that createDomain requires. The others default to the account's own.
        contacts_fields: The required fields of each contact: name, address1, city, country, phone, email and
            zipcode, none, or all ten.
        contacts_left_out: Omitted fields of a contact in setContacts: they stay, as in v2.0, or become empty.
            In a new order they are empty.
        purchase_cost: Operations that require purchaseCost for a premium name: createDomain, or renewDomain
            and requestTransfer as well. For a premium name, purchaseCost must always equal the price of all
            years. With whenever_given, this is also true for ordinary names.
        unlock_transfer_locked: lockedEnabled in the response of unlockTransfer.
        list_last_page: Whether the list's last page omits lastPage, as it omits nextPage.
        list_parameters: Whether perPage and page are required (defaults: 100 and 1).
        set_contacts_answer: The body of a setContacts response: the domain envelope, the contacts, or a
            message.
        expired_status: The v3 status of an expired name, which is out of the DNS.
        transfer_outcome: The effect of approve, reject and cancel: they end a pending transfer at once.
            Without them, the transfer completes after the zone's days.
        update_lock_covers: The changes that lockUpdate and client_update_prohibited forbid: new name servers,
            contacts, glue records and codes, or only a new registrant. They never forbid renewals and
            switches.
        get_domain_order_id: Whether getDomain accepts an order id in place of the name.
        v3_ids: Whether order-id and client-id are strings or integers.
        name_form: The form of an internationalised name in responses: as the request wrote it (lists: in
            Unicode), always in Unicode, or always in its xn-- form.
        repeated_switch: Enabling a switch that is already on (lock, lockTransfer, enableAutorenew, …): a
            response without a change, or a refusal.
        create_autorenew: autorenewEnabled of a new name: as in the request (default: off), on, or off.
        create_locked: lockedEnabled of a new name: as in the request (default: off), on, or off.
        privacy_term: Whether whois protection is charged for each registered year, or once.
        privacy_renewal: Whether a renewal, by request or by the clock, charges whois protection again.
        privacy_not_offered: A request for whois protection in a zone that offers none: ignored (the name has
            no protection, the price is 0 and X-Sandbox-Ignored names the key), or refused.
        own_glue: Whether a new name server needs a glue record first. This concerns name servers below the
            domain itself, below other domains of the account, and below free names in the service's zones.
        transfer_years: Number of years that a transfer adds and charges: one, or as many as the request says.
    """

    signature_endpoint: str = one_of("v3.signature.endpoint", "any, url, path, path_no_query", observed="url")
    signature_payload: str = one_of("v3.signature.payload", "any, raw, empty_object", observed="raw")
    signature_query: str = one_of("v3.signature.query", "excluded, included")
    content_type: str = one_of("v3.request.content_type", "any, json")
    v3_http_status: str = one_of("v3.errors.http_status", "semantic, always_200")
    availability_taken: str = free(
        "v3.availability.taken", WORD, "registered", telling=("taken", "unavailable")
    )
    availability_reserved: str = free(
        "v3.availability.reserved", WORD, "reserved", telling=("registered", "unavailable")
    )
    availability_unsupported: str = free(
        "v3.availability.unsupported", WORD, "unsupported", telling=("unavailable", "error")
    )
    availability_invalid: str = free(
        "v3.availability.invalid", WORD, "invalid", telling=("unavailable", "error")
    )
    availability_out_of_service: str = one_of("v3.availability.out_of_service", "unsupported, available")
    contacts_required: str = one_of("v3.contacts.required", "none, registrant, all")
    contacts_fields: str = one_of("v3.contacts.fields", "default, none, all")
    contacts_left_out: str = one_of("v3.contacts.left_out", "kept, emptied")
    purchase_cost: str = one_of("v3.purchase_cost", "premium, premium_everywhere, whenever_given")
    unlock_transfer_locked: bool = switch("v3.unlock_transfer.locked", False)
    list_last_page: str = one_of("v3.list.last_page", "with_next, always", observed="always")
    list_parameters: str = one_of("v3.list.parameters", "optional, required")
    set_contacts_answer: str = one_of("v3.set_contacts.answer", "envelope, contacts, message")
    expired_status: str = one_of("v3.expired_status", "suspended, active")
    transfer_outcome: str = one_of("v3.transfer.outcome", "immediate")
    update_lock_covers: str = one_of("v3.update_lock.covers", "updates, registrant_only")
    get_domain_order_id: str = one_of("v3.get_domain.order_id", "off, on")
    v3_ids: str = one_of("v3.ids", "string, integer")
    name_form: str = one_of("v3.names.form", "as_asked, unicode, ascii")
    repeated_switch: str = one_of("v3.switches.repeated", "accepted, refused")
    create_autorenew: str = one_of("v3.create.autorenew", "as_sent, always, never")
    create_locked: str = one_of("v3.create.locked", "as_sent, always, never")
    privacy_term: str = one_of("v3.privacy.charged", "per_year, once")
    privacy_renewal: str = one_of("v3.privacy.renewal", "charged, free")
    privacy_not_offered: str = one_of("v3.privacy.not_offered", "ignored, refused")
    own_glue: str = one_of("v3.nameservers.own_glue", "ignored, required")
    transfer_years: str = one_of("v3.transfer.years", "one, as_sent")
