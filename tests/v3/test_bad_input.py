"""Wrong input of every kind, over a real socket: always a JSON answer, never a failure, never a change."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from reseller_sandbox.v3.interface import V3
from tests.clients import Answer, Api, person
from tests.registry import REGISTRY, connect
from tests.shapes import AVAILABILITY, fits
from tests.thorough import tries
from tests.wrong import BROKEN_BODIES, PARTS, encoded, spoiled

ROWS = {row.id: row for row in V3.endpoints}
CONTACTS = {"reg-contact": person()}
DOMAIN = {
    "domainName": "new.com",
    "nameservers": ["ns1.a.net"],
    "contacts": CONTACTS,
    "privacyEnabled": True,
    "lockedEnabled": True,
    "autorenewEnabled": True,
}
#: For each operation that reads a body, one that it accepts.
GOOD: dict[str, Any] = {
    "v3.checkAvailability": {"domainNames": ["a.com"]},
    "v3.createDomain": {
        "domain": DOMAIN,
        "years": 1,
        "purchaseCost": 10,
        "tldRequirements": {"license": "123456"},
    },
    "v3.renewDomain": {"domain": {"domainName": "active.com", "years": 1}, "years": 1, "purchaseCost": 12},
    "v3.setNameservers": {"nameservers": ["ns1.a.net"]},
    "v3.createGlueRecord": {"hostname": "ns2", "ips": ["192.0.2.1"]},
    "v3.updateGlueRecord": {"ips": ["192.0.2.1"]},
    "v3.requestTransfer": {
        "domain": DOMAIN | {"domainName": "elsewhere.com"},
        "authCode": "let-me-in",
        "purchaseCost": 9,
        "years": 1,
    },
    "v3.setAuthcode": {"authCode": "new-code"},
    "v3.setContacts": {"contacts": CONTACTS},
}


def target_of(row: Any) -> str:
    """A path of the operation that leads to something."""
    return str(row.paths[0].format(domainName="active.com", hostname="ns1"))


def assert_civil(sandbox: Sandbox, before: Any, answer: Answer) -> None:
    """Assert that an answer is JSON of a client's error or none, and that an error changed nothing."""
    assert answer.status < 500 or answer.error == "zone_out_of_service", answer.raw[:500]
    assert answer.json is not None
    if answer.error is not None:
        assert 400 <= answer.status < 500
        assert len(answer.raw) < 5000
        assert sandbox.world.state is before


def test_the_good_bodies_are_good(wire: Api, served: Sandbox) -> None:
    """So that what is refused below is refused for what was spoiled in it."""
    readers = {row.id for row in V3.endpoints if row.body is not None}
    assert set(GOOD) == readers
    for operation, body in GOOD.items():
        served.reset()
        answer = wire.call(ROWS[operation].method, target_of(ROWS[operation]), body)
        assert answer.status == 200, (operation, answer.raw)


#: What each body is refused without; a renewal's name may be in the path as well.
NEEDED = {
    "v3.checkAvailability": {"domainNames"},
    "v3.createDomain": {"domain", "domain.domainName"},
    "v3.renewDomain": {"domain", "domain.domainName"},
    "v3.setNameservers": {"nameservers"},
    "v3.createGlueRecord": {"hostname", "ips"},
    "v3.updateGlueRecord": {"ips"},
    "v3.requestTransfer": {"domain", "domain.domainName", "authCode"},
    "v3.setAuthcode": {"authCode"},
    "v3.setContacts": {"contacts"},
}


@pytest.mark.parametrize("operation", GOOD)
def test_a_body_without_one_of_its_keys(sandbox: Sandbox, operation: str) -> None:
    """Refused by the name of the key where that is needed, and carried out otherwise."""
    body, row, missed = GOOD[operation], ROWS[operation], set()
    less = {key: {one: body[one] for one in body if one != key} for key in body}
    inner = body.get("domain", {})
    less |= {
        f"domain.{key}": {**body, "domain": {one: inner[one] for one in inner if one != key}} for key in inner
    }
    for key, sent in less.items():
        sandbox.reset()
        answer = connect(sandbox).call(row.method, target_of(row), sent)
        if answer.status != 200:
            missed.add(key)
            assert answer.error == "invalid_parameter", answer.raw
            assert answer.message.endswith(" is missing.")
    assert missed == NEEDED[operation]


