"""What the contract leaves open of v2.0."""

from __future__ import annotations

from dataclasses import dataclass

from reseller_sandbox.core.assumptions.silence import (
    HEADERS,
    NAME_FORM,
    SECONDS,
    VERSIONS,
    WORD,
    free,
    one_of,
    switch,
)


@dataclass(frozen=True)
class V2Silences:
    """What the contract leaves open of v2.0."""

    versions: tuple[str, ...] = free(
        "v2.versions", VERSIONS, "V2.0", "The versions that are served; V and v are the same."
    )
    token_headers: tuple[str, ...] = free(
        "v2.token_headers",
        HEADERS,
        "X-Auth-Token",
        "The headers that a token is taken from (--token-header sets them).",
        observed="X-Auth-Token,X-Token",
    )
    v2_http_status: str = one_of(
        "v2.http_status",
        "mirror, always_200",
        "The HTTP status of a v2.0 answer: the body's code, or always 200.",
    )
    customer_edit_by: str = one_of(
        "v2.customer_edit.by",
        "mail, customer_id",
        "How PUT /customer finds the customer: by its mail (or a customer_id, where one is sent), or by "
        "customer_id alone.",
    )
    domain_info_shape: str = one_of(
        "v2.domain_info.shape",
        "bare, wrapped",
        "Whether domain info answers the Domain object itself, or an envelope with it in data.",
        observed="wrapped",
    )
    domain_check_avail: str = one_of(
        "v2.domain_check.avail",
        "string, boolean",
        "The type of avail in the domain check.",
        observed="boolean",
    )
    zones_data: str = one_of(
        "v2.zones.data",
        "list, object",
        "Whether data of the zones listing is a list of zones, or the first zone alone.",
    )
    customer_delete_refusal_status: bool = switch(
        "v2.customer_delete.refusal_status",
        True,
        "status in the refusal to delete a customer with active orders.",
        observed="false",
    )
    transfer_status: str = one_of(
        "v2.transfer_status",
        "epp, plain",
        "The words of transfer_status: EPP's (clientApproved, …), or plain ones (approved, …).",
    )
    request_format: str = one_of(
        "v2.request_format",
        "json, json_or_form",
        "Whether form-encoded bodies with nested arrays are taken as well.",
        observed="json_or_form",
    )
    order_processing: int = free(
        "v2.order_processing",
        SECONDS,
        "instant",
        "How many seconds a new order stays in status 0, and again in status 1.",
    )
    extra_contact_params: str = one_of(
        "v2.extra_contact_params",
        "fixture",
        "Which extra parameters a contact takes: those the fixture lists under contact_params.",
    )
    contact_required: str = one_of(
        "v2.contact.required",
        "postal, all",
        "Which fields a contact needs: all but company, fax and region, or all.",
    )
    customer_required: str = one_of(
        "v2.customer.required",
        "mail_and_name, postal, all",
        "Which fields a new customer needs: mail and name, those of a contact, or all.",
    )
    phone_form: str = one_of(
        "v2.phone",
        "any, dotted",
        "How telephone numbers are written: in any usual way, or as v3 does, +380.441234567.",
    )
    active_orders: str = one_of(
        "v2.active_orders",
        "unremoved, status_2",
        "Which orders of a customer count as active: all but those in status 6, or those in 2.",
    )
    premium_names: str = one_of(
        "v2.premium_names",
        "charged, refused",
        "Registering, renewing and transferring a premium name, where v2.0 has no price to agree to: charged "
        "at the premium price, or refused; the check says so.",
    )
    arriving_status: str = one_of(
        "v2.arriving_status",
        "processing, requested",
        "The status of a name on its way here from another registrar: 1 or 0.",
    )
    repeated_nameservers: str = one_of(
        "v2.ns.repeated",
        "refused, accepted",
        "Adding a name server that is there, or taking away one that is not: a refusal, or an answer without "
        "a change.",
    )
    v2_name_form: str = one_of("v2.names.form", *NAME_FORM)
    no_promotion: str = one_of(
        "v2.zones.no_promotion",
        "regular, nulls, omitted",
        "What a zone without a promotion shows for it: the regular price and an empty date, nulls, or "
        "nothing.",
    )
    renew_maximum: str = one_of(
        "v2.renew.maximum",
        "remaining, zone",
        "What the maximum in a renewal's refusal is: the years that can still be added, or the most that the "
        "zone sells where the period exceeds that.",
    )
    renew_date_end: str = one_of(
        "v2.renew.date_end",
        "checked, ignored",
        "What date_end in a renewal is: the new end that the caller expects, or nothing.",
    )
    license: str = free("v2.license", WORD, "license", "The body key of a registration's licence.")
