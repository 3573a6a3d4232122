"""Wrong input of every kind: always a JSON answer, never a server error, never a change."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any
from urllib.parse import quote

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Answer, Api, encoded, person
from tests.documented import Operation, operations
from tests.registry import connect, contents
from tests.wrong import BROKEN_BODIES, PARTS, has_control_character, spoiled, with_control_characters

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


#: The keys that a body may leave out.
OPTIONAL = {"", "years", "purchaseCost", "tldRequirements", "domain.years", "domain.nameservers"}
OPTIONAL |= {f"domain.{key}" for key in ("contacts", "privacyEnabled", "lockedEnabled", "autorenewEnabled")}


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


def test_a_valid_body_is_refused_if_a_required_key_is_removed(
    sandbox: Sandbox, api: Api, subtests: pytest.Subtests
) -> None:
    for operation, body in GOOD.items():
        inner = body.get("domain", {})
        lacking = {"": body, **{key: {**body, key: None} for key in body}}
        lacking |= {f"domain.{key}": body | {"domain": {**inner, key: None}} for key in inner}
        missed = set()
        with subtests.test(operation=operation):
            for key, sent in lacking.items():
                sandbox.reset()
                answer = api.call(ROWS[operation].method, target_of(ROWS[operation]), sent)
                if answer.status != 200:
                    missed.add(key)
                    assert answer.error == "invalid_parameter", answer.raw
                    assert answer.message.endswith(" is missing.")
            assert missed == lacking.keys() - OPTIONAL


def test_every_operation_refuses_a_malformed_body(
    sandbox: Sandbox, api: Api, subtests: pytest.Subtests
) -> None:
    before = contents(sandbox)
    bodies = list(BROKEN_BODIES.items())
    rows = [row for row in ROWS.values() if row.method in ("POST", "PUT")]
    pairs = [(ROWS["v3.createDomain"], *body) for body in bodies]
    pairs += [(row, *bodies[at % len(bodies)]) for at, row in enumerate(rows)]
    for row, kind, raw in pairs:
        with subtests.test(operation=row.id, kind=kind):
            answer = api.call(row.method, target_of(row), raw)
            assert (answer.status, answer.error) == (400, "malformed_body"), answer.raw[:300]
            assert answer.message.startswith("The body is invalid: ")
    assert contents(sandbox) == before


def test_the_refusal_names_the_path_of_a_wrong_value(api: Api) -> None:
    create = f"{DOMAINS}/createDomain"
    for requirements, problem in [
        ({"license": 1}, ".license must be a string, not 1."),
        (["1"], " must be an object, not ['1']."),
        ({"license": "12\0"}, ".license holds a control character."),
        ({"a\x1b": "x"}, ".a\x1b holds a control character."),
    ]:
        answer = api.post(create, {"domain": {"domainName": "new.ua"}, "tldRequirements": requirements})
        assert (answer.error, answer.message) == ("invalid_parameter", f"tldRequirements{problem}")
    new = {"domain": {"domainName": "new.com", "nameservers": [None]}}
    assert api.post(create, new).message == "domain.nameservers[0] must be a string."
    for raw, place in [
        (b'{"a', "unterminated string starting at line 1, column 2."),
        (b'{"a":}', "expecting value at line 1, column 6."),
        (b"\xef\xbb\xbf{}", "a byte order mark, which JSON does not allow."),
    ]:
        assert api.call("POST", create, raw).message.endswith(place)


@pytest.mark.parametrize("operation", GOOD)
def test_a_wrong_value_anywhere_in_a_body_changes_nothing(sandbox: Sandbox, operation: str) -> None:
    """Each value of a body is replaced by every ninth wrong value, at another offset for each place."""
    row, api = ROWS[operation], connect(sandbox)
    before = contents(sandbox)
    wrong = islice(spoiled(GOOD[operation]), 0, None, 9)
    for body in (*wrong, *with_control_characters(GOOD[operation])):
        sandbox.reset()
        answer = api.call(row.method, target_of(row), encoded(body))
        assert_civil(sandbox, before, answer)
        assert not has_control_character(sandbox.export())


def test_a_wrong_path_or_query_changes_nothing(wire: Api, served: Sandbox, subtests: pytest.Subtests) -> None:
    before = contents(served)
    paths = [(row.method, path) for row in ROWS.values() for path in row.paths if "{" in path]
    parts = [(*paths[at % len(paths)], part) for at, part in enumerate(PARTS * 2)]
    parts += [("PUT", f"{DOMAINS}/glueRecords/active.com/{{hostname}}", part) for part in PARTS]
    for method, path, part in parts:
        raw = part.encode("utf-8").decode("latin-1")
        target = quote(re.sub(r"{[a-zA-Z]+}", lambda _: part, path), safe="/%")
        with subtests.test(path=path, part=part[:20]):
            answer = wire.call(method, f"{target}?x={quote(raw, safe='%')}")
            assert_civil(served, before, answer)
    wrong = ["perPage=0", "perPage=-1&page=-1", "perPage=1e3", "perPage=99999999999999999999"]
    wrong += ["perPage=%D9%A3", "perPage=&page=", "perPage=1&perPage=x", "page=1.0", "page=%00"]
    for query in [*wrong, "page=" + "9" * 10_000, "&&&=&==", "perPage=%ff"]:
        renewal = query.replace("perPage", "years").replace("page", "purchaseCost")
        with subtests.test(query=query[:40]):
            assert_civil(served, before, wire.get(f"/v3/domains?{query}"))
            assert_civil(served, before, wire.post(f"{DOMAINS}/renewDomain/pending.com?{renewal}"))


def test_a_domain_name_of_one_megabyte_is_not_repeated_in_the_response(sandbox: Sandbox, api: Api) -> None:
    before = contents(sandbox)
    name = "a" * 1_000_000
    new, contacts = {"domain": {"domainName": name}}, {"contacts": {"reg-contact": person(name)}}
    for answer, error in (
        (api.post(f"{DOMAINS}/createDomain", new), "invalid_name"),
        (api.post(f"{DOMAINS}/setContacts/active.com", contacts), "invalid_contact"),
    ):
        assert answer.error == error
        assert_civil(sandbox, before, answer)
    listed = api.post(f"{DOMAINS}/checkAvailability", {"domainNames": [name, *PARTS]}).json["results"]
    assert [row["status"] for row in listed] == ["invalid"] * (1 + len(PARTS))
