"""Each accepted key of a request that changes nothing is reported in ``X-Sandbox-Ignored``.

Each key gets other valid values. If none of the accepted values changes the state, the charge or the answer,
the key has no effect.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NamedTuple

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Answer, person
from tests.registry import Make, connect, edit, edit_zone
from tests.v2.client import connect as connect_v2
from tests.v2.works import WORKS

D = "/v3/domains"
SERVERS = ["ns1.home.net"]
NEW = {"nameservers": SERVERS, "privacyEnabled": True, "lockedEnabled": True, "autorenewEnabled": True}
REGISTRATION = {
    "domain": {"domainName": "new.com", "contacts": {"tech-contact": person()}, **NEW},
    "years": 2,
    "purchaseCost": 20,
    "tldRequirements": {"license": "123456", "more": "x"},
}
TRANSFER = {
    "domain": {"domainName": "elsewhere.com", **NEW},
    "years": 1,
    "purchaseCost": 9,
    "authCode": "let-me-in",
}
RENEWAL = {"domain": {"domainName": "active.com"}, "years": 1, "purchaseCost": 12}
V3: dict[str, tuple[str, Any]] = {
    "v3.createDomain": ("createDomain", REGISTRATION),
    "v3.requestTransfer": ("requestTransfer", TRANSFER),
    "v3.renewDomain": ("renewDomain", RENEWAL),
    "v3.setNameservers": ("setNameservers/active.com", {"nameservers": SERVERS}),
    "v3.setAuthcode": ("setAuthcode/active.com", {"authCode": "Code-1"}),
    "v3.setContacts": ("setContacts/active.com", {"contacts": {"tech-contact": person()}}),
    "v3.createGlueRecord": ("glueRecords/active.com", {"hostname": "ns8", "ips": ["192.0.2.8"]}),
    "v3.checkAvailability": ("checkAvailability", {"domainNames": ["a.com"]}),
    "v3.lock": ("lock/active.com", {"domainName": "active.com", "reason": "none"}),
}
#: Other values for a key, where changing the given one in the usual way makes it invalid.
OTHERS: dict[str, list[Any]] = {
    "domainName": ["other-new.com"], "nameservers": [["ns2.home.net"]], "email": ["bea@example.com"],
    "mail": ["bea@example.com"], "phone": ["380.441234560"], "fax": ["380.441234560"], "country": ["GB"],
    "hostname": ["ns9"],
    "ips": [["192.0.2.9"]], "domainNames": [["b.com"]], "contact_admin": ["OWNER"],
    "contact_billing": ["OWNER"], "contact_registrant": ["ADMIN"], "contact_tech": ["OWNER"],
    "customer_id": [7],
    "lang": ["en"], "license": ["654321"], "tax_number": ["87654321"],
}  # fmt: skip


class Call(NamedTuple):
    interface: str
    method: str
    path: str
    body: Any


CALLS = {name: Call("v3", "POST", f"{D}/{path}", body) for name, (path, body) in V3.items()} | {
    name: Call("v2", ask.method, ask.path, deepcopy(ask.body)) for name, ask in WORKS.items() if ask.body
}
CALLS["v2.domain.register"].body["license"] = "123456"
PROFILES: dict[str, dict[str, Any]] = {
    "documented": {},
    "fixed": {"v3.create.autorenew": "always", "v3.create.locked": "never", "v2.renew.date_end": "ignored"},
    "checked": {"v3.purchase_cost": "whenever_given", "v3.transfer.years": "as_sent"},
}


def leaves(body: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in body.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key)


def with_value(body: Any, path: tuple[str, ...], value: Any) -> Any:
    changed = deepcopy(body)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return changed


def value_at(body: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        body = body[key]
    return body


def other_values(key: str, value: Any) -> list[Any]:
    if key in OTHERS:
        return OTHERS[key]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [1 - value] if key.startswith("client_") else [value + 1, value - 1]
    return [f"{value}x", value[:-1]] if isinstance(value, str) else []


def outcome(sandbox: Sandbox, call: Call, body: Any) -> tuple[Answer, object]:
    """Send a call. Return the answer, and all that it shows and changes, and undo the call."""
    connected = connect(sandbox, checked=False) if call.interface == "v3" else connect_v2(sandbox)
    answer = connected.call(call.method, call.path, body)
    effect = answer.json, sandbox.export()
    sandbox.reset()
    return answer, effect


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("operation", CALLS)
def test_every_key_without_effect_is_reported(make: Make, operation: str, profile: str) -> None:
    sandbox = make(assume=PROFILES[profile])
    edit_zone(sandbox, "com", prices={"privacy": None})
    edit(sandbox, {"accounts": {"main": {"reseller": False}}} if profile == "checked" else {})
    call = CALLS[operation]
    answer, base = outcome(sandbox, call, call.body)
    assert answer.status == 200, answer.raw
    reported = [key.partition(";")[0] for key in answer.headers.get("x-sandbox-ignored", "").split(", ")]
    for path in leaves(call.body):
        others = other_values(path[-1], value_at(call.body, path))
        outcomes = [outcome(sandbox, call, with_value(call.body, path, value)) for value in others]
        accepted = [effect for answer, effect in outcomes if answer.status == 200]
        if accepted and all(effect == base for effect in accepted):
            named = any(".".join(path).endswith(key) for key in reported if key)
            assert named, (path, reported)


def test_advice_gives_the_reason_and_is_silent_about_values_that_are_not_contradicted(make: Make) -> None:
    sandbox = make()
    edit_zone(sandbox, "com", prices={"privacy": None})
    api = connect(sandbox)
    harmless = {"domain": {"domainName": "one.com", "privacyEnabled": False}, "purchaseCost": 10}
    assert api.post(f"{D}/createDomain", harmless).headers["x-sandbox-ignored"] == (
        "purchaseCost; unchecked, an ordinary name has no agreed price, "
        "domain.privacyEnabled; unchecked, the zone com offers no whois protection"
    )
    assert not sandbox.advice.list().findings
    api.post(f"{D}/createDomain", {"domain": {"domainName": "two.com", "privacyEnabled": True}})
    (finding,) = sandbox.advice.list().findings
    assert finding.rule == "keys_ignored"
    assert "had no effect: the zone com offers no whois protection." in finding.summary


@pytest.mark.parametrize("choice", ["always", "never"])
@pytest.mark.parametrize("sent", [True, False])
def test_a_switch_with_a_fixed_value_is_unchecked_unless_the_key_contradicts_it(
    make: Make, choice: str, sent: bool
) -> None:
    api = connect(make(assume={"v3.create.autorenew": choice, "v3.create.locked": choice}))
    body = {"domainName": "one.com", "autorenewEnabled": sent, "lockedEnabled": sent}
    reported = api.post(f"{D}/createDomain", {"domain": body}).headers["x-sandbox-ignored"]
    unchecked = "" if sent != (choice == "always") else "unchecked, "
    assert reported == ", ".join(
        f"domain.{key}; {unchecked}it is {choice} on" for key in ("autorenewEnabled", "lockedEnabled")
    )
