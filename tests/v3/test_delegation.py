"""Name servers and glue records: what is taken, in which spelling it is kept, and who may need whom."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.fixture import FixtureError, loads
from tests.clients import Api, InProcess
from tests.registry import REGISTRY, Make, connect, order_of, write
from tests.v2.client import Client, refusal
from tests.v2.client import connect as connect_v2

D = "/v3/domains"
SERVERS = f"{D}/setNameservers/active.com"
GLUE = f"{D}/glueRecords/active.com"


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        (["NS1.Example.NET."], ["ns1.example.net"]),
        (["ns.españa.com"], ["ns.xn--espaa-rta.com"]),
        ([f"ns{number}.a.net" for number in range(13)], [f"ns{number}.a.net" for number in range(13)]),
        (["b.a.net", "a.a.net"], ["b.a.net", "a.a.net"]),
    ],
    ids=["spelling", "international", "thirteen", "order"],
)
def test_servers_are_kept_in_one_spelling(api: Api, sent: list[str], kept: list[str]) -> None:
    """And in the order in which they were sent; written like the name in the path, here in ASCII."""
    assert api.post(SERVERS, {"nameservers": sent}).json["domain"]["nameservers"] == kept


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ([], "at least one is needed"),
        ([""], "'' is no host name: it is empty"),
        (["a.net", "A.net."], "'A.net.' is there twice"),
        (["192.0.2.1"], "'192.0.2.1' is no host name"),
        (["a_b.net"], "'a_b.net' is no host name"),
        ([f"ns{number}.a.net" for number in range(14)], "'ns13.a.net' is one more than 13"),
    ],
)
def test_bad_servers_are_refused_by_name(api: Api, sandbox: Sandbox, sent: list[str], told: str) -> None:
    """At registration too, where an empty list stands for the account's own."""
    before = sandbox.world.state
    answer = api.post(SERVERS, {"nameservers": sent})
    assert answer.error == "invalid_nameserver"
    assert told in answer.message
    if sent:
        made = api.post(f"{D}/createDomain", {"domain": {"domainName": "n.com", "nameservers": sent}})
        assert made.error == "invalid_nameserver"
    assert sandbox.world.state is before


@pytest.mark.parametrize(
    ("ips", "kept"),
    [
        (["192.0.2.255"], ["192.0.2.255"]),
        (["2001:DB8:0:0:0:0:0:1"], ["2001:db8::1"]),
        ([f"192.0.2.{number}" for number in range(13)], [f"192.0.2.{number}" for number in range(13)]),
    ],
    ids=["v4", "v6", "thirteen"],
)
def test_addresses_are_kept_in_one_spelling(api: Api, ips: list[str], kept: list[str]) -> None:
    """The canonical one of each version."""
    assert api.post(GLUE, {"hostname": "ns2", "ips": ips}).json["ips"] == kept
    assert api.get(f"{GLUE}/ns2").json["ips"] == kept


@pytest.mark.parametrize(
    ("ips", "told"),
    [
        ([], "at least one is needed"),
        (["192.0.2.256"], "'192.0.2.256' is not an IP address"),
        (["192.0.2.01"], "'192.0.2.01' is not an IP address"),
        (["192.0.2.0/24"], "is not an IP address"),
        (["fe80::1%eth0"], "'fe80::1%eth0' is not an IP address"),
        (["ns1.a.net"], "is not an IP address"),
        ([" 192.0.2.1"], "is not an IP address"),
        (["2001:db8::1", "2001:DB8::0001"], "'2001:DB8::0001' is there twice"),
        ([f"192.0.2.{number}" for number in range(14)], "'192.0.2.13' is one more than 13"),
    ],
)
def test_bad_addresses_are_refused_by_name(api: Api, ips: list[str], told: str) -> None:
    """In a new record and in a changed one."""
    for answer in (api.post(GLUE, {"hostname": "ns2", "ips": ips}), api.put(f"{GLUE}/ns1", {"ips": ips})):
        assert answer.error == "invalid_ip"
        assert told in answer.message
    assert api.get(f"{GLUE}/ns1").json["ips"] == ["192.0.2.1", "2001:db8::1"]


@pytest.mark.parametrize("host", ["", "-a", "a_b", "a..b", "a b", "a" * 64, "*"])
def test_bad_hosts_are_refused_by_name(api: Api, host: str) -> None:
    """What could not be a label."""
    answer = api.post(GLUE, {"hostname": host, "ips": ["192.0.2.1"]})
    assert answer.error == "invalid_hostname"
    assert repr(host)[:60] in answer.message


NOWHERE = {
    "0.0.0.0": "the unspecified",
    "::": "the unspecified",
    "127.0.0.1": "a loopback",
    "127.255.255.254": "a loopback",
    "::1": "a loopback",
    "::ffff:127.0.0.1": "a loopback",
    "169.254.1.1": "a link-local",
    "fe80::1": "a link-local",
    "224.0.0.1": "a multicast",
    "239.255.255.255": "a multicast",
    "ff02::1": "a multicast",
    "255.255.255.255": "the broadcast",
    "::ffff:255.255.255.255": "the broadcast",
    "0.1.2.3": "a reserved",
    "240.0.0.1": "a reserved",
    "::ffff:254.1.1.1": "a reserved",
    "64:ff9b::c000:201": "a reserved",
    "4000::1": "a reserved",
}


