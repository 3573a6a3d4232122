"""The OpenAPI documents as those read them who make clients: complete, in words, and true of every world."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from importlib.resources import files
from typing import Any

import pytest
import yaml
from openapi_spec_validator import validate

from reseller_sandbox import Sandbox
from reseller_sandbox.core.assumptions import Assumptions, catalogue
from tests.clients import Api, Socket
from tests.documented import ID, document
from tests.registry import REGISTRY, Make
from tests.v2.client import REGISTRY as V2_REGISTRY
from tests.v2.client import Client
from tests.v2.works import WORKS

NAMES = ("v3", "v2", "control")

#: What each choice of the assumptions can be, one departure from the defaults at a time.
DEPARTURES = [
    (str(one["name"]), word)
    for one in catalogue(Assumptions())
    for word in str(one["takes"]).removeprefix("one of ").split(", ")
    if str(one["takes"]).startswith("one of ") and word != str(one["default"]).lower()
]

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


@pytest.mark.parametrize(
    ("name", "word", "own"),
    [
        ("v3", "createDomain", "v3.createDomain"),
        ("v3", "renewDomainByDomainName", "v3.renewDomain"),
        ("v3", "setContactsAlso", "v3.setContacts"),
        ("v3", "listDomainsByPerPageAndPage", "v3.listDomains"),
        ("v2", "domainRegister", "v2.domain.register"),
        ("v2", "domainZonesAll", "v2.domain.zones"),
        ("control", "clockAdvance", "control.clock.advance"),
        ("control", "outsideReleaseHold", "control.outside.release_hold"),
    ],
)
def test_the_word_follows_from_the_operation_and_its_path(name: str, word: str, own: str) -> None:
    """So that the names of generated methods can be told beforehand."""
    assert own in [one[ID] for one in operations(document(name).content) if one["operationId"] == word]


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


def test_a_word_of_a_glossary_is_used_somewhere() -> None:
    """Under the default assumptions or others, or it would be about nothing; so is each link."""
    chosen = {"v3.set_contacts.answer": "message", "v2.domain_info.shape": "wrapped"}
    for name in NAMES:
        told = yaml.safe_load((files("reseller_sandbox") / name / "glossary.yaml").read_text("utf-8"))
        used: set[str] = set()
        for sandbox in (Sandbox(REGISTRY), Sandbox(REGISTRY, assume=chosen)):
            content = sandbox.client().get(f"/_sandbox/openapi/{name}.json").json
            said = {(key, inner.get("description")) for _, key, inner in properties(content)}
            said |= {
                (each["name"], each["description"])
                for one in operations(content)
                for each in one["parameters"]
            }
            used |= {
                name for name, words in told["terms"].items() if (name.rpartition(".")[2], words) in said
            }
        assert set(told["terms"]) - used == set()
        words = {one["operationId"] for one in operations(document(name).content)}
        assert {word for before, after in told["links"].items() for word in (before, *after)} <= words


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


@pytest.mark.parametrize("cost", ["10", "10.00", "9.9900000", "0", 10, 10.5, None])
def test_a_price_of_the_schema_is_accepted(wire: Api, cost: Any) -> None:
    """As a number, as a string in decimal digits, and null in place of nothing."""
    body = {"domain": {"domainName": "priced.com"}, "purchaseCost": cost}
    assert asked("v3", "createDomain").is_valid(body)
    assert wire.post("/v3/domains/createDomain", body).status == 200


@pytest.mark.parametrize("cost", ["", "ten", "-1", "1_0", "1,5", "1.0000001", "NaN", "9" * 101, -1, True, []])
def test_a_price_that_is_refused_is_none_of_the_schema(wire: Api, cost: Any) -> None:
    """So that a client's own validation finds it before the server does."""
    body = {"domain": {"domainName": "priced.com"}, "purchaseCost": cost}
    assert not asked("v3", "createDomain").is_valid(body)
    assert wire.post("/v3/domains/createDomain", body).error == "invalid_parameter"


@pytest.mark.parametrize(
    ("operation", "key"),
    [
        *((operation, "customer_id") for operation in ("contactCreate", "domainRegister", "transferRequest")),
        *(("domainEdit", key) for key in ("client_hold", "contact_tech", "ns")),
        ("customerEdit", "customer_id"),
        ("customerEdit", "zip"),
    ],
)
def test_null_is_documented_and_is_the_same_as_nothing(operation: str, key: str) -> None:
    """Under every key that need not be sent, over a socket."""
    name = ".".join(["v2", *re.split("(?=[A-Z])", operation)]).lower()
    work, sandbox = WORKS[name], Sandbox(V2_REGISTRY)
    with sandbox.serve() as server, closing(Socket(server.url)) as socket:
        client = Client(socket, sandbox.account().token)
        schema, body = asked("v2", operation), {**work.body, key: None}
        assert schema.is_valid(body)
        assert work.having(body).send(client).status == 200


@pytest.mark.parametrize(
    ("assume", "name", "schema", "required"),
    [
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
    ],
)  # fmt: skip
def test_what_is_required_follows_the_assumptions(
    make: Make, assume: dict[str, str], name: str, schema: str, required: list[str] | None
) -> None:
    """In requests and in answers."""
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
    for assumption, value in DEPARTURES:
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