@pytest.mark.parametrize("kind", BROKEN_BODIES)
@pytest.mark.parametrize("operation", [row.id for row in V3.endpoints if row.method in ("POST", "PUT")])
def test_a_broken_body_is_refused(wire: Api, served: Sandbox, operation: str, kind: str) -> None:
    """With the place or the reason, by every operation that takes a body or an empty one."""
    row = ROWS[operation]
    before = served.world.state
    answer = wire.call(row.method, target_of(row), BROKEN_BODIES[kind])
    assert (answer.status, answer.error) == (400, "malformed_body"), answer.raw[:300]
    assert answer.message.startswith("The body is not usable: ")
    assert served.world.state is before


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"nameservers": [None]}, "domain.nameservers[0] must be a string"),
        ({"contacts": {"reg-contact": {"zipcode": []}}},
         "domain.contacts.reg-contact.zipcode must be a string or a whole number, not []"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_name_is_told(api: Api, given: dict[str, Any], problem: str) -> None:
    """By the path that leads there, and what should be there."""
    answer = api.post("/v3/domains/createDomain", {"domain": {"domainName": "new.com", **given}})
    assert (answer.error, answer.message) == ("invalid_parameter", f"{problem}.")


def test_a_secret_of_another_type_is_not_told(api: Api) -> None:
    """What it must be is enough: a message is kept and logged."""
    answer = api.post("/v3/domains/setAuthcode/active.com", {"authcode": [48151623]})
    assert (answer.error, answer.message) == ("invalid_parameter", "authcode must be a string or a number.")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"license": 1}, ".license must be a string, not 1"),
        (["1"], " must be an object, not ['1']"),
        ([], " must be an object, not []"),
        ({"license": "12\0"}, ".license holds a control character"),
        ({"other": "\n"}, ".other holds a control character"),
        ({"a\x1b": "x"}, ".a\x1b holds a control character"),
    ],
)
def test_what_is_wrong_with_requirements_is_told(api: Api, given: object, problem: str) -> None:
    """In the words of the request too, not in those of the library that reads it."""
    body = {"domain": {"domainName": "new.ua"}, "tldRequirements": given}
    answer = api.post("/v3/domains/createDomain", body)
    assert (answer.error, answer.message) == ("invalid_parameter", f"tldRequirements{problem}.")


@pytest.mark.parametrize("operation", GOOD)
def test_a_wrong_value_anywhere_does_no_harm(wire: Api, served: Sandbox, operation: str) -> None:
    """Every value of every body, in turn, is replaced by values of every type."""
    row = ROWS[operation]
    for place, body in spoiled(GOOD[operation]):
        served.world.moment = served.world.origin
        before = served.world.state
        answer = wire.call(row.method, target_of(row), encoded(body))
        assert answer.status < 500, (place, answer.raw)
        assert_civil(served, before, answer)


@pytest.mark.parametrize("operation", ROWS)
def test_a_wrong_path_does_no_harm(wire: Api, served: Sandbox, operation: str) -> None:
    """Whatever stands where the name, the host or the numbers stand."""
    row = ROWS[operation]
    before = served.world.state
    for path in row.paths:
        for part in PARTS:
            filled = path.replace("{domainName}", part).replace("{hostname}", part)
            filled = filled.replace("{perPage}", part).replace("{page}", part)
            raw = part.encode("utf-8").decode("latin-1")
            answer = wire.call(row.method, f"{quote(filled, safe='/%')}?x={quote(raw, safe='%')}")
            if "{" in path:
                assert_civil(served, before, answer)


@pytest.mark.parametrize(
    "query",
    [
        "perPage=0",
        "perPage=-1&page=-1",
        "perPage=1e3",
        "perPage=99999999999999999999",
        "perPage=%D9%A3",
        "perPage=&page=",
        "perPage=1&perPage=x",
        "page=1.0",
        "page=%00",
        "page=" + "9" * 10_000,
        "&&&=&==",
        "perPage=%ff",
    ],
)
def test_a_wrong_query_does_no_harm(wire: Api, served: Sandbox, query: str) -> None:
    """Of the list, and of a renewal."""
    before = served.world.state
    assert_civil(served, before, wire.get(f"/v3/domains?{query}"))
    renewal = query.replace("perPage", "years").replace("page", "purchaseCost")
    answer = wire.post(f"/v3/domains/renewDomain/pending.com?{renewal}")
    assert answer.error in ("invalid_parameter", "wrong_state")
    assert_civil(served, before, answer)


