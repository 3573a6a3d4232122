"""The OpenAPI documents as a client's author needs them: complete, described, and true of every world."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from openapi_spec_validator import validate

from reseller_sandbox import Sandbox
from tests.clients import Api, Socket
from tests.documented import ID, document
from tests.registry import REGISTRY, Make
from tests.v2.client import REGISTRY as V2_REGISTRY
from tests.v2.client import Client
from tests.v2.works import WORKS

NAMES = ("v3", "v2", "control")

#: Values of placeholders that do not take every segment.
PLACES = {"version": "V2.0", **dict.fromkeys(("perPage", "page", "limit", "start"), "1")}


def operations(content: Any) -> list[dict[str, Any]]:
    """The operations of a document."""
    return [operation for row in content["paths"].values() for operation in row.values()]


def objects(content: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema of a document, after the name of the component that it stands in."""

    def within(name: str, part: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        if isinstance(part, dict):
            yield name, part
        for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            yield from within(name, inner)

    for name, schema in content["components"]["schemas"].items():
        yield from within(name, schema)


def properties(content: Any) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every property of a document: the component that it stands in, its name and its schema."""
    for name, schema in objects(content):
        found = schema.get("properties", {})
        yield from ((name, key, inner) for key, inner in found.items() if isinstance(inner, dict))


def asked(name: str, operation: str) -> Any:
    """Return what holds a body against the schema of an operation's request."""
    whole = document(name)
    found = next(one for one in operations(whole.content) if one["operationId"] == operation)
    return whole.requests(found["requestBody"])


@pytest.mark.parametrize("name", NAMES)
def test_an_operation_is_called_by_one_plain_word(name: str) -> None:
    """Each by another; what it is called in the sandbox stands beside it."""
    found = operations(document(name).content)
    words = [one["operationId"] for one in found]
    assert len(set(words)) == len(words)
    assert all(re.fullmatch(r"[a-z][A-Za-z0-9]+", word) for word in words)
    assert all(one[ID].startswith(f"{name}.") for one in found)


def test_the_operation_id_follows_from_the_operation_and_its_path() -> None:
    """The names of generated methods can be known beforehand."""
    for name, word, own in [
        ("v3", "createDomain", "v3.createDomain"),
        ("v3", "renewDomainByDomainName", "v3.renewDomain"),
        ("v3", "setContactsAlso", "v3.setContacts"),
        ("v3", "listDomainsByPerPageAndPage", "v3.listDomains"),
        ("v2", "domainRegister", "v2.domain.register"),
        ("v2", "domainZonesAll", "v2.domain.zones"),
        ("control", "clockAdvance", "control.clock.advance"),
    ]:
        found = operations(document(name).content)
        assert own in [one[ID] for one in found if one["operationId"] == word], word


@pytest.mark.parametrize("name", NAMES)
def test_an_operation_is_tagged_by_what_it_is_about(name: str) -> None:
    """Each tag is described, and none is without an operation."""
    content = document(name).content
    tags = {tag["name"]: tag["description"] for tag in content["tags"]}
    assert {tag for one in operations(content) for tag in one["tags"]} == set(tags)
    assert all(told.endswith(".") for told in tags.values())


@pytest.mark.parametrize("name", NAMES)
def test_everything_is_described(name: str) -> None:
    """Every operation, every property and every parameter, in a sentence."""
    content = document(name).content
    told = {f"{where}.{key}": inner.get("description", "") for where, key, inner in properties(content)}
    for one in operations(content):
        told[one["operationId"]] = one["description"]
        for parameter in one["parameters"]:
            told[f"{one['operationId']}({parameter['name']})"] = parameter.get("description", "")
    assert [where for where, words in told.items() if not re.search(r"[.:)]$", words)] == []
    assert len(told) > 100


@pytest.mark.parametrize("name", NAMES)
def test_a_link_gives_what_the_next_operation_asks_for(name: str) -> None:
    """Whatever stands in its path."""
    content = document(name).content
    known = {one["operationId"]: one for one in operations(content)}
    followed = 0
    for one in known.values():
        for answer in one["responses"].values():
            for link in answer.get("links", {}).values():
                after = known[link["operationId"]]
                wanted = {each["name"] for each in after["parameters"] if each["in"] == "path"}
                assert set(link["parameters"]) == wanted
                followed += 1
    assert followed > 5


@pytest.mark.parametrize("name", NAMES)
def test_a_pattern_is_one_of_json_schema(name: str) -> None:
    """It means the same to every language: it has its ends, and nothing that Python alone knows."""
    patterns = [schema["pattern"] for _, schema in objects(document(name).content) if "pattern" in schema]
    for pattern in filter(lambda one: isinstance(one, str), patterns):
        assert pattern.startswith("^")
        assert "$" in pattern
        assert not re.search(r"\\[AZzGh]|\(\?[^:=!]", pattern)


def test_an_error_is_in_the_schema_of_its_status_by_its_code() -> None:
    """And by no other: a client can tell from the schema what to expect."""
    content = document("v3").content
    answers = content["paths"]["/v3/domains/getDomain/{domainName}"]["get"]["responses"]
    for status, codes in {
        "401": ["credentials_missing", "unknown_key", "signature_mismatch"],
        "404": ["unknown_world", "domain_not_found"],
    }.items():
        name = answers[status]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        assert content["components"]["schemas"][name]["properties"]["error"]["enum"] == codes
    refusals = document("v2").content["components"]["schemas"]["DomainRenewError403"]["properties"]
    assert refusals["code"]["enum"] == [403]
    assert "Not enough funds on the balance sheet" in refusals["msg"]["enum"]


def test_what_the_code_bounds_is_bounded() -> None:
    """Numbers, lengths, and the one of two names that must be there."""
    v3, v2 = (document(name).content["components"]["schemas"] for name in ("v3", "v2"))
    assert v3["NameWanted"]["properties"]["years"].items() >= {"minimum": 1, "maximum": 10}.items()
    assert v3["NamesAsked"]["properties"]["domainNames"]["maxItems"] == 50
    assert v3["GlueWanted"]["if"] == {"not": {"required": ["ip"]}}
    assert v3["GlueWanted"]["then"] == {"required": ["ips"]}
    assert v2["Changes"]["properties"]["client_hold"]["enum"] == [0, 1, None]
    assert v2["CustomerWanted"]["properties"]["lang"]["pattern"] == r"^(?:[A-Za-z]{2}$|$)"
    assert v2["Domain"]["properties"]["status"]["enum"] == ["0", "1", "2", "3", "6"]


def test_the_schema_of_a_price_allows_the_prices_that_the_server_accepts(
    wire: Api, subtests: pytest.Subtests
) -> None:
    allowed: list[Any] = ["10", "10.00", "9.9900000", "0", 10, 10.5, None]
    wrong: list[Any] = ["", "ten", "-1", "1_0", "1,5", "1.0000001", "NaN", "9" * 101, -1, True, []]
    for number, cost in enumerate(allowed + wrong):
        with subtests.test(cost=cost):
            body = {"domain": {"domainName": f"priced{number}.com"}, "purchaseCost": cost}
            answer = wire.post("/v3/domains/createDomain", body)
            assert asked("v3", "createDomain").is_valid(body) is (number < len(allowed))
            assert answer.error == (None if number < len(allowed) else "invalid_parameter")


def test_null_is_documented_and_is_the_same_as_nothing(subtests: pytest.Subtests) -> None:
    sandbox = Sandbox(V2_REGISTRY)
    with sandbox.serve() as server, closing(Socket(server.url)) as socket:
        client = Client(socket, sandbox.account().token)
        for operation, key in [
            *(
                (operation, "customer_id")
                for operation in ("contactCreate", "domainRegister", "transferRequest")
            ),
            *(("domainEdit", key) for key in ("client_hold", "contact_tech", "ns")),
            *(("customerEdit", key) for key in ("customer_id", "zip")),
        ]:
            with subtests.test(operation=operation, key=key):
                sandbox.reset()
                work = WORKS[".".join(["v2", *re.split("(?=[A-Z])", operation)]).lower()]
                body = {**work.body, key: None}
                assert asked("v2", operation).is_valid(body)
                assert work.having(body).send(client).status == 200


def test_required_fields_follow_the_assumptions(make: Make, subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, str], str, str, list[str] | None]] =     [
        ({}, "v3", "V3ContactWanted", ["name", "address1", "city", "country", "phone", "email", "zipcode"]),
        ({"v3.contacts.fields": "none"}, "v3", "V3ContactWanted", None),
        ({}, "v3", "NewName", ["domainName"]),
        ({"v3.contacts.required": "registrant"}, "v3", "NewName", ["domainName", "contacts"]),
        ({"v3.contacts.required": "registrant"}, "v3", "FirstContacts", ["reg-contact"]),
        ({"v3.contacts.required": "registrant"}, "v3", "ContactsWanted", None),
        ({}, "v3", "DomainList", ["domains"]),
        ({"v3.list.last_page": "always"}, "v3", "DomainList", ["domains", "lastPage"]),
        ({}, "v2", "CustomerWanted", ["mail", "name"]),
        ({"v2.zones.no_promotion": "omitted"}, "v2", "ZoneShown", ["zone", "idn_avail", "max_length",
            "min_length", "price_reg", "price_renew", "price_restore", "price_transfer", "transfer_avail"]),
    ]  # fmt: skip
    for assume, name, schema, required in cases:
        with subtests.test(assume=assume, schema=schema):
            content = make(assume=assume).client().get(f"/_sandbox/openapi/{name}.json").json
            assert content["components"]["schemas"][schema].get("required") == required


