"""Orders, contacts, name servers and glue records in v3."""

from __future__ import annotations

import re
from datetime import timedelta
from html import escape
from typing import Any
from urllib.parse import quote

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.clients import Answer, Api, InProcess, person
from tests.registry import Make, assert_books_balance, balance, connect, contents, create, edit, edit_name
from tests.v2.client import Client, refusal
from tests.v2.client import connect as connect_v2

D = "/v3/domains"


def ask(api: Api, name: str = "theirs.com", code: object = "let-me-in", **more: Any) -> Answer:
    """Request the transfer of another registrar's name."""
    domain = {"domainName": name, **more.pop("domain", {})}
    return api.post(f"{D}/requestTransfer", {"domain": domain, "authCode": code, **more})


def test_an_agreed_price_is_compared_by_amount_in_any_spelling(sandbox: Sandbox, api: Api) -> None:
    sandbox.simulate.set_premium("rare.com", registration=500, renewal=300, transfer=200)
    for wrong in ("500.001", 499.99, "500.000001", 5, 10**12, "9" * 60):
        assert create(api, "rare.com", 1, wrong).error == "price_mismatch", wrong
    for number, cost in enumerate([500, 500.0, "500", "500.00", "5e2", "500.000000"]):
        name = f"rare{number}.com"
        sandbox.simulate.set_premium(name, registration=500, renewal=300, transfer=200)
        paid = create(api, name, 1, cost, privacyEnabled=True).json["totalPaid"]
        assert paid == "503.00", "the agreed price leaves privacy out"


def test_a_transferred_domain_has_the_settings_of_its_request(api: Api, other: Api) -> None:
    servers = ["ns1.elsewhere.net", "ns2.elsewhere.net"]
    switches = {"privacyEnabled": True, "lockedEnabled": True, "autorenewEnabled": True}
    contacts = {"reg-contact": person("Ann")}
    ask(api, domain={**switches, "nameservers": servers, "contacts": contacts})
    other.post(f"{D}/approveTransfer/theirs.com", {})
    got = api.get(f"{D}/getDomain/theirs.com").json["domain"]
    assert {key: got[key] for key in switches} == switches
    assert got["nameservers"] == servers
    assert got["contacts"]["reg-contact"]["name"] == "Ann"
    assert got["contacts"]["tech-contact"]["name"] == "Main Holder"


def test_a_transferred_domain_keeps_only_its_hosts_and_name_servers(sandbox: Sandbox) -> None:
    edit_name(sandbox, "theirs.com", flags=["client_hold"], privacy=True, autorenew=True)
    api, other = connect(sandbox), connect(sandbox, "other")
    ask(api)
    other.post(f"{D}/glueRecords/theirs.com", {"hostname": "ns1", "ips": ["192.0.2.50"]})
    other.post(f"{D}/setNameservers/theirs.com", {"nameservers": ["ns1.theirs.com", "ns.else.net"]})
    assert other.post(f"{D}/approveTransfer/theirs.com").status == 200
    shown = api.get(f"{D}/getDomain/theirs.com").json["domain"]
    assert (shown["createDate"], shown["expireDate"]) == ("2025-11-21 12:00:00", "2027-11-21 12:00:00")
    assert (shown["privacyEnabled"], shown["lockedEnabled"], shown["autorenewEnabled"]) == (False,) * 3
    assert shown["nameservers"] == ["ns1.theirs.com", "ns.else.net"]
    assert shown["contacts"]["reg-contact"]["name"] == "Main Holder"
    assert api.get(f"{D}/glueRecords/theirs.com/ns1").json["ips"] == ["192.0.2.50"]
    assert api.get(f"{D}/getAuthcode/theirs.com").json["authCode"] != "let-me-in"


def test_only_the_exact_auth_code_is_accepted_and_no_response_shows_the_code(
    sandbox: Sandbox, api: Api
) -> None:
    for code in ("", "LET-ME-IN", "let-me-in ", "let-me-i", 0, "λ"):
        answer = ask(api, code=code)
        assert (answer.status, answer.error) == (403, "wrong_auth_code"), code
        assert b"let-me-in" not in answer.raw
    assert balance(sandbox) == 10_000


