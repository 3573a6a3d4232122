"""Every form in which the contract, or a caller of it, may write the same thing."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from reseller_sandbox import Sandbox
from tests.clients import JSON
from tests.registry import Make
from tests.v2.client import FORM, Client, connect, done, refusal
from tests.v2.works import CARD, CUSTOMER, HOST, NAME, WORKS

TWO = ["ns1.home.net", "ns2.home.net"]


@pytest.mark.parametrize("ns", [{"array": TWO}, TWO, {"array": ["NS1.Home.net.", "ns2.home.net"]}])
def test_nameservers_at_registration(main: Client, ns: Any) -> None:
    """Under ``array`` or as a list."""
    assert done(main.post("/domain/new.com", {**NAME, "ns": ns}))
    assert main.get("/domain/new.com").json["ns"] == TWO


def test_a_long_nameserver(main: Client) -> None:
    """As long as a name can be."""
    server = ".".join(["x" * 60] * 4) + ".home.net"
    assert done(main.post("/domain/new.com", {**NAME, "ns": [server]}))
    assert done(main.put("/domain/active.com", {"ns": {"add": [server]}}))
    assert main.get("/domain/new.com").json["ns"] == [server]


@pytest.mark.parametrize(
    ("ns", "said"),
    [
        ("ns1.home.net", "Not the correct ns: ns1.home.net"),
        (5, "Not the correct ns: 5"),
        ({"add": TWO}, 'Not the correct ns: {"add": ["ns1.home.net", "ns2.home.net"]}'),
        ([["ns1.home.net"]], 'Not the correct ns: ["ns1.home.net"]'),
        ([None], "Not the correct ns: null"),
        (["ns1.home.net"] * 2, "Not the correct ns: ns1.home.net"),
        ([f"ns{n}.home.net" for n in range(14)], "Not the correct ns: ns13.home.net"),
        ({"array": []}, "Not enough parameter: ns"),
        ([], "Not enough parameter: ns"),
        ({}, "Not enough parameter: ns"),
    ],
)
def test_what_is_no_list_of_nameservers(main: Client, ns: Any, said: str) -> None:
    """It is told by what is wrong in it."""
    assert refusal(main.post("/domain/new.com", {**NAME, "ns": ns}))[:2] == (400, said)


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        ({"add": ["ns3.home.net"]}, [*TWO, "ns3.home.net"]),
        ({"del": ["ns1.home.net"]}, ["ns2.home.net"]),
        ({"add": ["ns3.home.net"], "del": TWO}, ["ns3.home.net"]),
        ({"add": ["ns1.home.net"], "del": ["NS1.home.net"]}, ["ns2.home.net", "ns1.home.net"]),
        ({"add": [], "del": ["ns2.home.net"]}, ["ns1.home.net"]),
        ({"add": None, "del": ["ns2.home.net"]}, ["ns1.home.net"]),
    ],
)
def test_nameserver_changes(main: Client, changes: Any, left: list[str]) -> None:
    """What goes goes first, what comes stands behind the rest."""
    assert done(main.put("/domain/active.com", {"ns": changes}))
    assert main.get("/domain/active.com").json["ns"] == left


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"del": TWO}, "Not the correct ns: ns2.home.net"),
        ({"del": ["ns9.home.net"]}, "Not the correct ns: ns9.home.net"),
        ({"add": ["ns1.home.net"]}, "Not the correct ns: ns1.home.net"),
        ({"add": "ns3.home.net"}, 'Not the correct ns: {"add": "ns3.home.net"}'),
        (["ns3.home.net"], 'Not the correct ns: ["ns3.home.net"]'),
        ({"array": ["ns3.home.net"]}, 'Not the correct ns: {"array": ["ns3.home.net"]}'),
        ({"add": [], "del": []}, "Not enough parameter: client_*, contact_* or ns"),
    ],
)
def test_bad_nameserver_changes(sandbox: Sandbox, main: Client, changes: Any, said: str) -> None:
    """A name keeps at least one, and nothing is added or taken away twice."""
    before = sandbox.world.state
    assert refusal(main.put("/domain/active.com", {"ns": changes}))[:2] == (400, said)
    assert sandbox.world.state is before


@pytest.mark.parametrize(
    "date",
    [
        "2026-11-21",
        "2026-11-21 12:00:00",
        "2026-11-21 00:00:01",
        "2026-11-21T12:00:00Z",
        "2026-11-22T01:00:00+02:00",
        "20261121",
    ],
)
def test_the_expiry_is_a_calendar_date(main: Client, date: str) -> None:
    """A date or a date-time; a time of day does not count."""
    answer = done(main.put("/domain/active.com/renew", {"current_expiry_date": date, "period": 1}))
    assert answer["data"] == {"date_end": "2027-11-21 12:00:00", "domain": "active.com"}


@pytest.mark.parametrize(
    "date", ["2026-11-20", "2026-11-22 12:00:00", "21.11.2026", "tomorrow", "0000-00-00", 20261121]
)
def test_another_expiry(main: Client, date: Any) -> None:
    """Another day, or no day."""
    answer = main.put("/domain/active.com/renew", {"current_expiry_date": date, "period": 1})
    assert refusal(answer)[:2] == (400, "Not the correct current_expiry_date")


def test_a_repeated_renewal_is_caught(sandbox: Sandbox, main: Client) -> None:
    """The same request again speaks of a term that is over."""
    ask = WORKS["v2.domain.renew"]
    assert done(ask.send(main))
    assert refusal(ask.send(main))[1] == "Not the correct current_expiry_date"
    assert sandbox.account().balance == 10000 - 12


@pytest.mark.parametrize("host", ["ns1", "NS1", "ns1.active.com", "ns1.active.com.", "NS1.Active.COM"])
def test_hosts_by_label_or_in_full(main: Client, host: str) -> None:
    """Both name the same host, in every operation."""
    path = f"/domain/active.com/host/{host}"
    assert done(main.get(path))["data"] == {"ip": ["192.0.2.1", "2001:db8::1"], "name": "ns1.active.com"}
    assert done(main.get(f"{path}/check"))["avail"] is False
    assert done(main.put(path, {"ip": {"add": ["type=>v4,ip=>192.0.2.5"]}}))
    assert done(main.delete(path))
    assert done(main.get(f"{path}/check"))["avail"] is True
    assert done(main.post(path, {"ip": [{"ip": "192.0.2.1", "type": "v4"}]}))


ENTRIES = ["type=>v6,ip=>2001:DB8:0::7", {"type": "v6", "ip": "2001:db8::7"}, "ip=>2001:db8::7, type=>v6"]


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_address_as_an_object_or_in_words(main: Client, entry: Any) -> None:
    """Both forms at creation and in changes."""
    assert done(main.post(f"{HOST}/new", {"ip": [entry]}))
    assert done(main.put(f"{HOST}/ns1", {"ip": {"add": [entry], "del": ["type=>v4,ip=>192.0.2.1"]}}))
    for host in ("new", "ns1"):
        assert "2001:db8::7" in done(main.get(f"{HOST}/{host}"))["data"]["ip"]
    assert done(main.put(f"{HOST}/ns1", {"ip": {"del": [entry]}}))


@pytest.mark.parametrize(
    ("entry", "created", "changed"),
    [
        ("192.0.2.7", "Not enough parameter: ip", "Unknown ip type : 192.0.2.7"),
        ({"ip": "192.0.2.7"}, "Not enough parameter: type", "Unknown ip type : "),
        ({"type": "v4"}, "Not enough parameter: ip", "Not the correct IPv4: "),
        ("type=>v4", "Not enough parameter: ip", "Not the correct IPv4: "),
        ({"type": 4, "ip": "192.0.2.7"}, "Unknown ip type : 4", "Unknown ip type : 4"),
        ({"type": "V4", "ip": "192.0.2.7"}, "Unknown ip type : V4", "Unknown ip type : V4"),
        ({"type": "v4", "ip": 7}, "Not the correct IPv4: 7", "Not the correct IPv4: 7"),
        (
            {"type": "v4", "ip": "2001:db8::7"},
            "Not the correct IPv4: 2001:db8::7",
            "Not the correct IPv4: 2001:db8::7",
        ),
        (
            {"type": "v6", "ip": "fe80::1%eth0"},
            "Not the correct IPv6: fe80::1%eth0",
            "Not the correct IPv6: fe80::1%eth0",
        ),
        (None, "Not enough parameter: ip", "Unknown ip type : null"),
        ([], "Not enough parameter: ip", "Unknown ip type : []"),
    ],
)
def test_what_is_no_address(sandbox: Sandbox, main: Client, entry: Any, created: str, changed: str) -> None:
    """It is told by its type first, then by what it holds."""
    before = sandbox.world.state
    assert refusal(main.post(f"{HOST}/new", {"ip": [entry]}))[:2] == (400, created)
    assert refusal(main.put(f"{HOST}/ns1", {"ip": {"add": [entry]}}))[:2] == (400, changed)
    assert sandbox.world.state is before


def test_a_host_keeps_an_address_and_has_none_twice(main: Client) -> None:
    """The last one stays."""
    four, six = "type=>v4,ip=>192.0.2.1", "type=>v6,ip=>2001:db8::1"
    assert refusal(main.put(f"{HOST}/ns1", {"ip": {"add": [four]}}))[1] == "Not the correct IPv4: 192.0.2.1"
    assert (
        refusal(main.put(f"{HOST}/ns1", {"ip": {"del": [four, six]}}))[1]
        == "Not the correct IPv6: 2001:db8::1"
    )
    twice = {"ip": [{"type": "v4", "ip": "192.0.2.7"}] * 2}
    assert refusal(main.post(f"{HOST}/new", twice))[1] == "Not the correct IPv4: 192.0.2.7"
    many = [f"type=>v4,ip=>192.0.2.{n}" for n in range(100, 120)]
    assert refusal(main.put(f"{HOST}/ns1", {"ip": {"add": many}}))[0] == 400
    assert done(main.get(f"{HOST}/ns1"))["data"]["ip"] == ["192.0.2.1", "2001:db8::1"]


# Zones

ALL = ["com", "com.ua", "net", "quiet", "shop"]


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("", ALL),
        ("/limit/2", ["com", "com.ua"]),
        ("/start/3", ["quiet", "shop"]),
        ("/limit/2/start/1", ["com.ua", "net"]),
        ("/popular", ["com", "net"]),
        ("/popular/limit/1", ["com"]),
        ("/popular/start/1", ["net"]),
        ("/popular/limit/1/start/1", ["net"]),
        ("/international", ["com"]),
        ("/ukrainian", ["com.ua"]),
        ("/new", ["net", "shop"]),
        ("/unheard-of", []),
        ("/limit/0", []),
        ("/start/5", []),
        ("/limit/99999999999999999999999999/start/0", ALL),
        ("/start/99999999999999999999999999", []),
    ],
)
def test_zones_with_each_part_of_the_path_left_out(main: Client, path: str, names: list[str]) -> None:
    """By type, limit and start."""
    data = done(main.get(f"/domain/zones{path}"))["data"]
    assert [zone["zone"] for zone in data] == names


@pytest.mark.parametrize(
    "path", ["/limit/x", "/limit/-1", "/start/1.5", "/start/", "/popular/limit/٣", "/popular/new/old"]
)
def test_what_is_no_number_is_no_path(main: Client, path: str) -> None:
    """Zones have no error for it."""
    assert refusal(main.get(f"/domain/zones{quote(path)}"))[2] == "unknown_path"


def test_a_version_without_its_v_is_refused_in_the_shape_of_v2(make: Make) -> None:
    """With the versions that are served; also where the minor version is missing."""
    for assume, served in (({}, "V2.0"), ({"v2.versions": "V2.0,V2.1"}, "V2.0 or V2.1")):
        client = connect(make(assume=assume))
        for client.version in ("2.0", "1.0", "V2", "v2", "2"):
            answer = client.get("/domain/x.com/check")
            path = f"GET /{client.version}/domain/x.com/check"
            message = f"{path} is no operation: the version must be {served}."
            assert refusal(answer) == (404, message, "unknown_path")


# Names, ids and handles


@pytest.mark.parametrize("name", ["NEW.com", "new.COM.", "New.Com"])
def test_one_name_in_many_spellings(main: Client, name: str) -> None:
    """Case and a trailing dot do not count."""
    assert done(main.post(f"/domain/{name}", NAME))
    assert done(main.get("/domain/new.com"))["status"] == "2"


@pytest.mark.parametrize("contact_id", ["A", "a-b_c.d", "0", "x" * 64])
def test_handles(main: Client, contact_id: str) -> None:
    """Letters, digits, dots, hyphens and underscores."""
    assert done(main.post(f"/contact/{contact_id}", CARD))
    assert done(main.get(f"/contact/{contact_id}"))["data"] == CARD


@pytest.mark.parametrize("contact_id", ["-a", "a%20b", "x" * 65, "%C3%A9", "a%27", "%00"])
def test_what_is_no_handle(main: Client, contact_id: str) -> None:
    """The one error of each operation that speaks of it."""
    assert refusal(main.get(f"/contact/{contact_id}/check"))[:2] == (400, "Invalid contact_id")
    assert refusal(main.post(f"/contact/{contact_id}", CARD))[1] == "Invalid value for extra param contact_id"
    assert refusal(main.put(f"/contact/{contact_id}", CARD))[:2] == (400, "Invalid Param")
    assert refusal(main.get(f"/contact/{contact_id}"))[:2] == (404, "ID not found")


@pytest.mark.parametrize("customer_id", ["seven", "7.0", "-7", "%D9%A7", "0x7"])
def test_what_is_no_customer_id(main: Client, customer_id: str) -> None:
    """Info and edit say that it is invalid; delete has no word for that."""
    assert refusal(main.get(f"/customer/{customer_id}"))[:2] == (400, "Invalid customer_id")
    assert refusal(main.put(f"/customer/{customer_id}", {"name": "A"}))[:2] == (400, "Invalid customer_id")
    assert refusal(main.delete(f"/customer/{customer_id}"))[:2] == (404, "ID not found")


# Bodies


def _decision(client: Client, body: bytes) -> Any:
    return client.call("PUT", "/domain/leaving.com/transfer/reject", body)


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b"null", b"not JSON", b"\xff\xfe", b'{"a": 1}'])
def test_a_body_where_none_is_read(main: Client, body: bytes) -> None:
    """What takes no body does not look at one."""
    assert done(_decision(main, body))


def test_json_under_any_content_type(main: Client) -> None:
    """A body that is JSON is read as JSON, whatever it is called."""
    for number, kind in enumerate(["text/plain", FORM[1], "application/json; charset=utf-8", ""]):
        main.own = [("Content-Type", kind)] if kind else []
        assert done(main.post(f"/domain/new{number}.com", NAME))
    main.own = [JSON]


def test_unknown_keys_are_passed_over(main: Client) -> None:
    """All bodies but a new contact's."""
    assert done(main.post("/customer", {**CUSTOMER, "more": [1]}))
    assert done(main.put("/contact/OWNER", {**CARD, "more": [1], "customer_id": 9}))
    assert done(main.post("/domain/new.com", {**NAME, "more": [1], "domain_name": "New.com."}))
    assert done(main.put("/domain/active.com", {"client_hold": 1, "more": [1]}))
    assert done(main.post(f"{HOST}/new", {"ip": [{"ip": "192.0.2.7", "type": "v4", "more": 1}], "more": [1]}))
    assert done(main.get("/domain/new.com"))
    assert refusal(main.post("/contact/NEW", {**CARD, "more": [1]}))[1] == "Extra param more unknown"


