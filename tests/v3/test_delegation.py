"""Name servers and glue records: which are accepted, how they are spelt, and which are in use."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.clients import Api, InProcess
from tests.registry import Make, connect, contents, edit_name
from tests.v2.client import Client, refusal
from tests.v2.client import connect as connect_v2

D = "/v3/domains"
SERVERS = f"{D}/setNameservers/active.com"
GLUE = f"{D}/glueRecords/active.com"
MANY = [f"ns{number}.a.net" for number in range(14)]
MANY_IPS = [f"192.0.2.{number}" for number in range(14)]


def test_name_servers_are_shown_in_one_spelling_and_in_the_order_sent(api: Api) -> None:
    for sent, shown in [
        (["NS1.Example.NET."], ["ns1.example.net"]),
        (["ns.españa.com"], ["ns.xn--espaa-rta.com"]),
        (MANY[:13], MANY[:13]),
        (["b.a.net", "a.a.net"], ["b.a.net", "a.a.net"]),
    ]:
        assert api.post(SERVERS, {"nameservers": sent}).json["domain"]["nameservers"] == shown


def test_bad_name_servers_are_refused_by_name(api: Api, sandbox: Sandbox, subtests: pytest.Subtests) -> None:
    before = contents(sandbox)
    for sent, reason in [
        ([], "at least one is needed"),
        ([""], "'' is no host name: it is empty"),
        (["a.net", "A.net."], "'A.net.' is there twice"),
        (["192.0.2.1"], "'192.0.2.1' is no host name"),
        (["a_b.net"], "'a_b.net' is no host name"),
        (MANY, "'ns13.a.net' is one more than 13"),
    ]:
        with subtests.test(sent=sent):
            answer = api.post(SERVERS, {"nameservers": sent})
            assert answer.error == "invalid_nameserver"
            assert reason in answer.message
            if sent:
                new = {"domainName": "n.com", "nameservers": sent}
                assert api.post(f"{D}/createDomain", {"domain": new}).error == "invalid_nameserver"
            assert contents(sandbox) == before


def test_addresses_are_shown_in_one_spelling(api: Api) -> None:
    for ips, shown in [
        (["192.0.2.255"], ["192.0.2.255"]),
        (["2001:DB8:0:0:0:0:0:1"], ["2001:db8::1"]),
        (MANY_IPS[:13], MANY_IPS[:13]),
    ]:
        assert api.put(f"{GLUE}/ns1", {"ips": ips}).json["ips"] == shown
        assert api.get(f"{GLUE}/ns1").json["ips"] == shown


def test_bad_addresses_are_refused_by_name(api: Api, subtests: pytest.Subtests) -> None:
    for ips, reason in [
        ([], "at least one is needed"),
        (["192.0.2.256"], "'192.0.2.256' is not an IP address"),
        (["192.0.2.01"], "'192.0.2.01' is not an IP address"),
        (["192.0.2.0/24"], "is not an IP address"),
        (["fe80::1%eth0"], "'fe80::1%eth0' is not an IP address"),
        (["ns1.a.net"], "is not an IP address"),
        ([" 192.0.2.1"], "is not an IP address"),
        (["2001:db8::1", "2001:DB8::0001"], "'2001:DB8::0001' is there twice"),
        (MANY_IPS, "'192.0.2.13' is one more than 13"),
    ]:
        with subtests.test(ips=ips):
            for answer in (
                api.post(GLUE, {"hostname": "ns2", "ips": ips}),
                api.put(f"{GLUE}/ns1", {"ips": ips}),
            ):
                assert answer.error == "invalid_ip"
                assert reason in answer.message
    assert api.get(f"{GLUE}/ns1").json["ips"] == ["192.0.2.1", "2001:db8::1"]


#: Addresses that no client can reach, by their kind.
UNREACHABLE = {
    ip: kind
    for kind, ips in {
        "the unspecified": "0.0.0.0 ::",
        "a loopback": "127.0.0.1 127.255.255.254 ::1 ::ffff:127.0.0.1",
        "a link-local": "169.254.1.1 fe80::1",
        "a multicast": "224.0.0.1 239.255.255.255 ff02::1",
        "the broadcast": "255.255.255.255 ::ffff:255.255.255.255",
        "a reserved": "0.1.2.3 240.0.0.1 ::ffff:254.1.1.1 64:ff9b::c000:201 4000::1",
    }.items()
    for ip in ips.split()
}


def test_an_unreachable_address_is_refused_in_both_interfaces_and_a_fixture(
    api: Api, sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    before = contents(sandbox)
    v2 = Client(InProcess(sandbox.app), sandbox.account("main").token, checked=False)
    for ip, kind in UNREACHABLE.items():
        version = "v6" if ":" in ip else "v4"
        entry = [{"ip": ip, "type": version}]
        with subtests.test(ip=ip):
            messages = [
                api.post(GLUE, {"hostname": "ns2", "ips": ["192.0.2.5", ip]}).message,
                api.put(f"{GLUE}/ns1", {"ips": [ip]}).message,
            ]
            for answer in (
                v2.post("/domain/active.com/host/ns2", {"ip": entry}),
                v2.put("/domain/active.com/host/ns1", {"ip": {"add": entry}}),
            ):
                assert refusal(answer)[:2] == (400, f"Not the correct IP{version}: {ip}")
                messages.append(answer.headers["x-sandbox-refusal"])
            with pytest.raises(Refused) as raised:
                sandbox.hosts.add("ns3.active.com", ips=[ip])
            messages.append(str(raised.value))
            assert [message for message in messages if f"is {kind} address" not in message] == []
    assert contents(sandbox) == before


def test_a_host_that_is_not_below_the_name_is_refused_in_both_interfaces(
    api: Api, sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    before = contents(sandbox)
    v2 = Client(InProcess(sandbox.app), sandbox.account("main").token, checked=False)
    hosts = ["ns1.other.com.", "ns1.second.com", "ns1.net", "ns1\u3002other\uff0ecom", "sub.ns1"]
    for host in [*hosts, "active.com", "active.com.", "notactive.com"]:
        quoted = quote(host)
        entry = [{"ip": "192.0.2.1", "type": "v4"}]
        path = f"/domain/active.com/host/{quoted}"
        with subtests.test(host=host):
            for answer in (
                api.post(GLUE, {"hostname": host, "ips": ["192.0.2.1"]}),
                api.put(f"{GLUE}/{quoted}", {"ips": ["192.0.2.1"]}),
                api.get(f"{GLUE}/{quoted}"),
                api.delete(f"{GLUE}/{quoted}"),
            ):
                assert answer.error == "invalid_hostname", answer.raw
                assert "does not lie below active.com" in answer.message or "it has no zone" in answer.message
            for answer in (
                v2.get(f"{path}/check"),
                v2.post(path, {"ip": entry}),
                v2.put(path, {"ip": {"add": entry}}),
                v2.get(path),
                v2.delete(path),
            ):
                assert refusal(answer)[0] == 404
                assert refusal(answer)[2] == "invalid_hostname"
    assert contents(sandbox) == before


def test_a_host_that_is_not_a_label_is_refused_by_name(api: Api) -> None:
    for host in ("", "-a", "a_b", "a..b", "a b", "a" * 64, "*"):
        answer = api.post(GLUE, {"hostname": host, "ips": ["192.0.2.1"]})
        assert answer.error == "invalid_hostname", host
        assert repr(host)[:60] in answer.message


def test_a_host_is_named_by_its_label_or_in_full(
    sandbox: Sandbox, api: Api, subtests: pytest.Subtests
) -> None:
    for host, shown in {
        "NS2": "ns2.active.com",
        "ns2.active.com": "ns2.active.com",
        "ns2.Active.com.": "ns2.active.com",
        "a.b.active.com": "a.b.active.com",
        "ns2\u3002active\u3002com": "ns2.active.com",
        "назва": "xn--80aaft2a.active.com",
    }.items():
        with subtests.test(host=host):
            sandbox.reset()
            made = api.post(GLUE, {"hostname": host, "ips": ["192.0.2.1"]})
            assert (made.status, made.json.get("hostname")) == (200, shown), made.raw
            for asked in (quote(host), shown):
                assert api.get(f"{GLUE}/{asked}").json["hostname"] == shown


def test_a_zone_without_hosts_has_an_empty_list_of_them(api: Api) -> None:
    glue = f"{D}/glueRecords/held.shop"
    assert api.get(glue).json == {"glueRecords": []}
    assert api.get(f"{glue}/ns1").error == "host_not_found"
    assert api.post(glue, {"hostname": "ns1", "ips": ["192.0.2.1"]}).error == "hosts_not_supported"


def test_a_host_in_use_by_any_account_stays(sandbox: Sandbox, api: Api, other: Api) -> None:
    assert other.post(f"{D}/setNameservers/theirs.com", {"nameservers": ["ns1.active.com"]}).status == 200
    assert api.post(SERVERS, {"nameservers": ["ns1.active.com"]}).status == 200
    refused = api.delete(f"{GLUE}/ns1")
    assert refused.error == "host_in_use"
    assert "active.com" in refused.message
    assert "theirs.com" in refused.message
    api.post(SERVERS, {"nameservers": ["ns.a.net"]})
    other.post(f"{D}/setNameservers/theirs.com", {"nameservers": ["ns.a.net"]})
    assert api.delete(f"{GLUE}/ns1").status == 200


def test_a_refusal_names_the_first_five_names_that_need_a_host(api: Api) -> None:
    for number in range(6):
        wanted = {"domainName": f"user{number}.com", "nameservers": ["ns1.active.com"]}
        assert api.post(f"{D}/createDomain", {"domain": wanted}).status == 200
    assert api.delete(f"{GLUE}/ns1").message.count(".com") == 1 + 5


def test_hosts_of_one_name_are_not_shown_for_another(api: Api, other: Api) -> None:
    assert api.get(f"{D}/glueRecords/second.com").json == {"glueRecords": []}
    assert api.get(f"{D}/glueRecords/second.com/ns1").error == "host_not_found"
    assert other.get(GLUE).error == "domain_not_found"


def test_a_name_that_cannot_be_registered_is_refused_for_its_own_reason(
    api: Api, sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    before = contents(sandbox)
    for name, error, reason in [
        ("a.b.com", "invalid_name", "more than one label below com"),
        ("españa.net", "invalid_name", "net takes no internationalised names"),
        ("new.zone", "zone_not_supported", "new.zone"),
        ("com.ua", "zone_not_supported", "com.ua"),
        ("ua", "invalid_name", "it has no zone"),
        ("nic.com", "name_reserved", "nic.com"),
        ("ACTIVE.com.", "name_taken", "active.com"),
        ("elsewhere.com", "name_taken", "elsewhere.com"),
        ("redemption.com", "name_taken", "redemption.com"),
        ("pending.com", "name_taken", "pending.com"),
        ("arriving.com", "name_taken", "arriving.com"),
    ]:
        with subtests.test(name=name):
            answer = api.post(f"{D}/createDomain", {"domain": {"domainName": name}})
            assert (answer.error, reason in answer.message) == (error, True), answer.raw
    assert contents(sandbox) == before


def test_a_term_has_the_limits_of_its_zone_and_of_ten_years_ahead(api: Api, sandbox: Sandbox) -> None:
    short, long = "period_too_short", "period_too_long"
    for years, error in {1: short, 2: None, 5: None, 6: long}.items():
        sandbox.reset()
        body: Any = {"domain": {"domainName": "new.shop"}, "years": years}
        assert api.post(f"{D}/createDomain", body).error == error, years
    for years, error in {
        0: "period_too_short",
        -3: "period_too_short",
        9: None,
        10: "period_too_long",
    }.items():
        sandbox.reset()
        answer = api.post(f"{D}/renewDomain/active.com", {"years": years})
        assert answer.error == error, years
    assert "more than 10 years ahead" in answer.message
    assert api.post(f"{D}/createDomain", {"domain": {"domainName": "new.shop"}, "years": 2}).status == 200
    longer = api.post(f"{D}/renewDomain/new.shop", {"years": 6})
    assert "more than 10 years ahead" not in longer.message


def test_a_licence_is_kept_in_a_zone_that_asks_for_it(sandbox: Sandbox, api: Api) -> None:
    requirements = {"tldRequirements": {"license": "654321", "other": "x"}}
    for name, licence in {"new.com.ua": "654321", "new.com": ""}.items():
        made = api.post(f"{D}/createDomain", {"domain": {"domainName": name}, **requirements})
        assert made.status == 200
        assert sandbox.names[name].license == licence


def test_a_name_server_that_is_set_already_needs_no_glue_to_stay(make: Make) -> None:
    sandbox = make(assume={"v3.nameservers.own_glue": "required"})
    edit_name(sandbox, "active.com", nameservers=["ns1.free.com", "ns2.free.com"])
    api, v2 = connect(sandbox), connect_v2(sandbox)
    assert api.post(SERVERS, {"nameservers": ["ns2.free.com", "ns1.example.org"]}).status == 200
    assert v2.put("/domain/active.com", {"ns": {"add": ["ns3.example.org"]}}).status == 200
    assert v2.put("/domain/active.com", {"ns": {"del": ["ns3.example.org"]}}).status == 200
    answer = v2.put("/domain/active.com", {"ns": {"add": ["ns1.free.com"]}})
    assert refusal(answer)[:2] == (400, "Not the correct ns: ns1.free.com")


def test_the_name_servers_of_the_packaged_accounts_need_no_glue() -> None:
    for value in ("ignored", "required"):
        sandbox = Sandbox(assume={"v3.nameservers.own_glue": value})
        for account in ("main", "other"):
            body = {"domain": {"domainName": f"new-{account}.com"}}
            assert connect(sandbox, account).post(f"{D}/createDomain", body).status == 200, (value, account)