@pytest.mark.parametrize(
    "content_type", ["", "text/html", "application/json; charset=latin-1", "x" * 5000, "multipart/form-data"]
)
def test_a_wrong_content_type_does_no_harm(wire: Api, served: Sandbox, content_type: str) -> None:
    """By default it is not looked at."""
    body = {"domainNames": ["a.com"]}
    target = "/v3/domains/checkAvailability"
    assert wire.call("POST", target, body, [("Content-Type", content_type)]).status == 200


def test_a_name_of_a_megabyte_is_told_shortly(wire: Api, served: Sandbox) -> None:
    """The answer does not repeat it."""
    before = served.world.state
    name = "a" * 1_000_000
    answer = wire.post("/v3/domains/createDomain", {"domain": {"domainName": name}})
    assert answer.error == "invalid_name"
    assert_civil(served, before, answer)
    contact = {"contacts": {"reg-contact": person(name)}}
    answer = wire.post("/v3/domains/setContacts/active.com", contact)
    assert answer.error == "invalid_contact"
    assert_civil(served, before, answer)
    listed = wire.post("/v3/domains/checkAvailability", {"domainNames": [name]})
    assert listed.json["results"][0]["status"] == "invalid"


@pytest.fixture(scope="module")
def shared() -> tuple[Sandbox, Api]:
    """One sandbox for many generated requests."""
    sandbox = Sandbox(REGISTRY)
    return sandbox, connect(sandbox)


@given(
    st.lists(st.text(max_size=30) | st.sampled_from(["a.b.com", "españa.net", "a.quiet", "."]), max_size=5)
)
def test_any_availability_result_has_all_its_fields(shared: tuple[Sandbox, Api], asked: list[str]) -> None:
    """Each of its type, whatever is asked for."""
    answer = shared[1].post("/v3/domains/checkAvailability", {"domainNames": asked})
    fits(answer.json, {"results": [AVAILABILITY]})
    assert len(answer.json["results"]) == len(asked)


WORDS = [part for row in V3.endpoints for path in row.paths for part in path.split("/") if part]
SEGMENTS = st.sampled_from([*WORDS, "_worlds", "default", "_sandbox", "active.com", "ns1", ""]) | st.text(
    max_size=8
)


@settings(max_examples=tries(50))
@given(
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]),
    segments=st.lists(SEGMENTS, max_size=6),
    query=st.text(max_size=20),
    body=st.binary(max_size=30) | st.sampled_from([b"{}", b""]),
)
def test_any_request_has_an_answer(
    shared: tuple[Sandbox, Api], method: str, segments: list[str], query: str, body: bytes
) -> None:
    """Whatever the method, the path, the query and the body."""
    sandbox, api = shared
    sandbox.world.moment = sandbox.world.origin
    before = sandbox.world.state
    path = "/" + "/".join(quote(segment, safe="") for segment in segments)
    if segments[:1] == ["_sandbox"]:
        return
    answer = api.call(method, f"{path}?{quote(query, safe='=&')}", body)
    assert answer.status < 500, answer.raw
    if method != "HEAD" and answer.error is not None:
        assert answer.json["message"]
        assert sandbox.world.state is before


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=tries(50))
@given(st.sampled_from(sorted(GOOD)), st.data())
def test_any_values_have_an_answer(shared: tuple[Sandbox, Api], operation: str, data: st.DataObject) -> None:
    """Good bodies in which any of the parts are replaced or removed at random."""
    sandbox, api = shared
    sandbox.world.moment = sandbox.world.origin
    before = sandbox.world.state
    body = data.draw(_mutated(GOOD[operation]))
    answer = api.call(ROWS[operation].method, target_of(ROWS[operation]), body)
    assert_civil(sandbox, before, answer)


def _mutated(good: Any) -> st.SearchStrategy[Any]:
    if isinstance(good, dict):
        parts = {key: _mutated(value) for key, value in good.items()}
        return st.fixed_dictionaries({}, optional=parts) | JSON_VALUES
    if isinstance(good, list):
        return st.lists(_mutated(good[0]), max_size=3) | JSON_VALUES
    return st.just(good) | st.just(good) | JSON_VALUES


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b'{"a', "it is not JSON: unterminated string starting at line 1, column 2."),
        (b'{"a":}', "it is not JSON: expecting value at line 1, column 6."),
        (b"\xef\xbb\xbf{}", "it begins with a byte order mark, which JSON does not have."),
    ],
)
def test_json_that_breaks_off_is_told_with_its_place(api: Api, raw: bytes, told: str) -> None:
    """In one sentence that reads as such."""
    assert api.call("POST", "/v3/domains/createDomain", raw).message.endswith(told)
