"""No page in a browser gets at the control interface, unless the sandbox's own address served it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.security.conftest import TOKEN, Guarded, closed

MOVE = b'{"by": "P1D"}'


def refused(at: Guarded, error: str, method: str, path: str, body: bytes = b"", **headers: str) -> None:
    """Assert that a request is refused by a rule with 403, and that nothing has happened."""
    moment = at.sandbox.world.moment
    answer = at.send(method, path, body, **headers)
    assert (answer.status, answer.error) == (403, error)
    assert answer.message
    assert at.sandbox.world.moment == moment


@pytest.mark.parametrize(("method", "path"), closed())
class TestEveryOperation:
    """Whatever it does, and be it only to read."""

    def test_is_closed_to_pages_of_other_sites(self, plain: Guarded, method: str, path: str) -> None:
        """The browser says where they came from."""
        refused(plain, "cross_site", method, filled(path), Origin="https://evil.example")

    def test_is_closed_to_names_that_could_be_anybodys(self, plain: Guarded, method: str, path: str) -> None:
        """A page may have its own name lead to this machine; to the browser it is one site then."""
        host = "rebound.evil-pages.net:8053"
        refused(plain, "foreign_host", method, filled(path), Host=host, Origin=f"http://{host}")


def filled(path: str) -> str:
    """A path with something in place of its placeholders."""
    return re.sub(r"\{\w+\}", "1", path)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://localhost:3000"},
        {"Origin": "http://127.0.0.1"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "https://{host}.evil-pages.net"},
        {"Origin": "http://user@{host}"},
        {"Origin": "chrome-extension://abcdefgh"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"},
        {"Origin": "http://evil.example", "Content-Type": "text/plain"},
    ],
    ids=str,
)
def test_a_page_from_elsewhere_is_refused(plain: Guarded, headers: dict[str, str]) -> None:
    """Another port of this machine is elsewhere too, and a simple request is one as well."""
    told = {name: value.format(host=plain.host) for name, value in headers.items()}
    refused(plain, "cross_site", "POST", "/_sandbox/clock/advance", MOVE, **told)


@pytest.mark.parametrize(
    "headers",
    [{}, {"Origin": "http://{host}"}, {"Sec-Fetch-Site": "none"}, {"Sec-Fetch-Site": "same-origin"}],
    ids=str,
)
def test_its_own_pages_and_no_pages_come_in(plain: Guarded, headers: dict[str, str]) -> None:
    """A command line sends none of these headers, and an address typed in comes from nowhere."""
    told = {name: value.format(host=plain.host) for name, value in headers.items()}
    assert plain.send("POST", "/_sandbox/clock/advance", MOVE, **told).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "localhost:8053",
        "LOCALHOST",
        "api.localhost:8053",
        "127.0.0.1",
        "127.0.0.2:1",
        "192.0.2.7:8053",
        "[::1]:8053",
        "sandbox:8053",
        "sandbox.test",
    ],
)
def test_addresses_and_names_nobody_can_own_come_in(plain: Guarded, host: str) -> None:
    """No page can have come from them by way of the DNS; containers call each other by such names."""
    assert plain.send("GET", "/_sandbox/clock", Host=host).status == 200
    assert plain.send("POST", "/_sandbox/clock/freeze", Host=host, Origin=f"http://{host}").status == 200


@pytest.mark.parametrize("host", ["printer.local", "sandbox.default.svc.cluster.local:8053", "LOCAL.Local."])
def test_names_of_the_local_network_do_not(plain: Guarded, host: str) -> None:
    """Any machine on it can take one; whoever has such a name says so with ``--public-url``."""
    refused(plain, "foreign_host", "GET", "/_sandbox/clock", Host=host)


def test_a_public_url_is_a_name_of_ones_own(guarded: Callable[..., Guarded]) -> None:
    """Requests to it come in, and so do its pages, also on a default port and behind a proxy with TLS."""
    at = guarded(public_urls=("https://sandbox.our-company.net", "http://localhost:3000/"))
    own: dict[str, Any] = {"Host": "sandbox.our-company.net"}
    assert at.send("GET", "/_sandbox/clock", **own).status == 200
    assert at.send("GET", "/_sandbox/clock", Host="Sandbox.our-company.net:443").status == 200
    assert at.send("GET", "/_sandbox/clock", **own, Origin="https://sandbox.our-company.net").status == 200
    assert at.send("GET", "/_sandbox/clock", Origin="http://localhost:3000").status == 200
    refused(at, "foreign_host", "GET", "/_sandbox/clock", Host="evil.our-company.net")
    refused(at, "cross_site", "GET", "/_sandbox/clock", Origin="http://localhost:3001")


def test_a_token_does_not_open_it_to_pages_but_to_names(tokened: Guarded) -> None:
    """A page does not know the token, whatever its name; one that was told it is still from elsewhere."""
    own: dict[str, Any] = {"Host": "sandbox.our-company.net", "X-Sandbox-Token": TOKEN}
    assert tokened.send("GET", "/_sandbox/clock", **own).status == 200
    refused(tokened, "cross_site", "GET", "/_sandbox/clock", **own, Origin="http://evil.example")
    refused(tokened, "cross_site", "GET", "/_sandbox/health", Origin="http://evil.example")


def test_no_answer_invites_a_page(plain: Guarded, tokened: Guarded) -> None:
    """A preflight is told nothing that a browser would take for leave."""
    asked: dict[str, Any] = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    for at in (plain, tokened):
        for method, path in (
            ("OPTIONS", "/_sandbox/history/reset"),
            ("GET", "/_sandbox/health"),
            ("GET", "/nowhere"),
        ):
            answer = at.send(method, path, **asked)
            assert answer.status >= 400
            assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_the_api_itself_is_no_business_of_the_gate(plain: Guarded) -> None:
    """v3 has signatures, and its clients call it by whatever name they like."""
    answer = plain.send("GET", "/v3/balance", Origin="http://evil.example", Host="evil-pages.net")
    assert (answer.status, answer.error) == (401, "credentials_missing")


def test_a_world_by_its_path_is_behind_the_same_gate(plain: Guarded) -> None:
    """The prefix opens nothing."""
    assert plain.send("GET", "/_worlds/default/_sandbox/clock").status == 200
    refused(
        plain, "cross_site", "POST", "/_worlds/default/_sandbox/history/reset", Origin="http://evil.example"
    )
