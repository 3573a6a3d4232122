"""Each assumption about v3: every value has the effect that it describes, and the answer names it.

The three of the signature are in ``test_signatures.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Answer, Api, person
from tests.registry import Make, connect, contents, create, edit, edit_name, edit_zone
from tests.v2.client import connect as connect_v2

Check = Callable[[Sandbox, Api, Any], Answer]

D = "/v3/domains"
GET = f"{D}/getDomain/"
CREATE = f"{D}/createDomain"
TRANSFERRED = {"domainName": "elsewhere.com"}
TRANSFER = {"domain": TRANSFERRED, "authCode": "let-me-in"}
CHECKS: dict[str, Check] = {}
#: These change the OpenAPI document, which the answers are then held against.
DOCUMENTED = (
    "v3.errors.http_status", "v3.contacts.required", "v3.list.last_page", "v3.list.parameters",
    "v3.set_contacts.answer", "v3.ids", "v3.update_prohibited.shown",
)  # fmt: skip


def checks(name: str) -> Callable[[Check], Check]:
    """Register the check of an assumption. It returns an answer that names the assumption."""

    def register(check: Check) -> Check:
        CHECKS[name] = check
        return check

    return register


WIRE = ["name", "company-name", "address1", "city", "state", "zipcode", "country", "phone", "fax", "email"]


@checks("v3.contacts.fields")
def contacts_fields(sandbox: Sandbox, api: Api, value: str) -> Answer:
    whole = person(**{"company-name": "Works", "state": "Kyiv", "fax": "380.441234568"})
    for field in WIRE:
        is_needed = value == "all" or (value == "default" and field in person())
        for lacking in ({key: whole[key] for key in whole if key != field}, {**whole, field: ""}):
            before = contents(sandbox)
            sent = {"contacts": {"reg-contact": whole, "billing-contact": lacking}}
            answer = api.post(f"{D}/setContacts/active.com", sent)
            assert answer.error == ("invalid_parameter" if is_needed else None), field
            if is_needed:
                assert f"contacts.billing-contact.{field} is missing" in answer.message
                assert contents(sandbox) == before
            sandbox.reset()
    return answer


@checks("v3.purchase_cost")
def purchase_cost(sandbox: Sandbox, api: Api, value: str) -> Answer:
    wrong = create(api, "new1.com", 2, 10)
    renewal = api.post(f"{D}/renewDomain/active.com", {"purchaseCost": 1})
    expected = "price_mismatch" if value == "whenever_given" else None
    assert (wrong.error, renewal.error) == (expected, expected)
    assert create(api, "new2.com", 2, 20).json["totalPaid"] == "20.00"
    silver = {"domain": {"domainName": "silver.com"}, "authCode": "let-me-in"}
    for target, body, price in (
        (f"{D}/renewDomain/gold.com", {}, "300.00"),
        (f"{D}/requestTransfer", silver, "30.00"),
    ):
        assert api.post(target, {**body, "purchaseCost": 1}).error == "price_mismatch"
        left_out = paid = api.post(target, body)
        if value == "premium_everywhere":
            assert left_out.error == "premium_cost_required"
            paid = api.post(target, {**body, "purchaseCost": price})
        assert paid.json["totalPaid"] == price
    return wrong if value == "whenever_given" else left_out


@checks("v3.expired_status")
def expired_status(sandbox: Sandbox, api: Api, value: str) -> Answer:
    edit_name(sandbox, "active.com", stage="overdue", flags=["client_hold"])
    for name in ("overdue.com", "redemption.com", "pending.com", "active.com"):
        answer = api.get(GET + name)
        assert answer.json["status"] == value, name
    return answer


@checks("v3.update_lock.covers")
def update_lock_covers(sandbox: Sandbox, api: Api, value: str) -> Answer:
    api.post(f"{D}/lockUpdate/active.com")
    registrant = {"contacts": {"reg-contact": person("New Owner")}}
    assert api.post(f"{D}/setContacts/active.com", registrant).error == "locked"
    changes = [
        api.post(f"{D}/setNameservers/active.com", {"nameservers": ["ns1.example.net"]}),
        api.post(f"{D}/setContacts/active.com", {"contacts": {"tech-contact": person("T")}}),
        api.post(f"{D}/glueRecords/active.com", {"hostname": "ns5", "ips": ["192.0.2.5"]}),
        api.put(f"{D}/glueRecords/active.com/ns1", {"ips": ["192.0.2.5"]}),
        api.delete(f"{D}/glueRecords/active.com/ns1"),
        api.post(f"{D}/setAuthcode/active.com", {"authCode": "new-code"}),
    ]
    assert [answer.error for answer in changes] == ["locked" if value == "updates" else None] * 6
    assert api.post(f"{D}/renewDomain/active.com").error is None
    return changes[0]


@checks("locks.registry_hold")
def registry_hold(sandbox: Sandbox, api: Api, value: str) -> Answer:
    edit_name(sandbox, "active.com", flags=["client_hold", "server_hold"])
    answer = api.post(f"{D}/unlock/active.com")
    assert answer.error == ("held_by_registry" if value == "refused" else None)
    assert api.get(GET + "active.com").json["status"] == "suspended"
    return answer


@checks("v3.get_domain.order_id")
def get_domain_order_id(sandbox: Sandbox, api: Api, value: str) -> Answer:
    mine, theirs = (sandbox.names[name].order for name in ("active.com", "theirs.com"))
    answer = api.get(f"{GET}{mine}")
    if value == "off":
        assert answer.error == "invalid_name"
        return answer
    assert answer.json["domain"]["domainName"] == "active.com"
    for absent in (theirs, 1, "9" * 30):
        refused = api.get(f"{GET}{absent}")
        assert refused.error == "domain_not_found"
        assert str(absent)[:20] in refused.message
    return answer


@checks("v3.privacy.not_offered")
def privacy_not_offered(sandbox: Sandbox, api: Api, value: str) -> Answer:
    edit_zone(sandbox, "com", prices={"privacy": None})
    made = create(api, privacyEnabled=True)
    private = TRANSFER | {"domain": TRANSFERRED | {"privacyEnabled": True}}
    for answer, paid in ((made, "10.00"), (api.post(f"{D}/requestTransfer", private), "9.00")):
        if value == "refused":
            assert (answer.status, answer.error) == (409, "privacy_not_offered")
            assert "x-sandbox-ignored" not in answer.headers
            continue
        assert (answer.status, answer.json["totalPaid"]) == (200, paid)
        assert (
            answer.headers["x-sandbox-ignored"]
            == "domain.privacyEnabled; the zone com offers no whois protection"
        )
    sandbox.clock.advance("P5D")
    sandbox.simulate.set_prices("com", privacy=3)
    for name in ("new.com", "elsewhere.com") if value == "ignored" else ():
        renewed = api.post(f"{D}/renewDomain", {"domain": {"domainName": name}}).json
        assert (renewed["domain"]["privacyEnabled"], renewed["totalPaid"]) == (False, "12.00")
    assert "x-sandbox-ignored" not in create(api, "charged.com", privacyEnabled=True).headers
    return made


@checks("v3.nameservers.own_glue")
def own_glue(sandbox: Sandbox, api: Api, value: str) -> Answer:
    target = f"{D}/setNameservers/active.com"
    refused = None if value == "ignored" else "invalid_nameserver"
    assert create(api, nameservers=["ns1.new.com"]).error == refused
    for default, error in {"ns1.second.com": refused, "ns1.active.com": None}.items():
        edit(sandbox, {"accounts": {"main": {"nameservers": ["ns1.example.org", default]}}})
        assert create(api, f"by-{default[4:]}").error == error
    edit_name(sandbox, "active.com", nameservers=["ns1.free.com", "ns2.free.com"])
    v2 = connect_v2(sandbox)
    for server, parent in {
        "ns1.nobodys.com.ua": "nobodys.com.ua",
        "a.b.redemption.com": "redemption.com",
        "ns8.active.com": "active.com",
        "active.com": "active.com",
        "second.com": "second.com",
        "nobodys.com.ua": "nobodys.com.ua",
    }.items():
        answer = api.post(target, {"nameservers": ["ns1.elsewhere.org", server]})
        assert answer.error == refused, server
        place = "is the domain" if server == parent else "lies below"
        assert refused is None or f"{server!r} {place} {parent} and needs a glue record" in answer.message
        added = v2.put("/domain/second.com", {"ns": {"add": [f"x{server}"]}})
        assert added.status == (200 if refused is None else 400)
    for server in ("ns2.free.com", "ns1.active.com", "ns1.theirs.com", "ns.elsewhere.com", "theirs.com"):
        assert api.post(target, {"nameservers": [server]}).error is None, server
    for host in ("@", "active.com"):  # the domain itself, with a glue record
        created = api.post(f"{D}/glueRecords/active.com", {"hostname": host, "ips": ["192.0.2.7"]})
        assert created.json["hostname"] == "active.com"
        assert api.post(target, {"nameservers": ["active.com"]}).error is None
        assert sandbox.load(sandbox.export()) is not None
        assert v2.get("/domain/active.com/host/@").json["data"] == {"ip": ["192.0.2.7"], "name": "active.com"}
        assert api.post(target, {"nameservers": ["ns1.elsewhere.org"]}).error is None
        assert api.delete(f"{D}/glueRecords/active.com/{host}").error is None
    return answer


@checks("v3.list.max_per_page")
def list_max_per_page(sandbox: Sandbox, api: Api, value: object) -> Answer:
    total = len(api.get(f"{D}?perPage=100").json["domains"]) if value == "none" else None
    answer = api.get(f"{D}?perPage=500")
    last = api.get(f"{D}?perPage=500&page=2")
    if value == 1:
        assert len(answer.json["domains"]) == len(api.get(D).json["domains"]) == 1
        assert answer.json["nextPage"] == 2
        assert len(last.json["domains"]) == 1
    elif value == "none":
        assert len(answer.json["domains"]) == total
    return answer


@checks("v3.list.over_max")
def list_over_max(sandbox: Sandbox, api: Api, value: str) -> Answer:
    sandbox.assumptions.set({"v3.list.max_per_page": 2})
    answer = api.get(f"{D}?perPage=3")
    assert len(api.get(D).json["domains"]) == len(api.get(f"{D}?perPage=2").json["domains"]) == 2
    if value == "capped":
        assert len(answer.json["domains"]) == 2
    else:
        assert (answer.error, answer.message) == ("invalid_parameter", "perPage must be at most 2, not 3.")
    return answer


@checks("v3.update_prohibited.shown")
def update_prohibited_shown(sandbox: Sandbox, api: Api, value: str) -> Answer:
    def shown() -> object:
        return api.get(GET + "active.com").json["domain"].get("updateProhibited")

    assert shown() is None
    for word, locked in (("unlockUpdate", False), ("lockUpdate", True), ("unlockUpdate", False)):
        switched = api.post(f"{D}/{word}/active.com")
        assert switched.json["domain"]["updateProhibited"] is locked
        if word == "lockUpdate" or value == "answers_of_the_two":
            answer = switched
    once_used = {"answers_of_the_two": None, "once_used": False}[value]
    assert shown() is once_used
    sandbox.load(sandbox.export())
    assert shown() is once_used
    return api.get(GET + "active.com") if value == "once_used" else answer


@checks("v3.transfer.years")
def transfer_years(sandbox: Sandbox, api: Api, value: str) -> Answer:
    answer = api.post(f"{D}/requestTransfer", TRANSFER | {"years": 3})
    assert answer.json["totalPaid"] == {"one": "9.00", "as_sent": "27.00"}[value]
    sandbox.clock.advance("P5D")
    expires = api.get(GET + "elsewhere.com").json["domain"]["expireDate"]
    assert expires[:4] == {"one": "2027", "as_sent": "2029"}[value]
    return answer


Request = tuple[Any, ...]


def new(name: str = "new.com", years: int = 1, **domain: Any) -> Request:
    return ("POST", CREATE, {"domain": {"domainName": name, **domain}, "years": years})


def typed(declared: str) -> Request:
    return ("POST", f"{D}/checkAvailability", b'{"domainNames":[]}', [("Content-Type", declared)])


def error(answer: Answer) -> str | None:
    return answer.error


def paid(answer: Answer) -> str:
    return str(answer.json["totalPaid"])


def statuses(answer: Answer) -> list[str]:
    return [row["status"] for row in answer.json["results"]]


def tech(name: str, **fields: Any) -> Request:
    return ("POST", f"{D}/setContacts/active.com", {"contacts": {"tech-contact": person(name, **fields)}})


def flagged(key: str) -> tuple[list[Request], Callable[[Answer], Any], dict[Any, list[Any]]]:
    requests = [new("on.com", **{key: True}), new("off.com", **{key: False}), new("neither.com")]
    values = {"as_sent": [True, False, False], "always": [True] * 3, "never": [False] * 3}
    return requests, lambda answer: answer.json["domain"][key], values


PARTS_OF_A_CARD = ("name", "company-name", "state")
ROLES = ("reg-contact", "admin-contact", "tech-contact", "billing-contact")
LETTERS, ASCII = "españa.com", "xn--espaa-rta.com"
SWITCHES = ("lock", "unlock", "lockTransfer", "unlockTransfer", "lockUpdate", "unlockUpdate")
PRIVATE = ("10.1.2.3", "192.168.0.1", "fd00::1", "::ffff:172.16.0.1", "192.0.2.1")

#: The other assumptions: requests, the fact that each answer shows, and the facts under each value.
FACTS: dict[str, tuple[list[Request], Callable[[Answer], Any], dict[Any, list[Any]]]] = {
    "v3.request.content_type": (
        [
            typed(f"application/{kind}")
            for kind in ("x-www-form-urlencoded", "json; charset=utf-8", "vnd.x+json")
        ],
        error,
        {"any": [None] * 3, "json": ["unsupported_media_type", None, None]},
    ),
    "v3.errors.http_status": (
        [("GET", GET + "nobodys.com"), ("GET", "/v3/nothing"), ("POST", "/v3/balance")],
        lambda answer: answer.status,
        {"semantic": [404, 404, 405], "always_200": [200] * 3},
    ),
    "v3.contacts.required": (
        [new(f"a{count}.com", contacts=dict.fromkeys(ROLES[:count], person())) for count in (0, 1, 3, 4)],
        error,
        {
            "none": [None] * 4,
            "registrant": ["contacts_required", None, None, None],
            "all": [*["contacts_required"] * 3, None],
        },
    ),
    "v3.contacts.left_out": (
        [tech("Tom", **{"company-name": "Works", "state": "Kyiv"}), tech("Tim", state="")],
        lambda answer: [answer.json["domain"]["contacts"]["tech-contact"][key] for key in PARTS_OF_A_CARD],
        {
            "kept": [["Tom", "Works", "Kyiv"], ["Tim", "Works", ""]],
            "emptied": [["Tom", "Works", "Kyiv"], ["Tim", "", ""]],
        },
    ),
    "v3.unlock_transfer.locked": (
        [("POST", f"{D}/{switch}Transfer/active.com") for switch in ("lock", "unlock")]
        + [("GET", f"{GET}active.com")],
        lambda answer: answer.json["domain"]["lockedEnabled"],
        {False: [True, False, False], True: [True, True, False]},
    ),
    "v3.list.last_page": (
        [("GET", f"{D}?perPage=10&page={page}") for page in (2, 1)],
        lambda answer: (answer.json.get("nextPage"), answer.json.get("lastPage")),
        {"with_next": [(None, None), (2, 2)], "always": [(None, 2), (2, 2)]},
    ),
    "v3.list.parameters": (
        [("GET", D + query) for query in ("", "?perPage=100", "?page=1", "?perPage=100&page=1")],
        error,
        {"optional": [None] * 4, "required": [*["invalid_parameter"] * 3, None]},
    ),
    "v3.set_contacts.answer": (
        [tech("Tom")],
        lambda answer: sorted(answer.json),
        {
            "envelope": [["domain", "order-id", "status"]],
            "contacts": [["contacts"]],
            "message": [["domainName", "message"]],
        },
    ),
    "v3.transfer.outcome": (
        [("POST", f"{D}/approveTransfer/leaving.com"), ("GET", f"{GET}leaving.com")],
        error,
        {"immediate": [None, "domain_not_found"]},
    ),
    "v3.ids": (
        [new(), ("POST", f"{D}/requestTransfer", TRANSFER)],
        lambda answer: type(answer.json["order-id"]),
        {"string": [str, str], "integer": [int, int]},
    ),
    "v3.names.form": (
        [("GET", f"{GET}espa%C3%B1a.com"), ("GET", GET + ASCII), ("GET", D)],
        lambda answer: re.findall('"domainName":"([^"]*espa[^"]*)"', answer.raw.decode()),
        {"as_asked": [[LETTERS], [ASCII], [LETTERS]], "unicode": [[LETTERS]] * 3, "ascii": [[ASCII]] * 3},
    ),
    "v3.availability.out_of_service": (
        [("POST", f"{D}/checkAvailability", {"domainNames": ["free.quiet", "held.quiet"]})],
        statuses,
        {"unsupported": [["unsupported", "registered"]], "available": [["available", "registered"]]},
    ),
    "v3.switches.repeated": (
        [("POST", f"{D}/{switch}/second.com") for switch in SWITCHES for _ in range(2)],
        error,
        {"accepted": [None] * 12, "refused": [None, "switched_already"] * 6},
    ),
    "v3.create.autorenew": flagged("autorenewEnabled"),
    "v3.create.locked": flagged("lockedEnabled"),
    "v3.privacy.charged": (
        [new(years=3, privacyEnabled=True)],
        paid,
        {"per_year": ["39.00"], "once": ["33.00"]},
    ),
    "v3.privacy.renewal": (
        [("POST", f"{D}/renewDomain/{name}.com", {"years": 2}) for name in ("active", "second")],
        paid,
        {"free": ["24.00", "24.00"], "charged": ["30.00", "24.00"]},
    ),
    "hosts.private_addresses": (
        [("PUT", f"{D}/glueRecords/active.com/ns1", {"ips": ["8.8.8.8", ip]}) for ip in PRIVATE]
        + [("PUT", f"{D}/glueRecords/active.com/ns1", {"ips": ["8.8.8.8", "2a00:1450::1"]})],
        error,
        {"accepted": [None] * 6, "refused": [*["invalid_ip"] * 5, None]},
    ),
}


WORDS = {
    "active.com": "taken", "nic.com": "reserved", "a.zone": "unsupported", "a.quiet": "unsupported",
    "-.com": "invalid",
}  # fmt: skip
for changed in WORDS.values():
    FACTS[f"v3.availability.{changed}"] = (
        [("POST", f"{D}/checkAvailability", {"domainNames": [*WORDS]})],
        lambda answer: [word.replace("registered", "taken") for word in statuses(answer)],
        {
            value: [[value if word == changed else word for word in WORDS.values()]]
            for value in ("elsewhere", "not-available")
        },
    )


def values_of(sandbox: Sandbox, name: str) -> list[Any]:
    takes = next(row.takes for row in sandbox.assumptions.list().assumptions if row.name == name)
    if takes.startswith("a word"):
        return ["elsewhere", "not-available"]
    if takes.startswith("a number of names"):
        return ["none", 1]
    known: dict[str, Any] = {"true": True, "false": False}
    return [known.get(word, word) for word in takes.removeprefix("one of ").split(", ")]


@pytest.mark.parametrize("name", [*CHECKS, *FACTS])
def test_an_assumption_has_its_described_effect_and_is_named_in_the_response(
    make: Make, name: str, subtests: pytest.Subtests
) -> None:
    for value in values_of(make(), name):
        with subtests.test(value=value):
            sandbox = make(assume={name: value})
            api = connect(sandbox, checked=name in DOCUMENTED)
            if name in CHECKS:
                answers = [CHECKS[name](sandbox, api, value)]
            else:
                requests, fact, facts = FACTS[name]
                answers = [api.call(*request) for request in requests]
                assert [fact(answer) for answer in answers] == facts[value]
            assert str(value).lower() in {answer.assumptions.get(name) for answer in answers}


def test_every_v3_assumption_is_tested(sandbox: Sandbox) -> None:
    names = {row.name for row in sandbox.assumptions.list().assumptions} - CHECKS.keys() - FACTS.keys()
    names.remove("locks.cover_shared_contacts")  # about contacts of v2.0, see tests/lifecycle
    rest = {name for name in names if name.startswith(("v3.", "hosts.", "locks."))}
    assert rest == {"v3.signature.endpoint", "v3.signature.payload", "v3.signature.query"}


def test_explicit_assumptions_override_the_observed_profile(make: Make) -> None:
    rows = make(profile="observed").assumptions.list().assumptions
    assert {row.name: row.value for row in rows if row.name[:2] == "v3" and row.value != row.default} == {
        "v3.signature.endpoint": "url",
        "v3.signature.payload": "raw",
        "v3.list.last_page": "always",
    }
    sandbox = make(profile="observed", assume={"v3.list.last_page": "with_next"})
    assert sandbox.assumptions["v3.list.last_page"] == "with_next"
