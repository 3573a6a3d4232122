"""Examples of the journal; clients' requests stand in it only where a test has made some."""

from __future__ import annotations

from typing import Any

from tests.powers.example import BAD, REQUEST, Example

#: For each part of a match a value that it takes, and one that it does not.
PARTS: dict[str, tuple[Any, Any]] = {
    "operation": ("v3.*", "v3.creatDomain"),
    "domain": (["*.com", "españa.com"], []),
    "account": ("main", ""),
    "method": ("post", ["GET", 7]),
    "path": ("/v3/domains/*", ""),
    "headers": ({"User-Agent": "*", "X-Other": None}, "User-Agent"),
    "query": ({"page": "1"}, {"page": 1}),
    "body": ({"years": 2, "paid": 1.5, "domain.domainName": "*.com"}, 7),
    "outcome": ("4xx", "fine"),
    "carried_out": (True, "yes"),
    "changed": (False, "no"),
    "fault": ("lost*", ""),
    "since": ("r12", "yesterday"),
}


def _matching(operation: str) -> tuple[Example, ...]:
    """What everything that takes the parts of a match takes."""
    good = (Example(operation, {name: value}) for name, (value, _) in PARTS.items())
    bad = (Example(operation, {name: value}, BAD) for name, (_, value) in PARTS.items())
    return (Example(operation), *good, *bad, Example(operation, {"colour": "red"}, BAD))


#: A request that is refused, and one that is not.
ASKED = (
    (REQUEST, {"path": "/v3/domains/getDomain/nobodys.com"}),
    (REQUEST, {"path": "/v3/balance", "headers": {"User-Agent": "me"}}),
)

VERIFY = "journal.verify"
ANY: dict[str, Any] = {}

EXAMPLES = (
    *_matching("journal.find"),
    Example("journal.follow"),
    Example("journal.follow", {"operation": "v3.creatDomain"}, BAD),
    Example("journal.follow", {"account": "main", "per_second": 10}),
    Example("journal.follow", {"per_second": 0}, BAD),
    Example("journal.find", {"outcome": "404"}),
    Example("journal.find", {"since": "2026-03-01T12:00:00Z", "limit": 3}),
    Example("journal.find", {"limit": 0}),
    Example("journal.find", {"limit": -1}, BAD),
    Example("journal.find", before=ASKED),
    Example("journal.find", {"headers": {"user-agent": "m*"}}, before=ASKED),
    Example("journal.get", {"request": "r1"}, before=ASKED),
    Example("journal.get", {"request": "r1"}, "unknown_request"),
    Example("journal.clear"),
    Example("journal.clear", before=ASKED),
    Example(VERIFY, {"match": {name: value for name, (value, _) in PARTS.items()}}),
    Example(VERIFY, {"match": {name: value for name, (_, value) in PARTS.items()}}, BAD),
    Example(VERIFY, {"match": {"operatoin": "v3.*"}}, BAD),
    Example(VERIFY, {"match": []}, BAD),
    Example(VERIFY, {"match": ANY, "times": 0}),
    Example(VERIFY, {"match": {"account": "mian"}}, before=ASKED),
    Example(VERIFY, {"match": ANY, "times": 2}, before=ASKED),
    Example(VERIFY, {"match": ANY, "times": -1}, BAD),
    Example(VERIFY, {"match": ANY, "at_least": 1, "at_most": 3}),
    Example(VERIFY, {"match": ANY, "at_least": 3, "at_most": 1}, BAD),
    Example(VERIFY, {"match": ANY, "at_least": "one"}, BAD),
    Example(VERIFY, {"match": ANY, "times": 1, "at_least": 1}, BAD),
    Example(VERIFY, {"in_order": [{"operation": "v3.createDomain"}, {"domain": "a.com"}]}),
    Example(VERIFY, {"in_order": []}),
    Example(VERIFY, {"in_order": [{"operatoin": "v3.*"}]}, BAD),
    Example(VERIFY, {"in_order": [{}, {"operation": "v3.creatDomain"}]}, BAD),
    Example(VERIFY, {"in_order": [], "times": 1}, BAD),
    Example(VERIFY, {"match": ANY, "in_order": []}, BAD),
    Example(VERIFY, {}, BAD),
)
