"""The OpenAPI documents as a client's author needs them: valid, complete, described, true of every world."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from openapi_spec_validator import validate

from reseller_sandbox import Sandbox
from tests.clients import Api, InProcess, Socket, signature
from tests.command import program, run
from tests.documented import ID, document
from tests.documented import operations as v3_operations
from tests.golden.transcripts import exchanges
from tests.registry import REGISTRY, Make
from tests.thorough import WHOLE
from tests.v2.client import REGISTRY as V2_REGISTRY
from tests.v2.client import Client, connect
from tests.v2.works import CONTRACT, WORKS, documented_errors, pattern

NAMES = ("v3", "v2", "control")

#: The operations of the contract.
V3, V2 = (yaml.safe_load((CONTRACT / f"{name}_operations.yaml").read_text("utf-8")) for name in ("v3", "v2"))


#: Values of placeholders that do not take every segment.
PLACES = {
    **{"version": "V2.0", "document": "v3.json"},
    **dict.fromkeys(("perPage", "page", "limit", "start"), "1"),
}


LINTERS = Path(__file__).parents[2] / ".venv" / "openapi" / "node_modules" / ".bin"
#: A sandbox has nobody to write to; every other rule holds, warnings included.
RULES = {"extends": ["spectral:oas"], "rules": {"info-contact": "off"}}
SPECTRAL = ("spectral", "lint", "--ruleset", "rules.json", "--fail-severity", "warn")


def operations(name: str) -> list[dict[str, Any]]:
    return [operation for row in document(name).content["paths"].values() for operation in row.values()]


def schemas(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema of a document, after the name of the component that it stands in."""

    def within(name: str, part: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        if isinstance(part, dict):
            yield name, part
        for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            yield from within(name, inner)

    for component, schema in document(name).content["components"]["schemas"].items():
        yield from within(component, schema)


def address(path: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda place: PLACES.get(place[1], "x"), path)


def accepts(name: str, operation: str, body: Any) -> bool:
    """Whether the schema of an operation's request allows a body."""
    row = next(row for row in operations(name) if row["operationId"] == operation)
    return document(name).requests(row["requestBody"]).is_valid(body)


@pytest.mark.parametrize("name", ["v3", "v2", pytest.param("control", marks=pytest.mark.slow)])
def test_openapi_document_is_valid(name: str) -> None:
    validate(document(name).content)


@pytest.mark.parametrize("name", NAMES)
def test_openapi_operation_ids_and_paths_are_unique_and_tags_are_described(name: str) -> None:
    content = document(name).content
    paths = {re.sub(r"\{\w+\}", "{}", path) for path in content["paths"]}
    assert len(paths) == len(content["paths"]), "a path under two names of its parameters"
    words = [row["operationId"] for row in operations(name)]
    assert len(set(words)) == len(words)
    assert all(re.fullmatch(r"[a-z][A-Za-z0-9]+", word) for word in words)
    assert all(row[ID].startswith(f"{name}.") for row in operations(name))
    tags = {tag["name"]: tag["description"] for tag in content["tags"]}
    assert {tag for row in operations(name) for tag in row["tags"]} == set(tags)
    assert all(description.endswith(".") for description in tags.values())


def test_each_v3_operation_is_served_under_all_its_paths() -> None:
    """The operation id of a further path follows from the path."""
    assert len(V3) == 27
    served = v3_operations()
    assert set(served) == {row["id"] for row in V3}
    for row in V3:
        paths = [row["path"], *row.get("also", ())]
        if row["id"] == "v3.listDomains":
            paths.append("/v3/domains/{perPage}/{page}")  # the form that some callers use
        assert (served[row["id"]].method, list(served[row["id"]].paths)) == (row["method"], paths)
    ids = {row["operationId"] for name in NAMES for row in operations(name)}
    assert ids > {"renewDomainByDomainName", "setContactsAlso", "domainZonesAll", "clockAdvance"}


@pytest.mark.parametrize("name", NAMES)
def test_openapi_describes_operations_and_their_parameters_and_properties(name: str) -> None:
    described = {
        f"{component}.{key}": inner.get("description", "")
        for component, schema in schemas(name)
        for key, inner in schema.get("properties", {}).items()
        if isinstance(inner, dict)
    }
    for row in operations(name):
        described[row["operationId"]] = row["description"]
        for parameter in row["parameters"]:
            described[f"{row['operationId']}({parameter['name']})"] = parameter.get("description", "")
    assert [where for where, words in described.items() if not re.search(r"[.:)]$", words)] == []
    assert len(described) > 100


@pytest.mark.parametrize("name", NAMES)
def test_openapi_link_gives_all_path_parameters_of_its_operation(name: str) -> None:
    known = {row["operationId"]: row for row in operations(name)}
    links = [
        link
        for row in known.values()
        for answer in row["responses"].values()
        for link in answer.get("links", {}).values()
    ]
    for link in links:
        parameters = known[link["operationId"]]["parameters"]
        assert set(link["parameters"]) == {row["name"] for row in parameters if row["in"] == "path"}
    assert len(links) > 5


@pytest.mark.parametrize("name", NAMES)
def test_openapi_schemas_have_no_python_specific_patterns(name: str) -> None:
    """A pattern has its ends and nothing that only Python knows. A type does not rule out alternatives."""
    patterns = [schema["pattern"] for _, schema in schemas(name) if isinstance(schema.get("pattern"), str)]
    for shape in patterns:
        assert shape.startswith("^")
        assert "$" in shape
        assert not re.search(r"\\[AZzGh]|\(\?[^:=!]", shape)
    for _, schema in schemas(name):
        alternatives = schema.get("oneOf", schema.get("anyOf", []))
        assert "type" not in schema or all(row.keys() == {"required"} for row in alternatives)


def test_openapi_schemas_state_the_bounds_of_values() -> None:
    v3, v2 = (document(name).content["components"]["schemas"] for name in ("v3", "v2"))
    assert v3["RegistrationRequest"]["properties"]["years"].items() >= {"minimum": 1, "maximum": 10}.items()
    assert v3["AvailabilityRequest"]["properties"]["domainNames"]["maxItems"] == 50
    assert v3["GlueRequest"]["required"] == ["hostname", "ips"]
    assert v2["Changes"]["properties"]["client_hold"]["enum"] == [0, 1, None]
    assert v2["CustomerRequest"]["properties"]["lang"]["pattern"] == r"^(?:[A-Za-z]{2}$|$)"
    assert v2["DomainStatus"]["enum"] == ["0", "1", "2", "3", "6"]
    assert v2["Domain"]["properties"]["status"]["$ref"] == "#/components/schemas/DomainStatus"


def test_openapi_schema_of_a_price_allows_exactly_the_prices_that_the_server_accepts(
    api: Api, subtests: pytest.Subtests
) -> None:
    allowed: list[Any] = ["10", "10.00", "9.9900000", "0", 10, 10.5, None]
    wrong: list[Any] = ["", "ten", "-1", "1_0", "1,5", "1.0000001", "NaN", "9" * 101, -1, True, []]
    for number, cost in enumerate(allowed + wrong):
        with subtests.test(cost=cost):
            body = {"domain": {"domainName": f"priced{number}.com"}, "purchaseCost": cost}
            answer = api.post("/v3/domains/createDomain", body)
            assert accepts("v3", "createDomain", body) is (number < len(allowed))
            assert answer.error == (None if number < len(allowed) else "invalid_parameter")


def test_null_in_a_v2_body_is_documented_and_equals_a_missing_key(subtests: pytest.Subtests) -> None:
    sandbox = Sandbox(V2_REGISTRY)
    client = Client(InProcess(sandbox.app), sandbox.accounts["main"].token)
    for operation, keys in {
        **dict.fromkeys(("contactCreate", "domainRegister", "transferRequest"), "customer_id"),
        **{"domainEdit": "client_hold contact_tech ns", "customerEdit": "customer_id zip"},
    }.items():
        work = WORKS[".".join(["v2", *re.split("(?=[A-Z])", operation)]).lower()]
        for key in keys.split():
            with subtests.test(operation=operation, key=key):
                sandbox.reset()
                body = {**work.body, key: None}
                assert accepts("v2", operation, body)
                assert work.having(body).send(client).status == 200


def test_openapi_content_types_of_a_body_follow_the_assumptions(make: Make) -> None:
    both = ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"]
    for value, types in (("json", ["application/json"]), ("json_or_form", both)):
        client = make(assume={"v2.request_format": value}).client()
        content: Any = client.get("/_sandbox/openapi/v2.json").json
        bodies = [
            operation["requestBody"]
            for path in content["paths"].values()
            for operation in path.values()
            if isinstance(operation, dict) and "requestBody" in operation
        ]
        assert bodies
        assert all(sorted(body["content"]) == types for body in bodies)


def test_openapi_required_fields_follow_the_assumptions(make: Make, subtests: pytest.Subtests) -> None:
    contact = ["name", "address1", "city", "country", "phone", "email", "zipcode"]
    zone = ["zone", "idn_avail", "max_length", "min_length"]
    zone += ["price_reg", "price_renew", "price_restore", "price_transfer", "transfer_avail"]
    changed = make(
        assume={
            **{"v3.contacts.fields": "none", "v3.contacts.required": "registrant"},
            **{"v3.list.last_page": "always", "v2.zones.no_promotion": "omitted"},
        }
    ).client()
    for name, schema, default, other in (
        ("v3", "V3ContactRequest", contact, None),
        ("v3", "NewDomain", ["domainName"], ["domainName", "contacts"]),
        ("v3", "FirstContacts", None, ["reg-contact"]),
        ("v3", "ContactsRequest", None, None),
        ("v3", "DomainList", ["domains"], ["domains", "lastPage"]),
        ("v2", "CustomerRequest", ["mail", "name"], ["mail", "name"]),
        ("v2", "ZoneShown", None, zone),
    ):
        with subtests.test(schema=schema):
            content: Any = changed.get(f"/_sandbox/openapi/{name}.json").json
            assert content["components"]["schemas"][schema].get("required") == other
            before = document(name).content["components"]["schemas"].get(schema, {})
            assert default is None or before["required"] == default


@pytest.mark.slow
@pytest.mark.parametrize("name", ["v3", "v2"])
def test_openapi_document_is_valid_under_every_assumption(name: str) -> None:
    """The assumptions of the other interface are left out of the sample."""
    other = {"v3": "v2.", "v2": "v3."}[name]
    seen: set[str] = set()
    departures = [
        (row.name, word)
        for row in Sandbox(REGISTRY).assumptions.list().assumptions
        for word in row.takes.removeprefix("one of ").split(", ")
        if row.takes.startswith("one of ") and word != str(row.default).lower()
        if WHOLE or not row.name.startswith(other)
    ]
    for assumption, value in departures:
        client = Sandbox(REGISTRY, assume={assumption: value}).client()
        content: Any = client.get(f"/_sandbox/openapi/{name}.json").json
        schemas = content["components"]["schemas"]
        shapes = {name: schema for name, schema in schemas.items() if "Error" not in name}
        known = json.dumps(shapes, sort_keys=True)
        if known not in seen:
            validate(content)
        seen.add(known)
    assert len(seen) > 5


@pytest.mark.slow
@pytest.mark.parametrize("command", [("redocly", "lint"), SPECTRAL], ids=lambda command: command[0])
@pytest.mark.parametrize("name", NAMES)
def test_openapi_linter_reports_no_error(tmp_path: Path, name: str, command: tuple[str, ...]) -> None:
    program("npm")
    linter, *options = command
    (tmp_path / f"{name}.json").write_text(json.dumps(document(name).content), "utf-8")
    (tmp_path / "rules.json").write_text(json.dumps(RULES), "utf-8")
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    done = subprocess.run(
        [program(str(LINTERS / linter)), *options, f"{name}.json"],
        cwd=tmp_path,
        env={**os.environ, **quiet},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_openapi_document_follows_the_assumptions_and_the_address_of_its_world(
    wire: Api, served: Sandbox, url: str
) -> None:
    """A changed assumption changes the document at once."""

    def seen(prefix: str = "") -> tuple[str, str]:
        content = wire.get(f"{prefix}/_sandbox/openapi/v3.json").json
        ((served),) = content["servers"]
        return content["components"]["schemas"]["Envelope"]["properties"]["order-id"]["type"], served["url"]

    wire.post("/_sandbox/worlds/fork", {"name": "mine", "assume": {"v3.ids": "integer"}})
    assert seen() == ("string", url)
    assert seen("/_worlds/mine") == ("integer", f"{url}/_worlds/mine")
    served.assumptions.set({"v3.ids": "integer"})
    assert seen() == ("integer", url)


@pytest.mark.parametrize("name", ["v3", "v2", pytest.param("control", marks=pytest.mark.slow)])
def test_openapi_document_in_version_3_0_is_valid_and_has_the_same_operations(wire: Api, name: str) -> None:
    """No keyword of 3.1 alone is left. Ids, components and required keys are the same."""
    old = wire.get(f"/_sandbox/openapi/{name}.json?version=3.0").json
    assert old["openapi"] == "3.0.3"
    validate(old)
    new = document(name).content
    assert {path: row.keys() for path, row in old["paths"].items()} == {
        path: row.keys() for path, row in new["paths"].items()
    }
    assert old["components"]["schemas"].keys() == new["components"]["schemas"].keys()
    for component, schema in new["components"]["schemas"].items():
        assert old["components"]["schemas"][component].get("required") == schema.get("required"), component
    newer = {"if", "then", "const", "patternProperties", "propertyNames", "contentMediaType", "prefixItems"}
    for at, schema in each_schema(old["components"]["schemas"]):
        assert not isinstance(schema.get("type"), list), at
        assert schema.get("type") != "null", at
        assert not newer & schema.keys(), at


def test_openapi_document_of_an_unknown_version_is_refused(wire: Api) -> None:
    answer = wire.get("/_sandbox/openapi/v3.json?version=2.0")
    assert (answer.status, "3.1, 3.0" in answer.message) == (400, True), answer.raw


@pytest.mark.parametrize("name", ["v3", "v2", pytest.param("control", marks=pytest.mark.slow)])
def test_openapi_schemas_are_of_the_kinds_that_generators_read(name: str) -> None:
    """One type for each schema, or a type and null. No conditions, and no two keys of nearly the same name.

    openapi-generator makes one field of two keys that differ only in case or in separators.
    """
    for at, schema in each_schema(document(name).content["components"]["schemas"]):
        types = schema.get("type")
        assert not isinstance(types, list) or (len(types) == 2 and types[1] == "null"), (at, types)
        assert not {"if", "then", "else"} & schema.keys(), at
        keys = [re.sub(r"[\W_]", "", key).lower() for key in schema.get("properties", ())]
        assert len(keys) == len(set(keys)), (at, keys)


def each_schema(schemas: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema in ``schemas`` after its place. Examples are no schemas."""
    for name, schema in schemas.items():
        yield name, schema
        inner = {key: schema[key] for key in ("items", "additionalProperties", "not") if key in schema}
        inner |= {
            f"{key}.{at}": part
            for key in ("anyOf", "oneOf", "allOf")
            for at, part in enumerate(schema.get(key, ()))
        }
        parts = {**inner, **schema.get("properties", {})}
        yield from each_schema(
            {f"{name}.{key}": part for key, part in parts.items() if isinstance(part, dict)}
        )


def test_openapi_document_requires_what_the_server_demands(wire: Api) -> None:
    """A request without the documented required keys is refused. One with another accepted name is not."""
    bodies = {
        **{
            row["operationId"]: row["requestBody"]["required"]
            for row in operations("v3")
            if "requestBody" in row
        },
        **{
            row["operationId"]: row["requestBody"]["required"]
            for row in operations("v2")
            if "requestBody" in row
        },
    }
    optional = {name for name, required in bodies.items() if not required}
    assert optional == {"renewDomainByDomainName", "customerEditByCustomerId", "domainEdit"}
    for operation, right in (
        ("renewDomain", {"domain": {"domainName": "a.com"}, "years": 1}),
        ("updateGlueRecord", {"ips": ["192.0.2.1"]}),
        ("setAuthcode", {"authCode": "Code-123456"}),
        ("requestTransfer", {"domain": {"domainName": "a.com"}, "authCode": "Code-123456"}),
    ):
        assert accepts("v3", operation, right), operation
        assert not accepts("v3", operation, {}), operation
    assert accepts("v3", "renewDomainByDomainName", {"years": 1})
    assert not accepts("v3", "requestTransfer", {"domain": {"domainName": "a.com"}})


def test_openapi_documents_name_the_public_urls_of_the_server(make: Make, tmp_path: Path) -> None:
    urls = ("https://api.example.com/", "http://b.example:81/base")
    content = make(public_urls=urls).app.test_client().get("/_sandbox/openapi/v3.json").json
    assert [server["url"] for server in content["servers"]] == [url.rstrip("/") for url in urls]
    words = ("openapi", "v3", *(word for url in urls for word in ("--public-url", url)))
    file = tmp_path / "v3.json"
    assert run(*words, "--version", "3.0", "-o", str(file)).status == 0
    written = json.loads(file.read_text())
    assert [server["url"].rstrip("/") for server in written["servers"]] == [url.rstrip("/") for url in urls]
    assert written["openapi"] == "3.0.3"
    written = json.loads(run(*words, "--url", "http://c.example").out)
    assert written["servers"] == [{"url": "http://c.example"}]


def test_header_named_allow_lists_exactly_the_documented_methods_of_a_path(url: str) -> None:
    """The Allow header names them, and none of another path that fits the same address."""
    with closing(Socket(url)) as socket:
        for path, row in (item for name in NAMES for item in document(name).content["paths"].items()):
            answer = socket("OPTIONS", address(path), [], b"")
            allowed = ", ".join(sorted(map(str.upper, row)))
            assert (answer.status, answer.headers.get("allow")) == (405, allowed), path


def test_openapi_document_has_the_credential_headers_of_the_settings(make: Make) -> None:
    settings = {"header_prefix": "X-Mine-", "control_token": "open-sesame"}
    client = make(**settings).app.test_client()
    for name, default, other in (
        ("v3", ["X-SVC-APIKEY", "X-SVC-SIGNATURE"], ["X-Mine-APIKEY", "X-Mine-SIGNATURE"]),
        ("v2", ["X-Auth-Token"], ["X-Auth-Token"]),
        ("control", [], ["X-Sandbox-Token"]),
    ):
        headers = {"X-Sandbox-Token": settings["control_token"]}
        changed = client.get(f"/_sandbox/openapi/{name}.json", headers=headers).json
        for content, expected in ((document(name).content, default), (changed, other)):
            assert content["security"] == [{header: [] for header in expected}]
            schemes = content["components"].get("securitySchemes", {}).values()
            assert sorted(row["name"] for row in schemes if row["in"] == "header") == expected


def test_example_in_the_description_of_the_signature_is_correct() -> None:
    schemes = document("v3").content["components"]["securitySchemes"]
    key, secret, url, body, signed = re.findall(
        r"key `(.*?)`, the secret `(.*?)`, .* to `(.*?)` and the body `(.*?)` make the signature `(.*?)`",
        schemes["X-SVC-SIGNATURE"]["description"],
    )[0]
    assert signature(secret, key, url, body.encode()) == signed


def test_v2_golden_file_has_each_documented_error_of_each_operation() -> None:
    """The contract documents 30 errors for 27 operations in 185 pairs."""
    documented = documented_errors()
    assert set(WORKS) == {row["id"] for row in V2} == {operation for operation, _ in documented}
    assert (len(WORKS), len({message for _, message in documented}), len(documented)) == (27, 30, 185)
    recorded = [
        (operation[ID], exchange.status, json.loads(exchange.body)["msg"])
        for exchange in exchanges("v2")
        if (operation := document("v2").operation(exchange.method, exchange.target))
        and exchange.status >= 400
    ]
    missing = {
        (operation, message)
        for (operation, message), code in documented.items()
        if not [
            text
            for name, status, text in recorded
            if (name, status) == (operation, code) and pattern(message).fullmatch(text)
        ]
    }
    assert missing == set()


def test_openapi_document_of_v2_describes_each_operation_and_its_errors(subtests: pytest.Subtests) -> None:
    for row in V2:
        with subtests.test(operation=row["id"]):
            described = document("v2").content["paths"][row["path"]][row["method"].lower()]
            assert described[ID] == row["id"]
            if body := WORKS[row["id"]].body:
                document("v2").requests(described["requestBody"]).validate(body)
            errors = {
                (int(code), re.sub(r"\{(\w+)\}", r"{{ \1 }}", words))
                for code, response in described["responses"].items()
                for words in re.findall(r"^\* `(.*?)` \(", response["description"], re.MULTILINE)
            }
            contract = {
                (code, message) for (key, message), code in documented_errors().items() if key == row["id"]
            }
            assert contract <= errors
            assert {code for code, _ in errors - contract} <= {400, 404, 409, 413, 415, 501}


def test_v2_path_with_a_version_that_is_not_served_gets_501_or_404(subtests: pytest.Subtests) -> None:
    client = connect(Sandbox(V2_REGISTRY))
    for version, status in {
        **{"v2.0": 200, "V1.0": 501, "v2.1": 501, "V20.0": 501, "V2.00": 501},
        **{"V2": 404, "2.0": 404, "V2.0.1": 404, "Vx.y": 404, "W2.0": 404, "v3": 404},
    }.items():
        with subtests.test(version=version):
            target = f"/{version}/domain/new.com/check"
            answer = client.transport("GET", target, [("X-Auth-Token", client.token)], b"")
            assert answer.status == status
            if status == 501:
                message = "no implementation for this version"
                assert answer.json == {"code": 501, "msg": message, "status": False}
                assert answer.assumptions["v2.versions"] == "V2.0"
