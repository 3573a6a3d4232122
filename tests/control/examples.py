"""Accepted and refused calls of the control operations. Each parameter has an accepted value.

The order matters, because the OpenAPI document shows the first refusal of each error code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from reseller_sandbox import Sandbox

Parameters = dict[str, Any]
Call = tuple[str, Parameters]
#: An accepted and a refused value for each parameter.
Pairs = dict[str, tuple[Any, Any]]


@dataclass(frozen=True)
class Example:
    """A call in JSON. ``refused`` is the code of its refusal, and ``before`` are the calls to make first."""

    operation: str
    given: Parameters = field(default_factory=dict)
    refused: str = ""
    before: tuple[Call, ...] = ()

    def __str__(self) -> str:
        given = ",".join(f"{name}={value}" for name, value in self.given.items())
        return f"{self.operation}({given})"[:70]


#: Instead of an operation: a request of a client, with the parameters of Flask's test client.
REQUEST = "request"

BAD = "invalid_parameter"


def good(operation: str, *calls: Parameters, before: tuple[Call, ...] = ()) -> Iterator[Example]:
    """Yield accepted calls, by default one without parameters."""
    return (Example(operation, given, before=before) for given in calls or ({},))


def bad(
    operation: str, *calls: Parameters, code: str = BAD, before: tuple[Call, ...] = ()
) -> Iterator[Example]:
    return (Example(operation, given, code, before) for given in calls)


def each(
    operation: str, default: Parameters, pairs: Pairs, before: tuple[Call, ...] = ()
) -> Iterator[Example]:
    """Yield an accepted and a refused call for each parameter, together with the parameters ``default``."""
    for name, (accepted, refused) in pairs.items():
        yield Example(operation, {**default, name: accepted}, before=before)
        yield Example(operation, {**default, name: refused}, BAD)


BALANCE = (REQUEST, {"path": "/v3/balance", "headers": {"User-Agent": "me"}})
#: Requests. The service refuses the first one.
REQUESTS = ((REQUEST, {"path": "/v3/domains/getDomain/nobodys.com"}), BALANCE)
LATER, MUCH_LATER = (("clock.advance", {"by": "P60D"}),), (("clock.advance", {"by": "P300D"}),)
SECOND, WANTED = {"domain": "second.com"}, {"domain": "wanted.com"}

# The clock

UNITS = ("seconds", "minutes", "hours", "days", "weeks", "months", "years")
OVERDUE: Parameters = {"domain": "second.com", "stage": "overdue"}
CLOCK = (
    *(good(f"clock.{verb}") for verb in ("show", "freeze", "run")),
    good("clock.set", {"to": "2026-04-01T00:00:00Z"}, {"to": "2026-04-01"}, {"to": "2028-04-01", "limit": 3}),
    bad("clock.set", {"to": "2026-01-01"}, code="set_back"),
    bad("clock.set", {"to": "soon"}, {}, {"to": "2028-04-01", "limit": -1}),
    good("clock.advance", {"by": "P800D", "limit": 3}, {"by": "P3D"}, {"by": 3600}, {"by": 3600.0}),
    each("clock.advance", {}, dict.fromkeys(UNITS, (2, 0))),
    good("clock.advance", {"days": 1, "hours": 12}),
    bad("clock.advance", {"hours": 0.5}, {"days": 3, "by": "P3D"}, {"weeks": 1, "until": "next"}),
    good("clock.advance", {"by": "P3D", "dry_run": True}, {"to": "2027-01-01T00:00:00Z"}, {"until": "next"}),
    good("clock.advance", {"until": OVERDUE}, {"until": {"event": "expiry"}}),
    bad("clock.advance", {"by": 1.5}, {"by": "a while"}, {"by": 3600, "limit": 1.5}, {"to": "tomorrow"}),
    bad("clock.advance", {}, {"by": "P3D", "dry_run": "yes"}, {"by": "P3D", "fast": True}),
    bad("clock.advance", {"until": {"domain": "second.com", "stgae": "overdue"}}),
    bad("clock.advance", {"until": {**OVERDUE, "domain": "nobodys.com"}}, code="not_held"),
    bad("clock.advance", {"until": {**OVERDUE, "domain": "-"}}, code="invalid_name"),
    bad("clock.advance", {"until": {**OVERDUE, "account": "nobody"}}, code="unknown_account"),
    bad("clock.advance", {"until": {**OVERDUE, "stage": "requested"}}, code="nothing_due"),
    each("clock.watch", {}, {"since": (1, -1), "per_second": (10, "all")}),
    each("clock.due", {}, {"limit": (3, 0)}),
    good("clock.due", SECOND),
    bad("clock.due", {"domain": "-"}, code="invalid_name"),
)

# Logs and reports

MATCH: Pairs = {
    **{"operation": ("v3.*", "v3.creatDomain"), "domain": (["*.com", "españa.com"], [])},
    **{"method": ("post", ["GET", 7]), "path": ("/v3/domains/*", ""), "query": ({"page": "1"}, {"page": 1})},
    **{"headers": ({"User-Agent": "*", "X-Other": None}, "User-Agent"), "outcome": ("4xx", "fine")},
    **{"body": ({"years": 2, "paid": 1.5, "domain.domainName": "*.com"}, 7), "carried_out": (True, "yes")},
    **{"changed": (False, "no"), "account": ("main", ""), "fault": ("lost*", ""), "since": ("r12", "soon")},
}
EVENTS: Pairs = {"kind": ("time", "tide"), "name": ("clock.*", ""), "since": (2, "lately")}
VERIFY = "journal.verify"
ANY: Parameters = {"match": {}}
COVERAGE: Pairs = {"operation": ("v3.*", "v3.balanse"), "everywhere": (True, "yes")}

RECORDS = (
    good("recording.get"),
    good("recording.get", before=(BALANCE, *LATER)),
    *(good(f"coverage.{verb}", before=(BALANCE,)) for verb in ("show", "items", "missing", "clear")),
    each("coverage.missing", {}, {**COVERAGE, "limit": (3, 0)}, before=(BALANCE,)),
    good("coverage.items", {"operation": "v3.*", "area": "stages"}, {"seen": False}, before=(BALANCE,)),
    bad("coverage.items", {"area": "stage"}, {"operation": ""}),
    each("coverage.items", {}, {"seen": (True, "yes")}, before=(BALANCE,)),
    each("coverage.clear", {}, {"everywhere": (True, "yes")}, before=(BALANCE,)),
    good("events.follow", {}, SECOND, {"since": 2, "per_second": 10}),
    each("events.follow", {}, EVENTS),
    bad("events.follow", {"domain": "-"}, code="invalid_name"),
    bad("events.follow", {"per_second": 0}),
    good("events.list"),
    good("events.list", SECOND, before=MUCH_LATER),
    bad("events.list", {"domain": "-"}, code="invalid_name"),
    each("events.list", {}, {**EVENTS, "before": (3, 0), "cause": (1, 0), "limit": (2, -1)}, before=LATER),
)
JOURNAL = (
    *(
        example
        for name in ("journal.list", "journal.lines")
        for example in (
            good(name, {}, {"outcome": "404"}, {"since": "2026-03-01T12:00:00Z", "limit": 3}, {"limit": 0}),
            each(name, {}, MATCH),
            bad(name, {"colour": "red"}, {"limit": -1}),
            each(name, {}, {"text": ("nobodys", ""), "until": ("2026-03-02", "then"), "before": (2, 0)}),
            good(name, {}, {"headers": {"user-agent": "m*"}}, before=REQUESTS),
        )
    ),
    each("journal.follow", {}, {"text": ("nobodys", "")}),
    good("journal.follow", {}, {"account": "main", "per_second": 10}),
    bad("journal.follow", {"operation": "v3.creatDomain"}, {"per_second": 0}),
    good("journal.export"),
    each(
        "journal.export",
        {},
        {"format": ("ndjson", "csv"), "text": ("nobodys", ""), "until": ("2027-01-01", "x")},
    ),
    good("journal.get", {"request": "r1"}, before=REQUESTS),
    bad("journal.get", {"request": "r1"}, code="unknown_request"),
    good("journal.clear", before=REQUESTS),
    good(VERIFY, {"match": {name: value for name, (value, _) in MATCH.items()}}, {**ANY, "times": 0}),
    good(VERIFY, {**ANY, "at_least": 1, "at_most": 3}, {"in_order": []}),
    good(VERIFY, {"in_order": [{"operation": "v3.createDomain"}, {"domain": "a.com"}]}),
    good(VERIFY, {"match": {"account": "mian"}}, {**ANY, "times": 2}, before=REQUESTS),
    bad(VERIFY, {"match": {name: value for name, (_, value) in MATCH.items()}}, {"match": []}, {}),
    bad(VERIFY, {"match": {"operatoin": "v3.*"}}, {**ANY, "times": -1}, {**ANY, "at_least": "one"}),
    bad(VERIFY, {**ANY, "at_least": 3, "at_most": 1}, {**ANY, "times": 1, "at_least": 1}),
    bad(VERIFY, {"in_order": [{"operatoin": "v3.*"}]}, {"in_order": [{}, {"operation": "v3.creatDomain"}]}),
    bad(VERIFY, {"in_order": [], "times": 1}, {**ANY, "in_order": []}),
)
LEDGER = (
    good("ledger.list"),
    good("ledger.list", before=MUCH_LATER),
    good("ledger.list", {"account": "main"}, {"before": 3, "limit": 1}),
    bad("ledger.list", {"account": "nobody"}, code="unknown_account"),
    each("ledger.list", {}, {"order": (1, 0), "domain": ("second.com", ""), "request": ("r1", "")}),
    each("ledger.list", {}, {"operation": ("v3.*", "*a" * 2000), "purpose": ("renewal", "fun")}),
    good("ledger.statement", {}, {"month": "2026-03", "account": "main", "format": "csv"}, before=MUCH_LATER),
    good("ledger.statement", {"format": "json"}, before=MUCH_LATER),
    bad("ledger.statement", {"account": "nobody"}, code="unknown_account"),
    bad("ledger.statement", {"month": "2026-13"}, {"format": "xml"}),
    each("ledger.list", {}, {"since": ("2026-03-01", "then"), "before": (3, 0), "limit": (0, -1)}),
)

# Faults

#: Rules of each kind with all parameters of their kind.
RULES: tuple[Parameters, ...] = (
    {"kind": "error", "error": "insufficient_funds", "facts": {"price": "9"}, "retry_after": 3},
    {"kind": "error", "status": 418, "body": {"tea": True}, "content_type": "text/plain"},
    {"kind": "error", "status": 418, "headers": {"X-Tea": "yes"}},
    *({"kind": "latency", "seconds": "1.5"}, {"kind": "latency", "min": "1s", "max": 2}),
    *({"kind": "latency", "median": 2, "sigma": 0.6}, {"kind": "drip", "size": 5, "pause": 0.1}),
    *({"kind": "bandwidth", "rate": 9}, {"kind": "hang", "seconds": "5m"}, {"kind": "stale", "commits": 2}),
    {"kind": "stale", "max_age": "90s"},
    *({"kind": "truncate", "keep": 7, "reset": True}, {"kind": "duplicate", "answer": "second"}),
    *({"kind": "garbage", "text": "noise"}, {"kind": "garbage", "hex": "00ff"}),
    {"kind": "mutate", "path": "results[0].status", "value": 7},
    *(
        {"kind": "mutate", "path": "status", "drop": True},
        {"kind": "mutate", "path": "status", "type": "number"},
    ),
    {"kind": "mutate", "path": "status", "add": 7},
    {"kind": "rate_limit", "limit": 3, "window": "60s", "time": "real", "per": "rule"},
    {"kind": "time_passes", "by": "P1D"},
    {"kind": "reset", "name": "lost", "match": {"operation": "v3.*"}, "when": {"times": 2, "phase": "after"}},
    {"kind": "close", "paused": True},
    *({"preset": "outage"}, {"preset": "flaky", "name": "bad", "when": {"chance": 0.5}}),
    {"kind": {"kind": "latency", "seconds": 0.5}},
)
PLACED = (("faults.add", {"kind": "latency", "name": "slow", "seconds": 0.001}),)
SLOW, FAST = {"name": "slow"}, {"name": "fast"}
FAULTS = (
    good("faults.add", *RULES),
    bad(
        "faults.add",
        {},
        {"preset": ""},
        {"kind": "close", "matched": 3},
        {"kind": "latency", "secs": 1},
        {"kind": "latency", "body": "x"},
    ),
    bad("faults.add", {"kind": "reset", "name": "slow"}, code="fault_exists", before=PLACED),
    bad("faults.add", {"kind": "error", "error": "no_such_error"}, {"kind": "reset", "match": {"path": 7}}),
    good("faults.list", before=(*PLACED, ("faults.add", {"preset": "flaky"}))),
    good("faults.get", SLOW, before=PLACED),
    bad("faults.get", FAST, code="unknown_fault", before=PLACED),
    bad("faults.get", {"name": "not a name"}),
    good(
        "faults.replace", {"faults": []}, {"faults": [{"kind": "hang"}, {"preset": "outage"}]}, before=PLACED
    ),
    bad("faults.replace", {"faults": [{"kind": "hang"}, {"kind": "hung"}]}, {"faults": {}}, {}),
    good("faults.change", {**SLOW, "changes": {"seconds": 0.002, "when": {"times": 2}}}, before=PLACED),
    good("faults.change", {**SLOW, "changes": {"kind": "close"}}, before=PLACED),
    bad("faults.change", {**SLOW, "changes": {"seconds": None}}, {**SLOW, "changes": FAST}, before=PLACED),
    bad("faults.change", {**FAST, "changes": {}}, code="unknown_fault", before=PLACED),
    good("faults.pause", SLOW, before=PLACED),
    good("faults.resume", SLOW, before=(*PLACED, ("faults.pause", SLOW))),
    good("faults.remove", SLOW, before=(*PLACED, ("faults.add", {"kind": "close"}))),
    *(bad(f"faults.{verb}", FAST, code="unknown_fault") for verb in ("pause", "resume", "remove")),
    good("faults.clear", before=PLACED),
    *(good(f"faults.{verb}") for verb in ("list", "kinds", "presets")),
)

# Canned answers

ZONE: Parameters = {"path": "/dns/zones/{zone}"}
CANNED = (("answers.add", {**ZONE, "name": "zone", "body": {"zone": "{zone}"}}),)
ANSWERS = (
    good("answers.add", ZONE, {**ZONE, "body": {"zone": "{zone}", "expires": "{zone.expires}"}}),
    bad("answers.add", {**ZONE, "name": "zone"}, code="answer_exists", before=CANNED),
    bad("answers.add", {}, {"path": "dns"}, {"path": "/v3/balance"}, {**ZONE, "body": "{zonne}"}),
    bad("answers.add", {**ZONE, "status": 404, "sequence": [{"status": 200}]}),
    each(
        "answers.add",
        ZONE,
        {
            **{"method": ("POST", "post"), "name": ("zone", "no such / name!"), "status": (404, 7)},
            **{"request_body": ({"type": "A"}, 7), "headers": ({"X-Id": "{count}"}, {"Date": "now"})},
            **{"body": ("{query.page}", "{query}"), "content_type": ("text/html", "html")},
            "sequence": ([{"status": 202}, {"body": [1.5]}], []),
        },
    ),
    each(
        "answers.add",
        {**ZONE, "entry": "zones/{zone.ascii}"},
        {
            **{"entry": ("{zone.ascii}", ""), "exists": (True, "perhaps"), "delete": (True, "perhaps")},
            **{"save": ({"by": "{account}"}, "{zonne}"), "saved": ({"zones/a.com": 1}, "zones/a.com")},
        },
    ),
    good("answers.list", before=CANNED),
    good("answers.change", {"name": "zone", "changes": {"status": 404, "body": None}}, before=CANNED),
    bad("answers.change", {"name": "none", "changes": {}}, code="unknown_answer"),
    bad("answers.change", {"name": "zone", "changes": {"path": "dns"}}, before=CANNED),
    *(good(f"answers.{verb}", {"name": "zone"}, before=CANNED) for verb in ("get", "remove")),
    *(bad(f"answers.{verb}", {"name": "none"}, code="unknown_answer") for verb in ("get", "remove")),
    good("answers.clear", before=CANNED),
)

# Worlds and their past

PRICES = {"registration": 1, "renewal": 1.5, "transfer": 1, "restore": 1}
SMALL = "zones: {com: {prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}}\n"
OBJECT = {"zones": {"com": {"prices": PRICES}}}
RECORDING = Sandbox("empty").recording.get().base64
MINE, HERE, THERE = {"name": "mine"}, {"name": "here"}, {"name": "there"}
POINTS = {"never": "unknown_point", "before:r9": "unknown_request", "snapshot:none": "unknown_snapshot"}
KEPT = (("snapshots.add", HERE),)
LEFT = (*KEPT, *LATER, ("snapshots.restore", HERE))

HISTORY = (
    good("history.rewind", {"request": "r1"}, {"request": "r1", "side": "after"}, before=(BALANCE,)),
    bad("history.rewind", {"request": "r1"}, code="unknown_request"),
    bad("history.rewind", {}, {"request": "r1", "side": "around"}),
    good("history.reset", before=LEFT),
    each("history.reset", {}, {"original": (True, "yes")}),
    good("history.diff", before=LATER),
    good("history.diff", {"from": "snapshot:here"}, before=KEPT),
    good("history.diff", {"from": "start", "to": "branch:b1"}, before=LEFT),
    good("history.diff", {"limit": 1}, {"limit": 1, "start": 1}, before=MUCH_LATER),
    *(bad("history.diff", {"from": point}, code=code) for point, code in POINTS.items()),
    bad("history.diff", {"to": "branch:b9"}, code="unknown_branch"),
    bad("history.diff", {"limit": -1}, {"start": "b"}),
    good("history.export"),
    good("history.load", {"fixture": SMALL}, {"fixture": OBJECT}),
    bad("history.load", {"fixture": "zones: ["}, code="invalid_fixture"),
    bad("history.load", {"fixture": 5}),
    good("snapshots.list", before=KEPT),
    each("snapshots.add", {}, {"name": ("here", "no such / name!")}),
    *(good(f"snapshots.{verb}", HERE, before=KEPT) for verb in ("restore", "remove")),
    *(bad(f"snapshots.{verb}", THERE, code="unknown_snapshot") for verb in ("restore", "remove")),
    good("branches.list", before=LEFT),
    *(good(f"branches.{verb}", {"name": "b1"}, before=LEFT) for verb in ("switch", "remove")),
    *(bad(f"branches.{verb}", {"name": "b2"}, code="unknown_branch") for verb in ("switch", "remove")),
)
FORK, OPEN = "worlds.fork", "worlds.open"
WORLDS = (
    good("worlds.list", before=(("worlds.fork", MINE),)),
    good("worlds.get", {"world": "default"}),
    bad("worlds.get", {"world": "nobodys"}, code="unknown_world"),
    good(FORK, {}, {"point": "start"}, {"fixture": "empty"}, {"state": SMALL}, {"state": OBJECT}, MINE),
    good(FORK, {"now": "2027-01-01"}),
    good(FORK, {"point": "snapshot:here"}, before=KEPT),
    *(bad(FORK, {"point": point}, code=code) for point, code in POINTS.items()),
    bad(FORK, {"fixture": "nosuch"}, {"state": "zones: ["}, code="invalid_fixture"),
    bad(FORK, {"fixture": "empty", "point": "start"}, {"state": SMALL, "fixture": "empty"}, {"state": 5}),
    bad(FORK, {"name": "default"}, code="world_exists"),
    bad(FORK, {"now": "2020-01-01"}, code="set_back"),
    bad(FORK, {"name": "w7"}, {"now": "soon"}),
    each(FORK, {}, {"frozen": (True, "yes"), "seed": ("same", "")}),
    each(FORK, {}, {"assume": ({"v3.ids": "integer"}, {"v3.idz": "integer"})}),
    good(OPEN, {"recording": RECORDING}, {"recording": RECORDING, "name": "opened"}),
    bad(OPEN, {"recording": RECORDING, "name": "w7"}, {"recording": "no Base64"}),
    bad(OPEN, {"recording": RECORDING, "name": "default"}, code="world_exists"),
    bad(OPEN, {"recording": "H4sIAAAAAAAC/w=="}, code="invalid_recording"),
    good("worlds.remove", {"world": "mine"}, before=(("worlds.fork", MINE),)),
    bad("worlds.remove", {"world": "default"}, code="default_world"),
    bad("worlds.remove", {"world": "nobodys"}, code="unknown_world"),
)

# Third parties

#: Each action, with its required and its optional parameters.
ACTIONS: dict[str, tuple[Parameters, Parameters]] = {
    "register": (WANTED, {"years": 2, "locked": True, "autorenew": False, "auth_code": "x"}),
    **dict.fromkeys(("hold", "release_hold", "drop", "release"), (SECOND, {})),
    "request_transfer": (SECOND, {"force": True}),
    **{f"{verb}_transfer": ({"domain": "arriving.com"}, {}) for verb in ("approve", "reject", "complete")},
    "change": (
        {**SECOND, "autorenew": False},
        {
            **{"expires": "-1d", "auth_code": "x", "nameservers": ["ns1.example.net"], "privacy": True},
            **{"flags": ["client_hold"], "contacts": {"tech": "A1001"}, "customer": 0},
            **{"charge": "1.5", "by": "registry", "account": "main"},
        },
    ),
    "renew": (SECOND, {"years": 2, "charge": False}),
    "refuse_registration": ({"domain": "processing.com"}, {"refund": False, "reason": "no papers"}),
    "expire_auth_code": (SECOND, {}),
    "set_prices": (
        {"zone": "com", "renewal": "13.25"},
        dict.fromkeys(("registration", "renewal", "transfer", "restore", "privacy", "owner_change"), "7.5")
        | {"later_years": "renewal"},
    ),
    "set_promotion": ({"zone": "com", "of": "renewal"}, {}),
    "set_premium": ({**WANTED, "registration": "77"}, {"renewal": "7", "transfer": 9}),
    "set_service": ({"zone": "com", "in_service": False}, {}),
    "revoke_credentials": ({"account": "main"}, {"which": "key"}),
    "restore_credentials": ({"account": "main"}, {"which": "token"}),
}
#: Matches for ``after``, which can have every part except ``since``.
AWAITED: tuple[Parameters, ...] = (
    {"account": "main", "operation": ["v3.getDomain", "v2.domain.*"], "outcome": ["ok", "refused", "fault"]},
    {"method": "post", "path": "/v3/*", "body": {"domainNames[*]": "*.com"}, "changed": False},
    {"headers": {"x-run": "7", "x-other": None}, "query": {"page": "1"}, "outcome": "4xx"},
    {"operation": "v3.*", "domain": "wanted.com", "fault": "lost*", "carried_out": True},
    {},
)
WRONG_MATCHES: tuple[Parameters, ...] = ({"since": "r1"}, {"answer": "accepted"}, {"body": {"[": 1}})
#: The changes of a balance, each with its amount.
BALANCES = {"credit": "50", "debit": 9.5, "set_balance": "-1"}
PROMOTION = {"zone": "com", "of": "registration", "price": "1.5", "until": "P3D"}
PLANNED = (
    ("simulate.register", {**WANTED, "auth_code": "their-code", "at": "P3D"}),
    ("simulate.set_prices", {"zone": "com", "renewal": "13.25", "after": "v3.balance"}),
)
OUTSIDE = (
    *(
        good(f"simulate.{action}", required, *({**required, name: more[name]} for name in more))
        for action, (required, more) in ACTIONS.items()
    ),
    good("simulate.hold", {**SECOND, "at": 3600.0}),
    bad("simulate.hold", {**SECOND, "at": 0.5}, {**SECOND, "at": "soon"}),
    each("simulate.drop", SECOND, {"after": ("v3.balance", 7)}),
    good("simulate.cancel_transfer", SECOND, before=(("simulate.request_transfer", SECOND),)),
    bad("simulate.cancel_transfer", SECOND, code="no_transfer_out"),
    bad("simulate.register", {"domain": "active.com"}, code="name_taken"),
    bad("simulate.register", {"domain": "wanted.nowhere", "at": "P1D"}, code="zone_not_supported"),
    bad("simulate.register", {**WANTED, "at": "P1D", "after": "v3.*"}, {**WANTED, "at": "2020-01-01"}),
    bad("simulate.register", {**WANTED, "after": "v3.balanse"}, {**WANTED, "year": 1}),
    good("simulate.register", *({**WANTED, "after": match} for match in AWAITED)),
    bad("simulate.register", *({**WANTED, "after": match} for match in WRONG_MATCHES)),
    good("simulate.set_promotion", PROMOTION),
    bad("simulate.set_promotion", {**PROMOTION, "price": "free"}, {**PROMOTION, "until": "2020-01-01"}),
    bad("simulate.set_premium", {**WANTED, "renewal": "7"}),
    bad("simulate.change", SECOND, {**SECOND, "expires": "1900-01-01"}, {**SECOND, "flags": ["held"]}),
    bad("simulate.change", {**SECOND, "contacts": {"tech": "C-9"}}, code="contact_not_found"),
    bad("simulate.renew", {"domain": "redemption.com"}, code="wrong_state"),
    bad("simulate.refuse_registration", SECOND, code="no_registration_pending"),
    bad("simulate.expire_auth_code", {"domain": "free.com"}, code="not_held"),
    *(
        good(f"accounts.{action}", {"account": "main", "amount": amount})
        for action, amount in BALANCES.items()
    ),
    good("accounts.credit", {"account": "main", "amount": 1, "at": "P3D"}),
    good("accounts.debit", {"account": "main", "amount": 1, "after": "v3.balance"}),
    bad("accounts.credit", {"account": "main", "amount": "-1"}, {"account": "main"}),
    bad("accounts.credit", {"account": "main", "amount": 1, "at": "soon"}),
    bad("accounts.debit", {"account": "main", "amount": "all"}),
    bad("accounts.set_balance", {"account": "nobody", "amount": "1"}, code="unknown_account"),
    bad("simulate.set_service", {"zone": "nowhere", "in_service": True}, code="unknown_zone"),
    good("scheduled.list"),
    good("scheduled.list", before=PLANNED),
    good("scheduled.remove", {"scheduled": 2}, before=PLANNED),
    bad("scheduled.remove", {"scheduled": 7}, code="unknown_scheduled_action", before=PLANNED),
    bad("scheduled.remove", {"scheduled": "first"}),
)

# Records of the registry

#: A text with a control character, which is refused.
BELL = "\x07"


PERSON = {
    **{"name": "Ann Example", "company": "Ann & Co", "address": "1 Street", "city": "Kyiv", "region": "Kyiv"},
    **{"zip": "01001", "country": "UA", "phone": "+380.441234567", "fax": "+380.441234568"},
    **{"mail": "ann.example@example.org", "account": "main"},
}
ORDER: Parameters = {
    **{"registrant_changed": "-9d", "last_renewal": {"at": "-9d", "before": "-65d"}},
    **{"id": 900001, "created": "-40d", "expires": "+300d", "since": "-30d", "due": "+300d"},
    **{"retry": "never", "arrived": "-20d", "contacts": {"tech": "A1001"}, "customer": 501},
    **{"nameservers": ["ns1.example.net"], "privacy": True, "autorenew": True, "flags": ["client_hold"]},
    **{
        "auth_code": "secret-code",
        "auth_code_expires": "+3d",
        "license": "L1",
        "years": 2,
        "registration": [],
        "renewals": [],
    },
    "update_lock_used": True,
    **{"account": "main", "stage": "active", "hosts": {"ns1": ["192.0.2.8"]}},
}
ACCOUNT: Parameters = {
    **{"name": "shop", "client_id": 9001, "key": "k", "secret": "s", "token": "t", "currency": "EUR"},
    **{"balance": "12.50", "reseller": False, "nameservers": ["ns1.example.net"], "revoked": ["key"]},
}
TRANSFER: Parameters = {
    **{"from": "main", "status": "pending", "requested": "-2d", "completes": "+3d", "charges": []},
    **{"order": {"years": 2}},
}
REJECTED = {"status": "clientRejected", "gaining_order": 900002, "losing_order": 900003}
SHOP = {"account": "shop", "contact": {"name": "Shop Keeper"}}
TEXTS = {"lang": "en", "password": "secret", "post_address": "Box 1"}
ADDING = (
    good("names.add", {"name": "added.com", **ORDER}),
    bad("names.add", {"name": "active.com"}, {"name": "added.com", "customer": 99}, code="invalid_entry"),
    good("accounts.add", {**SHOP, **ACCOUNT}),
    bad("accounts.add", {"account": "main", "contact": {}}, code="invalid_entry"),
    bad("accounts.add", {"account": "shop"}, {**SHOP, "currency": BELL}, {**SHOP, "balance": "much"}),
    good("customers.add", {"number": 777, **PERSON, **TEXTS}),
    bad("customers.add", {"number": 501}, code="invalid_entry"),
    good("contacts.add", {"handle": "ANN-1", **PERSON, "customer": 501, "extra": {}}),
    bad("contacts.add", {"handle": "A1001"}, code="invalid_entry"),
    each("hosts.add", {"name": "ns7.active.com"}, {"ips": (["192.0.2.7"], 7)}),
    bad("hosts.add", {"name": "ns7.nobodys.com", "ips": ["192.0.2.7"]}, code="invalid_entry"),
    good("transfers.add", {**SECOND, "to": "other", **TRANSFER}, {**SECOND, "to": "other", **REJECTED}),
    bad("transfers.add", {"domain": "nobodys.com", "to": "main"}, code="invalid_entry"),
)
#: For each resource, a key with a record and a key without a record.
KEYS: Pairs = {
    "names": ({"name": "españa.com"}, {"name": "nobodys.com"}),
    "customers": ({"number": 501}, {"number": 99999}),
    "contacts": ({"handle": "A1001"}, {"handle": "NOBODY"}),
    "hosts": ({"name": "ns1.active.com"}, {"name": "ns9.active.com"}),
    "transfers": ({"domain": "arriving.com"}, {"domain": "active.com"}),
}
FLAG, LIKE = ("client_hold", "hold"), ("*a*.com", "a" * 300)
MAIN, NOBODY, NORTH = {"account": "main"}, {"account": "nobody"}, {"account": "north/south"}
REGISTRY = (
    *(good(f"{resource}.get", key) for resource, (key, _) in KEYS.items()),
    *(bad(f"{resource}.get", key, code="unknown_record") for resource, (_, key) in KEYS.items()),
    *(each(f"{resource}.list", {}, {"limit": (2, 0), "start": (1, -1)}) for resource in KEYS),
    *(good(f"{owned}.list", {}, MAIN) for owned in ("names", "customers", "contacts")),
    *(bad(f"{owned}.list", NOBODY, code="unknown_account") for owned in ("names", "customers", "contacts")),
    good("names.list", {"stage": "overdue"}, {"sort": "expires", "limit": 2, "start": 1}),
    each("names.list", {}, {"zone": ("com", ""), "flag": FLAG, "like": LIKE, "sort": ("due", "age")}),
    each("names.list", {}, {"sort": ("account", "client"), "descending": (True, "down")}),
    bad("names.list", {"stage": "overdu"}),
    good("names.get", {"name": "arriving.com", **MAIN}),
    bad("names.get", {"name": "arriving.com", **NOBODY}, code="unknown_account"),
    good("accounts.list"),
    good("accounts.get", MAIN, {"account": "1001"}),
    good("accounts.get", NORTH, before=(("accounts.add", {**NORTH, "contact": {"name": "Ola"}}),)),
    bad("accounts.get", NOBODY, {"account": "/"}, code="unknown_account"),
    each("customers.list", {}, {"mail": ("ann@example.com", "")}),
    each("hosts.list", {}, {"domain": ("active.com", "a" * 300)}),
    each("transfers.list", {}, {"status": ("pending", "over")}),
)
ASSUMPTIONS = (
    good("assumptions.list"),
    good("assumptions.set", {"assume": {"v3.ids": "integer"}}, {"profile": "observed"}),
    bad("assumptions.set", {"assume": {"v3.idz": "integer"}}, {"assume": {"v3.ids": "float"}}),
    bad("assumptions.set", {"assume": "v3.ids"}, {"profile": "observd"}),
)

GROUPS = (
    *(ANSWERS, ASSUMPTIONS, CLOCK, RECORDS, FAULTS, HISTORY, JOURNAL),
    *(LEDGER, OUTSIDE, ADDING, REGISTRY, WORLDS),
)
EXAMPLES: tuple[Example, ...] = (
    Example("advice.list"),
    Example("health.show"),
    *chain.from_iterable(chain.from_iterable(GROUPS)),
)
