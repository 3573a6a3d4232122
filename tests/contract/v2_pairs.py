"""Each documented (error, operation) pair of v2.0, and a request that causes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reseller_sandbox import Sandbox
from tests.clients import JSON, Answer
from tests.registry import edit
from tests.v2.client import Client
from tests.v2.works import WORKS, Ask


def nothing(sandbox: Sandbox) -> None:
    """Arrange nothing."""


@dataclass(frozen=True)
class Pair:
    """A request, the message of its answer, and an action that goes before it."""

    ask: Ask
    said: str
    account: str = "main"
    arrange: Callable[[Sandbox], object] = nothing

    def send(self, sandbox: Sandbox, client: Client) -> Answer:
        """Send the request with the token of the pair's account, of nobody, or with none."""
        known = self.account not in ("", "nobody")
        token = sandbox.accounts[self.account].token if known else "no-token-of-anybody"
        headers = [*([("X-Auth-Token", token)] if self.account else []), JSON]
        return client.call(self.ask.method, self.ask.path, self.ask.body, headers)


PAIRS: dict[tuple[str, str], Pair] = {}


def pair(operation: str, message: str, said: str, ask: Ask | None = None, **more: Any) -> None:
    """Note how an error is raised; a request that is not given is the one that works."""
    key = f"v2.{operation}", message
    assert key not in PAIRS, key
    PAIRS[key] = Pair(ask or WORKS[key[0]], said, **more)


def works(operation: str) -> Ask:
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
    return sandbox.simulate.adjust_balance("main", to="0.01")


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

contact = works("contact.create")
EXTRA, VALUE = "Extra param {{ info }} unknown", "Invalid value for extra param {{ info }}"
pair("contact.create", EXTRA, "Extra param shoe_size unknown", contact.with_(shoe_size="44"))
pair("contact.create", VALUE, "Invalid value for extra param tax_number", contact.with_(tax_number="1234"))

NOT_ENOUGH = "Not enough parameter: {{ info }}"
for short, missing in {
    "contact.create": "mail",
    "contact.edit": "address",
    "domain.register": "ns",
    "domain.renew": "period",
    "host.create": "ip",
}.items():
    ask = works(short).with_(**{missing: None})
    pair(short, NOT_ENOUGH, f"Not enough parameter: {missing}", ask)
empty = works("domain.edit").having({})
pair("domain.edit", NOT_ENOUGH, "Not enough parameter: client_*, contact_* or ns", empty)

#: Messages without parameters, with the operations that a name leads to.
ZONE, NAME = "Domain zone not support", "Not the correct domain name"
ID, STATUS = "Invalid id", "The status of the order does not allow to perform the operation"
UNSUPPORTED, TAKEN = "Order not support this action", "Domain is already registered"
CHANGES = "edit delete renew restore"
DOMAIN = f"check register info {CHANGES}"
DECISIONS = "status cancel approve reject"
HOST = "check create edit info delete"
for message, name, area, words in [
    (ZONE, "name.nowhere", "domain", DOMAIN),
    (ZONE, "name.nowhere", "transfer", "request"),
    (ZONE, "name.nowhere", "host", HOST),
    (NAME, "-name-.com", "domain", DOMAIN),
    (NAME, "-name-.com", "transfer", f"request {DECISIONS}"),
    (ID, "theirs.com", "domain", CHANGES),
    (ID, "nobodys.com", "transfer", "request"),
    (ID, "theirs.com", "transfer", DECISIONS),
    (STATUS, "removed.com", "domain", "delete"),
    (STATUS, "requested.com", "domain", "renew"),
    (STATUS, "active.com", "domain", "restore"),
    (STATUS, "active.com", "transfer", DECISIONS),
    (STATUS, "overdue.com", "host", "check create edit delete"),
    (UNSUPPORTED, "held.shop", "host", "check create edit"),
    (TAKEN, "theirs.com", "domain", "register"),
]:
    for word in words.split():
        pair(f"{area}.{word}", message, message, at(f"{area}.{word}", name))
pair("host.info", STATUS, STATUS, arrange=unreadable)

NS, HOLD = "Not the correct ns: {{ info }}", "Not the correct {{ param_name }}"
LICENSE, EXPIRY = "Not the correct license", "Not the correct current_expiry_date"
CODE = "Not the correct transfer_code"
MAXIMUM, MINIMUM = "maximum value period: {{ info }}", "minimum value period: {{ info }}"
shop, ukrainian = at("domain.register", "new.shop"), at("domain.register", "new.com.ua")
register, edited, renew = (works(f"domain.{word}") for word in ("register", "edit", "renew"))
pair("domain.register", ID, ID, register.with_(contact_tech="THEIRS"))
pair("domain.register", LICENSE, LICENSE, ukrainian.with_(license="12"))
pair("domain.register", NS, "Not the correct ns: -ns-", register.with_(ns=["-ns-"]))
pair("domain.edit", NS, "Not the correct ns: -ns-", edited.with_(ns={"add": ["-ns-"]}))
pair("domain.edit", HOLD, "Not the correct client_hold", edited.with_(client_hold=2))
pair("domain.register", MAXIMUM, "maximum value period: 5", shop.with_(period=6))
pair("domain.register", MINIMUM, "minimum value period: 2", shop.with_(period=1))
pair("domain.renew", MAXIMUM, "maximum value period: 9", renew.with_(period=10))
pair("domain.renew", MINIMUM, "minimum value period: 1", renew.with_(period=0))
pair("domain.renew", EXPIRY, EXPIRY, renew.with_(current_expiry_date="2026-11-22"))
pair("transfer.request", CODE, CODE, works("transfer.request").with_(transfer_code="let-me-out"))
MAIL = "Mail already registered"
pair("customer.create", MAIL, MAIL, works("customer.create").with_(mail="Seven@example.com"))
ORDERS = "You can not delete the contact has active orders"
pair("customer.delete", ORDERS, ORDERS, Ask("DELETE", "/customer/7"))
pair("contact.delete", "This object linked", "This object linked", Ask("DELETE", "/contact/OWNER"))

for short, key in {"host.create": None, "host.edit": "add"}.items():
    for type_, ip, message, said in [
        ("v4", "192.0.2.256", "Not the correct IPv4: {{ info }}", "Not the correct IPv4: 192.0.2.256"),
        ("v6", "192.0.2.1", "Not the correct IPv6: {{ info }}", "Not the correct IPv6: 192.0.2.1"),
        ("v5", "192.0.2.1", "Unknown ip type : {{ info }}", "Unknown ip type : v5"),
    ]:
        entries: Any = [{"ip": ip, "type": type_}]
        pair(short, message, said, works(short).having({"ip": {key: entries} if key else entries}))

FUNDS = "Not enough funds on the balance sheet"
for short in ("domain.register", "domain.renew", "domain.restore", "transfer.request"):
    pair(short, FUNDS, FUNDS, arrange=poorer)
owner = at("domain.edit", "held.com.ua").having({"contact_registrant": "OWNER"})
pair("domain.edit", FUNDS, FUNDS, owner, arrange=poorer)

for word in ("delete", "edit", "info"):
    pair(f"customer.{word}", "ID not found", "ID not found", works(f"customer.{word}").at("/customer/9"))
    pair(f"contact.{word}", "ID not found", "ID not found", works(f"contact.{word}").at("/contact/THEIRS"))
LOST = "Object not found {{ info }}"
for area, words in {"domain": "info", "transfer": DECISIONS, "host": HOST}.items():
    for word in words.split():
        ask = at(f"{area}.{word}", "nobodys.com")
        pair(f"{area}.{word}", LOST, "Object not found nobodys.com", ask)