# Forms


def form_of(value: Any, key: str = "") -> list[str]:
    """A JSON value as PHP writes it in a form."""
    items = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    )
    if items is None:
        return [f"{quote_plus(key, safe='[]')}={quote_plus(str(value))}"]
    return [pair for name, inner in items for pair in form_of(inner, f"{key}[{name}]" if key else str(name))]


@pytest.mark.parametrize("operation", [op for op, ask in WORKS.items() if ask.body])
def test_every_body_as_a_form(make: Make, operation: str) -> None:
    """What works as JSON works as a form, and comes to the same."""
    ask = WORKS[operation]
    as_json, as_form = (make(assume={"v2.request_format": "json_or_form"}) for _ in range(2))
    assert done(ask.send(connect(as_json)))
    client = connect(as_form)
    client.own = [FORM]
    assert done(client.call(ask.method, ask.path, "&".join(form_of(ask.body)).encode()))
    assert as_form.world.state == as_json.world.state


@pytest.mark.parametrize(
    "form",
    [
        "contact_admin=MAIN&contact_billing=MAIN&contact_registrant=MAIN&contact_tech=MAIN&period=1&"
        "ns[]=ns1.home.net&ns[]=ns2.home.net",
        "contact_admin=MAIN&contact_billing=MAIN&contact_registrant=MAIN&contact_tech=MAIN&period=1&"
        "ns%5Barray%5D%5B0%5D=ns1.home.net&ns%5Barray%5D%5B1%5D=ns2.home.net",
        "contact_admin=MAIN&contact_billing=MAIN&contact_registrant=MAIN&contact_tech=MAIN&period=1&"
        "ns[5]=ns2.home.net&ns[2]=ns1.home.net",
    ],
)
def test_arrays_in_forms(make: Make, form: str) -> None:
    """Counted, uncounted, encoded, out of order."""
    client = connect(make(profile="observed"))
    client.own = [FORM]
    assert done(client.post("/domain/new.com", form.encode()))
    assert client.get("/domain/new.com").json["data"]["ns"] == TWO


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        (b"\xff=1", "not a form in UTF-8"),
        (b"a=%ff", "not a form in UTF-8"),
        (b"a=1&a=2", "comes twice"),
        (b"a=1&a[b]=2", "comes twice"),
        (b"a[b=1", "no name with parts in brackets"),
        (b"a[b]c=1", "no name with parts in brackets"),
        (b"a[0][0][0][0][0][0][0]=1", "nested too deeply"),
        (b"&".join(b"a%d=1" % n for n in range(1200)), "more than 1000 fields"),
    ],
)
def test_what_is_no_form(make: Make, form: bytes, problem: str) -> None:
    """It is refused as a body that is not JSON would be."""
    client = connect(make(profile="observed"))
    client.own = [FORM]
    answer = client.post("/customer", form)
    assert refusal(answer)[::2] == (400, "malformed_body")
    assert problem in answer.json["msg"]