@pytest.mark.parametrize("value", ["any", "dotted"])
def test_a_telephone_number_is_written_as_the_assumptions_have_it(make: Make, value: str) -> None:
    """Wherever v2.0 takes one; in v3 there is one form, whatever is assumed."""
    client = make(assume={"v2.phone": value}).client()
    for name in ("v2", "v3"):
        schemas = client.get(f"/_sandbox/openapi/{name}.json").json["components"]["schemas"]
        taken = {
            (schema, field): bool(re.match(shape["properties"][field]["pattern"], "+380 (48) 123-45-67"))
            for schema, shape in schemas.items()
            for field in ("phone", "fax")
            if "pattern" in shape.get("properties", {}).get(field, {})
        }
        assert taken, name
        assert set(taken.values()) == {name == "v2" and value == "any"}, taken


@pytest.mark.slow
@pytest.mark.parametrize("name", ["v3", "v2"])
def test_a_document_is_valid_whatever_is_assumed(name: str) -> None:
    """Each of those that there are; the checking takes its time."""
    seen: set[str] = set()
    departures = [
        (row.name, word)
        for row in Sandbox(REGISTRY).assumptions.list().assumptions
        for word in row.takes.removeprefix("one of ").split(", ")
        if row.takes.startswith("one of ") and word != str(row.default).lower()
    ]
    for assumption, value in departures:
        client = Sandbox(REGISTRY, assume={assumption: value}).client()
        content: Any = client.get(f"/_sandbox/openapi/{name}.json").json
        shapes = {
            where: schema
            for where, schema in content["components"]["schemas"].items()
            if "Error" not in where
        }
        known = json.dumps(shapes, sort_keys=True)
        if known not in seen:
            validate(content)
        seen.add(known)
    assert len(seen) > 5


