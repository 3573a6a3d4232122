"""Open points of the contract in v2.0."""

from __future__ import annotations

from dataclasses import dataclass

from reseller_sandbox.registry.assumptions.assumption_spec import (
    HEADERS,
    KEY,
    SECONDS,
    VERSIONS,
    free,
    one_of,
    switch,
)


@dataclass(frozen=True)
class V2Assumptions:
    """Open points of the contract in v2.0.

    Args:
        versions: The versions that are served. V and v are the same.
        token_headers: The headers that may carry the token (--token-header sets them).
        v2_http_status: The HTTP status of a v2.0 response: the body's code, or always 200.
        customer_edit_by: How PUT /customer finds the customer: by mail (or by customer_id, if the request has
            one), or only by customer_id.
        domain_info_shape: Whether domain info returns the Domain object itself, or an envelope with the
            object in data.
        domain_check_avail: The type of avail in the domain check.
        zones_data: Whether data of the zones listing is a list of zones, or only the first zone.
        customer_delete_refusal_status: status in the refusal to delete a customer with active orders.
        transfer_status: The words of transfer_status: EPP's (clientApproved, …), or plain ones (approved, …).
        request_format: Whether form-encoded bodies with nested arrays are accepted as well.
        order_processing: Number of seconds that a new order stays in status 0, and again in status 1.
        extra_contact_params: The extra parameters of a contact: those that the fixture lists under
            contact_params.
        contact_required: The required fields of a contact: all but company, fax and region, or all.
        customer_required: The required fields of a new customer: mail and name, those of a contact, or all.
        phone_form: The form of telephone numbers: any usual form, or as in v3, +380.441234567.
        active_orders: The orders of a customer that count as active: all except status 6, or only status 2.
        premium_names: Registering, renewing and transferring a premium name, where v2.0 has no price to agree
            to: charged at the premium price, or refused. The domain check shows which.
        arriving_status: The status of a name during its transfer from another registrar: 1 or 0.
        repeated_nameservers: Adding a present name server, or removing an absent one: a refusal, or a
            response without a change.
        v2_name_form: The form of an internationalised name in responses: as the request wrote it (lists: in
            Unicode), always in Unicode, or always in its xn-- form.
        no_promotion: The promotion of a zone that has none: the regular price and an empty date, nulls, or
            no keys.
        renew_maximum: The maximum in a renewal's refusal: the years that can still be added, or the zone's
            maximum if the period exceeds it.
        renew_date_end: The meaning of date_end in a renewal: the new end that the client expects, or ignored.
        license: The body key for the licence number in a registration.
    """

    versions: tuple[str, ...] = free("v2.versions", VERSIONS, "V2.0", telling=("V2.1", "V2.0,V2.1"))
    token_headers: tuple[str, ...] = free(
        "v2.token_headers",
        HEADERS,
        "X-Auth-Token",
        observed="X-Auth-Token,X-Token",
        telling=("X-Token", "X-Auth-Token,X-Token"),
    )
    v2_http_status: str = one_of("v2.http_status", "mirror, always_200")
    customer_edit_by: str = one_of("v2.customer_edit.by", "mail, customer_id")
    domain_info_shape: str = one_of("v2.domain_info.shape", "bare, wrapped", observed="wrapped")
    domain_check_avail: str = one_of("v2.domain_check.avail", "string, boolean", observed="boolean")
    zones_data: str = one_of("v2.zones.data", "list, object")
    customer_delete_refusal_status: bool = switch("v2.customer_delete.refusal_status", True, observed="false")
    transfer_status: str = one_of("v2.transfer_status", "epp, plain")
    request_format: str = one_of("v2.request_format", "json, json_or_form", observed="json_or_form")
    order_processing: int = free("v2.order_processing", SECONDS, "instant", telling=("60", "86400"))
    extra_contact_params: str = one_of("v2.extra_contact_params", "fixture")
    contact_required: str = one_of("v2.contact.required", "postal, all")
    customer_required: str = one_of("v2.customer.required", "mail_and_name, postal, all")
    phone_form: str = one_of("v2.phone", "any, dotted")
    active_orders: str = one_of("v2.active_orders", "unremoved, status_2")
    premium_names: str = one_of("v2.premium_names", "charged, refused")
    arriving_status: str = one_of("v2.arriving_status", "processing, requested")
    repeated_nameservers: str = one_of("v2.ns.repeated", "refused, accepted")
    v2_name_form: str = one_of("v2.names.form", "as_asked, unicode, ascii")
    no_promotion: str = one_of("v2.zones.no_promotion", "regular, nulls, omitted")
    renew_maximum: str = one_of("v2.renew.maximum", "remaining, zone")
    renew_date_end: str = one_of("v2.renew.date_end", "checked, ignored")
    license: str = free("v2.license", KEY, "license", telling=("licence", "license_number"))
