"""Candidate states of a service at the time of an answer, the likeliest first.

The registry behind a transcript is unknown. So a candidate value explains an answer if there is *a* state
that explains it, and is ruled out if there is none. Each scene is a fixture and changes one thing, because
the first obstacle of a request decides its refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from msgspec.structs import replace

from reseller_sandbox.fixture.zones import ZONE_TYPES
from reseller_sandbox.registry.model import Flag
from reseller_sandbox.tools.calibrate.bench import ACCOUNT
from reseller_sandbox.tools.calibrate.subject import KEPT, Known, Subject, agrees
from reseller_sandbox.values.clock import wire

_PRICES = {
    "registration": "10.00",
    "renewal": "12.00",
    "transfer": "9.00",
    "restore": "80.00",
    "privacy": "3.00",
}
_PREMIUM = ("registration", "renewal", "transfer")
_CARD = ACCOUNT["contact"]
_OTHER = {**ACCOUNT, "client_id": 2002, "key": "other-key", "secret": "other-secret", "token": "other-token"}
_LAPSED = {"overdue": "-2d", "redemption": "-40d", "pending_delete": "-63d"}

#: The most other names that are generated for a list.
_MOST_OTHERS = 2000

Scene = dict[str, Any]


def scenes(subject: Subject, known: Known | None = None, zones: Scene | None = None) -> Iterator[Scene]:
    """Yield the states of ``subject`` that are consistent with ``known``.

    Some of them cannot occur in a real world. With ``zones``, all states have exactly the zones of that
    fixture.
    """
    if zones is not None:
        yield from ({**scene, "zones": zones} for scene in scenes(subject, known))
        return
    if known is None:
        yield from _all(subject)
        return
    shown = {subject.name: {**subject.shown.get(subject.name, {}), **_before(known, subject)}}
    told = replace(subject, shown={**subject.shown, **shown})
    yield from (scene for scene in _all(told) if agrees(scene, subject.name, known))


def _before(known: Known, subject: Subject) -> Scene:
    """Return the known previous state of a name, in fixture format."""
    shown = {*subject.shown.get(subject.name, {}).get("flags", ())}
    flags = [str(flag) for flag in Flag if known.get(str(flag), str(flag) in shown)]
    return {"flags": flags, **{key: known[key] for key in KEPT if key in known}}


def _all(subject: Subject) -> Iterator[Scene]:
    if subject.operation == "v3.listDomains":
        yield from (_having(subject, {}), _many(subject), _world(subject))
        return
    standings = list(_standings(subject))
    yield from standings
    for scene in (standings[0], *_turning_points(subject)):
        yield from _disturbed(scene, subject)


def _turning_points(subject: Subject) -> Iterator[Scene]:
    """Yield the further states, beside the first one, that get disturbances."""
    if not subject.operation.endswith(_OF_NEW_NAMES):
        yield from (_world(subject), _having(subject, {}))


def _world(subject: Subject) -> Scene:
    """Return the state in which nobody holds the names."""
    zones = {_zone(name): _zone_entry() for name in subject.names if "." in name}
    for name in subject.premium:
        premium = zones.setdefault(_zone(name), _zone_entry()).setdefault("premium", {})
        premium[name.partition(".")[0]] = dict.fromkeys(_PREMIUM, "4321.00")
    zones |= {f"0-{number:03}": _zone_entry() for number in range(subject.start)}
    listed = {name: {**_zone_entry(), **entry} for name, entry in subject.zones.items()}
    return {
        "now": wire(subject.at),
        "zones": {**zones, **listed},
        "accounts": {"main": {**ACCOUNT, "reseller": True}, "other": {**_OTHER, "reseller": True}},
        "customers": {
            number: {**_CARD, "mail": subject.mail or f"c{number}@example.com"}
            for number in subject.customers
        },
        "contacts": {handle: dict(_CARD) for handle in subject.handles},
        "contact_params": {},
        "domains": {},
        "taken": {},
        "transfers": {},
    }


def _zone_entry() -> dict[str, Any]:
    return {"types": list(ZONE_TYPES), "prices": dict(_PRICES), "idn": True}


def _zone(name: str) -> str:
    return name.partition(".")[2]


def _own(subject: Subject, name: str, more: Mapping[str, Any]) -> dict[str, Any]:
    """Return the account's order for a name, as far as an answer shows the order."""
    entry: dict[str, Any] = {**subject.shown.get(name, {}), **more}
    if subject.expires is not None and "expires" not in more:
        entry["expires"] = wire(subject.expires)
    elif subject.operation.endswith((".renew", ".renewDomain", ".restore")):
        entry.pop("expires", None)  # because the answer shows the new date
    if "expires" in entry and "created" not in entry:
        entry["created"] = "-2y"
    if subject.code:
        entry["auth_code"] = subject.code
    if subject.order is not None:
        entry["id"] = subject.order
    if subject.host:
        label = subject.host.removesuffix(f".{name}")
        entry["hosts"] = {label: ["192.0.2.250"], "another": ["192.0.2.251"]}
    elif subject.operation == "v3.listGlueRecords":
        entry["hosts"] = {"another": ["192.0.2.251"]}
    return entry


