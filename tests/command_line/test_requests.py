"""``request``, ``sign`` and ``wait``: as any account of any world of a running server."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from tests.command import Done, program, run
from tests.registry import REGISTRY

CHECK = "/v3/domains/checkAvailability"
Ask = Callable[..., Done]


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return Sandbox(REGISTRY)


@pytest.fixture(scope="module")
def server(sandbox: Sandbox) -> Iterator[Any]:
    with sandbox.serve(tls=True) as server:
        yield server


@pytest.fixture
def url(server: Any) -> str:
    return f"http://127.0.0.1:{server.port}"


@pytest.fixture
def ask(server: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Ask:
    """Runs a command in an empty folder. The environment names the server."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RESELLER_SANDBOX_PORT", str(server.port))
    return run


def test_the_request_command_authenticates_as_main_or_the_given_account(
    ask: Ask, sandbox: Sandbox, url: str
) -> None:
    for path in ("/v3/balance", f"{url}/v3/balance"):
        assert '\n    "client-id": "1001",\n' in ask("request", "get", path).out
    (other,) = json.loads(ask("request", "GET", "v3/balance", "--account", "other").out)
    assert other["client-id"] == "1002"
    assert json.loads(ask("request", "GET", "/V2.0/domain/zones").out)["status"]
    assert json.loads(ask("request", "GET", "/_sandbox/health").out)["status"] == "ok"
    with sandbox.fork(name="odd", assume={"v2.token_headers": ["X-Other"]}) as fork:
        words = ("/v2.0/domain/zones", "--account", "1001", "--world", "odd")
        assert json.loads(ask("request", "GET", *words).out)["status"]
        assert [request.account for request in fork.journal.list().requests] == ["main"]
    for option, unknown in (("--world", "odd"), ("--account", "mian")):
        done = ask("request", "GET", "/v3/balance", option, unknown)
        assert (done.status, done.err.count("\n"), unknown in done.err) == (1, 1, True)
    assert "main" in done.err


def test_the_request_command_names_the_command_that_explains_a_refusal(ask: Ask, sandbox: Sandbox) -> None:
    with sandbox.fork(name="odd"):
        for world in ((), ("--world", "odd")):
            refused = ask("request", "GET", "/v3/domains/getDomain/unknown.com", *world)
            assert (refused.status, refused.err.count("\n")) == (1, 1)
            explained = ask(*shlex.split(refused.err.partition("reseller-sandbox ")[2]))
            assert (explained.status, "unknown.com is not in this account" in explained.out) == (0, True)
        assert ask("request", "GET", "/v3/balance").err == ""
        assert ask("request", "GET", "/v3/domains/getDomain/unknown.com", "--json").err == ""


def test_the_request_command_sends_a_path_with_any_characters(ask: Ask, sandbox: Sandbox) -> None:
    for name in ("бібліотека.укр", "%D0%B1%D1%96%D0%B1.укр", "a b.com", "a\r\nX-Y: z.com"):
        done = ask("request", "GET", f"/v3/domains/getDomain/{name}")
        assert (done.status, done.err.count("\n")) == (1, 1)
        assert json.loads(done.out)["error"] in ("domain_not_found", "invalid_name")
        latest = sandbox.journal.list().requests[-1]
        assert (latest.operation, latest.account) == ("v3.getDomain", "main")


def test_the_request_command_sends_a_text_or_a_file_and_prints_the_exact_response(
    ask: Ask, tmp_path: Path
) -> None:
    body = '{"domainNames": ["a.com"]}'
    (tmp_path / "body.json").write_text(body)
    for word in (body, "@body.json"):
        (result,) = json.loads(ask("request", "POST", CHECK, word).out)["results"]
        assert result["domainName"] == "a.com"
    assert run("request", "POST", CHECK, "@-", stdin=body).out == ask("request", "POST", CHECK, body).out
    assert body in run("sign", "POST", CHECK, "--data", "@-", stdin=body).out
    plain = ask("request", "GET", "/v3/balance", "--json").out
    assert plain.startswith('[{"client-id":"1001",')
    assert plain.endswith("}]")
    head, _, text = ask("request", "GET", "/v3/balance", "-i", "--json").out.partition("\n\n")
    assert head.startswith("HTTP/1.1 200 OK\n")
    assert "x-sandbox-world: default" in head
    assert text == plain


def test_a_broken_connection_is_reported_after_the_partial_response(ask: Ask, sandbox: Sandbox) -> None:
    for kind in ("reset", "close", "truncate", "garbage"):
        with sandbox.faults.add(kind, match={"operation": "v3.balance"}):
            done = ask("request", "GET", "/v3/balance", "--json")
        assert (done.status, done.err.count("\n")) == (3, 1)
        assert ("the connection broke after" if kind == "truncate" else "no response from") in done.err
        assert ('[{"client-id"' in done.out) == (kind == "truncate")


def test_a_signed_curl_command_works_for_any_account_of_any_world(
    ask: Ask, sandbox: Sandbox, server: Any
) -> None:
    curl, tls = program("curl"), ("--url", server.tls_url, "--ca", str(server.authority))
    assert ask("request", "GET", "/v3/balance", *tls).status == 0
    assert ask("request", "GET", "/v3/balance", *tls[:2]).status == 3
    with sandbox.fork(name="mine"):
        for more in ((), ("--account", "1001", "--world", "mine"), tls):
            line = ask("sign", "--curl", "GET", "/v3/balance", *more).out
            assert (f"--cacert {server.authority}" in line) is (more == tls)
            words = line.strip().replace("curl ", f"{curl} -s ", 1)
            done = subprocess.run(["bash", "-c", words], capture_output=True, text=True, check=True)
            assert json.loads(done.stdout)[0]["balance"]
    line = ask("sign", "--curl", "GET", "/v3/domains/getDomain/a b").out
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["error"] == "invalid_name"


