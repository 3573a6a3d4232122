"""What the contract leaves open, each as a named assumption that can be switched.

One field of ``Assumptions`` is one silence: its name on the outside, its
default, its alternatives, the value callers were seen to rely on where that
differs, and what it decides. Settings, fixtures and answers use the same names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, cast

from reseller_sandbox.core.spelling import nearest

PROFILES = ("documented", "observed")

#: Free values end up in bodies, in paths and in headers, so they hold nothing that those could not.
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
#: What the items of a list look like, by its kind.
_LISTS = {
    "versions": re.compile(r"[Vv][0-9]{1,4}\.[0-9]{1,4}"),
    "headers": re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}"),
}
_MOST_LISTED = 10


class BadAssumption(ValueError):
    """A name that is no assumption's, or a value that the assumption does not take."""


def _one_of(name: str, *values: str, observed: str = "", about: str) -> Any:
    """A choice among ``values``, the first of which is the default."""
    return _silence(name, "choice", values, observed, about)


def _switch(name: str, default: bool, *, about: str) -> Any:
    return _silence(name, "switch", ("true", "false") if default else ("false", "true"), "", about)


def _open(
    name: str, kind: str, default: str, *, about: str, values: tuple[str, ...] = (), observed: str = ""
) -> Any:
    """A free value of the given kind: ``word``, ``seconds``, ``versions`` or ``headers`` (with commas)."""
    return _silence(name, kind, (default, *values), observed, about)


def _silence(name: str, kind: str, values: tuple[str, ...], observed: str, about: str) -> Any:
    metadata = {"name": name, "kind": kind, "values": values, "observed": observed, "about": about}
    return field(default=_read(kind, values, values[0], name), metadata=metadata)


def _read(kind: str, values: tuple[str, ...], given: object, name: str) -> Any:
    """The value that ``given`` (text, or what YAML and JSON make of it) stands for."""
    text = str(given).lower() if isinstance(given, bool) else given
    if kind in _LISTS:
        listed = text.split(",") if isinstance(text, str) else given
        if isinstance(listed, list | tuple) and 0 < len(listed) <= _MOST_LISTED:
            items = tuple(item.strip() if isinstance(item, str) else "" for item in listed)
            if all(map(_LISTS[kind].fullmatch, items)):
                return items
    elif kind == "seconds":
        if str(text) == "instant":
            return 0
        if str(text).isascii() and str(text).isdigit() and len(str(text)) < 9:
            return int(str(text))
    elif kind == "word":
        if isinstance(text, str) and _WORD.fullmatch(text):
            return text
    elif text in values:
        return text == "true" if kind == "switch" else text
    raise BadAssumption(f"{name} takes {_takes(kind, values)}, not {_short(given)}")


def _short(given: object) -> str:
    shown = repr(given)
    return shown if len(shown) <= 80 else f"{shown[:79]}…"


def _takes(kind: str, values: tuple[str, ...]) -> str:
    free = {
        "versions": f"a list of up to {_MOST_LISTED} versions such as V2.0",
        "headers": f"a list of up to {_MOST_LISTED} names of headers",
        "seconds": "a number of seconds, or instant",
        "word": "a word of letters, digits, hyphens and underscores",
    }
    return free.get(kind, "one of " + ", ".join(values))


