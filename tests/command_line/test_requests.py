"""``request``, ``sign`` and ``wait``: as any account of any world of a running server."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.command import Done, run
from tests.outfit import program
from tests.registry import REGISTRY

CHECK = "/v3/domains/checkAvailability"
Ask = Callable[..., Done]


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    """The tests' registry."""
    return Sandbox(REGISTRY)


@pytest.fixture(scope="module")
def server(sandbox: Sandbox) -> Iterator[Any]:
    """A server for it, on both ports."""
    with sandbox.serve(tls=True) as server:
        yield server


@pytest.fixture
def ask(server: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Ask:
    """Runs a command in an empty folder, where the environment names the server."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RESELLER_SANDBOX_PORT", str(server.port))
    return run


def test_a_v3_request_is_signed_for_main_or_another_account(ask: Ask, server: Any) -> None:
    """The answer is indented. The path may be a URL of the server."""
    for path in ("/v3/balance", f"http://127.0.0.1:{server.port}/v3/balance"):
        done = ask("request", "get", path)
        assert done.status == 0
        assert '\n    "client-id": "1001",\n' in done.out
    (other,) = json.loads(ask("request", "GET", "v3/balance", "--account", "other").out)
    assert other["client-id"] == "1002"


def test_a_v2_request_has_its_token_in_the_header_of_the_world(ask: Ask, sandbox: Sandbox) -> None:
    assert json.loads(ask("request", "GET", "/V2.0/domain/zones").out)["status"]
    with sandbox.fork(name="odd", assume={"v2.token_headers": ["X-Other"]}):
        words = ("/v2.0/domain/zones", "--account", "1001", "--world", "odd")
        assert json.loads(ask("request", "GET", *words).out)["status"]


def test_a_control_request_needs_no_account(ask: Ask) -> None:
    assert json.loads(ask("request", "GET", "/_sandbox/health").out)["status"] == "ok"


def test_a_path_may_have_any_letters(ask: Ask, sandbox: Sandbox) -> None:
    for name in ("бібліотека.укр", "%D0%B1%D1%96%D0%B1.укр", "a b.com", "a\r\nX-Y: z.com"):
        done = ask("request", "GET", f"/v3/domains/getDomain/{name}")
        assert (done.status, done.err) == (1, "")
        assert json.loads(done.out)["error"] in ("domain_not_found", "invalid_name")
        latest = sandbox.journal.find().requests[-1]
        assert (latest.operation, latest.account) == ("v3.getDomain", "main")


def test_a_body_is_a_word_or_a_file(ask: Ask, tmp_path: Path) -> None:
    body = '{"domainNames": ["a.com"]}'
    (tmp_path / "body.json").write_text(body)
    for told in (body, "@body.json"):
        (found,) = json.loads(ask("request", "POST", CHECK, told).out)["results"]
        assert found["domainName"] == "a.com"


def test_json_prints_the_answer_byte_for_byte(ask: Ask) -> None:
    """With -i after the head."""
    plain = ask("request", "GET", "/v3/balance", "--json").out
    assert plain.startswith('[{"client-id":"1001",')
    assert plain.endswith("}]")
    head, _, body = ask("request", "GET", "/v3/balance", "-i", "--json").out.partition("\n\n")
    assert head.startswith("HTTP/1.1 200 OK\n")
    assert "x-sandbox-world: default" in head
    assert json.loads(body) == json.loads(plain)


def test_the_credentials_of_a_world_choose_it(ask: Ask, sandbox: Sandbox) -> None:
    with sandbox.fork(name="mine") as fork:
        ask("request", "GET", "/v3/balance", "--world", "mine")
        assert [one.account for one in fork.journal.find().requests] == ["main"]
        gone = ask("request", "GET", "/v3/balance", "--world", "thine")
    assert (gone.status, "thine" in gone.err) == (1, True)


def test_an_unknown_account_is_refused_with_those_that_exist(ask: Ask) -> None:
    done = ask("request", "GET", "/v3/balance", "--account", "mian")
    assert (done.status, done.err.count("\n")) == (1, 1)
    assert "main" in done.err


def test_a_broken_connection_is_reported_in_one_line_after_the_answer_so_far(
    ask: Ask, sandbox: Sandbox
) -> None:
    for kind in ("reset", "close", "truncate", "garbage"):
        with sandbox.faults.add(kind, match={"operation": "v3.balance"}):
            done = ask("request", "GET", "/v3/balance", "--json")
        assert (done.status, done.err.count("\n")) == (3, 1)
        assert ("it broke off after" if kind == "truncate" else "no answer came") in done.err
        assert ('[{"client-id"' in done.out) == (kind == "truncate")


def test_over_tls_the_authority_is_needed(ask: Ask, server: Any) -> None:
    words = ("request", "GET", "/v3/balance", "--url", server.tls_url)
    assert ask(*words, "--ca", str(server.authority)).status == 0
    assert ask(*words).status == 3


def test_a_signed_curl_command_works_for_any_account_of_any_world(
    ask: Ask, sandbox: Sandbox, server: Any
) -> None:
    """Over TLS it names the authority."""
    curl, tls = program("curl"), ("--url", server.tls_url, "--ca", str(server.authority))
    with sandbox.fork(name="mine"):
        for more in ((), ("--account", "other"), ("--account", "1001", "--world", "mine"), tls):
            told = ask("sign", "--curl", "GET", "/v3/balance", *more).out
            assert (f"--cacert {server.authority}" in told) is (more == tls)
            words = told.strip().replace("curl ", f"{curl} -s ", 1)
            done = subprocess.run(["bash", "-c", words], capture_output=True, text=True, check=True)
            assert json.loads(done.stdout)[0]["balance"]


def test_without_a_server_sign_reads_the_fixture(ask: Ask) -> None:
    """With --fixture in any case; a world is the server's alone."""
    away = ("sign", "GET", "/v3/balance", "--port", "1")
    assert "sandbox-key" in ask(*away).out
    assert "sandbox-key" in ask("sign", "GET", "/v3/balance", "--fixture", "default").out
    assert ask(*away, "--world", "mine").status == 3
    wrong = ask(*away, "--account", "nobody")
    assert (wrong.status, "it has main" in wrong.err) == (2, True)


def test_a_guarded_server_wants_its_token_of_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Sandbox(REGISTRY, control_token="a-token").serve() as server:
        asked = ["request", "GET", "/v3/balance", "--url", server.url]
        refused = run(*asked)
        assert (refused.status, refused.out) == (1, "")
        assert "X-Sandbox-Token" in refused.err
        assert "--control-token" in refused.err
        for words in (asked, ["request", "GET", "/_sandbox/clock", "--url", server.url]):
            assert run(*words, "--control-token", "a-token").status == 0
        assert run("wait", "--url", server.url).out == f"{server.url}\n"


def test_an_option_goes_before_the_environment(
    ask: Ask, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A port goes before the address of a variable; both as options contradict each other."""
    assert ask("wait").out == f"{server.url.replace('localhost', '127.0.0.1')}\n"
    monkeypatch.setenv("RESELLER_SANDBOX_URL", "http://127.0.0.1:1")
    assert ask("clock", "show").status == 3
    assert ask("clock", "show", "--port", str(server.port)).status == 0
    both = ask("clock", "show", "--port", str(server.port), "--url", server.url)
    assert (both.status, both.out) == (2, "")
    assert "--url and --port" in both.err


def test_an_address_with_a_path_is_refused(ask: Ask, server: Any) -> None:
    for beyond in ("/foo", "/_sandbox", "?world=w1", "#journal"):
        done = ask("clock", "show", "--url", f"http://127.0.0.1:{server.port}{beyond}")
        assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
        assert repr(beyond) in done.err


def test_waiting_ends_after_the_timeout(ask: Ask, tmp_path: Path) -> None:
    """A broken ready file counts as none, for the server may still write it."""
    for content in (None, "", "{}", "[1]", '{"url": 3}', "\x00"):
        if content is not None:
            (tmp_path / "ready.json").write_text(content)
        done = ask("wait", "--ready-file", "ready.json", "--timeout", "0.1")
        assert (done.status, done.out, done.err.count("\n")) == (3, "", 1)
        assert "(waited for 0.1 s)" in done.err


def test_words_that_no_request_can_have_are_refused(ask: Ask) -> None:
    """A shell passes bytes that are no text as halves of characters."""
    for words, told in (
        (("request", "G ET", "/v3/balance"), "'G ET' is not a method such as GET"),
        (("request", "GÉT", "/v3/balance"), "'GÉT' is not a method such as GET"),
        (("request", "", "/v3/balance"), "'' is not a method such as GET"),
        (("sign", "G\tT", "/v3/balance"), r"'G\tT' is not a method such as GET"),
        (("request", "GET", "/v3/\udcff"), r"'/v3/\udcff' is not UTF-8"),
        (("sign", "GET", "/v3/\udcff"), r"'/v3/\udcff' is not UTF-8"),
        (("request", "POST", CHECK, "\udcff"), r"'\udcff' is not UTF-8"),
        (("sign", "POST", CHECK, "--data", "\udcff"), r"'\udcff' is not UTF-8"),
        (("request", "GET", "/v3/balance", "--world", "\udcff"), "world holds half a character"),
        (("names", "list", "--world", "\udcff"), "world holds half a character"),
    ):
        done = ask(*words)
        assert done.status == 2
        assert told in done.err
        assert "Traceback" not in done.err
