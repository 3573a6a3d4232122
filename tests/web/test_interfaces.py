"""Interfaces of other packages: the example RDAP, and a tiny interface made from the manual's page."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx
import pytest

from reseller_sandbox import BadSetting, Sandbox
from tests.command import PROGRAM, run

EXAMPLE = Path(__file__).parents[1] / "examples" / "rdap"
RDAP, NAME = "rdap_sandbox:INTERFACE", "active-example.com"

#: An interface with credentials and changes, made only from the manual's page "Add an interface".
NOTES = '''
from reseller_sandbox.refusals import CREDENTIALS_MISSING, DOMAIN_NOT_FOUND, Refused
from reseller_sandbox.registry import orders, purchases
from reseller_sandbox.registry.model import Purpose
from reseller_sandbox.registry.zones import parse_name
from reseller_sandbox.web.fields import Array, Boolean, Shape, String
from reseller_sandbox.web.interface import Interface, refuses, route
from reseller_sandbox.web.interfaces import Example, PublicInterface, SignedRequest


class Switch(Shape):
    on = Boolean(required=True)


class Switched(Switch):
    name = String()


@refuses(DOMAIN_NOT_FOUND)
@route("notes.autorenew", "PUT", "/notes/{domain_name}/autorenew", body=Switch(), answer=Switched())
def autorenew(call):
    """Switch the automatic renewal of a domain."""
    order = orders.own(call.draft.state, call.account, parse_name(call.arguments["domain_name"]))
    orders.set_autorenew(call.draft, order, call.arguments["on"])
    return {"name": order.name, "on": call.arguments["on"]}


class Renewal(Shape):
    expires = String()
    price = String()


class Names(Shape):
    names = Array(String())


@refuses(DOMAIN_NOT_FOUND)
@route(
    "notes.renew", "POST", "/notes/{domain_name}/renewals", body=Renewal(), answer=Names(),
    orders=Purpose.RENEWAL, price=("price",), guard="expires",
)
def renew(call):
    """Renew a domain for a year."""
    order = orders.own(call.draft.state, call.account, parse_name(call.arguments["domain_name"]))
    purchases.renew(call.draft, order, 1)
    return {"names": [order.name]}


@route("notes.list", "GET", "/notes", answer=Names(), lists_names=True)
def names(call):
    """List the domains."""
    return {"names": []}


class Notes(Interface):
    name = owner = "notes"
    endpoints = (autorenew, renew, names)
    common = (*Interface.common, CREDENTIALS_MISSING)

    def authenticate(self, request):
        found = self.worlds.by_token(request.headers.get("X-Note", ""))
        if found is None:
            raise Refused(CREDENTIALS_MISSING, missing="X-Note", instead="")
        request.world, request.sender = found


INTERFACE = PublicInterface(
    name="notes",
    label="Notes",
    paths=r"/notes(/|\\Z)",
    address="/notes",
    load=lambda: Notes,
    sign=lambda request: SignedRequest({"X-Note": request.account.token}),
    credentials={"token": "Note token"},
)
'''


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for folder in (EXAMPLE, tmp_path):
        monkeypatch.syspath_prepend(folder)


@pytest.fixture
def sandbox() -> Sandbox:
    return Sandbox(interfaces=[RDAP])


@pytest.fixture
def url(sandbox: Sandbox) -> Iterator[str]:
    """The address of RDAP on a server. An independent client sends its requests to it."""
    whoisit = import_module("whoisit")
    with sandbox.serve() as server:
        services: dict[str, Any] = {
            "dns": [["com", "ua", "net"], [f"{server.url}/rdap/"]],
            "asn": [["1-2"], [server.url]],
            "ipv4": [["192.0.2.0/24"], [server.url]],
            "ipv6": [["2001:db8::/32"], [server.url]],
            "object": [["X"], [server.url]],
        }
        known = {name: {"services": [service]} for name, service in services.items()}
        whoisit.load_bootstrap_data({"timestamp": 0, **known}, allow_insecure=True, from_json=False)
        yield f"{server.url}/rdap"
        whoisit.clear_bootstrapping()


def test_a_third_party_rdap_client_sees_expiry_and_faults_over_a_socket(sandbox: Sandbox, url: str) -> None:
    import whoisit
    from whoisit.errors import RateLimitedError, ResourceDoesNotExist

    domain = whoisit.domain(NAME)
    assert (domain["name"], domain["status"], domain["nameservers"]) == (
        NAME,
        ["active"],
        ["ns1.example.net", "ns2.example.net"],
    )
    assert domain["expiration_date"].isoformat() == "2026-10-07T12:00:00+00:00"
    assert domain["entities"]["registrant"][0]["name"] == "Example Works"
    sandbox.clock.advance(until={"domain": NAME, "event": "expiry"})
    assert whoisit.domain(NAME)["status"] == ["auto renew period"]
    with sandbox.faults.add("error", error="rate_limited", match={"operation": "rdap.*", "domain": NAME}):
        with pytest.raises(RateLimitedError):
            whoisit.domain(NAME)
        assert whoisit.domain("served-example.com")["name"] == "served-example.com"
    with pytest.raises(ResourceDoesNotExist):
        whoisit.domain("free-example.com")
    assert [request.outcome for request in sandbox.journal.list(operation="rdap.domain").requests] == [
        *("ok", "ok", "rate_limited", "ok", "not_held")
    ]
    for path, status in (("help", 200), ("entity/main", 200), ("entity/nobody", 404), ("nonsense", 404)):
        answer = httpx.get(f"{url}/{path}")
        assert answer.status_code == status
        assert answer.headers["Content-Type"] == "application/rdap+json"
        assert answer.json()["rdapConformance"] == ["rdap_level_0"]
        assert answer.json().get("errorCode", 200) == status


def test_a_registered_interface_has_coverage_and_worlds_and_an_openapi_document(sandbox: Sandbox) -> None:
    client = sandbox.app.test_client()
    assert client.get("/_sandbox/openapi/rdap.json").json["paths"].keys() == {
        *("/rdap/domain/{domainName}", "/rdap/nameserver/{hostname}", "/rdap/entity/{handle}", "/rdap/help")
    }
    with sandbox.fork(name="mine") as fork:
        fork.names.add("mine.com", account="main")
        assert client.get("/_worlds/mine/rdap/domain/mine.com").status_code == 200
        assert client.get("/rdap/domain/mine.com").status_code == 404
    client.get("/rdap/help")
    seen = sandbox.coverage.items(area="operations", operation="rdap.*", seen=True).items
    assert [item.operation for item in seen] == ["rdap.domain", "rdap.help"]
    assert "/rdap/domain/" in str(sandbox.coverage.missing(area="operations", operation="rdap.*"))
    interfaces: Any = client.get("/_sandbox/page/interfaces.json").json
    assert [each["label"] for each in interfaces] == ["v3", "v2.0", "RDAP"]
    assert "RDAP       http://localhost/rdap" in client.get("/").text
    assert "reader?document=rdap" in client.get("/_sandbox/reader").text


def test_an_entry_point_registers_an_interface_for_every_command(tmp_path: Path) -> None:
    information = tmp_path / "rdap_sandbox-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: rdap-sandbox\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[reseller_sandbox.interfaces]\nrdap = {RDAP}\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (tmp_path, EXAMPLE)))}
    words = [PROGRAM, "openapi", "rdap"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["paths"]["/rdap/help"], done.stderr


def test_the_example_interface_of_the_manual_signs_requests_and_changes_domains(tmp_path: Path) -> None:
    (tmp_path / "notes_of_page.py").write_text(NOTES)
    sandbox = Sandbox(interfaces=["notes_of_page:INTERFACE"])
    with sandbox.serve() as server:
        path, on = f"/notes/{NAME}/autorenew", '{"on": true}'
        assert httpx.put(f"{server.url}{path}", content=on).json()["error"] == "credentials_missing"
        options = ("--interface", "notes_of_page:INTERFACE", "--url", server.url)
        done = run("request", "PUT", path, on, *options, env={"PYTHONPATH": str(tmp_path)})
        assert (done.status, json.loads(done.out)) == (0, {"name": NAME, "on": True}), done.err
    assert sandbox.names.get(NAME).autorenew
    last = sandbox.journal.list().requests[-1]
    assert (last.operation, last.account, last.domains) == ("notes.autorenew", "main", (NAME,))


def test_advice_finds_mistakes_in_requests_to_the_example_interface_of_the_manual(tmp_path: Path) -> None:
    (tmp_path / "notes_of_page.py").write_text(NOTES)
    sandbox = Sandbox(interfaces=["notes_of_page:INTERFACE"])
    client, lost = sandbox.client(), {"operation": "notes.renew"}

    def rules() -> list[str]:
        return [finding.rule for finding in sandbox.advice.list().findings]

    with sandbox.faults.add("error", error="internal_error", match=lost, when={"phase": "after"}):
        client.post(f"/notes/{NAME}/renewals", json={"price": "1.00"})
    assert rules() == ["lost_answer_ignored", "price_not_enforced", "renewed_without_guard"]
    client.get("/notes")
    assert rules() == ["price_not_enforced", "renewed_without_guard"]
    sandbox.reset()
    price = str(sandbox.names[NAME].renewal)
    client.post(f"/notes/{NAME}/renewals", json={"price": price, "expires": "2026-10-07"})
    assert rules() == []


def test_an_interface_with_an_import_error_raises_bad_setting() -> None:
    for name, reason in {
        "nowhere:X": "interface 'nowhere:X' cannot be loaded: No module named 'nowhere'",
        "json:loads": "interface 'json:loads' is not a PublicInterface",
        "json": "must be package.module:NAME",
    }.items():
        with pytest.raises(BadSetting, match=reason):
            Sandbox(interfaces=[name])