def test_refusal_of_a_code_that_software_has_changed_says_how(sandbox: Sandbox, api: Api) -> None:
    code, v2 = """a<b>&"c'+ü日""", connect_v2(sandbox)
    sandbox.simulate.change("theirs.com", auth_code=code)
    for changed, reason in {
        f" {code}\n": ": it is the code without the white space at its ends.",
        escape(code): ": it is the code after its HTML entities are decoded.",
        quote(code): ": it is the code after its percent-encoding is decoded.",
        code.replace("+", " "): ": it is the code with + in place of blanks.",
        re.sub("(['\"])", r"\\\1", code): ": it is the code without its escaping backslashes.",
        f"{code}&amp;": "authCode is not the code of theirs.com.",
    }.items():
        answer = ask(api, code=changed)
        assert (answer.error, answer.message.endswith(reason)) == ("wrong_auth_code", True), answer.message
        answer = v2.post("/domain/theirs.com/transfer", {"transfer_code": changed})
        assert answer.headers["x-sandbox-refusal"].endswith(reason.replace("authCode", "transfer_code"))
    assert ask(api, code=code).status == 200


def test_transfer_and_privacy_are_charged_and_refunded_in_separate_entries(
    sandbox: Sandbox, api: Api, other: Api
) -> None:
    for party, operation, ended in [
        (other, "rejectTransfer", "clientRejected"),
        (api, "cancelTransfer", "clientCancelled"),
    ]:
        sandbox.reset()
        assert ask(api, domain={"privacyEnabled": True}).json["totalPaid"] == "12.00"
        assert party.post(f"{D}/{operation}/theirs.com").status == 200
        assert sandbox.transfers["theirs.com"].status == ended
        paid, private, *refunds = sandbox.ledger.list(domain="theirs.com").entries
        assert [(row.purpose, row.amount) for row in (paid, private)] == [("transfer", -9), ("privacy", -3)]
        assert {(row.purpose, row.amount, row.refunds) for row in refunds} == {
            ("transfer", 9, paid.id),
            ("privacy", 3, private.id),
        }
        assert_books_balance(sandbox)
    sandbox.simulate.set_prices("com", transfer=0)
    before = sandbox.ledger.list().matching
    assert ask(api).json["totalPaid"] == "0.00"
    other.post(f"{D}/rejectTransfer/theirs.com")
    assert sandbox.ledger.list().matching == before, "a free transfer makes no entry"


def test_the_sixty_day_transfer_lock_starts_at_creation_or_at_a_transfer(make: Make) -> None:
    for value in ("creation_or_transfer", "creation"):
        sandbox = make(assume={"lifecycle.transfer_lock.from": value})
        api, other = (connect(sandbox, account, checked=False) for account in ("main", "other"))
        ask(api)
        other.post(f"{D}/approveTransfer/theirs.com")
        arrived = sandbox.clock.now
        code = api.get(f"{D}/getAuthcode/theirs.com").json["authCode"]
        sandbox.clock.advance("59d")
        answer = ask(other, code=code)
        assert answer.assumptions["lifecycle.transfer_lock.from"] == value
        if value == "creation":
            assert answer.json["status"] == "pending"
            continue
        assert answer.error == "too_young"
        assert "theirs.com came by a transfer on 2026-03-01T12:00:00Z" in answer.message
        why = sandbox.journal.list(limit=1).requests[0].refusal
        assert why is not None
        assert why.allowed_at == arrived + timedelta(days=60)
        sandbox.clock.advance("1d")
        assert ask(other, code=code).json["status"] == "pending"


SET = f"{D}/setContacts/active.com"
ROLES = ("reg-contact", "admin-contact", "tech-contact", "billing-contact")


def set_tech(api: Api, **fields: Any) -> Answer:
    """Give active.com another technical contact."""
    return api.post(SET, {"contacts": {"tech-contact": person(**fields)}})