@dataclass(frozen=True, slots=True)
class Assumptions:
    """A value for each silence of the contract."""

    signature_endpoint: str = _one_of(
        "v3.signature.endpoint",
        "any",
        "url",
        "path",
        "path_no_query",
        observed="url",
        about="What ENDPOINT stands for in the signed string: the full URL, the path with its query, "
        "the path alone, or whichever of them matches.",
    )
    signature_payload: str = _one_of(
        "v3.signature.payload",
        "any",
        "raw",
        "empty_object",
        observed="raw",
        about="What PAYLOAD stands for when the body is empty: nothing, {} (or []), or either.",
    )
    signature_query: str = _one_of(
        "v3.signature.query",
        "excluded",
        "included",
        about="Whether the key, when sent in the query string, stays in the signed URL; the signature "
        "never can.",
    )
    content_type: str = _one_of(
        "v3.request.content_type",
        "any",
        "json",
        about="Whether a body is read as JSON whatever its content type, or only when that is JSON.",
    )
    v3_http_status: str = _one_of(
        "v3.errors.http_status",
        "semantic",
        "always_200",
        about="The HTTP status of a v3 error: one that fits it, or always 200.",
    )
    availability_taken: str = _open(
        "v3.availability.taken", "word", "registered", about="The status of a name that is taken."
    )
    availability_reserved: str = _open(
        "v3.availability.reserved",
        "word",
        "reserved",
        about="The status of a name that its registry keeps back.",
    )
    availability_unsupported: str = _open(
        "v3.availability.unsupported",
        "word",
        "unsupported",
        about="The status of a name in no zone of the service; its prices are 0.00, its periods 0.",
    )
    availability_invalid: str = _open(
        "v3.availability.invalid",
        "word",
        "invalid",
        about="The status of a name that is malformed or against its zone's rules; its prices are 0.00, its "
        "periods 0.",
    )
    availability_out_of_service: str = _one_of(
        "v3.availability.out_of_service",
        "unsupported",
        "available",
        about="The status of a free name whose zone is out of service: that of a zone which is not there, "
        "or available.",
    )
    contacts_required: str = _one_of(
        "v3.contacts.required",
        "none",
        "registrant",
        "all",
        about="Which contacts createDomain must be given; the others fall back on the account's own.",
    )
    contacts_fields: str = _one_of(
        "v3.contacts.fields",
        "usual",
        "none",
        "all",
        about="Which fields each given contact must have: name, address1, city, country, phone, email and "
        "zipcode, none, or all ten.",
    )
    contacts_left_out: str = _one_of(
        "v3.contacts.left_out",
        "kept",
        "emptied",
        about="What becomes of the fields that a contact in setContacts leaves out: they stay, as "
        "in v2.0, or they are emptied. In a new order they are empty.",
    )
    purchase_cost: str = _one_of(
        "v3.purchase_cost",
        "premium",
        "premium_everywhere",
        "whenever_given",
        about="Where purchaseCost must be sent for a premium name: to createDomain, or to renewDomain and "
        "requestTransfer as well. Wherever it is sent for one, it must equal the price of all the years; "
        "under whenever_given for ordinary names, too.",
    )
    unlock_transfer_locked: bool = _switch(
        "v3.unlock_transfer.locked", False, about="lockedEnabled in the answer of unlockTransfer."
    )
    list_last_page: str = _one_of(
        "v3.list.last_page",
        "with_next",
        "always",
        observed="always",
        about="Whether lastPage is left out of the list's last page, as nextPage is.",
    )
    list_parameters: str = _one_of(
        "v3.list.parameters",
        "optional",
        "required",
        about="Whether perPage and page must be sent (100 and 1 otherwise).",
    )
    set_contacts_answer: str = _one_of(
        "v3.set_contacts.answer",
        "envelope",
        "contacts",
        "message",
        about="The body of a setContacts answer: the domain envelope, the contacts, or a message.",
    )
    expired_status: str = _one_of(
        "v3.expired_status",
        "suspended",
        "active",
        about="The v3 status of an expired name, which is out of the DNS.",
    )
    transfer_outcome: str = _one_of(
        "v3.transfer.outcome",
        "immediate",
        about="What approve, reject and cancel do: they end a pending transfer at once. Left alone, it "
        "completes when the zone's days are over.",
    )
    update_lock_covers: str = _one_of(
        "v3.update_lock.covers",
        "updates",
        "registrant_only",
        about="What lockUpdate and client_update_prohibited forbid: new name servers, contacts, glue records "
        "and codes, or a new registrant alone; never renewals and switches.",
    )
    registry_hold: str = _one_of(
        "locks.registry_hold",
        "refused",
        "accepted",
        about="Ending one's own hold (unlock, client_hold 0) of a name that its registry holds: refused, "
        "or accepted, and the name stays suspended.",
    )
    get_domain_order_id: str = _one_of(
        "v3.get_domain.order_id", "off", "on", about="Whether getDomain takes an order id for the name."
    )
    v3_ids: str = _one_of(
        "v3.ids", "string", "integer", about="Whether order-id and client-id are strings or integers."
    )
    name_form: str = _one_of(
        "v3.names.form",
        "as_asked",
        "unicode",
        "ascii",
        about="How an internationalised name is written in answers: as the request wrote it "
        "(lists: in Unicode), always in Unicode, or always in its xn-- form.",
    )
    repeated_switch: str = _one_of(
        "v3.switches.repeated",
        "accepted",
        "refused",
        about="Switching on what is on already (lock, lockTransfer, enableAutorenew, …): "
        "an answer without a change, or a refusal.",
    )
    create_autorenew: str = _one_of(
        "v3.create.autorenew",
        "as_sent",
        "always",
        "never",
        about="autorenewEnabled of a new name: as the request says (off where it does not), on, or off.",
    )
    create_locked: str = _one_of(
        "v3.create.locked",
        "as_sent",
        "always",
        "never",
        about="lockedEnabled of a new name: as the request says (off where it does not), on, or off.",
    )
    privacy_term: str = _one_of(
        "v3.privacy.charged",
        "per_year",
        "once",
        about="Whether whois protection is charged for each year registered, or once.",
    )
    privacy_renewal: str = _one_of(
        "v3.privacy.renewal",
        "charged",
        "free",
        about="Whether a renewal, by request or by the clock, charges whois protection again.",
    )
    own_glue: str = _one_of(
        "v3.nameservers.own_glue",
        "ignored",
        "required",
        about="Whether a new name server must have a glue record first that lies below the name itself, "
        "below another name of the account's, or below a name of the service's zones that nobody holds.",
    )
    private_glue: str = _one_of(
        "hosts.private_addresses",
        "accepted",
        "refused",
        about="Whether a glue record may hold addresses of private networks and of documentation.",
    )
    transfer_years: str = _one_of(
        "v3.transfer.years",
        "one",
        "as_sent",
        about="How many years a transfer adds: one, or as many as the request says; each is charged.",
    )
    unknown_keys: str = _one_of(
        "requests.unknown_keys",
        "accepted",
        "refused",
        about="Keys of a request that nothing reads, in either generation: told in a header of the answer, "
        "or refused.",
    )
    versions: tuple[str, ...] = _open(
        "v2.versions", "versions", "V2.0", about="The versions that are served; V and v are the same."
    )
    token_headers: tuple[str, ...] = _open(
        "v2.token_headers",
        "headers",
        "X-Auth-Token",
        observed="X-Auth-Token,X-Token",
        about="The headers that a token is taken from (--token-header sets them).",
    )
    v2_http_status: str = _one_of(
        "v2.http_status",
        "mirror",
        "always_200",
        about="The HTTP status of a v2.0 answer: the body's code, or always 200.",
    )
    customer_edit_by: str = _one_of(
        "v2.customer_edit.by",
        "mail",
        "customer_id",
        about="How PUT /customer finds the customer: by its mail (or a customer_id, where one is sent), "
        "or by customer_id alone.",
    )
    domain_info_shape: str = _one_of(
        "v2.domain_info.shape",
        "bare",
        "wrapped",
        observed="wrapped",
        about="Whether domain info answers the Domain object itself, or an envelope with it in data.",
    )
    domain_check_avail: str = _one_of(
        "v2.domain_check.avail",
        "string",
        "boolean",
        observed="boolean",
        about="The type of avail in the domain check.",
    )
    zones_data: str = _one_of(
        "v2.zones.data",
        "list",
        "object",
        about="Whether data of the zones listing is a list of zones, or the first zone alone.",
    )
    customer_delete_refusal_status: bool = _silence(
        "v2.customer_delete.refusal_status",
        "switch",
        ("true", "false"),
        "false",
        "status in the refusal to delete a customer with active orders.",
    )
    transfer_status: str = _one_of(
        "v2.transfer_status",
        "epp",
        "plain",
        about="The words of transfer_status: EPP's (clientApproved, …), or plain ones (approved, …).",
    )
    request_format: str = _one_of(
        "v2.request_format",
        "json",
        "json_or_form",
        observed="json_or_form",
        about="Whether form-encoded bodies with nested arrays are taken as well.",
    )
    order_processing: int = _open(
        "v2.order_processing",
        "seconds",
        "instant",
        about="How many seconds a new order stays in status 0, and again in status 1.",
    )
    extra_contact_params: str = _one_of(
        "v2.extra_contact_params",
        "fixture",
        about="Which extra parameters a contact takes: those the fixture lists under contact_params.",
    )
    contact_required: str = _one_of(
        "v2.contact.required",
        "postal",
        "all",
        about="Which fields a contact needs: all but company, fax and region, or all.",
    )
    customer_required: str = _one_of(
        "v2.customer.required",
        "mail_and_name",
        "postal",
        "all",
        about="Which fields a new customer needs: mail and name, those of a contact, or all.",
    )
    phone_form: str = _one_of(
        "v2.phone",
        "any",
        "dotted",
        about="How telephone numbers are written: in any usual way, or as v3 does, +380.441234567.",
    )
    active_orders: str = _one_of(
        "v2.active_orders",
        "unremoved",
        "status_2",
        about="Which orders of a customer count as active: all but those in status 6, or those in 2.",
    )
    premium_names: str = _one_of(
        "v2.premium_names",
        "charged",
        "refused",
        about="Registering, renewing and transferring a premium name, where v2.0 has no price to agree to: "
        "charged at the premium price, or refused; the check says so.",
    )
    arriving_status: str = _one_of(
        "v2.arriving_status",
        "processing",
        "requested",
        about="The status of a name on its way here from another registrar: 1 or 0.",
    )
    repeated_nameservers: str = _one_of(
        "v2.ns.repeated",
        "refused",
        "accepted",
        about="Adding a name server that is there, or taking away one that is not: a refusal, or an "
        "answer without a change.",
    )
    v2_name_form: str = _one_of(
        "v2.names.form",
        "as_asked",
        "unicode",
        "ascii",
        about="How an internationalised name is written in answers: as the request wrote it "
        "(lists: in Unicode), always in Unicode, or always in its xn-- form.",
    )
    no_promotion: str = _one_of(
        "v2.zones.no_promotion",
        "regular",
        "nulls",
        "omitted",
        about="What a zone without a promotion shows for it: the regular price and an empty date, nulls, or "
        "nothing.",
    )
    renew_maximum: str = _one_of(
        "v2.renew.maximum",
        "remaining",
        "zone",
        about="What the maximum in a renewal's refusal is: the years that can still be added, or the most "
        "that the zone sells.",
    )
    renew_date_end: str = _one_of(
        "v2.renew.date_end",
        "checked",
        "ignored",
        about="What date_end in a renewal is: the new end that the caller expects, or nothing.",
    )
    early_delete_refunds: str = _one_of(
        "lifecycle.early_delete.refunds",
        "all",
        "registration",
        about="What deleting a name within its add grace period refunds: the registration and the renewals "
        "since, or the registration alone.",
    )
    transfer_lock_from: str = _one_of(
        "lifecycle.transfer_lock.from",
        "creation_or_transfer",
        "creation",
        about="What the days count from before which a name cannot be transferred: its creation or its last "
        "transfer, or its creation alone.",
    )
    autorenew_tries: str = _one_of(
        "lifecycle.autorenew.tries",
        "once",
        "daily",
        about="When automatic renewal is tried: once, at expiry, or again every day while the name is "
        "overdue.",
    )
    license: str = _open("v2.license", "word", "license", about="The body key of a registration's licence.")

    def with_values(self, values: Mapping[str, object]) -> Assumptions:
        """These assumptions with the named ones changed; raises ``BadAssumption``."""
        known = {item.metadata["name"]: item for item in fields(Assumptions)}
        changed: dict[str, Any] = {}
        for name, given in values.items():
            if name not in known:
                raise BadAssumption(f"{_short(name)} is no assumption{nearest(name, known, 0.4)}")
            about = known[name].metadata
            changed[known[name].name] = _read(about["kind"], about["values"], given, name)
        return replace(self, **changed)

    def values(self) -> dict[str, object]:
        """Each assumption's value under its outer name."""
        return {item.metadata["name"]: getattr(self, item.name) for item in fields(self)}

    def departures(self) -> dict[str, object]:
        """The values that differ from the defaults."""
        return {
            item.metadata["name"]: getattr(self, item.name)
            for item in fields(self)
            if getattr(self, item.name) != item.default
        }


