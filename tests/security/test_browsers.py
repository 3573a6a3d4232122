"""No page in a browser has access to control, unless the address of the sandbox served it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.security.conftest import TOKEN, Guarded, closed, digest, filled

MOVE = b'{"by": "P1D"}'


def refused(at: Guarded, error: str, method: str, path: str, body: bytes = b"", **headers: str) -> None:
    """Assert that a request is refused by a rule with 403, and has changed nothing."""
    before = digest(at.sandbox)
    answer = at.send(method, path, body, **headers)
    assert (answer.status, answer.error) == (403, error)
    assert answer.message
    assert digest(at.sandbox) == before


def test_every_operation_is_closed_to_other_sites_and_foreign_names(plain: Guarded, subtests) -> None:
    """The browser says where a page comes from; a page may have its own name lead to this machine."""
    host = "rebound.evil-pages.net:8053"
    for method, path in closed():
        with subtests.test(method=method, path=path):
            refused(plain, "cross_site", method, filled(path), Origin="https://evil.example")
            refused(plain, "foreign_host", method, filled(path), Host=host, Origin=f"http://{host}")


def test_a_page_from_elsewhere_is_refused(plain: Guarded, subtests) -> None:
    """Another port of this machine is elsewhere too, and so is the source of a simple request."""
    for headers in (
        {"Origin": "http://localhost:3000"},
        {"Origin": "null"},
        {"Origin": f"https://{plain.host}.evil-pages.net"},
        {"Origin": f"http://user@{plain.host}"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"},
        {"Origin": "http://evil.example", "Content-Type": "text/plain"},
    ):
        with subtests.test(headers=headers):
            refused(plain, "cross_site", "POST", "/_sandbox/clock/advance", MOVE, **headers)


def test_pages_of_the_sandbox_and_other_programs_have_access(plain: Guarded, subtests) -> None:
    """A command line sends none of these headers. Nobody can own these hosts in the DNS."""
    for headers in (
        {},
        {"Origin": f"http://{plain.host}"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "same-origin"},
    ):
        with subtests.test(headers=headers):
            assert plain.send("POST", "/_sandbox/clock/advance", MOVE, **headers).status == 200
    for host in (
        *("localhost:8053", "LOCALHOST", "api.localhost:8053", "127.0.0.1", "127.0.0.2:1", "192.0.2.7:8053"),
        *("[::1]:8053", "sandbox:8053", "sandbox.test"),
    ):
        with subtests.test(host=host):
            assert plain.send("GET", "/_sandbox/clock", Host=host).status == 200
            own = {"Host": host, "Origin": f"http://{host}"}
            assert plain.send("POST", "/_sandbox/clock/freeze", **own).status == 200


def test_public_urls_have_access(guarded: Callable[..., Guarded]) -> None:
    at = guarded(public_urls=("https://sandbox.our-company.net", "http://localhost:3000/"))
    own: dict[str, Any] = {"Host": "sandbox.our-company.net"}
    assert at.send("GET", "/_sandbox/clock", **own).status == 200
    assert at.send("GET", "/_sandbox/clock", Host="Sandbox.our-company.net:443").status == 200
    assert at.send("GET", "/_sandbox/clock", **own, Origin="https://sandbox.our-company.net").status == 200
    assert at.send("GET", "/_sandbox/clock", Origin="http://localhost:3000").status == 200
    refused(at, "foreign_host", "GET", "/_sandbox/clock", Host="evil.our-company.net")
    refused(at, "cross_site", "GET", "/_sandbox/clock", Origin="http://localhost:3001")


def test_a_token_gives_access_under_any_host_name_but_not_to_pages(tokened: Guarded) -> None:
    own: dict[str, Any] = {"Host": "sandbox.our-company.net", "X-Sandbox-Token": TOKEN}
    assert tokened.send("GET", "/_sandbox/clock", **own).status == 200
    refused(tokened, "cross_site", "GET", "/_sandbox/clock", **own, Origin="http://evil.example")
    refused(tokened, "cross_site", "GET", "/_sandbox/health", Origin="http://evil.example")


def test_no_answer_has_cors_headers(plain: Guarded, tokened: Guarded) -> None:
    asked: dict[str, Any] = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    targets = (("OPTIONS", "/_sandbox/history/reset"), ("GET", "/_sandbox/health"), ("GET", "/nowhere"))
    for at in (plain, tokened):
        for method, path in targets:
            answer = at.send(method, path, **asked)
            assert answer.status >= 400
            assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_only_control_is_closed_to_pages(plain: Guarded) -> None:
    for host in ("printer.local", "sandbox.default.svc.cluster.local:8053", "LOCAL.Local."):
        refused(plain, "foreign_host", "GET", "/_sandbox/clock", Host=host)
    answer = plain.send("GET", "/v3/balance", Origin="http://evil.example", Host="evil-pages.net")
    assert (answer.status, answer.error) == (401, "credentials_missing")
    assert plain.send("GET", "/_worlds/default/_sandbox/clock").status == 200
    path = "/_worlds/default/_sandbox/history/reset"
    refused(plain, "cross_site", "POST", path, Origin="http://evil.example")
