"""For each v2.0 operation, a request that works in the tests' registry, and the documented errors."""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.clients import Answer
from tests.v2.client import Client

CONTRACT = Path(__file__).parents[1] / "contract"

CARD: dict[str, Any] = {
    "address": "9 New Street",
    "city": "Odesa",
    "company": "New Works",
    "country": "UA",
    "fax": "+380.481234567",
    "mail": "new@example.com",
    "name": "Nora New",
    "phone": "+380.481234568",
    "region": "Odesa",
    "zip": "65000",
}
CUSTOMER = {**CARD, "zip": 65000, "lang": "uk", "password": "secret", "post_adress": "PO box 9"}
ROLES = ("contact_admin", "contact_billing", "contact_registrant", "contact_tech")
NAME = {
    "contact_admin": "ADMIN",
    "contact_billing": "MAIN",
    "contact_registrant": "OWNER",
    "contact_tech": "MAIN",
    "customer_id": 8,
    "ns": {"array": ["ns1.home.net", "ns2.home.net"]},
    "period": 2,
}
RENEWAL = {"current_expiry_date": "2026-11-21", "date_end": "2027-11-21", "domain": "active.com", "period": 1}
HOST = "/domain/active.com/host"


@dataclass(frozen=True)
class Ask:
    """A request: its method, its path without the version, its body."""

    method: str
    path: str
    body: Any = None

    def send(self, client: Client) -> Answer:
        return client.call(self.method, self.path, deepcopy(self.body))

    def at(self, path: str) -> Ask:
        """The same request to another path; where its body names the name too, it names the same."""
        body = {**self.body, "domain": path.split("/")[2]} if "domain" in (self.body or ()) else self.body
        return replace(self, path=path, body=body)

    def with_(self, **changes: Any) -> Ask:
        """The same request with other values in its body; None takes a key out."""
        body = {**(self.body or {}), **changes}
        return replace(self, body={key: value for key, value in body.items() if value is not None})

    def having(self, body: Any) -> Ask:
        return replace(self, body=body)


WORKS = {
    "v2.customer.create": Ask("POST", "/customer", CUSTOMER),
    "v2.customer.edit": Ask("PUT", "/customer", {**CUSTOMER, "mail": "seven@example.com"}),
    "v2.customer.info": Ask("GET", "/customer/7"),
    "v2.customer.delete": Ask("DELETE", "/customer/8"),
    "v2.contact.check": Ask("GET", "/contact/NEW/check"),
    "v2.contact.create": Ask("POST", "/contact/NEW", {**CARD, "customer_id": 8, "tax_number": "12345678"}),
    "v2.contact.edit": Ask("PUT", "/contact/OWNER", CARD),
    "v2.contact.info": Ask("GET", "/contact/OWNER"),
    "v2.contact.delete": Ask("DELETE", "/contact/SPARE"),
    "v2.domain.check": Ask("GET", "/domain/new.com/check"),
    "v2.domain.register": Ask("POST", "/domain/new.com", NAME),
    "v2.domain.info": Ask("GET", "/domain/active.com"),
    "v2.domain.edit": Ask(
        "PUT",
        "/domain/active.com",
        {
            "client_hold": 1,
            "client_transfer_prohibited": 1,
            "contact_tech": "SPARE",
            "ns": {"add": ["ns3.home.net"], "del": ["ns1.home.net"]},
        },
    ),
    "v2.domain.delete": Ask("DELETE", "/domain/gold.com"),
    "v2.domain.renew": Ask("PUT", "/domain/active.com/renew", RENEWAL),
    "v2.domain.restore": Ask("PUT", "/domain/removed.com/restore"),
    "v2.domain.zones": Ask("GET", "/domain/zones/popular/limit/10/start/0"),
    "v2.transfer.request": Ask(
        "POST", "/domain/elsewhere.com/transfer", {"customer_id": 8, "transfer_code": "let-me-in"}
    ),
    "v2.transfer.status": Ask("GET", "/domain/leaving.com/transfer"),
    "v2.transfer.cancel": Ask("DELETE", "/domain/arriving.com/transfer"),
    "v2.transfer.approve": Ask("PUT", "/domain/leaving.com/transfer/approve"),
    "v2.transfer.reject": Ask("PUT", "/domain/leaving.com/transfer/reject"),
    "v2.host.check": Ask("GET", f"{HOST}/new/check"),
    "v2.host.create": Ask("POST", f"{HOST}/new", {"ip": [{"ip": "192.0.2.7", "type": "v4"}]}),
    "v2.host.edit": Ask(
        "PUT", f"{HOST}/ns1", {"ip": {"add": ["type=>v4,ip=>192.0.2.8"], "del": ["type=>v6,ip=>2001:db8::1"]}}
    ),
    "v2.host.info": Ask("GET", f"{HOST}/ns1"),
    "v2.host.delete": Ask("DELETE", f"{HOST}/ns1"),
}


@cache
def documented_errors() -> dict[tuple[str, str], int]:
    """Return the code of each operation and message that the contract documents for v2.0."""
    errors = yaml.safe_load((CONTRACT / "v2_errors.yaml").read_text("utf-8"))
    return {
        (operation, error["message"]): error["code"]
        for error in errors
        for operation in (WORKS if error["operations"] == "all" else error["operations"])
    }


def pattern(message: str) -> re.Pattern[str]:
    """Return a pattern for the texts of a documented message of v2.0."""
    return re.compile(re.sub(r"\\\{\\\{.*?\\\}\\\}", ".*", re.escape(message)), re.DOTALL)