@pytest.mark.parametrize(("ip", "kind"), NOWHERE.items())
def test_addresses_that_lead_nowhere_are_no_glue(api: Api, sandbox: Sandbox, ip: str, kind: str) -> None:
    """In a new record and in a changed one of either interface, and in a fixture."""
    before, version = sandbox.world.state, "v6" if ":" in ip else "v4"
    entry = [{"ip": ip, "type": version}]
    v2 = Client(InProcess(sandbox.app), sandbox.account("main").token, checked=False)
    told = [
        api.post(GLUE, {"hostname": "ns2", "ips": ["192.0.2.5", ip]}).message,
        api.put(f"{GLUE}/ns1", {"ips": [ip]}).message,
    ]
    for answer in (
        v2.post("/domain/active.com/host/ns2", {"ip": entry}),
        v2.put("/domain/active.com/host/ns1", {"ip": {"add": entry}}),
    ):
        assert refusal(answer)[:2] == (400, f"Not the correct IP{version}: {ip}")
        told.append(answer.headers["x-sandbox-refusal"])
    text = REGISTRY.read_text("utf-8").replace("192.0.2.7", f'"{ip}"')
    with pytest.raises(FixtureError) as raised:
        loads(text)
    told.append(str(raised.value))
    assert [words for words in told if f"is {kind} address" not in words] == []
    assert sandbox.world.state is before


HOSTS_ELSEWHERE = [
    "ns1.other.com",
    "ns1.other.com.",
    "ns1.second.com",
    "ns1.net",
    "ns1\u3002other\uff0ecom",
    "sub.ns1",
    "active.com",
    "active.com.",
    "notactive.com",
]


@pytest.mark.parametrize("host", HOSTS_ELSEWHERE)
def test_a_host_name_with_a_dot_lies_below_the_name(api: Api, sandbox: Sandbox, host: str) -> None:
    """Nothing of another's is put below it, in any operation of either interface."""
    before = sandbox.world.state
    v2 = Client(InProcess(sandbox.app), sandbox.account("main").token, checked=False)
    quoted = quote(host)
    for answer in (
        api.post(GLUE, {"hostname": host, "ips": ["192.0.2.1"]}),
        api.put(f"{GLUE}/{quoted}", {"ips": ["192.0.2.1"]}),
        api.get(f"{GLUE}/{quoted}"),
        api.delete(f"{GLUE}/{quoted}"),
    ):
        assert answer.error == "invalid_hostname", answer.raw
        assert "does not lie below active.com" in answer.message or "it has no zone" in answer.message
    entry = [{"ip": "192.0.2.1", "type": "v4"}]
    one = f"/domain/active.com/host/{quoted}"
    for answer in (
        v2.get(f"{one}/check"),
        v2.post(one, {"ip": entry}),
        v2.put(one, {"ip": {"add": entry}}),
        v2.get(one),
        v2.delete(one),
    ):
        assert refusal(answer)[0] == 404
        assert refusal(answer)[2] == "invalid_hostname"
    assert sandbox.world.state is before


@pytest.mark.parametrize(
    ("host", "kept"),
    [
        ("NS2", "ns2.active.com"),
        ("ns2.active.com", "ns2.active.com"),
        ("ns2.Active.com.", "ns2.active.com"),
        ("a.b.active.com", "a.b.active.com"),
        ("ns2\u3002active\u3002com", "ns2.active.com"),
        ("назва", "xn--80aaft2a.active.com"),
    ],
)
def test_a_host_is_named_by_its_label_or_in_full(api: Api, host: str, kept: str) -> None:
    """A label goes below the name; with a dot in it, it is the whole name."""
    made = api.post(GLUE, {"hostname": host, "ips": ["192.0.2.1"]})
    assert (made.status, made.json.get("hostname")) == (200, kept), made.raw
    assert api.get(f"{GLUE}/{quote(host)}").json["hostname"] == kept


def test_a_zone_without_hosts_has_an_empty_list_of_them(api: Api) -> None:
    """There is nothing to read and nothing to be made."""
    glue = f"{D}/glueRecords/held.shop"
    assert api.get(glue).json == {"glueRecords": []}
    assert api.get(f"{glue}/ns1").error == "host_not_found"
    assert api.post(glue, {"hostname": "ns1", "ips": ["192.0.2.1"]}).error == "hosts_not_supported"


