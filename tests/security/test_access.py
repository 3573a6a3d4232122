"""Who has access to control: programs with a token, pages of browsers, other machines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from reseller_sandbox import BadSetting, Sandbox
from tests.clients import Api, Socket
from tests.registry import REGISTRY
from tests.security.conftest import TOKEN, Guarded, closed, digest, filled, refusal, serving


def test_every_operation_but_health_requires_the_token(tokened: Guarded, subtests) -> None:
    before = digest(tokened.sandbox)
    for method, path in closed():
        if path == "/_sandbox/health":
            continue
        with subtests.test(method=method, path=path):
            missing = tokened.send(method, filled(path))
            assert (missing.status, missing.error) == (401, "control_token_missing")
            assert "X-Sandbox-Token" in missing.message
            wrong = tokened.send(method, filled(path), X_Sandbox_Token="another")
            assert (wrong.status, wrong.error) == (403, "control_token_wrong")
    assert digest(tokened.sandbox) == before
    assert tokened.send("GET", "/_sandbox/health").json["status"] == "ok"
    assert tokened.send("GET", "/_worlds/default/_sandbox/health").status == 401
    assert tokened.send("GET", "/_worlds/default/_sandbox/health", X_Sandbox_Token=TOKEN).status == 200
    assert tokened.send("POST", "/_sandbox/clock/freeze", X_Sandbox_Token=TOKEN).status == 200


def test_wrong_tokens_and_account_credentials_do_not_open_the_control_interface(tokened: Guarded) -> None:
    for token in ("", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "töken", f"{TOKEN},{TOKEN}"):
        assert tokened.send("POST", "/_sandbox/history/reset", X_Sandbox_Token=token).status in (401, 403)
    account = tokened.sandbox.accounts["main"]
    api = Api(tokened.socket, tokened.url, account.key, account.secret)
    assert api.get("/v3/balance").status == 200
    answer = api.call("POST", "/_sandbox/clock/advance", {"by": "P1D"}, [("X-Auth-Token", account.token)])
    assert (answer.status, answer.error) == (401, "control_token_missing")
    for secret in (account.secret, account.token, account.key):
        assert tokened.send("GET", "/_sandbox/clock", X_Sandbox_Token=secret).status == 403
    assert tokened.send("GET", "/v3/balance", X_Sandbox_Token=TOKEN).error == "credentials_missing"


def test_the_control_token_is_in_no_output(
    tokened: Guarded, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    answers = [
        tokened.send("GET", path, X_Sandbox_Token=token)
        for path in ("/_sandbox/health", "/_sandbox/assumptions", "/_sandbox/advice", "/_sandbox/nothing")
        for token in (TOKEN, "another")
    ]
    assert not any(TOKEN in answer.raw.decode() or TOKEN in str(answer.headers) for answer in answers)
    assert TOKEN not in repr(tokened.sandbox.settings) + repr(tokened.sandbox)
    assert TOKEN not in caplog.text + "".join(capfd.readouterr())


def test_a_control_token_with_characters_invalid_in_headers_is_refused() -> None:
    for token in ("", "two words", "line\nbreak", "töken"):
        with pytest.raises(BadSetting, match="printable ASCII"):
            Sandbox(REGISTRY, control_token=token)
    with pytest.raises(BadSetting, match="cannot be combined"):
        Sandbox(REGISTRY, control_token=TOKEN, control_open=True)


MOVE = b'{"by": "P1D"}'


def refused(at: Guarded, error: str, method: str, path: str, body: bytes = b"", **headers: str) -> None:
    """Assert that a request is refused by a rule with 403, and has changed nothing."""
    before = digest(at.sandbox)
    answer = at.send(method, path, body, **headers)
    assert (answer.status, answer.error) == (403, error)
    assert answer.message
    assert digest(at.sandbox) == before


def test_every_operation_refuses_other_sites_and_foreign_host_names(plain: Guarded, subtests) -> None:
    """The browser says where a page comes from; a page may have its own name lead to this machine."""
    host = "rebound.evil-pages.net:8053"
    for method, path in closed():
        with subtests.test(method=method, path=path):
            refused(plain, "cross_site", method, filled(path), Origin="https://evil.example")
            refused(plain, "foreign_host", method, filled(path), Host=host, Origin=f"http://{host}")


def test_requests_from_web_pages_of_another_origin_are_refused(plain: Guarded, subtests) -> None:
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


def test_the_sandbox_page_and_command_line_clients_have_access(plain: Guarded, subtests) -> None:
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


def test_web_pages_and_hosts_of_public_urls_have_access(guarded: Callable[..., Guarded]) -> None:
    at = guarded(public_urls=("https://sandbox.our-company.net", "http://localhost:3000/"))
    own: dict[str, Any] = {"Host": "sandbox.our-company.net"}
    assert at.send("GET", "/_sandbox/clock", **own).status == 200
    assert at.send("GET", "/_sandbox/clock", Host="Sandbox.our-company.net:443").status == 200
    assert at.send("GET", "/_sandbox/clock", **own, Origin="https://sandbox.our-company.net").status == 200
    assert at.send("GET", "/_sandbox/clock", Origin="http://localhost:3000").status == 200
    refused(at, "foreign_host", "GET", "/_sandbox/clock", Host="evil.our-company.net")
    refused(at, "cross_site", "GET", "/_sandbox/clock", Origin="http://localhost:3001")


def test_a_token_gives_access_under_any_host_name_but_not_to_foreign_web_pages(tokened: Guarded) -> None:
    own: dict[str, Any] = {"Host": "sandbox.our-company.net", "X-Sandbox-Token": TOKEN}
    assert tokened.send("GET", "/_sandbox/clock", **own).status == 200
    refused(tokened, "cross_site", "GET", "/_sandbox/clock", **own, Origin="http://evil.example")
    refused(tokened, "cross_site", "GET", "/_sandbox/health", Origin="http://evil.example")


def test_no_response_has_cors_headers(plain: Guarded, tokened: Guarded) -> None:
    asked: dict[str, Any] = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    targets = (("OPTIONS", "/_sandbox/history/reset"), ("GET", "/_sandbox/health"), ("GET", "/nowhere"))
    for at in (plain, tokened):
        for method, path in targets:
            answer = at.send(method, path, **asked)
            assert answer.status >= 400
            assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_only_the_control_interface_refuses_foreign_web_pages(plain: Guarded) -> None:
    for host in ("printer.local", "sandbox.default.svc.cluster.local:8053", "LOCAL.Local."):
        refused(plain, "foreign_host", "GET", "/_sandbox/clock", Host=host)
    answer = plain.send("GET", "/v3/balance", Origin="http://evil.example", Host="evil-pages.net")
    assert (answer.status, answer.error) == (401, "credentials_missing")
    assert plain.send("GET", "/_worlds/default/_sandbox/clock").status == 200
    path = "/_worlds/default/_sandbox/history/reset"
    refused(plain, "cross_site", "POST", path, Origin="http://evil.example")


LOOPBACK = (
    *("127.0.0.1", "127.1.2.3", "127.1", "2130706433", "0x7f000001", "::1", "::ffff:127.0.0.1"),
    *("localhost", "LocalHost"),
)


def test_a_loopback_address_needs_no_token() -> None:
    for host in LOOPBACK:
        with Sandbox(REGISTRY).serve(host=host) as server:
            assert server.port, host


def test_an_address_reachable_from_other_machines_needs_a_token() -> None:
    for host in ("", "0.0.0.0", "::", "::ffff:0.0.0.0", "192.0.2.1", "128.0.0.1", "128.1", "3221225985"):
        refused = pytest.raises(
            BadSetting, match=r"reached from other machines.*--control-token.*--control-open"
        )
        with refused, Sandbox(REGISTRY).serve(host=host):
            pass


def test_the_control_interface_on_a_public_address_needs_a_token_or_control_open(
    guarded: Callable[..., Guarded],
) -> None:
    at = guarded("0.0.0.0", control_token=TOKEN)
    assert at.send("GET", "/_sandbox/clock").status == 401
    assert at.send("GET", "/_sandbox/clock", X_Sandbox_Token=TOKEN).status == 200
    at = guarded("0.0.0.0", control_open=True)
    assert at.send("GET", "/_sandbox/clock").status == 200
    assert at.send("GET", "/_sandbox/clock", Host="build-7.our-company.net").status == 200
    assert at.send("GET", "/_sandbox/clock", Origin="http://evil.example").status == 403


def test_the_command_serve_on_a_public_address_needs_a_token_or_control_open() -> None:
    for options, *words in (
        (["--host", "0.0.0.0"], "--control-token", "--control-open"),
        (["--host", "no.such.host.invalid"], "does not exist"),
        (["--control-token", "two words"], "printable ASCII"),
        (["--control-token", TOKEN, "--control-open"], "cannot be combined"),
    ):
        line = refusal("serve", "--port", "0", *options)
        assert all(word in line for word in words), line


@pytest.mark.slow
@pytest.mark.parametrize(("option", "status"), [(f"--control-token={TOKEN}", 401), ("--control-open", 200)])
def test_the_command_serve_starts_with_a_token_and_does_not_print_the_token(option: str, status: int) -> None:
    with serving("--host", "0.0.0.0", "--port", "0", option) as text:
        socket = Socket(text.splitlines()[0].split()[-1])
        assert socket("GET", "/_sandbox/clock", [], b"").status == status
        socket.close()


def test_a_path_prefix_with_an_unknown_world_is_refused(plain: Guarded) -> None:
    for name in ("..", "%00", "%ff", "x" * 8000, "", "default%00", "🙂"):
        answer = plain.send("GET", f"/_worlds/{quote(name, safe='%')}/_sandbox/health")
        assert (answer.status, answer.error) == (404, "unknown_world")
