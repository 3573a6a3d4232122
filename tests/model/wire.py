"""The model's operations as requests of v3 and v2.0, and the facts that their answers show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from tests.clients import person
from tests.model.registry import UNKNOWN, Model, Person, Refusal

D = "/v3/domains"
#: HTTP statuses of the v3 errors, by the categories of the manual's page "Errors".
STATUSES = {
    400: "invalid_name zone_not_supported period_too_short period_too_long premium_cost_required "
    "invalid_nameserver invalid_auth_code invalid_ip",
    402: "insufficient_funds",
    403: "wrong_auth_code",
    404: "domain_not_found not_registered host_not_found",
    409: "name_taken name_reserved price_mismatch wrong_state locked transfer_pending no_transfer "
    "transfers_not_supported already_yours too_young registrant_changed hosts_not_supported host_exists "
    "host_in_use",
}
STATUS_OF = {code: status for status, codes in STATUSES.items() for code in codes.split()}

_STATE = (403, "The status of the order does not allow to perform the operation")
_INVALID_ID = (400, "Invalid id")
_LOST = "not_registered already_yours wrong_state transfer_pending locked too_young registrant_changed"
#: The documented v2.0 error of each reason; the reasons of single operations stand under both.
ERRORS_V2: Mapping[Any, tuple[int, str]] = {
    "insufficient_funds": (403, "Not enough funds on the balance sheet"),
    "name_taken": (403, "Domain is already registered"),
    "name_reserved": (403, "Domain is already registered"),
    "zone_not_supported": (400, "Domain zone not support"),
    "transfers_not_supported": (400, "Domain zone not support"),
    "invalid_name": (400, "Not the correct domain name"),
    "invalid_nameserver": (400, "Not the correct ns: {server}"),
    "period_too_long": (400, "maximum value period: {limit}"),
    "period_too_short": (400, "minimum value period: {limit}"),
    "expiry_mismatch": (400, "Not the correct current_expiry_date"),
    "wrong_auth_code": (400, "Not the correct transfer_code"),
    "hosts_not_supported": (403, "Order not support this action"),
    "host_not_found": (404, "Object not found {host}"),
    **dict.fromkeys(("wrong_state", "transfer_pending", "no_transfer", "locked"), _STATE),
    **dict.fromkeys(("host_in_use", "host_exists"), _STATE),
    "domain_not_found": (404, "Object not found {name}"),
    **{(operation, "domain_not_found"): _INVALID_ID for operation in ("edit", "delete", "renew", "restore")},
    **dict.fromkeys([("transfer", code) for code in _LOST.split()], _INVALID_ID),
    **dict.fromkeys(
        [("edit_contact", "locked"), ("edit_contact", "insufficient_funds")], (400, "Invalid Param")
    ),
    ("edit", "wrong_state"): (400, "Not the correct status"),
    ("edit", "locked"): (400, "Not the correct client_update_prohibited"),
    ("edit", "transfer_pending"): (400, "Not the correct client_transfer_prohibited"),
    **{
        (operation, "invalid_name"): (400, "Domain zone not support")
        for operation in ("create_host", "delete_host", "get_host", "check_host")
    },
}
#: Operations that are about no name.
_NAMELESS = ("balance", "names", "edit_contact")
#: Operations that do not look at the zone. For them, a name of another account is an invalid id.
_BY_PARTY = ("transfer_status", "decide")


def instant(text: str, form: str) -> datetime:
    """Return an instant in one of the contract's two forms."""
    return datetime.strptime(text, form).replace(tzinfo=UTC)


ISO, SPACED = "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M:%S"


def _summary(domain: Mapping[str, Any], form: str) -> dict[str, Any]:
    return {
        "name": domain["domainName"],
        "privacy": domain["privacyEnabled"],
        "locked": domain["lockedEnabled"],
        "autorenew": domain["autorenewEnabled"],
        "created": instant(domain["createDate"], form),
        "expires": instant(domain["expireDate"], form),
        **({"premium": domain["premium"]} if "premium" in domain else {}),
    }


def _holder(contact: Mapping[str, str]) -> Person:
    return Person(*(contact[key].lstrip("+") for key in ("name", "company-name", "email", "phone")))


