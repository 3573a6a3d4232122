"""Each documented (error, operation) pair of v2.0, and a request that causes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reseller_sandbox import Sandbox
from tests.registry import edit
from tests.v2.works import WORKS, Ask

Arrange = Callable[[Sandbox], object]


@dataclass(frozen=True)
class Pair:
    """A request, the message that answers it, and what is to be arranged before."""

    ask: Ask
    said: str
    account: str = "main"
    arrange: Arrange | None = None


PAIRS: dict[tuple[str, str], Pair] = {}


def pair(operation: str, message: str, said: str, ask: Ask | None = None, **more: Any) -> None:
    """Note how an error is raised; a request that is not given is the one that works."""
    key = f"v2.{operation}", message
    assert key not in PAIRS, key
    PAIRS[key] = Pair(ask or WORKS[key[0]], said, **more)


def works(operation: str) -> Ask:
    """The request of an operation that works."""
    return WORKS[f"v2.{operation}"]


def at(operation: str, name: str) -> Ask:
    """The working request of an operation, about another name."""
    ask = works(operation)
    _, place, _, *rest = ask.path.split("/")
    return ask.at("/".join(["", place, name, *rest]))


def fail(sandbox: Sandbox) -> object:
    """Let the next request fail for no reason of its own."""
    return sandbox.faults.add(kind="error", error="System Error", match={"operation": "v2.*"})


def unreadable(sandbox: Sandbox) -> object:
    """Permit no reading of hosts at the order's stage, as ``lifecycle:`` in a fixture can."""
    return edit(sandbox, {"lifecycle": {"active": ["renew"]}})


def poorer(sandbox: Sandbox) -> object:
    """Leave the account with a cent."""
    return sandbox.outside.adjust_balance("main", to="0.01")


DOMAIN = ("check", "register", "info", "edit", "delete", "renew", "restore")
DECISIONS = ("status", "cancel", "approve", "reject")
HOST = ("check", "create", "edit", "info", "delete")

for operation in WORKS:
    short = operation.removeprefix("v2.")
    pair(short, "Authorization failed", "Authorization failed", account="nobody")
    pair(short, "Token not found", "Token not found", account="")
    pair(short, "System Error", "System Error", arrange=fail)

INVALID = "Invalid {{ param_name }}"
pair("customer.create", INVALID, "Invalid zip", works("customer.create").with_(zip="65000"))
pair("customer.edit", INVALID, "Invalid country", works("customer.edit").with_(country="Ukraine"))
pair("customer.info", INVALID, "Invalid customer_id", Ask("GET", "/customer/seven"))
pair("contact.check", INVALID, "Invalid contact_id", Ask("GET", "/contact/-new-/check"))
pair("contact.edit", "Invalid Param", "Invalid Param", works("contact.edit").at("/contact/-owner-"))

pair(
    "contact.create",
    "Extra param {{ info }} unknown",
    "Extra param shoe_size unknown",
    works("contact.create").with_(shoe_size="44"),
)
pair(
    "contact.create",
    "Invalid value for extra param {{ info }}",
    "Invalid value for extra param tax_number",
    works("contact.create").with_(tax_number="1234"),
)

NOT_ENOUGH = "Not enough parameter: {{ info }}"
for short, missing in {
    "contact.create": "mail",
    "contact.edit": "address",
    "domain.register": "ns",
    "domain.renew": "period",
    "host.create": "ip",
}.items():
    ask = works(short)
    pair(short, NOT_ENOUGH, f"Not enough parameter: {missing}", ask.with_(**{missing: None}))
pair(
    "domain.edit",
    NOT_ENOUGH,
    "Not enough parameter: client_*, contact_* or ns",
    works("domain.edit").having({}),
)

ZONE = "Domain zone not support"
for word in DOMAIN:
    pair(f"domain.{word}", ZONE, ZONE, at(f"domain.{word}", "name.nowhere"))
pair("transfer.request", ZONE, ZONE, at("transfer.request", "name.nowhere"))
for word in HOST:
    pair(f"host.{word}", ZONE, ZONE, at(f"host.{word}", "name.nowhere"))

NAME = "Not the correct domain name"
for word in DOMAIN:
    pair(f"domain.{word}", NAME, NAME, at(f"domain.{word}", "-name-.com"))
for word in ("request", *DECISIONS):
    pair(f"transfer.{word}", NAME, NAME, at(f"transfer.{word}", "-name-.com"))

INVALID_ID = "Invalid id"
pair("domain.register", INVALID_ID, INVALID_ID, works("domain.register").with_(contact_tech="THEIRS"))
for word in ("edit", "delete", "renew", "restore"):
    pair(f"domain.{word}", INVALID_ID, INVALID_ID, at(f"domain.{word}", "theirs.com"))
