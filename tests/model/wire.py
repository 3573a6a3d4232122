"""The model's operations as requests of v3 and v2.0, and the facts that their answers show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from tests.clients import person
from tests.model.registry import UNKNOWN, Model, Refusal

D = "/v3/domains"
#: HTTP statuses of the v3 errors, by the categories of the manual's page "Errors".
STATUSES = {
    400: "invalid_name zone_not_supported period_too_short period_too_long premium_cost_required "
    "invalid_nameserver invalid_auth_code invalid_ip",
    402: "insufficient_funds",
    403: "wrong_auth_code",
    404: "domain_not_found not_registered host_not_found",
    409: "name_taken name_reserved price_mismatch wrong_state locked transfer_pending no_transfer "
    "transfers_not_supported already_yours too_young hosts_not_supported host_exists host_in_use",
}
STATUS_OF = {code: status for status, codes in STATUSES.items() for code in codes.split()}

_STATE = (403, "The status of the order does not allow to perform the operation")
_INVALID_ID = (400, "Invalid id")
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
    **{
        ("transfer", code): _INVALID_ID
        for code in (
            "not_registered",
            "already_yours",
            "wrong_state",
            "transfer_pending",
            "locked",
            "too_young",
        )
    },
    ("edit", "wrong_state"): (400, "Not the correct status"),
    ("edit", "locked"): (400, "Not the correct client_update_prohibited"),
    ("edit", "transfer_pending"): (400, "Not the correct client_transfer_prohibited"),
    **{
        (operation, "invalid_name"): (400, "Domain zone not support")
        for operation in ("create_host", "delete_host", "get_host", "check_host")
    },
}
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


def _envelope(body: Any, form: str = ISO) -> dict[str, Any]:
    domain = body["domain"]
    return {
        **_summary(domain, form),
        "servers": tuple(domain["nameservers"]),
        "holder": domain["contacts"]["reg-contact"]["name"],
        "renewal": Decimal(domain["renewalCost"]),
        "number": int(body["order-id"]),
        "status": body["status"],
        **({"update_locked": domain["updateProhibited"]} if "updateProhibited" in domain else {}),
        **({"paid": Decimal(body["totalPaid"])} if "totalPaid" in body else {}),
    }


def _order(body: Any) -> dict[str, Any]:
    paid = Decimal(body["totalPaid"])
    return {
        "name": body["domainName"],
        "number": int(body["order-id"]),
        "paid": paid,
        "status": body["status"],
    }


def _availability(body: Any) -> dict[str, Any]:
    (found,) = body["results"]
    return {
        "availability": found["status"],
        "purchase": Decimal(found["purchaseCost"]),
        "renewal": Decimal(found["renewalCost"]),
        "premium": found["premium"],
        "years": (int(found["periodMin"]), int(found["periodMax"])),
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
    found = {wire: wanted[key] for key, wire in keys.items() if key in wanted}
    return {
        "domainName": name,
        **found,
        **({"nameservers": wanted["servers"]} if wanted.get("servers") else {}),
    }


def _terms(wanted: Mapping[str, Any]) -> dict[str, Any]:
    keys = {"years": "years", "cost": "purchaseCost"}
    found = {wire: wanted[key] for key, wire in keys.items() if wanted.get(key) is not None}
    return {key: str(value) if isinstance(value, Decimal) else value for key, value in found.items()}


_SWITCHES = {
    ("hold", True): "lock",
    ("hold", False): "unlock",
    ("transfer", True): "lockTransfer",
    ("transfer", False): "unlockTransfer",
    ("update", True): "lockUpdate",
    ("update", False): "unlockUpdate",
    ("autorenew", True): "enableAutorenew",
    ("autorenew", False): "disableAutorenew",
}

Build = Callable[[str, Mapping[str, Any]], tuple[str, str, Any]]
Read = Callable[[Any], dict[str, Any]]
_NOTHING: Read = lambda _: {}  # noqa: E731

#: For each operation of the model, its v3 request and the facts in its answer.
V3: Mapping[str, tuple[Build, Read]] = {
    "balance": (
        lambda n, a: ("GET", "/v3/balance", None),
        lambda b: {"balance": Decimal(b[0]["balance"]), "server_time": instant(b[0]["serverTime"], SPACED)},
    ),
    "check": (lambda n, a: ("POST", f"{D}/checkAvailability", {"domainNames": [n]}), _availability),
    "create": (lambda n, a: ("POST", f"{D}/createDomain", {"domain": _domain(n, a), **_terms(a)}), _envelope),
    "info": (lambda n, a: ("GET", f"{D}/getDomain/{n}", None), lambda b: _envelope(b, SPACED)),
    "names": (
        lambda n, a: ("GET", f"{D}?perPage=100&page=1", None),
        lambda b: {"domains": [_summary(domain, SPACED) for domain in b["domains"]]},
    ),
    "renew": (
        lambda n, a: ("POST", f"{D}/renewDomain", {"domain": {"domainName": n}, **_terms(a)}),
        _envelope,
    ),
    "switch": (lambda n, a: ("POST", f"{D}/{_SWITCHES[a['flag'], a['on']]}/{n}", None), _envelope),
    "set_servers": (
        lambda n, a: ("POST", f"{D}/setNameservers/{n}", {"nameservers": a["servers"]}),
        _envelope,
    ),
    "set_holder": (
        lambda n, a: ("POST", f"{D}/setContacts/{n}", {"contacts": {"reg-contact": person(a["person"])}}),
        _envelope,
    ),
    "get_code": (lambda n, a: ("GET", f"{D}/getAuthcode/{n}", None), lambda b: {"code": b["authCode"]}),
    "set_code": (
        lambda n, a: ("POST", f"{D}/setAuthcode/{n}", {"authcode": a["code"]}),
        lambda b: {"code": b["authCode"]},
    ),
    "transfer": (
        lambda n, a: (
            "POST",
            f"{D}/requestTransfer",
            {"domain": _domain(n, a), "authCode": a["code"], **_terms(a)},
        ),
        _order,
    ),
    "decide": (
        lambda n, a: ("POST", f"{D}/{a['word']}Transfer/{n}", None),
        lambda b: {"name": b["domainName"]},
    ),
    "create_host": (
        lambda n, a: ("POST", f"{D}/glueRecords/{n}", {"hostname": a["label"], "ips": a["ips"]}),
        _host,
    ),
    "update_host": (lambda n, a: ("PUT", f"{D}/glueRecords/{n}/{a['label']}", {"ips": a["ips"]}), _host),
    "delete_host": (lambda n, a: ("DELETE", f"{D}/glueRecords/{n}/{a['label']}", None), _host),
    "get_host": (lambda n, a: ("GET", f"{D}/glueRecords/{n}/{a['label']}", None), _host),
    "list_hosts": (
        lambda n, a: ("GET", f"{D}/glueRecords/{n}", None),
        lambda b: {"hosts": sorted(record["hostname"] for record in b["glueRecords"])},
    ),
}


def _registration_v2(name: str, wanted: Mapping[str, Any]) -> tuple[str, str, Any]:
    contacts = {f"contact_{role}": wanted["holder"] for role in ("registrant", "admin", "tech", "billing")}
    return "POST", name, {**contacts, "ns": {"array": wanted["servers"]}, "period": wanted["years"]}


def _edit_v2(name: str, wanted: Mapping[str, Any]) -> tuple[str, str, Any]:
    body: dict[str, Any] = {f"client_{_FLAGS_V2[flag]}": int(on) for flag, on in wanted["flags"].items()}
    servers = {key: wanted[own] for key, own in (("add", "add"), ("del", "remove")) if wanted[own]}
    body |= {"ns": servers} if servers else {}
    body |= {"contact_registrant": wanted["holder"]} if wanted["holder"] else {}
    return "PUT", name, body


_FLAGS_V2 = {
    "hold": "hold",
    **{flag: f"{flag}_prohibited" for flag in ("transfer", "update", "delete", "renew")},
}

#: The same for v2.0; paths begin below ``/V2.0/domain/``.
V2: Mapping[str, tuple[Build, Read]] = {
    "check": (lambda n, a: ("GET", f"{n}/check", None), lambda b: {"is_available": b["avail"]}),
    "create": (_registration_v2, _NOTHING),
    "info": (lambda n, a: ("GET", n, None), _info_v2),
    "renew": (
        lambda n, a: (
            "PUT",
            f"{n}/renew",
            {"current_expiry_date": f"{a['expected']:%Y-%m-%d}", "period": a["years"], "domain": n},
        ),
        lambda b: {"expires": instant(b["data"]["date_end"], SPACED), "name": b["data"]["domain"]},
    ),
    "delete": (lambda n, a: ("DELETE", n, None), _NOTHING),
    "restore": (lambda n, a: ("PUT", f"{n}/restore", None), _NOTHING),
    "edit": (_edit_v2, _NOTHING),
    "transfer": (lambda n, a: ("POST", f"{n}/transfer", {"transfer_code": a["code"]}), _NOTHING),
    "transfer_status": (
        lambda n, a: ("GET", f"{n}/transfer", None),
        lambda b: {"transfer_status": b["transfer_status"]},
    ),
    "decide": (
        lambda n, a: (
            ("DELETE", f"{n}/transfer", None)
            if a["word"] == "cancel"
            else ("PUT", f"{n}/transfer/{a['word']}", None)
        ),
        _NOTHING,
    ),
    "create_host": (
        lambda n, a: (
            "POST",
            f"{n}/host/{a['label']}",
            {"ip": [{"ip": ip, "type": "v6" if ":" in ip else "v4"} for ip in a["ips"]]},
        ),
        _NOTHING,
    ),
    "delete_host": (lambda n, a: ("DELETE", f"{n}/host/{a['label']}", None), _NOTHING),
    "get_host": (
        lambda n, a: ("GET", f"{n}/host/{a['label']}", None),
        lambda b: {"host": b["data"]["name"], "ips": tuple(b["data"]["ip"])},
    ),
    "check_host": (
        lambda n, a: ("GET", f"{n}/host/{a['label']}/check", None),
        lambda b: {"avail": b["avail"]},
    ),
}


class Call(NamedTuple):
    """One operation of an account about a name, over one interface."""

    interface: str
    operation: str
    account: str
    name: str = ""
    given: Mapping[str, Any] = {}

    def request(self) -> tuple[str, str, Any]:
        """Return the method, the path and the body of the request."""
        if self.interface == "v3":
            return V3[self.operation][0](self.name, self.given)
        method, path, body = V2[self.operation][0](self.name, self.given)
        return method, f"/V2.0/domain/{path}", body

    def seen(self, status: int, body: Any, rule: str | None) -> tuple[Any, ...]:
        """Return the answer in the model's terms: HTTP status, error, and facts."""
        if self.interface == "v3":
            error = body.get("error") if isinstance(body, dict) else None
            return (status, error, {}) if error else (status, None, V3[self.operation][1](body))
        if body.get("status") is False:
            return (status, (body["code"], body["msg"], (rule or "").partition(":")[0]), {})
        return status, None, V2[self.operation][1](body)

    def expected(self, model: Model) -> tuple[Any, ...]:
        """Carry the operation out in ``model`` and return the answer that it gives, in the same terms."""
        names = () if self.operation in ("balance", "names") else (self.name,)
        extra = {"asks_zone": False} if (self.interface, self.operation) == ("v2", "delete_host") else {}
        extra |= {"whatever": True} if (self.interface, self.operation) == ("v2", "create") else {}
        try:
            if self.interface == "v2" and self.operation not in _BY_PARTY:
                model.zone_of(self.name)
            facts = getattr(model, self.operation)(self.account, *names, **self.given, **extra)
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
        same = [agree((0, 0, one), (0, 0, other)) for other, one in zip(expected, seen, strict=False)]
        return len(expected) == len(seen) and all(same)
    return expected in (seen, UNKNOWN)