def _contact_v3(holder: Person) -> dict[str, Any]:
    return person(
        holder.name, **{"company-name": holder.company, "email": holder.mail, "phone": holder.phone}
    )


def _envelope(body: Any, form: str = ISO) -> dict[str, Any]:
    domain = body["domain"]
    return {
        **_summary(domain, form),
        "servers": tuple(domain["nameservers"]),
        "holder": _holder(domain["contacts"]["reg-contact"]),
        "renewal": Decimal(domain["renewalCost"]),
        "number": int(body["order-id"]),
        "status": body["status"],
        **({"update_locked": domain["updateProhibited"]} if "updateProhibited" in domain else {}),
        **({"paid": Decimal(body["totalPaid"])} if "totalPaid" in body else {}),
    }


def _order(body: Any) -> dict[str, Any]:
    shown = {"name": body["domainName"], "number": int(body["order-id"]), "status": body["status"]}
    return {**shown, "paid": Decimal(body["totalPaid"])}


def _balance(body: Any) -> dict[str, Any]:
    return {"balance": Decimal(body[0]["balance"]), "server_time": instant(body[0]["serverTime"], SPACED)}


def _availability(body: Any) -> dict[str, Any]:
    (row,) = body["results"]
    return {
        "availability": row["status"],
        "purchase": Decimal(row["purchaseCost"]),
        "renewal": Decimal(row["renewalCost"]),
        "premium": row["premium"],
        "years": (int(row["periodMin"]), int(row["periodMax"])),
    }


def _host(body: Any) -> dict[str, Any]:
    return {"host": body["hostname"], **({"ips": tuple(body["ips"])} if "ips" in body else {})}


def _info_v2(body: Any) -> dict[str, Any]:
    return {
        "created": instant(body["date_created"], SPACED),
        "expires": instant(body["date_end"], SPACED),
        "servers": tuple(body["ns"]),
        "status_v2": body["status"],
    }


