"""Shapes of JSON values, for tests that say field by field what an answer is."""

from __future__ import annotations

import re
from typing import Any


def fits(value: Any, shape: Any, path: str = "answer") -> None:
    """Assert that ``value`` has ``shape``.

    A mapping has exactly the keys of its shape; the one item of a list shape is every item's; a type
    is the value's own type; a pattern matches the whole string; anything else is the value itself.
    """
    if isinstance(shape, dict):
        assert isinstance(value, dict), f"{path} is {value!r}"
        assert set(value) == set(shape), f"{path} has the keys {sorted(value)}, not {sorted(shape)}"
        for key, inner in shape.items():
            fits(value[key], inner, f"{path}.{key}")
    elif isinstance(shape, list):
        assert isinstance(value, list), f"{path} is {value!r}"
        for number, item in enumerate(value):
            fits(item, shape[0], f"{path}[{number}]")
    elif isinstance(shape, type):
        assert type(value) is shape, f"{path} is {value!r}"
    elif isinstance(shape, re.Pattern):
        assert isinstance(value, str), f"{path} is {value!r}"
        assert shape.fullmatch(value), f"{path} is {value!r}"
    else:
        assert value == shape, f"{path} is {value!r}, not {shape!r}"
        assert type(value) is type(shape), f"{path} is {value!r}, not {shape!r}"


ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
DIGITS = re.compile(r"\d+")
MONEY = re.compile(r"\d+\.\d\d")
SIX_DIGITS = re.compile(r"\d+\.\d{6}")
STATUS = re.compile(r"active|suspended|pending")

CARD = {
    "name": str,
    "company-name": str,
    "address1": str,
    "city": str,
    "state": str,
    "zipcode": str,
    "country": str,
    "phone": str,
    "fax": str,
    "email": str,
}
CONTACTS = {f"{role}-contact": CARD for role in ("reg", "admin", "tech", "billing")}
DOMAIN = {
    "domainName": str,
    "nameservers": [str],
    "contacts": CONTACTS,
    "privacyEnabled": bool,
    "lockedEnabled": bool,
    "autorenewEnabled": bool,
    "createDate": ISO,
    "expireDate": ISO,
    "renewalCost": SIX_DIGITS,
}
AVAILABILITY = {
    "domainName": str,
    "sdn": str,
    "tld": str,
    "status": str,
    "purchaseCost": MONEY,
    "renewalCost": MONEY,
    "premium": bool,
    "periodMin": DIGITS,
    "periodMax": DIGITS,
}


def envelope(domain: Any = None, **more: Any) -> dict[str, Any]:
    """The shape of an answer about one name: the name, the order's id, its status, and ``more``."""
    return {"domain": domain or DOMAIN, "order-id": DIGITS, "status": STATUS, **more}