def _having(subject: Subject, more: Mapping[str, Any], flag: Flag | None = None) -> Scene:
    """Return the state in which the account holds the names.

    ``flag`` is toggled.
    """
    made = _world(subject)
    for name in subject.names:
        entry = _own(subject, name, more)
        if flag is not None:
            entry["flags"] = sorted({*entry.get("flags", ())} ^ {str(flag)})
        made["domains"][name] = entry
    if subject.order is not None and not subject.names:
        made["zones"]["com"] = _zone_entry()
        made["domains"]["ordered.com"] = _own(subject, "ordered.com", more)
    return made


def _elsewhere(subject: Subject, more: Mapping[str, Any]) -> Scene:
    made = _world(subject)
    code = {"auth_code": subject.code} if subject.code else {}
    made["taken"] = {name: {"created": "-3y", **code, **more} for name in subject.names}
    return made


def _standings(subject: Subject) -> Iterator[Scene]:
    """Yield states with different holders and stages of names, likeliest first."""
    if subject.operation.endswith(
        _OF_NEW_NAMES
    ):  # because the stage of a registered name has no effect on these
        yield from (_world(subject), _having(subject, {}), _elsewhere(subject, {}))
        return
    transferring = "ransfer" in subject.operation
    if transferring:
        yield _elsewhere(subject, {})
    yield from _held(subject)
    yield _world(subject)
    for more in _OTHERS if transferring else ({},):
        yield _elsewhere(subject, more)
    for to, frm in (("main", "outside"), ("outside", "main")):
        for status in _ENDS if transferring else _ENDS[:1]:
            yield _transferred(subject, to, frm, status)


_OF_NEW_NAMES = (".createDomain", "domain.register", "domain.check", ".checkAvailability")
_ENDS = ("pending", "clientApproved", "clientRejected", "clientCancelled", "serverApproved")
_OTHERS: Sequence[Scene] = (
    {},
    {"created": "-3d"},
    {"locked": True},
    {"auth_code": "Another-Code-9"},
    {"stage": "redemption", "expires": "-40d"},
)


def _held(subject: Subject) -> Iterator[Scene]:
    yield _having(subject, {})
    for stage in ("requested", "processing"):
        yield _having(subject, {"stage": stage, "due": "+1h", "created": "-1h"})
    for stage, past in _LAPSED.items():
        yield _having(subject, {"stage": stage})
        yield _having(subject, {"stage": stage, "expires": past})
    for flag in Flag:
        yield _having(subject, {}, flag)
    yield _having(subject, {"flags": [str(Flag.HOLD), str(Flag.SERVER_HOLD)]})
    for switch in ("autorenew", "privacy"):
        for on in (True, False):
            yield _having(subject, {switch: on})
    yield _having(subject, {"created": "-1d", "expires": "+364d"})
    yield _having(subject, {"expires": "+9y"})
    if subject.more_pages or subject.page[0] > 1:
        yield _many(subject)


def _many(subject: Subject) -> Scene:
    """Return the state of an account with names before and after the page shown."""
    made = _having(subject, {})
    made["zones"]["com"] = _zone_entry()
    page, size = subject.page
    before: Scene = {f"before-{number}.com": {} for number in range(min((page - 1) * size, _MOST_OTHERS))}
    after: Scene = {f"after-{number}.com": {} for number in range(size if subject.more_pages else 0)}
    made["domains"] = {**before, **made["domains"], **after}
    return made


def _transferred(subject: Subject, to: str, frm: str, status: str) -> Scene:
    """Return the state of a pending or completed transfer."""
    made = _elsewhere(subject, {}) if to == "main" and status == "pending" else _having(subject, {})
    entry = {"requested": "-1d"} if status == "pending" else {"requested": "-1d", "status": status}
    ended = status in ("clientApproved", "serverApproved")
    if ended and to == "outside":
        made = _elsewhere(subject, {})
    for name in subject.names:
        made["transfers"][name] = {"from": frm, **entry} if ended else {"to": to, **entry}
    return made


def _with(scene: Scene, section: str, entries: Scene) -> Scene:
    """Return a scene with ``entries`` added to a section or replaced there."""
    return {**scene, section: {**scene[section], **entries}}


def _with_zones(scene: Scene, change: Mapping[str, Any]) -> Scene:
    return {**scene, "zones": {name: {**entry, **change} for name, entry in scene["zones"].items()}}


