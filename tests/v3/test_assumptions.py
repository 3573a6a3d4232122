"""Each assumption about v3: every value has the effect that it describes, and the answer names it.

The three of the signature are in ``test_signatures.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from reseller_sandbox import BadSetting, Sandbox
from tests.clients import Answer, Api, InProcess, person
from tests.registry import Make, connect, contents, edit, edit_name, edit_zone
from tests.shapes import CONTACTS, envelope, fits

Check = Callable[[Sandbox, Api, Any], Answer]

GET = "/v3/domains/getDomain/"
CREATE = "/v3/domains/createDomain"
CHECKS: dict[str, Check] = {}


def silence(name: str) -> Callable[[Check], Check]:
    """Register the check of an assumption: what answers look like under a value of it."""

    def register(check: Check) -> Check:
        CHECKS[name] = check
        return check

    return register


def create(api: Api, name: str = "new.com", years: int = 1, cost: Any = None, **domain: Any) -> Answer:
    """A registration."""
    body = {"domain": {"domainName": name, **domain}, "years": years, "purchaseCost": cost}
    return api.post(CREATE, body)


@silence("v3.request.content_type")
def content_type(sandbox: Sandbox, api: Api, value: str) -> Answer:
    raw = b'{"domainNames":[]}'
    target = "/v3/domains/checkAvailability"
    for declared in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = api.call("POST", target, raw, [("Content-Type", declared)])
        assert answer.error == (None if value == "any" else "unsupported_media_type")
    for declared in ("application/json", "application/json; charset=utf-8", "application/vnd.x+json"):
        assert api.call("POST", target, raw, [("Content-Type", declared)]).status == 200
    return answer


@silence("v3.errors.http_status")
def http_status(sandbox: Sandbox, api: Api, value: str) -> Answer:
    always = value == "always_200"
    assert api.send("GET", "/v3/balance", []).status == (200 if always else 401)
    assert api.get("/v3/nothing").status == (200 if always else 404)
    assert api.post("/v3/balance").status == (200 if always else 405)
    answer = api.get(GET + "nobodys.com")
    assert (answer.status, answer.error) == (200 if always else 404, "domain_not_found")
    return answer


AVAILABILITY_WORDS = {
    "taken": "active.com",
    "reserved": "nic.com",
    "unsupported": "a.zone",
    "invalid": "-.com",
}


def _availability_word(name: str) -> Check:
    def check(sandbox: Sandbox, api: Api, value: str) -> Answer:
        """The word for one kind of name; the others keep theirs."""
        answer = api.post("/v3/domains/checkAvailability", {"domainNames": [*AVAILABILITY_WORDS.values()]})
        told = [one["status"] for one in answer.json["results"]]
        usual = {**{word: word for word in AVAILABILITY_WORDS}, "taken": "registered"}
        assert told == [*{**usual, name: value}.values()]
        return answer

    return check


for word in AVAILABILITY_WORDS:
    silence(f"v3.availability.{word}")(_availability_word(word))


@silence("v3.contacts.required")
def contacts_required(sandbox: Sandbox, api: Api, value: str) -> Answer:
    roles = ("reg-contact", "admin-contact", "tech-contact", "billing-contact")
    card = person()
    none, one, most, every = (
        create(api, f"new{count}.com", contacts=dict.fromkeys(roles[:count], card)) for count in (0, 1, 3, 4)
    )
    assert [answer.error for answer in (none, one, most, every)] == {
        "none": [None, None, None, None],
        "registrant": ["contacts_required", None, None, None],
        "all": ["contacts_required", "contacts_required", "contacts_required", None],
    }[value]
    return every


WIRE = ["name", "company-name", "address1", "city", "state", "zipcode", "country", "phone", "fax", "email"]
USUAL = [*person()]


@silence("v3.contacts.fields")
def contacts_fields(sandbox: Sandbox, api: Api, value: str) -> Answer:
    whole = person(**{"company-name": "Works", "state": "Kyiv", "fax": "380.441234568"})
    needed = {"none": [], "usual": USUAL, "all": WIRE}[value]
    for number, field in enumerate(WIRE):
        for lacking in ({**whole, field: ""}, {key: whole[key] for key in whole if key != field}):
            before = contents(sandbox)
            contacts: dict[str, Any] = {"contacts": {"reg-contact": whole, "billing-contact": lacking}}
            answers = [
                create(api, f"new{number}.com", **contacts),
                api.post("/v3/domains/setContacts/active.com", contacts),
                api.post("/v3/domains/requestTransfer", {"authCode": "no", "domain": TRANSFERRED | contacts}),
            ]
            if field in needed:
                told = f"contacts.billing-contact.{field} is missing"
                assert [answer.error for answer in answers] == ["invalid_parameter"] * 3, field
                assert [answer.message for answer in answers if told not in answer.message] == []
                assert contents(sandbox) == before
            else:
                assert [answer.error for answer in answers] == [None, None, "wrong_auth_code"]
            sandbox.reset()
    return answers[1]


@silence("v3.contacts.left_out")
def contacts_left_out(sandbox: Sandbox, api: Api, value: str) -> Answer:
    target = "/v3/domains/setContacts/active.com"
    api.post(target, {"contacts": {"tech-contact": person(**{"company-name": "Works", "state": "Kyiv"})}})
    answer = api.post(target, {"contacts": {"tech-contact": person("Tim", state="")}})
    shown = answer.json["domain"]["contacts"]["tech-contact"]
    company = {"kept": "Works", "emptied": ""}[value]
    assert (shown["name"], shown["company-name"], shown["state"]) == ("Tim", company, "")
    made = create(api, contacts={"tech-contact": person("Tom")}).json["domain"]["contacts"]["tech-contact"]
    assert (made["name"], made["company-name"]) == ("Tom", "")
    return answer


@silence("v3.purchase_cost")
def purchase_cost(sandbox: Sandbox, api: Api, value: str) -> Answer:
    wrong = create(api, "new1.com", 2, 10)
    renewal = api.post("/v3/domains/renewDomain/active.com", {"purchaseCost": 1})
    expected = "price_mismatch" if value == "whenever_given" else None
    assert (wrong.error, renewal.error) == (expected, expected)
    assert create(api, "new2.com", 2, 20).json["totalPaid"] == "20.00"
    silver = {"domain": {"domainName": "silver.com"}, "authCode": "let-me-in"}
    for target, body, price in (
        ("/v3/domains/renewDomain/gold.com", {}, "300.00"),
        ("/v3/domains/requestTransfer", silver, "30.00"),
    ):
        assert api.post(target, {**body, "purchaseCost": 1}).error == "price_mismatch"
        left_out = paid = api.post(target, body)
        if value == "premium_everywhere":
            assert left_out.error == "premium_cost_required"
            paid = api.post(target, {**body, "purchaseCost": price})
        assert paid.json["totalPaid"] == price
    return wrong if value == "whenever_given" else left_out


@silence("v3.unlock_transfer.locked")
def unlock_transfer(sandbox: Sandbox, api: Api, value: bool) -> Answer:
    edit_name(sandbox, "active.com", flags=["client_transfer_prohibited"])
    answer = api.post("/v3/domains/unlockTransfer/active.com")
    assert answer.json["domain"]["lockedEnabled"] is value
    assert api.get(GET + "active.com").json["domain"]["lockedEnabled"] is False
    return answer


@silence("v3.list.last_page")
def last_page(sandbox: Sandbox, api: Api, value: str) -> Answer:
    first = api.get("/v3/domains?perPage=10&page=1").json
    assert (first["nextPage"], first["lastPage"]) == (2, 2)
    answer = api.get("/v3/domains?perPage=10&page=2")
    assert "nextPage" not in answer.json
    assert answer.json.get("lastPage") == (2 if value == "always" else None)
    return answer


@silence("v3.list.parameters")
def list_parameters(sandbox: Sandbox, api: Api, value: str) -> Answer:
    answers = [api.get(f"/v3/domains{query}") for query in ("", "?perPage=100", "?page=1")]
    expected = None if value == "optional" else "invalid_parameter"
    assert [answer.error for answer in answers] == [expected] * 3
    if value == "required":
        assert "perPage is missing" in answers[2].message
        assert "page is missing" in answers[1].message
    assert api.get("/v3/domains?perPage=100&page=1").status == 200
    return answers[0]


@silence("v3.set_contacts.answer")
def set_contacts_answer(sandbox: Sandbox, api: Api, value: str) -> Answer:
    answer = api.post("/v3/domains/setContacts/active.com", {"contacts": {"tech-contact": person("T")}})
    shape = {
        "envelope": envelope(),
        "contacts": {"contacts": CONTACTS},
        "message": {"domainName": "active.com", "message": re.compile(".*active.com.*")},
    }[value]
    fits(answer.json, shape)
    return answer


@silence("v3.expired_status")
def expired_status(sandbox: Sandbox, api: Api, value: str) -> Answer:
    for name in ("overdue.com", "redemption.com", "pending.com"):
        answer = api.get(GET + name)
        assert answer.json["status"] == value
    return answer


@silence("v3.transfer.outcome")
def transfer_outcome(sandbox: Sandbox, api: Api, value: str) -> Answer:
    answer = api.post("/v3/domains/approveTransfer/leaving.com")
    assert api.get(GET + "leaving.com").error == "domain_not_found"
    return answer


@silence("v3.update_lock.covers")
def update_lock_covers(sandbox: Sandbox, api: Api, value: str) -> Answer:
    api.post("/v3/domains/lockUpdate/active.com")
    domains = "/v3/domains"
    registrant = {"contacts": {"reg-contact": person("New Owner")}}
    assert api.post(f"{domains}/setContacts/active.com", registrant).error == "locked"
    changes = [
        api.post(f"{domains}/setNameservers/active.com", {"nameservers": ["ns1.example.net"]}),
        api.post(f"{domains}/setContacts/active.com", {"contacts": {"tech-contact": person("T")}}),
        api.post(f"{domains}/glueRecords/active.com", {"hostname": "ns5", "ips": ["192.0.2.5"]}),
        api.put(f"{domains}/glueRecords/active.com/ns1", {"ips": ["192.0.2.5"]}),
        api.delete(f"{domains}/glueRecords/active.com/ns1"),
        api.post(f"{domains}/setAuthcode/active.com", {"authCode": "new-code"}),
    ]
    assert [answer.error for answer in changes] == ["locked" if value == "updates" else None] * 6
    for switch in ("lock", "unlock", "lockTransfer", "unlockTransfer", "disableAutorenew", "renewDomain"):
        assert api.post(f"{domains}/{switch}/active.com").error is None
    return changes[0]


@silence("locks.registry_hold")
def registry_hold(sandbox: Sandbox, api: Api, value: str) -> Answer:
    edit_name(sandbox, "active.com", flags=["client_hold", "server_hold"])
    answer = api.post("/v3/domains/unlock/active.com")
    assert answer.error == ("held_by_registry" if value == "refused" else None)
    assert api.get(GET + "active.com").json["status"] == "suspended"
    return answer


@silence("v3.get_domain.order_id")
def get_domain_order_id(sandbox: Sandbox, api: Api, value: str) -> Answer:
    mine = sandbox.names["active.com"].order
    theirs = sandbox.names["theirs.com"].order
    answer = api.get(f"{GET}{mine}")
    if value == "on":
        assert answer.json["domain"]["domainName"] == "active.com"
        for absent in (theirs, 1, "9" * 30):
            refused = api.get(f"{GET}{absent}")
            assert refused.error == "domain_not_found"
            assert str(absent)[:20] in refused.message
    else:
        assert answer.error == "invalid_name"
    return answer


@silence("v3.ids")
def ids(sandbox: Sandbox, api: Api, value: str) -> Answer:
    kind = str if value == "string" else int
    assert type(api.get("/v3/balance").json[0]["client-id"]) is kind
    made = create(api).json
    assert (type(made["order-id"]), type(made["client-id"])) == (kind, kind)
    answer = api.post("/v3/domains/requestTransfer", TRANSFER)
    assert type(answer.json["order-id"]) is kind
    return answer


TRANSFERRED = {"domainName": "elsewhere.com"}
TRANSFER = {"domain": TRANSFERRED, "authCode": "let-me-in"}


@silence("v3.names.form")
def names_form(sandbox: Sandbox, api: Api, value: str) -> Answer:
    unicode, ascii_form = "españa.com", "xn--espaa-rta.com"
    asked = [("espa%C3%B1a.com", unicode), (ascii_form, ascii_form)]
    for path, as_asked in asked:
        answer = api.get(GET + path)
        expected = {"as_asked": as_asked, "unicode": unicode, "ascii": ascii_form}[value]
        assert answer.json["domain"]["domainName"] == expected
    listed = [one["domainName"] for one in api.get("/v3/domains").json["domains"]]
    assert (ascii_form if value == "ascii" else unicode) in listed
    return answer


@silence("v3.availability.out_of_service")
def out_of_service(sandbox: Sandbox, api: Api, value: str) -> Answer:
    sandbox.outside.set_service("com", in_service=False)
    answer = api.post("/v3/domains/checkAvailability", {"domainNames": ["free.com", "second.com"]})
    assert [one["status"] for one in answer.json["results"]] == [value, "registered"]
    return answer


def test_a_zone_out_of_service_has_the_word_of_one_that_is_not_there(make: Make) -> None:
    """One word for both, where both are said to be unsupported."""
    sandbox = make(assume={"v3.availability.unsupported": "nowhere"})
    answer = connect(sandbox).post(
        "/v3/domains/checkAvailability", {"domainNames": ["free.quiet", "free.zone"]}
    )
    assert [one["status"] for one in answer.json["results"]] == ["nowhere", "nowhere"]


@silence("v3.switches.repeated")
def repeated(sandbox: Sandbox, api: Api, value: str) -> Answer:
    pairs = ("lock", "unlock"), ("lockTransfer", "unlockTransfer"), ("lockUpdate", "unlockUpdate")
    for on, off in (*pairs, ("enableAutorenew", "disableAutorenew")):
        for switch in (on, off):
            first = api.post(f"/v3/domains/{switch}/second.com")
            before = contents(sandbox)
            answer = api.post(f"/v3/domains/{switch}/second.com")
            assert contents(sandbox) == before
            assert answer.error == (None if value == "accepted" else "switched_already")
            if value == "accepted":
                assert answer.json["domain"]["domainName"] == "second.com"
        assert first.error is None
    return answer


def _created(api: Api, field: str, value: str) -> Answer:
    shown = [
        create(api, f"new{number}.com", **{field: sent}).json["domain"][field]
        for number, sent in enumerate((True, False))
    ]
    answer = create(api, "new9.com")
    shown.append(answer.json["domain"][field])
    assert shown == {"as_sent": [True, False, False], "always": [True] * 3, "never": [False] * 3}[value]
    return answer


@silence("v3.create.autorenew")
def create_autorenew(sandbox: Sandbox, api: Api, value: str) -> Answer:
    return _created(api, "autorenewEnabled", value)


@silence("v3.create.locked")
def create_locked(sandbox: Sandbox, api: Api, value: str) -> Answer:
    return _created(api, "lockedEnabled", value)


@silence("v3.privacy.charged")
def privacy_charged(sandbox: Sandbox, api: Api, value: str) -> Answer:
    answer = create(api, years=3, privacyEnabled=True)
    assert answer.json["totalPaid"] == {"per_year": "39.00", "once": "33.00"}[value]
    assert sandbox.accounts["main"].balance == 10_000 - (39 if value == "per_year" else 33)
    return answer


@silence("v3.privacy.renewal")
def privacy_renewal(sandbox: Sandbox, api: Api, value: str) -> Answer:
    answer = api.post("/v3/domains/renewDomain/active.com", {"years": 2})
    assert answer.json["totalPaid"] == {"free": "24.00", "charged": "30.00"}[value]
    plain = api.post("/v3/domains/renewDomain/second.com", {"years": 2})
    assert plain.json["totalPaid"] == "24.00"
    return answer


@silence("v3.privacy.not_offered")
def privacy_not_offered(sandbox: Sandbox, api: Api, value: str) -> Answer:
    edit_zone(sandbox, "com", prices={"privacy": None})
    made = create(api, privacyEnabled=True)
    private = TRANSFER | {"domain": TRANSFERRED | {"privacyEnabled": True}}
    asked = api.post("/v3/domains/requestTransfer", private)
    for answer, paid in ((made, "10.00"), (asked, "9.00")):
        if value == "refused":
            assert (answer.status, answer.error) == (409, "privacy_not_offered")
            assert answer.message == "The zone com offers no whois protection."
            assert "x-sandbox-ignored" not in answer.headers
            continue
        assert (answer.status, answer.json["totalPaid"]) == (200, paid)
        assert answer.headers["x-sandbox-ignored"] == "domain.privacyEnabled"
        entry = sandbox.journal[answer.headers["x-sandbox-request"]]
        assert entry.request.ignored == ("domain.privacyEnabled",)
    if value == "refused":
        return made
    sandbox.clock.advance("P5D")
    sandbox.outside.set_prices("com", privacy=3)
    for name in ("new.com", "elsewhere.com"):
        assert api.get(GET + name).json["domain"]["privacyEnabled"] is False
        renewed = api.post("/v3/domains/renewDomain", {"domain": {"domainName": name}})
        assert renewed.json["totalPaid"] == "12.00"
    charged = create(api, "charged.com", privacyEnabled=True)
    assert charged.json["totalPaid"] == "13.00"
    for quiet in (charged, create(api, "quiet.com", privacyEnabled=False)):
        assert "x-sandbox-ignored" not in quiet.headers
        assert "v3.privacy.not_offered" not in quiet.assumptions
    return made


@silence("v3.nameservers.own_glue")
def own_glue(sandbox: Sandbox, api: Api, value: str) -> Answer:
    target = "/v3/domains/setNameservers/active.com"
    refused = None if value == "ignored" else "invalid_nameserver"
    new = {"domainName": "new.com", "nameservers": ["ns1.new.com"]}
    assert api.post(CREATE, {"domain": new}).error == refused
    edit(sandbox, {"accounts": {"main": {"nameservers": ["ns1.example.org", "ns1.second.com"]}}})
    for name, servers in (("by-default.com", {}), ("none-named.com", {"nameservers": list[str]()})):
        by_default = api.post(CREATE, {"domain": {"domainName": name, **servers}})
        assert by_default.error == refused, name
        assert refused is None or "'ns1.second.com' lies below second.com" in by_default.message
    edit(sandbox, {"accounts": {"main": {"nameservers": ["ns1.active.com"]}}})
    assert create(api, "with-glue.com").error is None
    for server, parent in {
        "ns1.second.com": "second.com",
        "ns1.nobodys.com.ua": "nobodys.com.ua",
        "a.b.redemption.com": "redemption.com",
        "ns8.active.com": "active.com",
    }.items():
        answer = api.post(target, {"nameservers": ["ns1.elsewhere.org", server]})
        assert answer.error == refused, server
        assert refused is None or f"{server!r} lies below {parent} and needs a glue record" in answer.message
        v2 = InProcess(sandbox.app)
        token = [("X-Auth-Token", sandbox.account("main").token)]
        body = f'{{"ns": {{"add": ["x{server}"]}}}}'.encode()
        assert v2("PUT", "/V2.0/domain/second.com", token, body).status == (200 if refused is None else 400)
    for server in ("ns1.active.com", "ns1.theirs.com", "ns.elsewhere.com", "second.com", "ns1.example.org"):
        assert api.post(target, {"nameservers": [server]}).error is None, server
    return answer


@silence("hosts.private_addresses")
def private_addresses(sandbox: Sandbox, api: Api, value: str) -> Answer:
    glue = "/v3/domains/glueRecords/active.com"
    for number, ip in enumerate(["10.1.2.3", "192.168.0.1", "fd00::1", "::ffff:172.16.0.1", "192.0.2.1"]):
        made = api.post(glue, {"hostname": f"ns{number + 5}", "ips": ["8.8.8.8", ip]})
        answer = api.put(f"{glue}/ns1", {"ips": [ip]})
        for one in (made, answer):
            assert one.error == (None if value == "accepted" else "invalid_ip")
            assert one.assumptions["hosts.private_addresses"] == value
    public = api.put(f"{glue}/ns1", {"ips": ["8.8.8.8", "2a00:1450::1"]})
    assert (public.status, public.assumptions.get("hosts.private_addresses")) == (200, None)
    return answer


@silence("v3.transfer.years")
def transfer_years(sandbox: Sandbox, api: Api, value: str) -> Answer:
    answer = api.post("/v3/domains/requestTransfer", TRANSFER | {"years": 3})
    assert answer.json["totalPaid"] == {"one": "9.00", "as_sent": "27.00"}[value]
    sandbox.clock.advance("P5D")
    expires = api.get(GET + "elsewhere.com").json["domain"]["expireDate"]
    assert expires[:4] == {"one": "2027", "as_sent": "2029"}[value]
    return answer


@pytest.mark.parametrize("name", CHECKS)
def test_a_value_has_the_effect_that_it_describes_and_is_named(
    make: Make, name: str, subtests: pytest.Subtests
) -> None:
    takes = next(row.takes for row in make().assumptions.list().assumptions if row.name == name)
    words = takes.removeprefix("one of ").split(", ")
    for value in ["registered", "taken", "not-available"] if takes.startswith("a word") else words:
        with subtests.test(value=value):
            sandbox = make(assume={name: value})
            answer = CHECKS[name](sandbox, connect(sandbox), {"true": True, "false": False}.get(value, value))
            assert answer.assumptions[name] == value


def test_every_assumption_about_v3_has_a_check(sandbox: Sandbox) -> None:
    signatures = {"v3.signature.endpoint", "v3.signature.payload", "v3.signature.query"}
    names = {row.name for row in sandbox.assumptions.list().assumptions}
    assert {name for name in names if name.startswith(("v3.", "hosts.", "locks."))} == set(
        CHECKS
    ) | signatures


def test_an_answer_names_only_what_it_rests_on(api: Api) -> None:
    """The balance rests on how it was signed and on how ids are written."""
    assert set(api.get("/v3/balance").assumptions) == {
        "v3.signature.endpoint",
        "v3.signature.payload",
        "v3.ids",
    }


def test_the_observed_profile_departs_in_three_assumptions_and_a_setting_by_name_wins(make: Make) -> None:
    """Callers of this wire format were seen to need these values."""
    rows = make(profile="observed").assumptions.list().assumptions
    assert {row.name: row.value for row in rows if row.name[:2] == "v3" and row.value != row.default} == {
        "v3.signature.endpoint": "url",
        "v3.signature.payload": "raw",
        "v3.list.last_page": "always",
    }
    sandbox = make(profile="observed", assume={"v3.list.last_page": "with_next"})
    assert sandbox.assumptions["v3.list.last_page"] == "with_next"


def test_a_bad_assumption_is_refused_with_the_nearest_or_the_possible_values(make: Make) -> None:
    for assume, reason in [
        ({"v3.idz": "string"}, "'v3.idz' is no assumption; the nearest is v3.ids"),
        ({"v3.ids": "text"}, "v3.ids takes one of string, integer, not 'text'"),
        ({"v3.unlock_transfer.locked": "maybe"}, "v3.unlock_transfer.locked takes one of false, true"),
        ({"v3.availability.taken": ""}, "v3.availability.taken takes a word"),
    ]:
        with pytest.raises(BadSetting, match=re.escape(reason)):
            make(assume=assume)


def test_a_name_that_arrives_is_pending(api: Api) -> None:
    """As is an order that is not yet processed."""
    for name in ("arriving.com", "requested.com", "processing.com"):
        assert api.get(GET + name).json["status"] == "pending"


def test_a_suspended_name_that_expires_has_one_status(make: Make) -> None:
    """Whatever an expired name is called, its hold does not show through."""
    sandbox = make(assume={"v3.expired_status": "active"})
    edit_name(sandbox, "active.com", stage="overdue", flags=["client_hold"])
    assert connect(sandbox).get(GET + "active.com").json["status"] == "active"
