"""What the contract leaves open of v3."""

from __future__ import annotations

from dataclasses import dataclass

from reseller_sandbox.registry.assumptions.assumption_spec import WORD, free, one_of, switch


@dataclass(frozen=True)
class V3Assumptions:
    """What the contract leaves open of v3.

    Args:
        signature_endpoint: What ENDPOINT stands for in the signed string: the full URL, the path with its
            query, the path alone, or whichever of them matches.
        signature_payload: What PAYLOAD stands for when the body is empty: nothing, {} (or []), or either.
        signature_query: Whether the key, when sent in the query string, stays in the signed URL; the
            signature never can.
        content_type: Whether a body is read as JSON whatever its content type, or only when that is JSON.
        v3_http_status: The HTTP status of a v3 error: one that fits it, or always 200.
        availability_taken: The status of a name that is taken.
        availability_reserved: The status of a name that its registry keeps back.
        availability_unsupported: The status of a name in no zone of the service; its prices are 0.00, its
            periods 0.
        availability_invalid: The status of a name that is malformed or against its zone's rules; its prices
            are 0.00, its periods 0.
        availability_out_of_service: The status of a free name whose zone is out of service: that of a zone
            which is not there, or available.
        contacts_required: Which contacts createDomain must be given; the others fall back on the account's
            own.
        contacts_fields: Which fields each given contact must have: name, address1, city, country, phone,
            email and zipcode, none, or all ten.
        contacts_left_out: What becomes of the fields that a contact in setContacts leaves out: they stay, as
            in v2.0, or they are emptied. In a new order they are empty.
        purchase_cost: Where purchaseCost must be sent for a premium name: to createDomain, or to renewDomain
            and requestTransfer as well. Wherever it is sent for one, it must equal the price of all the
            years; under whenever_given for ordinary names, too.
        unlock_transfer_locked: lockedEnabled in the answer of unlockTransfer.
        list_last_page: Whether lastPage is left out of the list's last page, as nextPage is.
        list_parameters: Whether perPage and page must be sent (100 and 1 otherwise).
        set_contacts_answer: The body of a setContacts answer: the domain envelope, the contacts, or a
            message.
        expired_status: The v3 status of an expired name, which is out of the DNS.
        transfer_outcome: What approve, reject and cancel do: they end a pending transfer at once. Left alone,
            it completes when the zone's days are over.
        update_lock_covers: What lockUpdate and client_update_prohibited forbid: new name servers, contacts,
            glue records and codes, or a new registrant alone; never renewals and switches.
        get_domain_order_id: Whether getDomain takes an order id for the name.
        v3_ids: Whether order-id and client-id are strings or integers.
        name_form: How an internationalised name is written in answers: as the request wrote it (lists: in
            Unicode), always in Unicode, or always in its xn-- form.
        repeated_switch: Switching on what is on already (lock, lockTransfer, enableAutorenew, …): an answer
            without a change, or a refusal.
        create_autorenew: autorenewEnabled of a new name: as the request says (off where it does not), on, or
            off.
        create_locked: lockedEnabled of a new name: as the request says (off where it does not), on, or off.
        privacy_term: Whether whois protection is charged for each year registered, or once.
        privacy_renewal: Whether a renewal, by request or by the clock, charges whois protection again.
        privacy_not_offered: Whois protection asked for in a zone that offers none: the name gets none,
            nothing is charged for it and X-Sandbox-Ignored names the key, or the request is refused.
        own_glue: Whether a new name server must have a glue record first that lies below the name itself,
            below another name of the account's, or below a name of the service's zones that nobody holds.
        transfer_years: How many years a transfer adds: one, or as many as the request says; each is charged.
    """

    signature_endpoint: str = one_of("v3.signature.endpoint", "any, url, path, path_no_query", observed="url")
    signature_payload: str = one_of("v3.signature.payload", "any, raw, empty_object", observed="raw")
    signature_query: str = one_of("v3.signature.query", "excluded, included")
    content_type: str = one_of("v3.request.content_type", "any, json")
    v3_http_status: str = one_of("v3.errors.http_status", "semantic, always_200")
    availability_taken: str = free("v3.availability.taken", WORD, "registered")
    availability_reserved: str = free("v3.availability.reserved", WORD, "reserved")
    availability_unsupported: str = free("v3.availability.unsupported", WORD, "unsupported")
    availability_invalid: str = free("v3.availability.invalid", WORD, "invalid")
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
