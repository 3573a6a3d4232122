"""Assumptions: named switches for behaviour that the API contract leaves open.

Each field declares one assumption: its public name, its default, its alternatives, and the observed value if
that differs. The docstring of the class describes the field. Settings, fixtures and responses use the same
names. Values appear in bodies, paths and headers, so no kind accepts a value that is invalid there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, replace
from typing import Any

from msgspec import structs

from reseller_sandbox.values.clock import time_zones
from reseller_sandbox.values.kinds import MOST, Kind, Within, choice, listed, mapping, matching
from reseller_sandbox.values.parameters import Parameter, documented_parameters, read
from reseller_sandbox.values.text_checks import nearest, shortened

PROFILES = ("documented", "observed")

_MOST_LISTED = 10


def _separated(item: str, says: str, pattern: str) -> Kind[tuple[str, ...]]:
    """Return a kind that accepts a list of strings, or one comma-separated string."""
    kind = listed(matching(pattern, item), 1, _MOST_LISTED)

    def read(value: object) -> tuple[str, ...]:
        return kind.read([text.strip() for text in value.split(",")] if isinstance(value, str) else value)

    return Kind({"type": "array"}, read, says=f"a list of up to {_MOST_LISTED} {says}")


def _seconds(value: object) -> int:
    text = str(value)
    if text.isascii() and text.isdigit() and len(text) < 9:
        return int(text)
    if text == "instant":
        return 0
    raise ValueError(f"must be {SECONDS.says}")


def spelt(value: object, between: str = ",") -> str:
    """Return ``value`` as settings write it: ``true`` for True, list items joined by ``between``."""
    if isinstance(value, tuple):
        return between.join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _time_zone(value: object) -> str:
    if value == "UTC" or (isinstance(value, str) and value in time_zones()):  # tzdata is loaded late
        return str(value)
    near = nearest(value, time_zones()) if isinstance(value, str) else ""
    raise ValueError(f"must be {TIME_ZONE.says}, not {shortened(value)}{near}")


def _page_size(value: object) -> int | str:
    text = str(value)
    if text == "none" or (text.isascii() and text.isdigit() and 0 < int(text[:10]) <= MOST):
        return text if text == "none" else int(text)
    raise ValueError(f"must be {PAGE_SIZE.says}")


WORD = matching("[A-Za-z0-9][A-Za-z0-9_-]{0,39}", "a word of letters, digits, hyphens and underscores")
KEY = structs.replace(WORD)  # a copy, because ``calibrate`` tries other values for KEY than for WORD
TIME_ZONE = Kind({"type": "string"}, _time_zone, says="a time zone such as UTC or Europe/Kyiv")
PAGE_SIZE = Kind({"type": ["integer", "string"]}, _page_size, says="a number of names, or none")
SECONDS = Kind({"type": "integer"}, _seconds, says="a number of seconds, or instant")
VERSIONS = _separated("a version such as V2.0", "versions such as V2.0", r"[Vv][0-9]{1,4}\.[0-9]{1,4}")
HEADERS = _separated("the name of a header", "names of headers", "[A-Za-z][A-Za-z0-9-]{0,63}")


def one_of(name: str, values: str, *, observed: str = "") -> Any:
    """Declare an assumption with the choices in ``values``, separated by commas. The first is the default."""
    words = choice(*values.split(", "))
    return free(
        name, structs.replace(words, says=f"one of {values}"), values.partition(", ")[0], observed=observed
    )


def switch(name: str, default: bool, *, observed: str = "") -> Any:
    """Declare an assumption that is true or false."""
    values = (default, not default)
    words = choice(*(spelt(value) for value in values))
    kind = Kind(
        {"type": "boolean", "enum": values},
        lambda raw: words.read(spelt(raw) if isinstance(raw, bool) else raw) == "true",
        says=f"one of {', '.join(map(spelt, values))}",
    )
    return free(name, kind, spelt(default), observed=observed)


def free(
    name: str, kind: Kind[Any], default: str, *, observed: str = "", alternatives: Sequence[str] = ()
) -> Any:
    """Declare an assumption whose values are of ``kind``.

    ``observed`` is the value that clients rely on, if it differs from the default. ``alternatives`` holds the
    values that ``sweep`` tries, if the kind does not list its values.
    """
    declared = {"name": name, "kind": kind, "observed": observed or default, "alternatives": alternatives}
    return field(default=kind.read(default), metadata=declared)


@dataclass(frozen=True)
class RegistryAssumptions:
    """Assumptions that apply to both v3 and v2.0.

    Args:
        registry_hold: Whether the registrant can end its own hold (unlock, client_hold 0) while the registry
            also holds the name. Even if the request is accepted, the name stays suspended.
        private_glue: Whether a glue record can have a private or documentation address (such as 10.0.0.1 or
            192.0.2.1).
        time_zone: The time zone of dates without a zone (YYYY-MM-DD HH:MM:SS): in getDomain, the domain list
            and serverTime of v3, and in all dates of v2.0. Dates that end with Z are always in UTC.
        contact_checks: Whether contact details are checked as registries do: countries of ISO 3166, possible
            telephone numbers, well-formed mail addresses, and no blank text in a required field. With loose,
            only the form of each field counts.
        unknown_keys: Whether requests with unknown keys are accepted (the response header X-Sandbox-Ignored
            lists the keys) or refused.
        early_delete_refunds: The charges that a deletion within the add grace period refunds: registration
            and renewals, or only the registration.
        transfer_lock_from: The start of the period in which a name cannot be transferred: its last transfer
            (its creation, if there was no transfer), or always its creation.
        autorenew_tries: How often the sandbox tries to renew a name automatically: only once (at expiry), or
            also every day while the name is overdue. In a zone with autorenew_before, the attempts begin so
            many days before expiry.
        compression: The encoding of responses for clients that accept gzip (Accept-Encoding): none, or gzip.
        new_registrant: The fields of a registrant's contact that make a new registrant if they change: name
            and company, also the e-mail address, or any field. A new registrant costs the owner-change price,
            and the update lock forbids it. Blanks at the ends and the Unicode form of letters do not count.
        cover_shared_contacts: Whether a change of a contact that gives domains a new registrant is a change
            of these domains: the update lock of any of them forbids the change, and it costs the owner-change
            price of each domain. If off, a contact is independent of the domains that use it.
    """

    registry_hold: str = one_of("locks.registry_hold", "refused, accepted")
    private_glue: str = one_of("hosts.private_addresses", "accepted, refused")
    time_zone: str = free(
        "dates.time_zone", TIME_ZONE, "UTC", alternatives=("Europe/Kyiv", "America/New_York")
    )
    contact_checks: str = one_of("contacts.checks", "strict, loose")
    unknown_keys: str = one_of("requests.unknown_keys", "accepted, refused")
    early_delete_refunds: str = one_of("lifecycle.early_delete.refunds", "all, registration")
    transfer_lock_from: str = one_of("lifecycle.transfer_lock.from", "creation_or_transfer, creation")
    autorenew_tries: str = one_of("lifecycle.autorenew.tries", "once, daily")
    compression: str = one_of("responses.compression", "none, gzip")
    new_registrant: str = one_of("lifecycle.new_registrant", "name_or_company, email_too, any_field")
    cover_shared_contacts: str = one_of("locks.cover_shared_contacts", "on, off")


@dataclass(frozen=True)
class V2Assumptions:
    """Assumptions about v2.0.

    Args:
        versions: The versions that the server accepts in paths. V and v mean the same.
        token_headers: The headers that may carry the token (--token-header sets them).
        v2_http_status: The HTTP status of a v2.0 response: the code in its body, or always 200.
        customer_edit_by: How PUT /customer finds the customer: by mail (or by customer_id, if the request has
            one), or only by customer_id.
        domain_info_shape: Whether domain info returns the Domain object itself, or an envelope with the
            object in data.
        domain_check_avail: The JSON type of avail in the response of the domain check.
        zones_data: Whether data in the response of the zones listing is a list of zones, or only the first
            zone.
        customer_delete_refusal_status: The value of status in the response that refuses to delete a customer
            with active orders.
        transfer_status: The values of transfer_status: EPP words (clientApproved, …), or plain words
            (approved, …).
        request_format: Whether request bodies must be JSON, or can also be forms with nested arrays
            (form-encoded or multipart/form-data).
        order_processing: Number of seconds that a new order stays in status 0, and again in status 1.
        extra_contact_params: The extra parameters of a contact: those that the fixture lists under
            contact_params.
        contact_required: The required fields of a contact: all, or all except company, fax and region.
        customer_required: The required fields of a new customer: only mail and name, or the required
            fields of a contact, or all fields.
        phone_form: The accepted telephone numbers: any common form, or only the form of v3 (+380.441234567).
        active_orders: The orders of a customer that count as active: all except those with status 6, or only
            those with status 2.
        premium_names: Whether a v2.0 request that registers, renews or transfers a premium name is charged
            the premium price, or is refused. A v2.0 request cannot agree to a price. If such requests are
            refused, the domain check reports the name as unavailable.
        arriving_status: The status of a name during its transfer from another registrar: 1 or 0.
        repeated_nameservers: Whether these requests are refused, or accepted without a change: to add a name
            server that the domain already has, and to remove a name server that the domain does not have.
        v2_name_form: The form of an internationalised name in responses: as the request wrote it (but in
            Unicode in lists), always in Unicode, or always in its xn-- form.
        no_promotion: The promotion keys of a zone without a promotion: the regular price with an empty date,
            nulls, or no keys.
        renew_maximum: The maximum in the error for a renewal period that is too long: the years that can
            still be added (remaining), or for a period above the zone's maximum that maximum (zone).
        renew_date_end: Whether date_end in a renewal must be the new expiry date, or is ignored.
        license: The key of the licence number in the body of a registration.
    """

    versions: tuple[str, ...] = free("v2.versions", VERSIONS, "V2.0", alternatives=("V2.1", "V2.0,V2.1"))
    token_headers: tuple[str, ...] = free(
        "v2.token_headers",
        HEADERS,
        "X-Auth-Token",
        observed="X-Auth-Token,X-Token",
        alternatives=("X-Token", "X-Auth-Token,X-Token"),
    )
    v2_http_status: str = one_of("v2.http_status", "mirror, always_200")
    customer_edit_by: str = one_of("v2.customer_edit.by", "mail, customer_id")
    domain_info_shape: str = one_of("v2.domain_info.shape", "bare, wrapped", observed="wrapped")
    domain_check_avail: str = one_of("v2.domain_check.avail", "string, boolean", observed="boolean")
    zones_data: str = one_of("v2.zones.data", "list, object")
    customer_delete_refusal_status: bool = switch("v2.customer_delete.refusal_status", True, observed="false")
    transfer_status: str = one_of("v2.transfer_status", "epp, plain")
    request_format: str = one_of("v2.request_format", "json, json_or_form", observed="json_or_form")
    order_processing: int = free("v2.order_processing", SECONDS, "instant", alternatives=("60", "86400"))
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
    license: str = free("v2.license", KEY, "license", alternatives=("licence", "license_number"))


@dataclass(frozen=True)
class V3Assumptions:
    """Assumptions about v3.

    Args:
        signature_endpoint: The meaning of ENDPOINT in the signed string: the full URL, the path with its
            query, only the path, or any of them.
        signature_payload: The meaning of PAYLOAD in the signed string for an empty body: an empty string, {}
            (or []), or any of them.
        signature_query: Whether the signed URL includes the API key, if the query string contains the key.
            The signed URL never includes the signature.
        content_type: Whether a body is read as JSON with any content type, or only with a JSON type.
        v3_http_status: The HTTP status of a v3 error: one that fits the error, or always 200.
        availability_taken: The status of a registered name in an availability response.
        availability_reserved: The status, in an availability response, of a name that its registry reserves.
        availability_unsupported: The status, in an availability response, of a name whose zone the service
            does not offer. The prices are 0.00 and the periods 0.
        availability_invalid: The status, in an availability response, of a name that is malformed or that its
            zone's rules forbid. The prices are 0.00 and the periods 0.
        availability_out_of_service: The status, in an availability response, of a free name whose zone is out
            of service: available, or the status for a zone that the service does not offer.
        contacts_required: The contacts that createDomain requires. If a request omits a contact that is not
            required, the domain gets the account's own contact.
        contacts_fields: The required fields of each contact: seven (name, address1, city, country, phone,
            email and zipcode), none, or all ten.
        contacts_left_out: Whether a field that setContacts omits from a contact keeps its value, as in v2.0,
            or becomes empty. In a new order, an omitted field is always empty.
        purchase_cost: The operations that require purchaseCost for a premium name: createDomain, or also
            renewDomain and requestTransfer. For a premium name, purchaseCost must always equal the price of
            all years. With whenever_given, this is also true for ordinary names.
        unlock_transfer_locked: The value of lockedEnabled in the response of unlockTransfer.
        list_last_page: Whether the last page of the domain list omits lastPage, as it omits nextPage.
        list_parameters: Whether the domain list requires perPage and page. If optional, the defaults are 100
            and 1.
        list_max_per_page: The maximum of perPage in the domain list, or none.
        list_over_max: Whether a larger perPage is capped to the maximum, or refused.
        set_contacts_answer: The body of a setContacts response: the domain envelope, the contacts, or a
            message.
        expired_status: The v3 status of an expired name, which is out of the DNS.
        transfer_outcome: The effect of approving, rejecting or cancelling a pending transfer: the transfer
            ends at once. Without such a request, the transfer completes after the zone's transfer period.
        update_lock_covers: The changes that lockUpdate and client_update_prohibited forbid: name servers,
            contacts, glue records and the authorization code, or only a new registrant. Renewals and switches
            (lock, enableAutorenew, …) stay possible.
        update_prohibited_shown: The responses that show updateProhibited of a domain: those of lockUpdate and
            unlockUpdate, or all responses with the domain, once its update lock was used.
        get_domain_order_id: Whether getDomain accepts an order id in place of the name.
        v3_ids: Whether order-id and client-id are strings or integers.
        name_form: The form of an internationalised name in responses: as the request wrote it (but in
            Unicode in lists), always in Unicode, or always in its xn-- form.
        repeated_switch: Whether a request that sets a switch (lock, lockTransfer, enableAutorenew, …) to its
            present state is accepted without a change, or refused.
        create_autorenew: The value of autorenewEnabled of a new name: as in the request (default: off), on,
            or off.
        create_locked: The value of lockedEnabled of a new name: as in the request (default: off), on, or off.
        privacy_term: Whether whois protection is charged for each registered year, or once.
        privacy_renewal: Whether a renewal, by request or by the clock, charges whois protection again.
        privacy_not_offered: Whether a request for whois protection in a zone without whois protection is
            ignored (the name has no protection, the price is 0 and X-Sandbox-Ignored names the key), or
            refused.
        own_glue: Whether a new name server needs a glue record first. This concerns name servers below the
            domain itself, below other domains of the account, and below free names in the service's zones.
        transfer_years: The number of years that a transfer adds and charges: one (or the zone's
            min_transfer_years), or the number in the request.
    """

    signature_endpoint: str = one_of("v3.signature.endpoint", "any, url, path, path_no_query", observed="url")
    signature_payload: str = one_of("v3.signature.payload", "any, raw, empty_object", observed="raw")
    signature_query: str = one_of("v3.signature.query", "excluded, included")
    content_type: str = one_of("v3.request.content_type", "any, json")
    v3_http_status: str = one_of("v3.errors.http_status", "semantic, always_200")
    availability_taken: str = free(
        "v3.availability.taken", WORD, "registered", alternatives=("taken", "unavailable")
    )
    availability_reserved: str = free(
        "v3.availability.reserved", WORD, "reserved", alternatives=("registered", "unavailable")
    )
    availability_unsupported: str = free(
        "v3.availability.unsupported", WORD, "unsupported", alternatives=("unavailable", "error")
    )
    availability_invalid: str = free(
        "v3.availability.invalid", WORD, "invalid", alternatives=("unavailable", "error")
    )
    availability_out_of_service: str = one_of("v3.availability.out_of_service", "unsupported, available")
    contacts_required: str = one_of("v3.contacts.required", "none, registrant, all")
    contacts_fields: str = one_of("v3.contacts.fields", "default, none, all")
    contacts_left_out: str = one_of("v3.contacts.left_out", "kept, emptied")
    purchase_cost: str = one_of("v3.purchase_cost", "premium, premium_everywhere, whenever_given")
    unlock_transfer_locked: bool = switch("v3.unlock_transfer.locked", False)
    list_last_page: str = one_of("v3.list.last_page", "with_next, always", observed="always")
    list_parameters: str = one_of("v3.list.parameters", "optional, required")
    list_max_per_page: int | str = free("v3.list.max_per_page", PAGE_SIZE, "none", alternatives=("1", "100"))
    list_over_max: str = one_of("v3.list.over_max", "capped, refused")
    set_contacts_answer: str = one_of("v3.set_contacts.answer", "envelope, contacts, message")
    expired_status: str = one_of("v3.expired_status", "suspended, active")
    transfer_outcome: str = one_of("v3.transfer.outcome", "immediate")
    update_lock_covers: str = one_of("v3.update_lock.covers", "updates, registrant_only")
    update_prohibited_shown: str = one_of("v3.update_prohibited.shown", "answers_of_the_two, once_used")
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


@dataclass(frozen=True)
class Assumptions(RegistryAssumptions, V2Assumptions, V3Assumptions):
    """All assumptions, each with its value."""

    def with_values(self, values: Mapping[str, object]) -> Assumptions:
        """Return a copy of these assumptions with new ``values``, whose keys are public names.

        Raise ``Within``, which names every mistake.
        """
        changed = {_FIELDS[name].name: value for name, value in read_values(values).items()}
        return replace(self, **changed) if changed else self

    def values(self) -> dict[str, object]:
        """Return the value of each assumption by its public name."""
        return {name: getattr(self, field.name) for name, field in _FIELDS.items()}

    def departures(self) -> dict[str, object]:
        """Return the values that differ from the defaults, by public name."""
        return {name: value for name, value in self.values().items() if value != _FIELDS[name].default}


#: ``_FIELDS`` maps public names to fields, and ``_NAMES`` maps names of fields to public names.
_FIELDS = {field.metadata["name"]: field for field in fields(Assumptions)}
_NAMES: dict[str, str] = {field.name: name for name, field in _FIELDS.items()}

_PARAMETERS = [Parameter(name, field.metadata["kind"], False) for name, field in _FIELDS.items()]


def read_values(raw: object) -> dict[str, Any]:
    """Read an object that maps public names of assumptions to their values.

    Raise ``Within``, which names every mistake and holds the valid values.
    """
    values, wrong = read(_PARAMETERS, mapping(raw))
    if wrong:
        raise Within(wrong, values)
    return values


def profile(name: str) -> Assumptions:
    """Return the assumptions of the profile ``documented`` or ``observed``.

    ``documented`` has all defaults, ``observed`` the values that clients rely on.
    """
    observed = {name: field.metadata["observed"] for name, field in _FIELDS.items()}
    return Assumptions().with_values(observed if name == "observed" else {})


def catalogue(values: Assumptions) -> list[dict[str, object]]:
    """Return a description of each assumption as a JSON object.

    Each object has name, value, default, accepted values, observed value and description.
    """
    about = {
        name: words for base in Assumptions.__bases__ for name, words in documented_parameters(base).items()
    }
    return [
        {
            "name": name,
            "value": getattr(values, field.name),
            "default": field.default,
            "takes": field.metadata["kind"].says,
            "observed": field.metadata["observed"],
            "about": about[field.name],
        }
        for name, field in _FIELDS.items()
    ]


def public_name(field: str) -> str:
    """Return the public name of ``field``: ``v2.phone`` for ``phone_form``."""
    return _NAMES[field]


#: The codes of the refusals that occur or not by the value of an assumption, by public name.
_DECIDED: Mapping[str, str] = {
    "contacts.checks": "contacts_required invalid_contact missing_parameter",
    "dates.time_zone": "end_mismatch expiry_mismatch",
    "hosts.private_addresses": "invalid_ip",
    "lifecycle.new_registrant": "insufficient_funds locked registrant_changed",
    "lifecycle.transfer_lock.from": "too_young",
    "locks.cover_shared_contacts": "insufficient_funds locked",
    "locks.registry_hold": "held_by_registry",
    "requests.unknown_keys": "unknown_keys",
    "v2.extra_contact_params": "invalid_extra missing_parameter unknown_extra",
    "v2.license": "invalid_license license_required",
    "v2.order_processing": "wrong_state",
    "v2.premium_names": "premium_not_taken",
    "v2.renew.date_end": "end_mismatch",
    "v2.request_format": "unsupported_media_type",
    "v2.token_headers": "token_missing",
    "v2.versions": "version_not_served",
    "v3.contacts.fields": "contacts_required invalid_parameter",
    "v3.contacts.required": "contacts_required",
    "v3.list.over_max": "invalid_parameter",
    "v3.list.parameters": "missing_parameter",
    "v3.nameservers.own_glue": "invalid_nameserver",
    "v3.privacy.not_offered": "privacy_not_offered",
    "v3.purchase_cost": "premium_cost_required price_mismatch",
    "v3.request.content_type": "unsupported_media_type",
    "v3.signature.endpoint": "signature_mismatch",
    "v3.signature.payload": "signature_mismatch",
    "v3.signature.query": "signature_mismatch",
    "v3.switches.repeated": "switched_already",
    "v3.update_lock.covers": "locked",
}


def decides(assumption: str, code: str) -> bool:
    """Whether a refusal occurs or not by the value of an assumption. Both are public names."""
    return code in _DECIDED.get(assumption, "").split()


def kinds() -> dict[str, Kind[Any]]:
    """Return the kind of each assumption's value, by public name."""
    return {name: field.metadata["kind"] for name, field in _FIELDS.items()}


def alternative_values() -> dict[str, tuple[object, ...]]:
    """Return the values that ``sweep`` tries for each assumption, by public name."""
    # Read the values here, because reading a time zone loads all time zones.
    return {
        name: tuple(map(kind.read, field.metadata["alternatives"])) or tuple(kind.shape.get("enum", ()))
        for name, field in _FIELDS.items()
        for kind in [field.metadata["kind"]]
    }


class _Watched:
    """A view of assumptions that records the name of each field that a request reads."""

    __slots__ = ("_read", "_values")

    def __init__(self, values: Assumptions, read: set[str]) -> None:
        self._values = values
        self._read = read

    def __getattr__(self, name: str) -> object:
        self._read.add(name)
        return getattr(self._values, name)


def watched(values: Assumptions, read: set[str]) -> Assumptions:
    """Return a read-only view of ``values``. Reading a field adds its name to ``read``."""
    return _Watched(values, read)  # type: ignore[return-value]  # it has the same attributes


def named(values: Assumptions, read: Set[str]) -> list[tuple[str, object]]:
    """Return public name and value of each field in ``read``, in order of declaration."""
    return [(name, getattr(values, own)) for own, name in _NAMES.items() if own in read]
