"""Examples of registry."""

from __future__ import annotations

from typing import Any

from tests.powers.example import BAD, Example

GONE = "unknown_record"

_PAGE = (("limit", 2, 0), ("start", 1, -1))


def _pages(operation: str) -> tuple[Example, ...]:
    """What every list of pages takes."""
    good = (Example(operation, {name: value}) for name, value, _ in _PAGE)
    bad = (Example(operation, {name: value}, BAD) for name, _, value in _PAGE)
    return (Example(operation), *good, *bad)


ENTRY = "invalid_entry"


def _adding(
    operation: str, key: dict[str, Any], usual: dict[str, Any], good: dict[str, Any], bad: dict[str, Any]
) -> tuple[Example, ...]:
    """What puts a record there: with everything that is ``good``, and with one thing each that is ``bad``.

    ``usual`` is what it must be told; ``key`` is what it is found by.
    """
    return (
        Example(operation, {**key, **usual, **good}),
        *(Example(operation, {**key, **usual, name: value}, BAD) for name, value in bad.items()),
    )


#: No text may hold it.
BELL = "\x07"
_FIELDS = ("name", "company", "address", "city", "region", "zip", "country", "phone", "fax", "mail")
_BAD_CARD = dict.fromkeys(_FIELDS, BELL)
_CARD = {
    **{"name": "Ann Example", "company": "Ann & Co", "address": "1 Street", "city": "Kyiv", "region": "Kyiv"},
    **{"zip": "01001", "country": "UA", "phone": "+380.441234567", "fax": "+380.441234568"},
    "mail": "ann.example@example.org",
}
_ORDER: dict[str, Any] = {
    **{"id": 900001, "created": "-40d", "expires": "+300d", "since": "-30d", "due": "+300d"},
    **{"retry": "never", "arrived": "-20d", "contacts": {"tech": "A1001"}, "customer": 501},
    **{"nameservers": ["ns1.example.net"], "privacy": True, "autorenew": True, "flags": ["client_hold"]},
    **{"auth_code": "secret-code", "license": "L1", "years": 2, "registration": [], "renewals": []},
}
_BAD_ORDER: dict[str, Any] = {
    **dict.fromkeys(("created", "expires", "since", "due", "retry", "arrived"), "soon"),
    **{"id": 0, "contacts": {"owner": "A1001"}, "nameservers": 7, "customer": 0, "privacy": "yes"},
    **{"autorenew": 1, "flags": ["hold"], "auth_code": BELL, "license": BELL, "years": 11},
    **{"registration": ["x"], "renewals": [0]},
}
_ADDING = (
    *_adding(
        "names.add",
        {"name": "added.com"},
        {},
        {**_ORDER, "account": "main", "stage": "active", "hosts": {"ns1": ["192.0.2.8"]}},
        {**_BAD_ORDER, "account": BELL, "stage": "overdu", "hosts": {"ns1": 7}},
    ),
    Example("names.add", {"name": "active.com"}, ENTRY),
    Example("names.add", {"name": "added.com", "account": "nobody", "customer": 99}, ENTRY),
    *_adding(
        "accounts.add",
        {"account": "shop"},
        {"contact": {"name": "Shop Keeper"}},
        {
            **{"name": "shop", "client_id": 9001, "key": "k", "secret": "s", "token": "t", "currency": "EUR"},
            **{"balance": "12.50", "reseller": False, "nameservers": ["ns1.example.net"], "revoked": ["key"]},
        },
        {
            **dict.fromkeys(("name", "key", "secret", "token", "currency"), BELL),
            **{"client_id": 0, "contact": BELL},
            **{"balance": "much", "reseller": "no", "nameservers": 7, "revoked": ["secret"]},
        },
    ),
    Example("accounts.add", {"account": "main", "contact": {}}, ENTRY),
    Example("accounts.add", {"account": "shop"}, BAD),
    *_adding(
        "customers.add",
        {"number": 777},
        {},
        {**_CARD, "account": "main", "lang": "en", "password": "secret", "post_address": "Box 1"},
        {**_BAD_CARD, **dict.fromkeys(("account", "lang", "password", "post_address"), BELL)},
    ),
    Example("customers.add", {"number": 501}, ENTRY),
    *_adding(
        "contacts.add",
        {"handle": "ANN-1"},
        {},
        {**_CARD, "account": "main", "customer": 501, "extra": {}},
        {**_BAD_CARD, "account": BELL, "customer": 0, "extra": {"passport": 7}},
    ),
    Example("contacts.add", {"handle": "A1001"}, ENTRY),
    *_adding("hosts.add", {"name": "ns7.active.com"}, {}, {"ips": ["192.0.2.7"]}, {"ips": 7}),
    Example("hosts.add", {"name": "ns7.nobodys.com", "ips": ["192.0.2.7"]}, ENTRY),
    *_adding(
        "transfers.add",
        {"domain": "second.com"},
        {"to": "other"},
        {
            **{"from": "main", "status": "pending", "requested": "-2d", "completes": "+3d", "charges": []},
            "order": {"years": 2},
        },
        {
            **{
                "to": BELL,
                "from": BELL,
                "status": "over",
                "requested": "-2",
                "completes": "soon",
                "charges": ["x"],
            },
            **{"order": {"stage": "active"}, "gaining_order": 0, "losing_order": 0},
        },
    ),
    Example(
        "transfers.add",
        {
            **{"domain": "second.com", "to": "other", "status": "clientRejected"},
            **{"gaining_order": 900002, "losing_order": 900003},
        },
    ),
    Example("transfers.add", {"domain": "nobodys.com", "to": "main"}, ENTRY),
)

EXAMPLES = (
    *_ADDING,
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
    Example("names.list", {"sort": "expires", "limit": 2, "start": 1}),
    Example("names.list", {"sort": "age"}, BAD),
    Example("names.get", {"name": "active.com"}),
    Example("names.get", {"name": "españa.com"}),
    Example("names.get", {"name": "nobodys.com"}, GONE),
    Example("names.get", {"name": "arriving.com", "account": "main"}),
    Example("names.get", {"name": "arriving.com", "account": "nobody"}, "unknown_account"),
    Example("accounts.list"),
    Example("accounts.get", {"account": "main"}),
    Example("accounts.get", {"account": "1001"}),
    Example("accounts.get", {"account": "nobody"}, "unknown_account"),
    Example(
        "accounts.get",
        {"account": "north/south"},
        before=(("accounts.add", {"account": "north/south", "contact": {"name": "Ola"}}),),
    ),
    Example("accounts.get", {"account": "/"}, "unknown_account"),
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