def _domain(name: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
    keys = {"privacy": "privacyEnabled", "autorenew": "autorenewEnabled", "locked": "lockedEnabled"}
    flags = {wire: wanted[key] for key, wire in keys.items() if key in wanted}
    servers = {"nameservers": wanted["servers"]} if wanted.get("servers") else {}
    return {"domainName": name, **flags, **servers}


def _purchase(name: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
    terms = {"years": wanted.get("years"), "purchaseCost": wanted.get("cost")}
    sent = {key: str(value) if isinstance(value, Decimal) else value for key, value in terms.items()}
    return {
        "domain": _domain(name, wanted),
        **{key: value for key, value in sent.items() if value is not None},
    }


def _switch(flag: str, on: bool) -> str:
    if flag == "autorenew":
        return "enableAutorenew" if on else "disableAutorenew"
    kind = "" if flag == "hold" else flag.title()
    return f"lock{kind}" if on else f"unlock{kind}"


#: The keys of a body with the names of their values, or a function for them.
Body = Mapping[str, str] | Callable[[str, Mapping[str, Any]], dict[str, Any]]
Facts = Mapping[str, str] | Callable[[Any], dict[str, Any]]
#: A method and a path with the name and what is parameters in braces, a body, and the facts in an answer.
Row = tuple[str, Body, Facts]

#: For each operation of the model, its v3 request and the facts in its answer.
V3: Mapping[str, Row] = {
    "balance": ("GET /v3/balance", {}, _balance),
    "check": (f"POST {D}/checkAvailability", lambda name, parameters: {"domainNames": [name]}, _availability),
    "create": (f"POST {D}/createDomain", _purchase, _envelope),
    "info": (f"GET {D}/getDomain/{{name}}", {}, lambda body: _envelope(body, SPACED)),
    "names": (
        f"GET {D}?perPage=100&page=1",
        {},
        lambda body: {"domains": [_summary(domain, SPACED) for domain in body["domains"]]},
    ),
    "renew": (f"POST {D}/renewDomain", _purchase, _envelope),
    "switch": (f"POST {D}/{{switch}}/{{name}}", {}, _envelope),
    "set_servers": (f"POST {D}/setNameservers/{{name}}", {"nameservers": "servers"}, _envelope),
    "set_holder": (
        f"POST {D}/setContacts/{{name}}",
        lambda name, parameters: {"contacts": {"reg-contact": _contact_v3(parameters["person"])}},
        _envelope,
    ),
    "get_code": (f"GET {D}/getAuthcode/{{name}}", {}, {"code": "authCode"}),
    "set_code": (f"POST {D}/setAuthcode/{{name}}", {"authcode": "code"}, {"code": "authCode"}),
    "transfer": (
        f"POST {D}/requestTransfer",
        lambda name, parameters: {**_purchase(name, parameters), "authCode": parameters["code"]},
        _order,
    ),
    "decide": (f"POST {D}/{{word}}Transfer/{{name}}", {}, {"name": "domainName"}),
    "create_host": (f"POST {D}/glueRecords/{{name}}", {"hostname": "label", "ips": "ips"}, _host),
    "update_host": (f"PUT {D}/glueRecords/{{name}}/{{label}}", {"ips": "ips"}, _host),
    "delete_host": (f"DELETE {D}/glueRecords/{{name}}/{{label}}", {}, _host),
    "get_host": (f"GET {D}/glueRecords/{{name}}/{{label}}", {}, _host),
    "list_hosts": (
        f"GET {D}/glueRecords/{{name}}",
        {},
        lambda body: {"hosts": sorted(record["hostname"] for record in body["glueRecords"])},
    ),
}


def _registration_v2(name: str, wanted: Mapping[str, Any]) -> Any:
    contacts = {f"contact_{role}": wanted["holder"] for role in ("registrant", "admin", "tech", "billing")}
    return {**contacts, "ns": {"array": wanted["servers"]}, "period": wanted["years"]}


def _renewal_v2(name: str, wanted: Mapping[str, Any]) -> Any:
    expected = f"{wanted['expected']:%Y-%m-%d}"
    return {"current_expiry_date": expected, "period": wanted["years"], "domain": name}


def _edit_v2(name: str, wanted: Mapping[str, Any]) -> Any:
    flags = {flag: flag if flag == "hold" else f"{flag}_prohibited" for flag in wanted["flags"]}
    body: dict[str, Any] = {f"client_{flags[flag]}": int(on) for flag, on in wanted["flags"].items()}
    servers = {key: wanted[own] for key, own in (("add", "add"), ("del", "remove")) if wanted[own]}
    body |= {"ns": servers} if servers else {}
    return body | ({"contact_registrant": wanted["holder"]} if wanted["holder"] else {})


def _addresses_v2(name: str, wanted: Mapping[str, Any]) -> Any:
    return {"ip": [{"ip": ip, "type": "v6" if ":" in ip else "v4"} for ip in wanted["ips"]]}


def _contact_v2(name: str, wanted: Mapping[str, Any]) -> Any:
    place = {"address": "2 Shared Street", "city": "Kyiv", "zip": "01001", "country": "UA"}
    holder = wanted["person"]
    phone = f"+{holder.phone}"  # v3 requests have no ``+``
    return {**place, "name": holder.name, "company": holder.company, "mail": holder.mail, "phone": phone}


#: The same for v2.0; paths begin below ``/V2.0/domain/``.
V2: Mapping[str, Row] = {
    "check": ("GET {name}/check", {}, {"is_available": "avail"}),
    "create": ("POST {name}", _registration_v2, {}),
    "info": ("GET {name}", {}, _info_v2),
    "renew": (
        "PUT {name}/renew",
        _renewal_v2,
        lambda body: {"expires": instant(body["data"]["date_end"], SPACED), "name": body["data"]["domain"]},
    ),
    "delete": ("DELETE {name}", {}, {}),
    "restore": ("PUT {name}/restore", {}, {}),
    "edit": ("PUT {name}", _edit_v2, {}),
    "edit_contact": ("PUT ../contact/{handle}", _contact_v2, {}),
    "transfer": ("POST {name}/transfer", {"transfer_code": "code"}, {}),
    "transfer_status": ("GET {name}/transfer", {}, {"transfer_status": "transfer_status"}),
    "cancel": ("DELETE {name}/transfer", {}, {}),
    "decide": ("PUT {name}/transfer/{word}", {}, {}),
    "create_host": ("POST {name}/host/{label}", _addresses_v2, {}),
    "delete_host": ("DELETE {name}/host/{label}", {}, {}),
    "get_host": (
        "GET {name}/host/{label}",
        {},
        lambda body: {"host": body["data"]["name"], "ips": tuple(body["data"]["ip"])},
    ),
    "check_host": ("GET {name}/host/{label}/check", {}, {"avail": "avail"}),
}


def _chosen(keys: Mapping[str, str], values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: values[own] for key, own in keys.items()}


class Call(NamedTuple):
    """One operation of an account about a name, over one interface."""

    interface: str
    operation: str
    account: str
    name: str = ""
    parameters: Mapping[str, Any] = {}

    def request(self) -> tuple[str, str, Any]:
        """Return the method, the path and the body of the request."""
        target, body, _ = self._row()
        words = {"switch": _switch(**self.parameters)} if self.operation == "switch" else {}
        method, path = target.format(name=self.name, **words, **self.parameters).split(" ", 1)
        path = path if self.interface == "v3" else f"/V2.0/domain/{path}".replace("domain/../", "")
        sent = body(self.name, self.parameters) if callable(body) else _chosen(body, self.parameters)
        return method, path, sent or None

    def _row(self) -> Row:
        cancels = self.interface == "v2" and self.parameters.get("word") == "cancel"
        return (V3 if self.interface == "v3" else V2)["cancel" if cancels else self.operation]

    def seen(self, status: int, body: Any, rule: str | None) -> tuple[Any, ...]:
        """Return the answer in the model's terms: HTTP status, error, and facts."""
        if self.interface == "v3" and isinstance(body, dict) and "error" in body:
            return status, body["error"], {}
        if self.interface == "v2" and body.get("status") is False:
            return status, (body["code"], body["msg"], (rule or "").partition(":")[0]), {}
        read = self._row()[2]
        return status, None, read(body) if callable(read) else _chosen(read, body)

    def expected(self, model: Model) -> tuple[Any, ...]:
        """Carry the operation out in ``model`` and return the answer that it gives, in the same terms."""
        names = () if self.operation in _NAMELESS else (self.name,)
        extra = {"asks_zone": False} if (self.interface, self.operation) == ("v2", "delete_host") else {}
        extra |= {"whatever": True} if (self.interface, self.operation) == ("v2", "create") else {}
        try:
            if self.interface == "v2" and self.operation not in (*_BY_PARTY, *_NAMELESS):
                model.zone_of(self.name)
            facts = getattr(model, self.operation)(self.account, *names, **self.parameters, **extra)
        except Refusal as refusal:
            return self._refused(refusal)
        if self.operation == "check" and self.interface == "v2":
            facts = {"is_available": "true" if facts["availability"] == "available" else "false"}
        return 200, None, facts

    def _refused(self, refusal: Refusal) -> tuple[Any, ...]:
        if self.interface == "v3":
            if self.operation == "check":
                word = "unsupported" if refusal.code == "zone_not_supported" else "invalid"
                nothing = {"purchase": Decimal(0), "renewal": Decimal(0), "premium": False, "years": (0, 0)}
                return 200, None, {"availability": word, **nothing}
            return STATUS_OF[refusal.code], refusal.code, {}
        if self.operation in _BY_PARTY and refusal.facts.get("elsewhere"):
            code, message = _INVALID_ID
        else:
            own = (self.operation, refusal.code)
            code, message = ERRORS_V2.get(own) or ERRORS_V2[refusal.code]
        return code, (code, message.format(**refusal.facts), refusal.code), {}


def agree(seen: tuple[Any, ...], expected: tuple[Any, ...]) -> bool:
    """Whether an answer is the one that the model gives; it need not show every fact."""
    return seen[:2] == expected[:2] and all(_same(expected[2].get(key), seen[2][key]) for key in seen[2])


def _same(expected: Any, seen: Any) -> bool:
    if isinstance(expected, list) and isinstance(seen, list) and seen and isinstance(seen[0], dict):
        same = [agree((0, 0, shown), (0, 0, other)) for other, shown in zip(expected, seen, strict=False)]
        return len(expected) == len(seen) and all(same)
    return expected in (seen, UNKNOWN)
