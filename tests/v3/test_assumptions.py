"""Each assumption about v3: every value has the effect that it describes, and the answer names it.

The three of the signature are in ``test_signatures.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from reseller_sandbox import BadSetting, Sandbox
from tests.clients import Answer, Api, person
from tests.registry import Make, connect, contents, edit, edit_name, edit_zone
from tests.shapes import CONTACTS, envelope, fits
from tests.v2.client import connect as connect_v2

Check = Callable[[Sandbox, Api, Any], Answer]

D = "/v3/domains"
GET = f"{D}/getDomain/"
CREATE = f"{D}/createDomain"
CHECKS: dict[str, Check] = {}
#: These change the OpenAPI document, which the answers are then held against.
DOCUMENTED = (
    "v3.errors.http_status", "v3.contacts.required", "v3.list.last_page", "v3.list.parameters",
    "v3.set_contacts.answer", "v3.ids",
)  # fmt: skip


def checks(name: str) -> Callable[[Check], Check]:
    """Register the check of an assumption. It returns an answer that names the assumption."""

    def register(check: Check) -> Check:
        CHECKS[name] = check
        return check

    return register


def create(api: Api, name: str = "new.com", years: int = 1, cost: Any = None, **domain: Any) -> Answer:
    body = {"domain": {"domainName": name, **domain}, "years": years, "purchaseCost": cost}
    return api.post(CREATE, body)


@checks("v3.request.content_type")
def content_type(sandbox: Sandbox, api: Api, value: str) -> Answer:
    usable = ("application/json", "application/json; charset=utf-8", "application/vnd.x+json")
    for declared in (*usable, "text/plain", "application/x-www-form-urlencoded", ""):
        sent = [("Content-Type", declared)]
        answer = api.call("POST", f"{D}/checkAvailability", b'{"domainNames":[]}', sent)
        refused = value == "json" and declared not in usable
        assert answer.error == ("unsupported_media_type" if refused else None), declared
    return answer


@checks("v3.errors.http_status")
def http_status(sandbox: Sandbox, api: Api, value: str) -> Answer:
    answers = [api.send("GET", "/v3/balance", []), api.get("/v3/nothing"), api.post("/v3/balance")]
    answers.append(api.get(GET + "nobodys.com"))
    assert answers[3].error == "domain_not_found"
    semantic = [401, 404, 405, 404]
    assert [answer.status for answer in answers] == ([200] * 4 if value == "always_200" else semantic)
    return answers[3]


WORDS = {"taken": "active.com", "reserved": "nic.com", "unsupported": "a.zone", "invalid": "-.com"}


def _availability_word(name: str) -> Check:
    def check(sandbox: Sandbox, api: Api, value: str) -> Answer:
        answer = api.post(f"{D}/checkAvailability", {"domainNames": [*WORDS.values()]})
        usual = {**{word: word for word in WORDS}, "taken": "registered"}
        assert [row["status"] for row in answer.json["results"]] == [*{**usual, name: value}.values()]
        return answer

    return check


for word in WORDS:
    checks(f"v3.availability.{word}")(_availability_word(word))


@checks("v3.contacts.required")
def contacts_required(sandbox: Sandbox, api: Api, value: str) -> Answer:
    roles = ("reg-contact", "admin-contact", "tech-contact", "billing-contact")
    cards = [dict.fromkeys(roles[:count], person()) for count in (0, 1, 3, 4)]
    answers = [create(api, f"new{len(given)}.com", contacts=given) for given in cards]
    assert [answer.error for answer in answers] == {
        "none": [None] * 4,
        "registrant": ["contacts_required", None, None, None],
        "all": ["contacts_required"] * 3 + [None],
    }[value]
    return answers[3]


WIRE = ["name", "company-name", "address1", "city", "state", "zipcode", "country", "phone", "fax", "email"]


@checks("v3.contacts.fields")
def contacts_fields(sandbox: Sandbox, api: Api, value: str) -> Answer:
    whole = person(**{"company-name": "Works", "state": "Kyiv", "fax": "380.441234568"})
    for number, field in enumerate(WIRE):
        left_out = {key: whole[key] for key in whole if key != field}
        for lacking in (left_out, {**whole, field: ""}):
            before = contents(sandbox)
            sent = {"contacts": {"reg-contact": whole, "billing-contact": lacking}}
            made = create(api, f"new{number}.com", **sent)
            answer = api.post(f"{D}/setContacts/active.com", sent)
            if value == "all" or (value == "usual" and field in person()):
                for refused in (made, answer):
                    assert refused.error == "invalid_parameter", field
                    assert f"contacts.billing-contact.{field} is missing" in refused.message
                assert contents(sandbox) == before
            else:
                assert (made.error, answer.error) == (None, None), field
            sandbox.reset()
    return answer


@checks("v3.contacts.left_out")
def contacts_left_out(sandbox: Sandbox, api: Api, value: str) -> Answer:
    target = f"{D}/setContacts/active.com"
    api.post(target, {"contacts": {"tech-contact": person(**{"company-name": "Works", "state": "Kyiv"})}})
    answer = api.post(target, {"contacts": {"tech-contact": person("Tim", state="")}})
    shown = answer.json["domain"]["contacts"]["tech-contact"]
    company = {"kept": "Works", "emptied": ""}[value]
    assert (shown["name"], shown["company-name"], shown["state"]) == ("Tim", company, "")
    made = create(api, contacts={"tech-contact": person("Tom")}).json["domain"]["contacts"]["tech-contact"]
    assert (made["name"], made["company-name"]) == ("Tom", "")
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


@checks("v3.unlock_transfer.locked")
def unlock_transfer(sandbox: Sandbox, api: Api, value: bool) -> Answer:
    edit_name(sandbox, "active.com", flags=["client_transfer_prohibited"])
    answer = api.post(f"{D}/unlockTransfer/active.com")
    assert answer.json["domain"]["lockedEnabled"] is value
    assert api.get(GET + "active.com").json["domain"]["lockedEnabled"] is False
    return answer


@checks("v3.list.last_page")
def last_page(sandbox: Sandbox, api: Api, value: str) -> Answer:
    first, answer = (api.get(f"{D}?perPage=10&page={page}") for page in (1, 2))
    assert (first.json["nextPage"], first.json["lastPage"]) == (2, 2)
    assert "nextPage" not in answer.json
    assert answer.json.get("lastPage") == (2 if value == "always" else None)
    return answer


@checks("v3.list.parameters")
def list_parameters(sandbox: Sandbox, api: Api, value: str) -> Answer:
    answers = [api.get(f"{D}{query}") for query in ("", "?perPage=100", "?page=1")]
    expected = None if value == "optional" else "invalid_parameter"
    assert [answer.error for answer in answers] == [expected] * 3
    assert api.get(f"{D}?perPage=100&page=1").status == 200
    return answers[0]


@checks("v3.set_contacts.answer")
def set_contacts_answer(sandbox: Sandbox, api: Api, value: str) -> Answer:
    answer = api.post(f"{D}/setContacts/active.com", {"contacts": {"tech-contact": person("T")}})
    shapes = {
        "envelope": envelope(),
        "contacts": {"contacts": CONTACTS},
        "message": {"domainName": "active.com", "message": re.compile(".*active.com.*")},
    }
    fits(answer.json, shapes[value])
    return answer


@checks("v3.expired_status")
def expired_status(sandbox: Sandbox, api: Api, value: str) -> Answer:
    edit_name(sandbox, "active.com", stage="overdue", flags=["client_hold"])
    for name in ("overdue.com", "redemption.com", "pending.com", "active.com"):
        answer = api.get(GET + name)
        assert answer.json["status"] == value, name
    return answer


@checks("v3.transfer.outcome")
def transfer_outcome(sandbox: Sandbox, api: Api, value: str) -> Answer:
    answer = api.post(f"{D}/approveTransfer/leaving.com")
    assert api.get(GET + "leaving.com").error == "domain_not_found"
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
    for switch in ("lock", "lockTransfer", "disableAutorenew", "renewDomain"):
        assert api.post(f"{D}/{switch}/active.com").error is None
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


@checks("v3.ids")
def ids(sandbox: Sandbox, api: Api, value: str) -> Answer:
    kind = str if value == "string" else int
    assert type(api.get("/v3/balance").json[0]["client-id"]) is kind
    made = create(api).json
    assert (type(made["order-id"]), type(made["client-id"])) == (kind, kind)
    answer = api.post(f"{D}/requestTransfer", TRANSFER)
    assert type(answer.json["order-id"]) is kind
    return answer


TRANSFERRED = {"domainName": "elsewhere.com"}
TRANSFER = {"domain": TRANSFERRED, "authCode": "let-me-in"}


@checks("v3.names.form")
def names_form(sandbox: Sandbox, api: Api, value: str) -> Answer:
    unicode, ascii_form = "españa.com", "xn--espaa-rta.com"
    asked = [("espa%C3%B1a.com", unicode), (ascii_form, ascii_form)]
    for path, as_asked in asked:
        answer = api.get(GET + path)
        expected = {"as_asked": as_asked, "unicode": unicode, "ascii": ascii_form}[value]
        assert answer.json["domain"]["domainName"] == expected
    listed = [row["domainName"] for row in api.get(D).json["domains"]]
    assert (ascii_form if value == "ascii" else unicode) in listed
    return answer


@checks("v3.availability.out_of_service")
def out_of_service(sandbox: Sandbox, api: Api, value: str) -> Answer:
    sandbox.outside.set_service("com", in_service=False)
    answer = api.post(f"{D}/checkAvailability", {"domainNames": ["free.com", "second.com"]})
    assert [row["status"] for row in answer.json["results"]] == [value, "registered"]
    sandbox.assumptions.set({"v3.availability.unsupported": "nowhere"})
    renamed = api.post(f"{D}/checkAvailability", {"domainNames": ["free.com", "free.zone"]}).json["results"]
    assert [row["status"] for row in renamed] == ["nowhere" if value == "unsupported" else value, "nowhere"]
    return answer


@checks("v3.switches.repeated")
def repeated(sandbox: Sandbox, api: Api, value: str) -> Answer:
    for on, off in {
        "lock": "unlock",
        "lockTransfer": "unlockTransfer",
        "lockUpdate": "unlockUpdate",
        "enableAutorenew": "disableAutorenew",
    }.items():
        for switch in (on, off):
            first = api.post(f"{D}/{switch}/second.com")
            before = contents(sandbox)
            answer = api.post(f"{D}/{switch}/second.com")
            assert contents(sandbox) == before
            assert answer.error == (None if value == "accepted" else "switched_already")
        assert first.error is None
    return answer


def _created(field: str) -> Check:
    def check(sandbox: Sandbox, api: Api, value: str) -> Answer:
        answers = [create(api, f"new{bool(on)}.com", **{field: on}) for on in (True, False)]
        answers.append(create(api, "new.com"))
        shown = [answer.json["domain"][field] for answer in answers]
        assert shown == {"as_sent": [True, False, False], "always": [True] * 3, "never": [False] * 3}[value]
        return answers[0]

    return check


checks("v3.create.autorenew")(_created("autorenewEnabled"))
checks("v3.create.locked")(_created("lockedEnabled"))


@checks("v3.privacy.charged")
def privacy_charged(sandbox: Sandbox, api: Api, value: str) -> Answer:
    answer = create(api, years=3, privacyEnabled=True)
    assert answer.json["totalPaid"] == {"per_year": "39.00", "once": "33.00"}[value]
    assert sandbox.accounts["main"].balance == 10_000 - (39 if value == "per_year" else 33)
    return answer


@checks("v3.privacy.renewal")
def privacy_renewal(sandbox: Sandbox, api: Api, value: str) -> Answer:
    answer = api.post(f"{D}/renewDomain/active.com", {"years": 2})
    assert answer.json["totalPaid"] == {"free": "24.00", "charged": "30.00"}[value]
    plain = api.post(f"{D}/renewDomain/second.com", {"years": 2})
    assert plain.json["totalPaid"] == "24.00"
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
        assert answer.headers["x-sandbox-ignored"] == "domain.privacyEnabled"
        entry = sandbox.journal[answer.headers["x-sandbox-request"]]
        assert entry.request.ignored == ("domain.privacyEnabled",)
    sandbox.clock.advance("P5D")
    sandbox.outside.set_prices("com", privacy=3)
    for name in ("new.com", "elsewhere.com") if value == "ignored" else ():
        renewed = api.post(f"{D}/renewDomain", {"domain": {"domainName": name}}).json
        assert (renewed["domain"]["privacyEnabled"], renewed["totalPaid"]) == (False, "12.00")
    offered = create(api, "charged.com", privacyEnabled=True)
    assert offered.json["totalPaid"] == "13.00"
    assert "x-sandbox-ignored" not in offered.headers
    assert "v3.privacy.not_offered" not in offered.assumptions
    return made


@checks("v3.nameservers.own_glue")
def own_glue(sandbox: Sandbox, api: Api, value: str) -> Answer:
    target = f"{D}/setNameservers/active.com"
    refused = None if value == "ignored" else "invalid_nameserver"
    new = {"domainName": "new.com", "nameservers": ["ns1.new.com"]}
    assert api.post(CREATE, {"domain": new}).error == refused
    for default, error in {"ns1.second.com": refused, "ns1.active.com": None}.items():
        edit(sandbox, {"accounts": {"main": {"nameservers": ["ns1.example.org", default]}}})
        for number, servers in enumerate(({}, {"nameservers": list[str]()})):
            made = create(api, f"by-{default[4:-4]}-{number}.com", **servers)
            assert made.error == error
            assert error is None or "'ns1.second.com' lies below second.com" in made.message
    v2 = connect_v2(sandbox)
    for server, parent in {
        "ns1.second.com": "second.com",
        "ns1.nobodys.com.ua": "nobodys.com.ua",
        "a.b.redemption.com": "redemption.com",
        "ns8.active.com": "active.com",
    }.items():
        answer = api.post(target, {"nameservers": ["ns1.elsewhere.org", server]})
        assert answer.error == refused, server
        assert refused is None or f"{server!r} lies below {parent} and needs a glue record" in answer.message
        added = v2.put("/domain/second.com", {"ns": {"add": [f"x{server}"]}})
        assert added.status == (200 if refused is None else 400)
    for server in ("ns1.active.com", "ns1.theirs.com", "ns.elsewhere.com", "second.com", "ns1.example.org"):
        assert api.post(target, {"nameservers": [server]}).error is None, server
    return answer


@checks("hosts.private_addresses")
def private_addresses(sandbox: Sandbox, api: Api, value: str) -> Answer:
    glue = f"{D}/glueRecords/active.com"
    for number, ip in enumerate(["10.1.2.3", "192.168.0.1", "fd00::1", "::ffff:172.16.0.1", "192.0.2.1"]):
        made = api.post(glue, {"hostname": f"ns{number + 5}", "ips": ["8.8.8.8", ip]})
        answer = api.put(f"{glue}/ns1", {"ips": [ip]})
        for checked in (made, answer):
            assert checked.error == (None if value == "accepted" else "invalid_ip")
            assert checked.assumptions["hosts.private_addresses"] == value
    public = api.put(f"{glue}/ns1", {"ips": ["8.8.8.8", "2a00:1450::1"]})
    assert (public.status, public.assumptions.get("hosts.private_addresses")) == (200, None)
    return answer


@checks("v3.transfer.years")
def transfer_years(sandbox: Sandbox, api: Api, value: str) -> Answer:
    answer = api.post(f"{D}/requestTransfer", TRANSFER | {"years": 3})
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
    for value in ["registered", "not-available"] if takes.startswith("a word") else words:
        with subtests.test(value=value):
            sandbox = make(assume={name: value})
            api = connect(sandbox, checked=name in DOCUMENTED)
            answer = CHECKS[name](sandbox, api, {"true": True, "false": False}.get(value, value))
            assert answer.assumptions[name] == value


def test_every_assumption_about_v3_has_a_check(sandbox: Sandbox) -> None:
    names = {row.name for row in sandbox.assumptions.list().assumptions}
    rest = {name for name in names - CHECKS.keys() if name.startswith(("v3.", "hosts.", "locks."))}
    assert rest == {"v3.signature.endpoint", "v3.signature.payload", "v3.signature.query"}


def test_the_observed_profile_departs_in_three_assumptions_and_a_setting_by_name_wins(make: Make) -> None:
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