pair("transfer.request", INVALID_ID, INVALID_ID, at("transfer.request", "nobodys.com"))
for word in DECISIONS:
    pair(f"transfer.{word}", INVALID_ID, INVALID_ID, at(f"transfer.{word}", "theirs.com"))

pair(
    "domain.register",
    "Not the correct license",
    "Not the correct license",
    at("domain.register", "new.com.ua").with_(license="12"),
)
NS = "Not the correct ns: {{ info }}"
pair("domain.register", NS, "Not the correct ns: -ns-", works("domain.register").with_(ns=["-ns-"]))
pair("domain.edit", NS, "Not the correct ns: -ns-", works("domain.edit").with_(ns={"add": ["-ns-"]}))
pair(
    "domain.edit",
    "Not the correct {{ param_name }}",
    "Not the correct client_hold",
    works("domain.edit").with_(client_hold=2),
)
MAXIMUM, MINIMUM = "maximum value period: {{ info }}", "minimum value period: {{ info }}"
shop = at("domain.register", "new.shop")
pair("domain.register", MAXIMUM, "maximum value period: 5", shop.with_(period=6))
pair("domain.register", MINIMUM, "minimum value period: 2", shop.with_(period=1))
pair("domain.renew", MAXIMUM, "maximum value period: 9", works("domain.renew").with_(period=10))
pair("domain.renew", MINIMUM, "minimum value period: 1", works("domain.renew").with_(period=0))
EXPIRY = "Not the correct current_expiry_date"
pair("domain.renew", EXPIRY, EXPIRY, works("domain.renew").with_(current_expiry_date="2026-11-22"))
CODE = "Not the correct transfer_code"
pair("transfer.request", CODE, CODE, works("transfer.request").with_(transfer_code="let-me-out"))

for word in ("create", "edit"):

    def addressed(type_: str, ip: str, word: str = word) -> Ask:
        """The working request with an address of this type."""
        entries = [{"ip": ip, "type": type_}]
        return works(f"host.{word}").having({"ip": entries if word == "create" else {"add": entries}})

    four, six = "Not the correct IPv4: {{ info }}", "Not the correct IPv6: {{ info }}"
    pair(f"host.{word}", four, "Not the correct IPv4: 192.0.2.256", addressed("v4", "192.0.2.256"))
    pair(f"host.{word}", six, "Not the correct IPv6: 192.0.2.1", addressed("v6", "192.0.2.1"))
    pair(f"host.{word}", "Unknown ip type : {{ info }}", "Unknown ip type : v5", addressed("v5", "192.0.2.1"))

REGISTERED_MAIL = "Mail already registered"
pair(
    "customer.create",
    REGISTERED_MAIL,
    REGISTERED_MAIL,
    works("customer.create").with_(mail="Seven@example.com"),
)
ACTIVE = "You can not delete the contact has active orders"
pair("customer.delete", ACTIVE, ACTIVE, Ask("DELETE", "/customer/7"))
pair("contact.delete", "This object linked", "This object linked", Ask("DELETE", "/contact/OWNER"))
TAKEN = "Domain is already registered"
pair("domain.register", TAKEN, TAKEN, at("domain.register", "theirs.com"))

FUNDS = "Not enough funds on the balance sheet"
for short in ("domain.register", "domain.renew", "domain.restore", "transfer.request"):
    pair(short, FUNDS, FUNDS, arrange=poorer)
owner = at("domain.edit", "held.com.ua").having({"contact_registrant": "OWNER"})
pair("domain.edit", FUNDS, FUNDS, owner, arrange=poorer)

STATUS = "The status of the order does not allow to perform the operation"
for word, name in {"delete": "removed.com", "renew": "requested.com", "restore": "active.com"}.items():
    pair(f"domain.{word}", STATUS, STATUS, at(f"domain.{word}", name))
for word in DECISIONS:
    pair(f"transfer.{word}", STATUS, STATUS, at(f"transfer.{word}", "active.com"))
for word in HOST:
    if word != "info":
        pair(f"host.{word}", STATUS, STATUS, at(f"host.{word}", "overdue.com"))
pair("host.info", STATUS, STATUS, arrange=unreadable)
for word in ("check", "create", "edit"):
    unsupported = "Order not support this action"
    pair(f"host.{word}", unsupported, unsupported, at(f"host.{word}", "held.shop"))

for word in ("delete", "edit", "info"):
    ask = works(f"customer.{word}").at("/customer/9")
    pair(f"customer.{word}", "ID not found", "ID not found", ask)
    pair(f"contact.{word}", "ID not found", "ID not found", works(f"contact.{word}").at("/contact/THEIRS"))

LOST = "Object not found {{ info }}"
for short in ("domain.info", *(f"transfer.{word}" for word in DECISIONS)):
    pair(short, LOST, "Object not found nobodys.com", at(short, "nobodys.com"))
for word in HOST:
    pair(f"host.{word}", LOST, "Object not found nobodys.com", at(f"host.{word}", "nobodys.com"))
