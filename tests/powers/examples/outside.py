"""Examples of outside: each action with each of its parameters, at once and later."""

from __future__ import annotations

from typing import Any

from tests.powers.example import BAD, Example

#: For each action something that it does, and for each of its other parameters one that it takes.
ACTIONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "register": (
        {"domain": "wanted.com"},
        {"years": 2, "locked": True, "autorenew": False, "auth_code": "x"},
    ),
    "hold": ({"domain": "second.com"}, {}),
    "release_hold": ({"domain": "second.com"}, {}),
    "drop": ({"domain": "second.com"}, {}),
    "release": ({"domain": "second.com"}, {}),
    "request_transfer": ({"domain": "second.com"}, {"force": True}),
    "approve_transfer": ({"domain": "arriving.com"}, {}),
    "reject_transfer": ({"domain": "arriving.com"}, {}),
    "complete_transfer": ({"domain": "arriving.com"}, {}),
    "set_prices": (
        {"zone": "com", "renewal": "13.25"},
        dict.fromkeys(("registration", "renewal", "transfer", "restore", "privacy", "owner_change"), "7.5"),
    ),
    "set_promotion": ({"zone": "com", "of": "renewal"}, {}),
    "set_premium": ({"domain": "wanted.com", "registration": "77"}, {"renewal": "7", "transfer": 9}),
    "set_service": ({"zone": "com", "in_service": False}, {}),
    "adjust_balance": ({"account": "main", "by": "-9"}, {}),
    "revoke_credentials": ({"account": "main"}, {"which": "key"}),
    "restore_credentials": ({"account": "main"}, {"which": "token"}),
}

#: What is refused in place of a parameter.
WRONG = {"zone": "", "account": "", "auth_code": ""}

OUTGOING = (("outside.request_transfer", {"domain": "second.com"}),)

#: Which requests a plan can wait for: whatever a match can say of one, but when it came.
AWAITED: tuple[dict[str, Any], ...] = (
    {"account": "main", "operation": ["v3.getDomain", "v2.domain.*"], "outcome": ["ok", "refused", "fault"]},
    {"method": "post", "path": "/v3/*", "body": {"domainNames[*]": "*.com"}, "changed": False},
    {"headers": {"x-run": "7", "x-other": None}, "query": {"page": "1"}, "outcome": "4xx"},
    {"fault": "lost*", "carried_out": True},
    {},
)
MISTAKEN = (
    {"since": "r1"},
    {"answer": "accepted"},
    {"operation": "v3.balanse"},
    {"outcome": "late"},
    {"carried_out": "perhaps"},
    {"headers": 7},
    {"body": {"[": 1}},
)

PROMOTION = {"zone": "com", "of": "registration", "price": "1.5", "until": "P3D"}

EXAMPLES = (
    Example("outside.hold", {"domain": "second.com", "at": 0.5}, BAD),
    Example("outside.hold", {"domain": "second.com", "at": 3600.0}),
    *(Example(f"outside.{action}", told) for action, (told, _) in ACTIONS.items()),
    Example("outside.hold", {"domain": "second.com", "at": "soon"}, BAD),
    Example("outside.drop", {"domain": "second.com", "after": "v3.balance"}),
    Example("outside.drop", {"domain": "second.com", "after": 7}, BAD),
    *(
        Example(f"outside.{action}", {**told, name: value})
        for action, (told, others) in ACTIONS.items()
        for name, value in others.items()
    ),
    *(
        Example(f"outside.{action}", {**told, name: WRONG.get(name, "-")}, BAD)
        for action, (told, others) in ACTIONS.items()
        for name in {**told, **others}
    ),
    Example("outside.cancel_transfer", {"domain": "second.com"}, before=OUTGOING),
    Example("outside.cancel_transfer", {"domain": "second.com"}, "no_transfer_out"),
    Example("outside.register", {"domain": "active.com"}, "name_taken"),
    Example("outside.register", {"domain": "wanted.nowhere", "at": "P1D"}, "zone_not_supported"),
    Example("outside.register", {"domain": "wanted.com", "at": "P1D", "after": "v3.*"}, BAD),
    Example("outside.register", {"domain": "wanted.com", "at": "2020-01-01"}, BAD),
    Example("outside.register", {"domain": "wanted.com", "after": "v3.balanse"}, BAD),
    Example("outside.register", {"domain": "wanted.com", "year": 1}, BAD),
    Example(
        "outside.register",
        {
            "domain": "wanted.com",
            "after": {"operation": "v3.*", "domain": "wanted.com", "outcome": "refused"},
        },
    ),
    *(Example("outside.register", {"domain": "wanted.com", "after": match}) for match in AWAITED),
    *(Example("outside.register", {"domain": "wanted.com", "after": match}, BAD) for match in MISTAKEN),
    Example("outside.set_promotion", PROMOTION),
    Example("outside.set_promotion", {**PROMOTION, "price": "free"}, BAD),
    Example("outside.set_promotion", {**PROMOTION, "until": "2020-01-01"}, BAD),
    Example("outside.set_premium", {"domain": "wanted.com", "renewal": "7"}, BAD),
    Example("outside.adjust_balance", {"account": "main", "to": "0"}),
    Example("outside.adjust_balance", {"account": "main", "to": "all"}, BAD),
    Example("outside.adjust_balance", {"account": "main"}, BAD),
    Example("outside.adjust_balance", {"account": "nobody", "by": "1"}, "unknown_account"),
    Example("outside.set_service", {"zone": "nowhere", "in_service": True}, "unknown_zone"),
)