def test_an_invalid_contact_is_refused_with_the_wrong_field_and_value(
    api: Api, sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    fields: list[tuple[str, str | int, str]] = [
        ("phone", "+380.441234567", ""),
        ("phone", "441234567", "<country code>.<number>"),
        ("phone", "+44.12x", "<country code>.<number>"),
        ("fax", "1.2025550123", ""),
        ("fax", "", ""),
        ("country", "gb", ""),
        ("country", "GBR", "two-letter country code"),
        ("email", "a+b@sub.example.com", ""),
        ("email", "nobody", "e-mail address"),
        ("email", "a b@example.com", "e-mail address"),
        ("name", "Ганна Îñtërnâtiønàl 名前", ""),
        ("name", "x" * 255, ""),
        ("name", "x" * 256, "longer than 255"),
        ("zipcode", 1001, ""),
    ]
    for field, value, problem in fields:
        before = contents(sandbox)
        with subtests.test(field=field, value=value):
            answer = set_tech(api, **{field: value})
            if not problem:
                shown = answer.json["domain"]["contacts"]["tech-contact"][field]
                assert shown == ("GB" if value == "gb" else str(value))
                continue
            assert answer.error == "invalid_contact"
            for part in (f"contacts.tech-contact.{field}", str(value)[:30], problem):
                assert part in answer.message
            assert contents(sandbox) == before


def test_every_operation_refuses_malformed_or_incomplete_contacts(
    api: Api, sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    before = contents(sandbox)
    zipcode = "contacts.tech-contact.zipcode must be a string or an integer"
    wrong: list[Any] = [12.5, 12.0, -1, True, [1001], {}]
    cases: list[tuple[Any, str]] = [({"tech-contact": person(zipcode=sent)}, zipcode) for sent in wrong]
    for role, nearest in {
        "reg_contact": "did you mean reg-contact",
        "Tech-Contact": "did you mean tech-contact",
        "teh-contact": "did you mean tech-contact",
        "billing": "did you mean billing-contact",
        "owner": "the roles are reg-contact, admin-contact, tech-contact, billing-contact",
        "": "the roles are reg-contact",
        "x" * 10_000: "the roles are reg-contact",
    }.items():
        cases.append(({"reg-contact": person(), role: person()}, nearest))
    cases += [({"owner": sent}, "the roles are reg-contact") for sent in (person(), None, "Ann")]
    for fields in ({"nmae": "x"}, {}, person(email=""), person(phone=None)):
        lacking = next(field for field in person() if not fields.get(field))
        admin = {"reg-contact": person(), "admin-contact": fields}
        cases.append((admin, f"contacts.admin-contact.{lacking} is missing"))
    for sent, reason in cases:
        new = {"domain": {"domainName": "new.com", "contacts": sent}}
        asked = {"domain": {"domainName": "theirs.com", "contacts": sent}, "authCode": "let-me-in"}
        with subtests.test(sent=str(sent)[:100]):
            for answer in (
                api.post(SET, {"contacts": sent}),
                api.post("/v3/setContacts/active.com", {"contacts": sent}),
                api.post(f"{D}/createDomain", new),
                api.post(f"{D}/requestTransfer", asked),
            ):
                assert answer.error == "invalid_parameter", answer.raw
                assert reason in answer.message
                assert len(answer.message) < 500
    nothing: list[Any] = [{}, {"reg-contact": None}, None, []]
    assert {api.post(SET, {"contacts": sent}).error for sent in nothing} == {"invalid_parameter"}
    assert contents(sandbox) == before


def test_a_contact_may_be_incomplete_if_no_field_is_required(make: Make) -> None:
    sandbox = make(assume={"v3.contacts.fields": "none"})
    api = connect(sandbox, checked=False)
    kept = api.get(f"{D}/getDomain/active.com").json["domain"]["contacts"]["reg-contact"]
    before = contents(sandbox)
    for nothing in ({"nmae": "x"}, {}):
        assert api.post(SET, {"contacts": {"reg-contact": nothing}}).status == 200
        assert contents(sandbox) == before
    changed = api.post(SET, {"contacts": {"reg-contact": {"city": "Lviv", "email": ""}}}).json["domain"]
    assert changed["contacts"]["reg-contact"] == {**kept, "city": "Lviv", "email": ""}
    body = {"domain": {"domainName": "new.com", "contacts": {"reg-contact": {"name": "Ann"}}}}
    new = api.post(f"{D}/createDomain", body).json["domain"]["contacts"]["reg-contact"]
    assert new == {**dict.fromkeys(kept, ""), "name": "Ann"}


def test_contact_fields_that_the_request_omits_are_not_validated(sandbox: Sandbox, api: Api) -> None:
    edit(sandbox, {"accounts": {"main": {"contact": {"fax": "(044) 123-45-67"}}}})
    shown = set_tech(api, name="Tim").json["domain"]["contacts"]["tech-contact"]
    assert (shown["name"], shown["fax"]) == ("Tim", "(044) 123-45-67")


def test_omitted_roles_stay_unchanged_and_roles_with_equal_contacts_share_a_record(
    sandbox: Sandbox, api: Api
) -> None:
    count = len(sandbox.contacts.list().contacts)
    ann = person("Ann", **dict.fromkeys(("company-name", "state", "fax"), ""))
    api.post(SET, {"contacts": dict.fromkeys(ROLES, ann)})
    after = contents(sandbox)
    shown = api.post(SET, {"contacts": dict.fromkeys(ROLES, ann)}).json["domain"]["contacts"]
    assert shown == dict.fromkeys(ROLES, ann)
    assert (len(sandbox.contacts.list().contacts), contents(sandbox)) == (count + 1, after)
    assert set_tech(api, name="Tim").json["domain"]["contacts"]["tech-contact"]["name"] == "Tim"
    assert set_tech(api, name="Ann").json["domain"]["contacts"] == shown


SERVERS = f"{D}/setNameservers/active.com"
GLUE = f"{D}/glueRecords/active.com"
MANY = [f"ns{number}.a.net" for number in range(14)]
MANY_IPS = [f"192.0.2.{number}" for number in range(14)]


def test_name_servers_and_addresses_are_normalised_and_keep_their_order(api: Api) -> None:
    for sent, shown in [
        (["NS1.Example.NET."], ["ns1.example.net"]),
        (["ns.españa.com"], ["ns.xn--espaa-rta.com"]),
        (MANY[:13], MANY[:13]),
        (["b.a.net", "a.a.net"], ["b.a.net", "a.a.net"]),
    ]:
        assert api.post(SERVERS, {"nameservers": sent}).json["domain"]["nameservers"] == shown
    spelt = [(["2001:DB8:0:0:0:0:0:1"], ["2001:db8::1"]), (["::ffff:c000:201"], ["::ffff:192.0.2.1"])]
    for sent, shown in [*spelt, (MANY_IPS[:13], MANY_IPS[:13])]:
        assert api.put(f"{GLUE}/ns1", {"ips": sent}).json["ips"] == shown
        assert api.get(f"{GLUE}/ns1").json["ips"] == shown


def test_the_refusal_names_each_invalid_name_server_and_address(
    api: Api, sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    before = contents(sandbox)
    for error, sent, reason in [
        ("invalid_nameserver", [], "at least one is required"),
        ("invalid_nameserver", ["a.net", "A.net."], "'A.net.' is a duplicate"),
        ("invalid_nameserver", ["192.0.2.1"], "'192.0.2.1' is not a host name"),
        ("invalid_nameserver", MANY, "'ns13.a.net' exceeds the maximum of 13"),
        ("invalid_ip", [], "at least one is required"),
        ("invalid_ip", ["192.0.2.01"], "'192.0.2.01' is not an IP address"),
        ("invalid_ip", ["fe80::1%eth0"], "'fe80::1%eth0' is not an IP address"),
        ("invalid_ip", ["2001:db8::1", "2001:DB8::0001"], "'2001:DB8::0001' is a duplicate"),
        ("invalid_ip", MANY_IPS, "'192.0.2.13' exceeds the maximum of 13"),
    ]:
        with subtests.test(error=error, sent=sent):
            if error == "invalid_ip":
                answer = api.put(f"{GLUE}/ns1", {"ips": sent})
            else:
                answer = api.post(SERVERS, {"nameservers": sent})
            assert answer.error == error
            assert reason in answer.message
    assert contents(sandbox) == before


#: Addresses that no client can reach, by their kind.
UNREACHABLE = {
    "the unspecified": "0.0.0.0 ::",
    "a loopback": "127.0.0.1 127.255.255.254 ::1 ::ffff:127.0.0.1",
    "a link-local": "169.254.1.1 fe80::1",
    "a multicast": "224.0.0.1 239.255.255.255 ff02::1",
    "the broadcast": "255.255.255.255 ::ffff:255.255.255.255",
    "a reserved": "0.1.2.3 240.0.0.1 ::ffff:254.1.1.1 64:ff9b::c000:201 4000::1",
}


def test_v3_and_v2_and_fixtures_refuse_an_unreachable_host_address(
    api: Api, sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    before = contents(sandbox)
    v2 = connect_v2(sandbox)
    for kind, ip in ((kind, ip) for kind, ips in UNREACHABLE.items() for ip in ips.split()):
        version = "v6" if ":" in ip else "v4"
        with subtests.test(ip=ip):
            refused = v2.post("/domain/active.com/host/ns2", {"ip": [{"ip": ip, "type": version}]})
            assert refusal(refused)[:2] == (400, f"Not the correct IP{version}: {ip}")
            with pytest.raises(Refused) as raised:
                sandbox.hosts.add("ns3.active.com", ips=[ip])
            for message in (
                refused.headers["x-sandbox-refusal"],
                str(raised.value),
                api.put(f"{GLUE}/ns1", {"ips": ["192.0.2.5", ip]}).message,
            ):
                assert f"is {kind} address" in message
    assert contents(sandbox) == before


def test_v3_and_v2_refuse_a_host_that_is_not_below_the_domain(
    api: Api, sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    before = contents(sandbox)
    v2 = Client(InProcess(sandbox.app), sandbox.accounts["main"].token, checked=False)
    entry = [{"ip": "192.0.2.1", "type": "v4"}]
    hosts = ["ns1.other.com.", "ns1.second.com", "ns1.net", "ns1\u3002other\uff0ecom", "sub.ns1"]
    for host in [*hosts, "notactive.com"]:
        quoted = quote(host)
        path = f"/domain/active.com/host/{quoted}"
        with subtests.test(host=host):
            for answer in (
                api.post(GLUE, {"hostname": host, "ips": ["192.0.2.1"]}),
                api.put(f"{GLUE}/{quoted}", {"ips": ["192.0.2.1"]}),
                api.get(f"{GLUE}/{quoted}"),
                api.delete(f"{GLUE}/{quoted}"),
            ):
                assert answer.error == "invalid_hostname", answer.raw
                assert "does not lie below active.com" in answer.message or "has no zone" in answer.message
            for answer in (
                v2.get(f"{path}/check"),
                v2.post(path, {"ip": entry}),
                v2.put(path, {"ip": {"add": entry}}),
                v2.get(path),
                v2.delete(path),
            ):
                assert (refusal(answer)[0], refusal(answer)[2]) == (404, "invalid_hostname")
    assert contents(sandbox) == before


def test_a_host_is_accepted_by_label_or_full_name(api: Api, sandbox: Sandbox) -> None:
    for host, shown in {
        "NS2": "ns2.active.com",
        "ns2.Active.com.": "ns2.active.com",
        "a.b.active.com": "a.b.active.com",
        "ns2\u3002active\u3002com": "ns2.active.com",
        "назва": "xn--80aaft2a.active.com",
    }.items():
        sandbox.reset()
        made = api.post(GLUE, {"hostname": host, "ips": ["192.0.2.1"]})
        assert (made.status, made.json.get("hostname")) == (200, shown), made.raw
        for asked in (quote(host), shown):
            assert api.get(f"{GLUE}/{asked}").json["hostname"] == shown
    for host in ("", "-a", "a_b", "a..b", "a b", "a" * 64, "*"):
        refused = api.post(GLUE, {"hostname": host, "ips": ["192.0.2.1"]})
        assert refused.error == "invalid_hostname", host
        assert repr(host)[:60] in refused.message


def test_a_host_in_use_is_not_deleted_and_five_of_its_domains_are_listed(api: Api, other: Api) -> None:
    for number in range(6):
        new = {"domainName": f"user{number}.com", "nameservers": ["ns1.active.com"]}
        assert other.post(f"{D}/createDomain", {"domain": new}).status == 200
    assert api.delete(f"{GLUE}/ns1").message.count(".com") == 1 + 5
    assert api.post(SERVERS, {"nameservers": ["ns1.active.com"]}).status == 200
    assert "active.com, user0.com" in api.delete(f"{GLUE}/ns1").message


def test_a_licence_is_stored_in_a_zone_with_licences(sandbox: Sandbox, api: Api) -> None:
    requirements = {"tldRequirements": {"license": "654321", "other": "x"}}
    for name, licence in {"new.com.ua": "654321", "new.com": ""}.items():
        assert api.post(f"{D}/createDomain", {"domain": {"domainName": name}, **requirements}).status == 200
        assert sandbox.names[name].license == licence