def test_a_host_in_use_stays(sandbox: Sandbox, api: Api, other: Api) -> None:
    """Whoever's name is delegated to it, the name's own holder or another registrar."""
    assert other.post(f"{D}/setNameservers/theirs.com", {"nameservers": ["ns1.active.com"]}).status == 200
    assert api.post(SERVERS, {"nameservers": ["ns1.active.com"]}).status == 200
    refused = api.delete(f"{GLUE}/ns1")
    assert refused.error == "host_in_use"
    assert "active.com" in refused.message
    assert "theirs.com" in refused.message
    api.post(SERVERS, {"nameservers": ["ns.a.net"]})
    other.post(f"{D}/setNameservers/theirs.com", {"nameservers": ["ns.a.net"]})
    assert api.delete(f"{GLUE}/ns1").status == 200


def test_the_first_five_names_that_need_a_host_are_named(api: Api) -> None:
    """However many there are."""
    for number in range(6):
        wanted = {"domainName": f"user{number}.com", "nameservers": ["ns1.active.com"]}
        assert api.post(f"{D}/createDomain", {"domain": wanted}).status == 200
    assert api.delete(f"{GLUE}/ns1").message.count(".com") == 1 + 5


def test_hosts_of_one_name_are_not_anothers(api: Api, other: Api) -> None:
    """Each record belongs below its name."""
    assert api.get(f"{D}/glueRecords/second.com").json == {"glueRecords": []}
    assert api.get(f"{D}/glueRecords/second.com/ns1").error == "host_not_found"
    assert other.get(GLUE).error == "domain_not_found"


@pytest.mark.parametrize(
    ("name", "error", "told"),
    [
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
    ],
)
def test_names_that_cannot_be_registered(
    api: Api, sandbox: Sandbox, name: str, error: str, told: str
) -> None:
    """Each for its own reason; the longest zone that fits is the name's."""
    before = sandbox.world.state
    answer = api.post(f"{D}/createDomain", {"domain": {"domainName": name}})
    assert (answer.error, told in answer.message) == (error, True), answer.raw
    assert sandbox.world.state is before


@pytest.mark.parametrize(
    ("years", "error"), [(1, "period_too_short"), (2, None), (5, None), (6, "period_too_long")]
)
def test_a_zone_has_its_own_terms(api: Api, years: int, error: str | None) -> None:
    """The shop zone takes from two to five years."""
    body: Any = {"domain": {"domainName": "new.shop"}, "years": years}
    assert api.post(f"{D}/createDomain", body).error == error


@pytest.mark.parametrize(
    ("years", "error"),
    [(0, "period_too_short"), (-3, "period_too_short"), (9, None), (10, "period_too_long")],
)
def test_no_name_is_paid_for_past_ten_years(api: Api, years: int, error: str | None) -> None:
    """active.com has most of a year left."""
    assert api.post(f"{D}/renewDomain/active.com", {"years": years}).error == error


def test_ten_years_are_named_where_they_are_the_reason(api: Api) -> None:
    """Not where the zone takes no more at once."""
    assert api.post(f"{D}/createDomain", {"domain": {"domainName": "new.shop"}, "years": 2}).status == 200
    told = [
        api.post(f"{D}/renewDomain/{name}", {"years": years}).message
        for name, years in (("active.com", 10), ("new.shop", 6))
    ]
    assert ["more than 10 years ahead" in message for message in told] == [True, False], told


def test_a_licence_is_asked_for_and_kept(sandbox: Sandbox, api: Api) -> None:
    """Where the zone asks; elsewhere what is sent is passed over."""
    requirements = {"tldRequirements": {"license": "654321", "other": "x"}}
    made = api.post(f"{D}/createDomain", {"domain": {"domainName": "new.com.ua"}, **requirements})
    assert made.status == 200
    assert order_of(sandbox, "new.com.ua").license == "654321"
    api.post(f"{D}/createDomain", {"domain": {"domainName": "new.com"}, **requirements})
    assert order_of(sandbox, "new.com").license == ""


def test_a_server_that_is_there_needs_no_glue_to_stay(make: Make) -> None:
    """Where one's own need glue: in neither interface does an old one stand in the way of a new one."""
    sandbox = make(assume={"v3.nameservers.own_glue": "required"})
    write(sandbox, replace(order_of(sandbox, "active.com"), nameservers=("ns1.free.com", "ns2.free.com")))
    api, v2 = connect(sandbox), connect_v2(sandbox)
    assert api.post(SERVERS, {"nameservers": ["ns2.free.com", "ns1.example.org"]}).status == 200
    assert v2.put("/domain/active.com", {"ns": {"add": ["ns3.example.org"]}}).status == 200
    assert v2.put("/domain/active.com", {"ns": {"del": ["ns3.example.org"]}}).status == 200
    answer = v2.put("/domain/active.com", {"ns": {"add": ["ns1.free.com"]}})
    assert refusal(answer)[:2] == (400, "Not the correct ns: ns1.free.com")


def test_the_name_servers_of_the_packaged_accounts_need_no_glue() -> None:
    """A client that names no servers registers a name there under every value of the assumption."""
    for value in ("ignored", "required"):
        sandbox = Sandbox(assume={"v3.nameservers.own_glue": value})
        for account in ("main", "other"):
            body = {"domain": {"domainName": f"new-{account}.com"}}
            assert connect(sandbox, account).post(f"{D}/createDomain", body).status == 200, (value, account)