def test_the_sign_command_reads_the_fixture_if_no_server_answers(ask: Ask) -> None:
    away = ("sign", "GET", "/v3/balance", "--port", "1")
    assert "sandbox-key" in ask(*away).out
    assert "sandbox-key" in ask("sign", "GET", "/v3/balance", "--fixture", "default").out
    assert ask(*away, "--world", "mine").status == 3
    wrong = ask(*away, "--account", "nobody")
    assert (wrong.status, "The accounts are: main" in wrong.err) == (2, True)


def test_commands_know_the_header_prefix_of_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """A prefix that the user types takes precedence, and one from the environment does not."""
    with Sandbox(REGISTRY, header_prefix="X-REG-").serve() as server:
        words = ("GET", "/v3/balance", "--url", server.url)
        for prefix in ("", "X-ENV-"):
            monkeypatch.setenv("RESELLER_SANDBOX_HEADER_PREFIX", prefix)
            assert run("request", *words).status == 0
            assert "X-REG-SIGNATURE" in run("sign", *words).out
        assert "X-ENV-SIGNATURE" in run("sign", "GET", "/v3/balance", "--port", "1").out
        assert run("request", *words, "--header-prefix", "X-SVC-").status == 1


def test_commands_need_the_control_token_of_a_server() -> None:
    with Sandbox(REGISTRY, control_token="a-token").serve() as server:
        words = ["request", "GET", "/v3/balance", "--url", server.url]
        refused = run(*words)
        assert (refused.status, refused.out) == (1, "")
        assert "X-Sandbox-Token" in refused.err
        assert "--control-token" in refused.err
        assert run(*words, "--control-token", "a-token").status == 0
        assert run("wait", "--url", server.url).out == f"{server.url}\n"


def test_the_server_url_comes_from_an_option_or_an_environment_variable(
    ask: Ask, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--port takes precedence over the environment variable. --port and --url cannot be combined."""
    assert ask("wait").out == f"{url}\n"
    monkeypatch.setenv("RESELLER_SANDBOX_URL", f" {url}/\r")  # from a file with Windows line ends
    monkeypatch.setenv("RESELLER_SANDBOX_WORLD", "default\r")
    assert ask("clock", "show").status == 0
    monkeypatch.setenv("RESELLER_SANDBOX_URL", "http://127.0.0.1:1")
    port = url.rpartition(":")[2]
    assert ask("clock", "show").status == 3
    assert ask("clock", "show", "--port", port).status == 0
    elsewhere = ask("clock", "show", "--url", f"{url}/foo")  # a proxy can add a prefix, and here is none
    assert (elsewhere.status, elsewhere.out, elsewhere.err.count("\n")) == (1, "", 1)
    for beyond in ("?world=w1", "#journal"):
        done = ask("clock", "show", "--url", f"{url}{beyond}")
        assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
        assert beyond in done.err
    both = ask("clock", "show", "--port", port, "--url", url)
    assert (both.status, "--url and --port" in both.err) == (2, True)


@given(st.sampled_from(" *{}<>\"\\^`|$!;,&='()~+"), st.sampled_from(("{}:1", "a{}", "a{}b.test", "[::1]{}")))
def test_a_server_url_with_an_invalid_host_is_refused_in_one_line(mark: str, host: str) -> None:
    url = f"http://{host.replace('{}', mark)}"
    for words in (("clock", "show", "--url", url), ("serve", "--certfile", "/no", "--public-url", url)):
        done = run(*words)
        assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
        assert "must be a URL with a valid host and port, not" in done.err


def test_the_wait_command_ends_after_its_timeout(ask: Ask, tmp_path: Path) -> None:
    """A broken ready file counts as missing, for the server may still write it."""
    for content in (None, "", "{}", "[1]", '{"url": 3}', "\x00"):
        if content is not None:
            (tmp_path / "ready.json").write_text(content)
        done = ask("wait", "--ready-file", "ready.json", "--timeout", "0.01")
        assert (done.status, done.out, done.err.count("\n")) == (3, "", 1)
        assert "waited for 0.01 s." in done.err
    assert "waited for 1 s." in ask("wait", "--ready-file", "ready.json", "--timeout", "1s").err
    done = ask("wait", "--timeout", "soon")
    assert (done.status, "soon must be a duration" in done.err) == (2, True), done.err


def test_a_request_with_invalid_arguments_is_refused(ask: Ask) -> None:
    """A shell passes bytes that are not UTF-8 as lone surrogates."""
    for words, message in (
        (("request", "G ET", "/v3/balance"), "'G ET' is not a method such as GET"),
        (("request", "", "/v3/balance"), "'' is not a method such as GET"),
        (("sign", "G\tT", "/v3/balance"), r"'G\tT' is not a method such as GET"),
        (("request", "GET", "/v3/\udcff"), r"'/v3/\udcff' is not UTF-8"),
        (("request", "POST", CHECK, "\udcff"), r"'\udcff' is not UTF-8"),
        (("sign", "POST", CHECK, "--data", "\udcff"), r"'\udcff' is not UTF-8"),
        (("names", "list", "--world", "\udcff"), "world contains a lone surrogate"),
    ):
        done = ask(*words)
        assert done.status == 2
        assert message in done.err
        assert "Traceback" not in done.err