def test_a_world_has_the_document_of_its_own_assumptions(make: Make) -> None:
    """Under its own path; a changed assumption changes the document at once."""
    sandbox = make()

    def ids(prefix: str = "") -> str:
        content = sandbox.client().get(f"{prefix}/_sandbox/openapi/v3.json").json
        return str(content["components"]["schemas"]["Envelope"]["properties"]["order-id"]["type"])

    with sandbox.fork(name="mine", assume={"v3.ids": "integer"}):
        assert (ids(), ids("/_worlds/mine")) == ("string", "integer")
    sandbox.assumptions.set({"v3.ids": "integer"})
    assert ids() == "integer"


def test_a_document_names_the_server_that_it_came_from(url: str, wire: Any) -> None:
    """With the path of the world that was asked."""
    wire.post("/_sandbox/worlds/fork", {"name": "mine"})
    for prefix in ("", "/_worlds/mine"):
        servers = wire.get(f"{prefix}/_sandbox/openapi/v3.json").json["servers"]
        assert servers == [{"url": f"{url}{prefix}"}]


@pytest.mark.parametrize("name", NAMES)
def test_a_path_allows_the_methods_that_it_documents(url: str, name: str) -> None:
    """The Allow header names them, and none of another path that fits the same address."""
    with closing(Socket(url)) as socket:
        for path, row in document(name).content["paths"].items():
            target = re.sub(r"\{(\w+)\}", lambda found: PLACES.get(found[1], "x"), path)
            allowed = ", ".join(sorted(map(str.upper, row)))
            for method in ("OPTIONS", "TRACE"):
                answer = socket(method, target, [], b"")
                assert (answer.status, answer.headers.get("allow")) == (405, allowed), target


def test_the_example_of_a_signature_is_right() -> None:
    """It can be checked by whoever reads it."""
    from tests.clients import signature

    told = document("v3").content["components"]["securitySchemes"]["X-SVC-SIGNATURE"]["description"]
    key, secret, url, body, signed = re.findall(
        r"key `(.*?)`, the secret `(.*?)`, .* to `(.*?)` and the body `(.*?)` make the signature `(.*?)`",
        told,
    )[0]
    assert signature(secret, key, url, body.encode()) == signed
