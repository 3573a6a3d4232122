"""Examples of registry."""

from __future__ import annotations

from tests.powers.example import BAD, Example

GONE = "unknown_record"

_PAGE = (("limit", 2, 0), ("start", 1, -1))


def _pages(operation: str) -> tuple[Example, ...]:
    """What every list of pages takes."""
    good = (Example(operation, {name: value}) for name, value, _ in _PAGE)
    bad = (Example(operation, {name: value}, BAD) for name, _, value in _PAGE)
    return (Example(operation), *good, *bad)


EXAMPLES = (
    *_pages("names.list"),
    Example("names.list", {"account": "main", "stage": "overdue"}),
    Example("names.list", {"account": "nobody"}, "unknown_account"),
    Example("names.list", {"stage": "overdu"}, BAD),
    Example("names.list", {"zone": "com"}),
    Example("names.list", {"zone": ""}, BAD),
    Example("names.list", {"flag": "client_hold"}),
    Example("names.list", {"flag": "hold"}, BAD),
    Example("names.list", {"like": "*a*.com"}),
    Example("names.list", {"like": "a" * 300}, BAD),
    Example("names.get", {"name": "active.com"}),
    Example("names.get", {"name": "españa.com"}),
    Example("names.get", {"name": "nobodys.com"}, GONE),
    Example("names.get", {"name": "arriving.com", "account": "main"}),
    Example("names.get", {"name": "arriving.com", "account": "nobody"}, "unknown_account"),
    Example("accounts.list"),
    Example("accounts.get", {"name": "main"}),
    Example("accounts.get", {"name": "1001"}),
    Example("accounts.get", {"name": "nobody"}, "unknown_account"),
    *_pages("customers.list"),
    Example("customers.list", {"account": "main"}),
    Example("customers.list", {"account": "nobody"}, "unknown_account"),
    Example("customers.list", {"mail": "ann@example.com"}),
    Example("customers.list", {"mail": ""}, BAD),
    Example("customers.get", {"number": 501}),
    Example("customers.get", {"number": 99999}, GONE),
    *_pages("contacts.list"),
    Example("contacts.list", {"account": "main"}),
    Example("contacts.list", {"account": "nobody"}, "unknown_account"),
    Example("contacts.get", {"handle": "A1001"}),
    Example("contacts.get", {"handle": "NOBODY"}, GONE),
    *_pages("hosts.list"),
    Example("hosts.list", {"domain": "active.com"}),
    Example("hosts.list", {"domain": "a" * 300}, BAD),
    Example("hosts.get", {"name": "ns1.active.com"}),
    Example("hosts.get", {"name": "ns9.active.com"}, GONE),
    *_pages("transfers.list"),
    Example("transfers.list", {"status": "pending"}),
    Example("transfers.list", {"status": "over"}, BAD),
    Example("transfers.get", {"domain": "arriving.com"}),
    Example("transfers.get", {"domain": "active.com"}, GONE),
)