_SILENCES = fields(Assumptions)
_OUTER_NAMES = {item.name: item.metadata["name"] for item in _SILENCES}
_PLACES = {item.name: place for place, item in enumerate(_SILENCES)}


def profile(name: str) -> Assumptions:
    """The assumptions of a profile: ``documented`` is all defaults, ``observed`` what callers rely on."""
    if name not in PROFILES:
        raise BadAssumption(f"{_short(name)} is no profile; the profiles are {', '.join(PROFILES)}")
    chosen = Assumptions()
    if name == "documented":
        return chosen
    seen = {item.metadata["name"]: item.metadata["observed"] for item in fields(chosen)}
    return chosen.with_values({name: value for name, value in seen.items() if value})


def catalogue(values: Assumptions) -> list[dict[str, object]]:
    """Every assumption as data: name, value in force, default, alternatives, observed value, meaning."""
    return [
        {
            "name": item.metadata["name"],
            "value": getattr(values, item.name),
            "default": item.default,
            "takes": _takes(item.metadata["kind"], item.metadata["values"]),
            "observed": item.metadata["observed"] or item.metadata["values"][0],
            "about": item.metadata["about"],
        }
        for item in fields(values)
    ]


class _Watched:
    """Reads assumptions for one request and remembers which it read."""

    __slots__ = ("_read", "_values")

    def __init__(self, values: Assumptions, read: set[str]) -> None:
        self._values = values
        self._read = read

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._values, name)
        self._read.add(name)
        return value


def watched(values: Assumptions, read: set[str]) -> Assumptions:
    """``values`` for reading only; the field names that are read are added to ``read``."""
    return cast(Assumptions, _Watched(values, read))


def named(values: Assumptions, read: Iterable[str]) -> list[tuple[str, object]]:
    """The fields in ``read`` as (outer name, value) pairs, in the order of the catalogue."""
    return [(_OUTER_NAMES[name], getattr(values, name)) for name in sorted(read, key=_PLACES.__getitem__)]