def _with_labels(scene: Scene, subject: Subject, change: Callable[[str], Mapping[str, Any]]) -> Scene:
    """Return a scene in which the label of each name decides a change of its zone."""
    zones = dict(scene["zones"])
    for label, _, zone in (name.partition(".") for name in subject.names):
        if zone in zones:
            zones[zone] = {**zones[zone], **change(label)}
    return {**scene, "zones": zones}


def _with_price(scene: Scene, subject: Subject, price: str) -> Scene:
    prices = dict.fromkeys(_PREMIUM, price)
    return _with_labels(scene, subject, lambda label: {"premium": {label: prices}})


def _disturbed(scene: Scene, subject: Subject) -> Iterator[Scene]:
    """Yield variants of a scene with one change of zones, accounts, contacts or hosts."""
    for change in _ZONES:
        yield _with_zones(scene, change)
    if not subject.is_done:
        yield from _obstructed(scene, subject)
    for price in filter(None, (subject.price, Decimal(4321))):
        yield _with_price(scene, subject, str(price / subject.years))
    yield from _of_accounts(scene, subject)
    yield from _of_people(scene, subject)
    yield from _of_hosts(scene, subject)


def _obstructed(scene: Scene, subject: Subject) -> Iterator[Scene]:
    """Yield variants of a scene with one change that can only cause a refusal."""
    for change in _OBSTACLES:
        yield _with_zones(scene, change)
    for number in subject.numbers:
        yield _with_zones(scene, {"max_years": number})
        yield _with_zones(scene, {"min_years": number})
    yield {**scene, "zones": {}, "domains": {}, "taken": {}, "transfers": {}}
    yield _with_labels(scene, subject, lambda label: {"reserved": [label]})
    yield _with(scene, "accounts", {"main": {**scene["accounts"]["main"], "balance": "0.00"}})


_NO_PRIVACY = {key: price for key, price in _PRICES.items() if key != "privacy"}
_ZONES = ({"hosts": False}, {"license": "[0-9]{5,7}"}, {"license": ".+"}, {"prices": _NO_PRIVACY})
_OBSTACLES = (
    {"in_service": False},
    {"transfers": False},
    {"max_years": 1},
    {"min_years": 2},
    {"idn": False},
    {"prices": {**_PRICES, "owner_change": "5.00"}},
)


def _of_accounts(scene: Scene, subject: Subject) -> Iterator[Scene]:
    main = {**scene["accounts"]["main"], "reseller": False}
    yield {**_with(scene, "accounts", {"main": main}), "customers": {}}
    if subject.operation.startswith(("v2.contact", "v2.customer")):
        yield {**scene, "contact_params": dict.fromkeys(subject.keys, ".*")}
        yield {**scene, "contact_params": dict.fromkeys(subject.keys, "[^ -~]")}


def _of_people(scene: Scene, subject: Subject) -> Iterator[Scene]:
    """Yield variants with missing, foreign or used customers and contacts."""
    ordered = _with(scene, "zones", {"com": _zone_entry()})
    if subject.customers or subject.mail:
        others = {990001: {**_CARD, "mail": subject.mail or "m@example.com"}}
        first = {number: {**_CARD, "mail": f"c{number}@example.com"} for number in subject.customers}
        for customers in ({}, others, {**first, **others}, first):
            yield {**scene, "customers": customers}
        for more in ({}, {"stage": "overdue", "expires": "-2d"}, {"stage": "redemption", "expires": "-40d"}):
            names = {f"of-{number}.com": {"customer": number, **more} for number in subject.customers}
            yield _with(ordered, "domains", names)
    if subject.handles:
        yield {**scene, "contacts": {}}
        yield {**scene, "contacts": {one: {**_CARD, "account": "other"} for one in subject.handles}}
        yield _with(ordered, "domains", {"linked.com": {"contacts": {"registrant": subject.handles[0]}}})


def _of_hosts(scene: Scene, subject: Subject) -> Iterator[Scene]:
    """Yield variants with missing or used hosts, or with name servers in the registry."""
    own = {name: entry for name, entry in scene["domains"].items() if entry.get("hosts")}
    if own:
        yield _with(scene, "domains", {name: {**entry, "hosts": {}} for name, entry in own.items()})
        users = {
            f"user-of.{_zone(name)}": {"nameservers": [f"{one}.{name}" for one in entry["hosts"]]}
            for name, entry in own.items()
        }
        yield _with(scene, "domains", users)
    if subject.servers:
        parents = (".".join(server.split(".")[-2:]) for server in subject.servers)
        above = {_zone(parent): _zone_entry() for parent in parents}
        yield {**scene, "zones": {**scene["zones"], **above, **scene["zones"]}}
        for name, entry in scene["domains"].items():
            held = entry.get("nameservers", ACCOUNT["nameservers"])
            rest = [one for one in held if one not in subject.servers] or ["ns8.example.org"]
            for servers in (subject.servers, rest, dict.fromkeys((*held, *subject.servers))):
                yield _with(scene, "domains", {name: {**entry, "nameservers": list(servers)}})
