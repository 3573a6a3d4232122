"""Name servers and glue records: which are accepted, how they are spelt, and which are in use."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.clients import Api, InProcess
from tests.registry import contents
from tests.v2.client import Client, refusal
from tests.v2.client import connect as connect_v2

D = "/v3/domains"
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


def test_bad_name_servers_and_addresses_are_refused_by_name(
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


def test_an_unreachable_address_is_refused_in_both_interfaces_and_a_fixture(
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


def test_a_host_that_is_not_below_the_name_is_refused_in_both_interfaces(
    api: Api, sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    before = contents(sandbox)
    v2 = Client(InProcess(sandbox.app), sandbox.accounts["main"].token, checked=False)
    entry = [{"ip": "192.0.2.1", "type": "v4"}]
    hosts = ["ns1.other.com.", "ns1.second.com", "ns1.net", "ns1\u3002other\uff0ecom", "sub.ns1"]
    for host in [*hosts, "active.com", "active.com.", "notactive.com"]:
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
                assert "does not lie below active.com" in answer.message or "it has no zone" in answer.message
            for answer in (
                v2.get(f"{path}/check"),
                v2.post(path, {"ip": entry}),
                v2.put(path, {"ip": {"add": entry}}),
                v2.get(path),
                v2.delete(path),
            ):
                assert (refusal(answer)[0], refusal(answer)[2]) == (404, "invalid_hostname")
    assert contents(sandbox) == before


def test_a_host_is_named_by_its_label_or_in_full(api: Api, sandbox: Sandbox) -> None:
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


def test_a_host_in_use_stays_and_five_of_its_names_are_listed(api: Api, other: Api) -> None:
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
