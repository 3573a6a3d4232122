"""Wrong input of every kind: always a JSON answer, never a server error, never a change."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from tests.clients import Answer, Api, person
from tests.registry import REGISTRY, connect, contents
from tests.shapes import AVAILABILITY, fits
from tests.thorough import tries
from tests.v3.operations import Operation, operations
from tests.wrong import BROKEN_BODIES, PARTS, encoded, spoiled

ROWS = operations()
DOMAINS = "/v3/domains"
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


#: The keys that each body needs.
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


def target_of(row: Operation) -> str:
    """Return a path of the operation with a name and a host that exist."""
    return row.paths[0].format(domainName="active.com", hostname="ns1")


def assert_civil(sandbox: Sandbox, before: str, answer: Answer) -> None:
    """Assert that an answer is JSON without a server error, and that a refusal changed nothing."""
    assert answer.status < 500 or answer.error == "zone_out_of_service", answer.raw[:500]
    assert answer.json is not None
    if answer.error is not None:
        assert len(answer.raw) < 5000
        assert contents(sandbox) == before


def test_a_good_body_is_accepted_and_refused_without_a_key_that_it_needs(
    sandbox: Sandbox, api: Api, subtests: pytest.Subtests
) -> None:
    for operation, body in GOOD.items():
        row, missed = ROWS[operation], set()
        inner = body.get("domain", {})
        less = {"": body, **{key: {one: body[one] for one in body if one != key} for key in body}}
        for key in inner:
            less[f"domain.{key}"] = body | {"domain": {one: inner[one] for one in inner if one != key}}
        with subtests.test(operation=operation):
            for key, sent in less.items():
                sandbox.reset()
                answer = api.call(row.method, target_of(row), sent)
                if answer.status != 200:
                    missed.add(key)
                    assert answer.error == "invalid_parameter", answer.raw
                    assert answer.message.endswith(" is missing.")
            assert missed == NEEDED[operation]


def test_a_broken_body_is_refused_by_every_operation(
    wire: Api, served: Sandbox, subtests: pytest.Subtests
) -> None:
    before = contents(served)
    bodies = list(BROKEN_BODIES.items())
    rows = [row for row in ROWS.values() if row.method in ("POST", "PUT")]
    pairs = [(ROWS["v3.createDomain"], *body) for body in bodies]
    pairs += [(row, *bodies[at % len(bodies)]) for at, row in enumerate(rows)]
    for row, kind, raw in pairs:
        with subtests.test(operation=row.id, kind=kind):
            answer = wire.call(row.method, target_of(row), raw)
            assert (answer.status, answer.error) == (400, "malformed_body"), answer.raw[:300]
            assert answer.message.startswith("The body is not usable: ")
    assert contents(served) == before


def test_a_wrong_value_is_named_by_its_path_and_the_expected_type(
    sandbox: Sandbox, api: Api, subtests: pytest.Subtests
) -> None:
    create = f"{DOMAINS}/createDomain"
    name: dict[str, Any] = {"domainName": "new.com"}
    cases: list[tuple[str, Any, str]] = [
        (create, {"domain": name | {"nameservers": [None]}}, "domain.nameservers[0] must be a string."),
        (
            create,
            {"domain": name | {"contacts": {"reg-contact": {"zipcode": []}}}},
            "domain.contacts.reg-contact.zipcode must be a string or a whole number, not [].",
        ),
        (f"{DOMAINS}/setAuthcode/active.com", {"authcode": [48]}, "authcode must be a string or a number."),
        *(
            (
                create,
                {"domain": {"domainName": "new.ua"}, "tldRequirements": sent},
                f"tldRequirements{problem}.",
            )
            for sent, problem in [
                ({"license": 1}, ".license must be a string, not 1"),
                (["1"], " must be an object, not ['1']"),
                ([], " must be an object, not []"),
                ({"license": "12\0"}, ".license holds a control character"),
                ({"a\x1b": "x"}, ".a\x1b holds a control character"),
            ]
        ),
    ]
    for target, body, problem in cases:
        with subtests.test(problem=problem):
            answer = api.post(target, body)
            assert (answer.error, answer.message) == ("invalid_parameter", problem)
    for raw, place in [
        (b'{"a', "unterminated string starting at line 1, column 2."),
        (b'{"a":}', "expecting value at line 1, column 6."),
        (b"\xef\xbb\xbf{}", "a byte order mark, which JSON does not have."),
    ]:
        with subtests.test(raw=raw):
            assert api.call("POST", create, raw).message.endswith(place)


@pytest.mark.parametrize("operation", GOOD)
def test_a_wrong_value_anywhere_changes_nothing(sandbox: Sandbox, operation: str) -> None:
    """Each value of a body is replaced by every fifth wrong value, at another offset for each place."""
    row, api = ROWS[operation], connect(sandbox)
    before = contents(sandbox)
    for place, body in islice(spoiled(GOOD[operation]), 0, None, 5):
        sandbox.reset()
        answer = api.call(row.method, target_of(row), encoded(body))
        assert answer.status < 500, (place, answer.raw)
        assert_civil(sandbox, before, answer)


def test_a_wrong_path_changes_nothing(wire: Api, served: Sandbox, subtests: pytest.Subtests) -> None:
    before = contents(served)
    paths = [(row, path) for row in ROWS.values() for path in row.paths if "{" in path]
    parts = [(*paths[at % len(paths)], part) for at, part in enumerate(PARTS * 4)]
    parts += [
        (ROWS["v3.updateGlueRecord"], f"{DOMAINS}/glueRecords/active.com/{{hostname}}", part)
        for part in PARTS
    ]
    for row, path, part in parts:
        raw = part.encode("utf-8").decode("latin-1")
        target = quote(re.sub(r"{[a-zA-Z]+}", lambda _: part, path), safe="/%")
        with subtests.test(path=path, part=part[:20]):
            answer = wire.call(row.method, f"{target}?x={quote(raw, safe='%')}")
            assert_civil(served, before, answer)


def test_a_wrong_query_changes_nothing(wire: Api, served: Sandbox, subtests: pytest.Subtests) -> None:
    before = contents(served)
    wrong = ["perPage=0", "perPage=-1&page=-1", "perPage=1e3", "perPage=99999999999999999999"]
    wrong += ["perPage=%D9%A3", "perPage=&page=", "perPage=1&perPage=x", "page=1.0", "page=%00"]
    for query in [*wrong, "page=" + "9" * 10_000, "&&&=&==", "perPage=%ff"]:
        with subtests.test(query=query[:40]):
            assert_civil(served, before, wire.get(f"/v3/domains?{query}"))
            renewal = query.replace("perPage", "years").replace("page", "purchaseCost")
            answer = wire.post(f"{DOMAINS}/renewDomain/pending.com?{renewal}")
            assert answer.error in ("invalid_parameter", "wrong_state")
            assert_civil(served, before, answer)


def test_any_content_type_is_accepted_by_default(wire: Api, served: Sandbox) -> None:
    for declared in ("", "text/html", "application/json; charset=latin-1", "x" * 5000, "multipart/form-data"):
        sent = [("Content-Type", declared)]
        answer = wire.call("POST", f"{DOMAINS}/checkAvailability", {"domainNames": ["a.com"]}, sent)
        assert answer.status == 200, declared[:40]


def test_a_name_of_a_megabyte_is_not_repeated_in_the_answer(wire: Api, served: Sandbox) -> None:
    before = contents(served)
    name = "a" * 1_000_000
    answer = wire.post(f"{DOMAINS}/createDomain", {"domain": {"domainName": name}})
    assert answer.error == "invalid_name"
    assert_civil(served, before, answer)
    contact = {"contacts": {"reg-contact": person(name)}}
    answer = wire.post(f"{DOMAINS}/setContacts/active.com", contact)
    assert answer.error == "invalid_contact"
    assert_civil(served, before, answer)
    listed = wire.post(f"{DOMAINS}/checkAvailability", {"domainNames": [name]})
    assert listed.json["results"][0]["status"] == "invalid"


@pytest.fixture(scope="module")
def shared() -> tuple[Sandbox, Api]:
    """One sandbox for many generated requests."""
    sandbox = Sandbox(REGISTRY)
    return sandbox, connect(sandbox)


@settings(max_examples=tries(30))
@given(
    st.lists(st.text(max_size=30) | st.sampled_from(["a.b.com", "españa.net", "a.quiet", "."]), max_size=5)
)
def test_any_availability_result_has_all_its_fields(shared: tuple[Sandbox, Api], asked: list[str]) -> None:
    answer = shared[1].post(f"{DOMAINS}/checkAvailability", {"domainNames": asked})
    fits(answer.json, {"results": [AVAILABILITY]})
    assert len(answer.json["results"]) == len(asked)


WORDS = [part for row in ROWS.values() for path in row.paths for part in path.split("/") if part]
SEGMENTS = st.sampled_from([*WORDS, "_worlds", "default", "active.com", "ns1", ""]) | st.text(max_size=8)


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
    sandbox, api = shared
    sandbox.reset()
    before = contents(sandbox)
    path = "/" + "/".join(quote(segment, safe="") for segment in segments)
    answer = api.call(method, f"{path}?{quote(query, safe='=&')}", body)
    assert answer.status < 500, answer.raw
    if method != "HEAD" and answer.error is not None:
        assert answer.json["message"]
        assert contents(sandbox) == before


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
    sandbox.reset()
    before = contents(sandbox)
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
