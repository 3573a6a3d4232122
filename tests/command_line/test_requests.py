"""``request`` and ``sign``: as any account of any world of a running server."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from reseller_sandbox import Sandbox
from reseller_sandbox.cli import main
from reseller_sandbox.server.server import Server
from tests.outfit import program
from tests.registry import REGISTRY

CHECK = "/v3/domains/checkAvailability"


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    """The tests' registry."""
    return Sandbox(REGISTRY)


@pytest.fixture(scope="module")
def server(sandbox: Sandbox) -> Iterator[Server]:
    """A server for it, on both ports."""
    with sandbox.serve(tls=True) as server:
        yield server


@pytest.fixture
def ask(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Runs a command in an empty folder, where the environment names the server."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RESELLER_SANDBOX_PORT", str(server.port))

    def ran(*words: str, **more: Any) -> Result:
        return CliRunner().invoke(main, list(words), **more)

    return ran


class TestRequest:
    """It signs, sends and prints."""

    def test_v3_is_signed(self, ask: Any) -> None:
        """For main, or another account; the answer is set in lines."""
        done = ask("request", "get", "/v3/balance")
        assert done.exit_code == 0
        assert '\n    "client-id": "1001",\n' in done.stdout
        (other,) = json.loads(ask("request", "GET", "v3/balance", "--account", "other").stdout)
        assert other["client-id"] == "1002"

    def test_v2_has_its_token(self, ask: Any, sandbox: Sandbox) -> None:
        """In the header that the world takes it from."""
        assert json.loads(ask("request", "GET", "/V2.0/domain/zones").stdout)["status"]
        sandbox.assumptions.set({"v2.token_headers": ["X-Other"]})
        try:
            assert json.loads(ask("request", "GET", "/v2.0/domain/zones", "--account", "1001").stdout)[
                "status"
            ]
        finally:
            sandbox.assumptions.set({"v2.token_headers": ["X-Auth-Token"]})

    def test_control_needs_nothing(self, ask: Any) -> None:
        """It is asked as it is."""
        assert json.loads(ask("request", "GET", "/_sandbox/health").stdout)["status"] == "ok"

    @pytest.mark.parametrize(
        "name", ["бібліотека.укр", "%D0%B1%D1%96%D0%B1.укр", "a b.com", "a\r\nX-Y: z.com"]
    )
    def test_a_path_has_any_letters(self, ask: Any, sandbox: Sandbox, name: str) -> None:
        """What a request line cannot hold is percent-encoded; what is so already stays."""
        done = ask("request", "GET", f"/v3/domains/getDomain/{name}")
        assert (done.exit_code, done.stderr) == (1, "")
        assert json.loads(done.stdout)["error"] in ("domain_not_found", "invalid_name")
        latest = sandbox.journal.find().requests[-1]
        assert latest.operation == "v3.getDomain"
        assert latest.account == "main"

    def test_a_path_may_be_a_url_of_the_server(self, ask: Any, server: Server) -> None:
        """As ``sign`` takes it."""
        url = f"http://127.0.0.1:{server.port}"
        assert ask("request", "GET", f"{url}/v3/balance").exit_code == 0

    def test_a_body_is_sent_as_it_stands(self, ask: Any, tmp_path: Path) -> None:
        """As a word, or from a file."""
        body = '{"domainNames": ["a.com"]}'
        (tmp_path / "body.json").write_text(body)
        for told in (body, "@body.json"):
            (found,) = json.loads(ask("request", "POST", CHECK, told).stdout)["results"]
            assert found["domainName"] == "a.com"

    def test_json_is_what_came(self, ask: Any) -> None:
        """Byte for byte; with -i after the head."""
        plain = ask("request", "GET", "/v3/balance", "--json").stdout
        assert plain.startswith('[{"client-id":"1001",')
        assert plain.endswith("}]")
        whole = ask("request", "GET", "/v3/balance", "-i", "--json").stdout
        head, _, body = whole.partition("\n\n")
        assert head.startswith("HTTP/1.1 200 OK\n")
        assert "x-sandbox-world: default" in head
        assert json.loads(body) == json.loads(plain)

    def test_a_refusal_is_printed_and_ends_with_1(self, ask: Any) -> None:
        """So that scripts see it."""
        done = ask("request", "GET", "/v3/domains/getDomain/nobodys.com")
        assert (done.exit_code, json.loads(done.stdout)["error"]) == (1, "domain_not_found")

    def test_of_any_world(self, ask: Any, sandbox: Sandbox) -> None:
        """The credentials of its account choose it."""
        with sandbox.fork(name="mine") as fork:
            ask("request", "GET", "/v3/balance", "--world", "mine")
            assert [one.account for one in fork.journal.find().requests] == ["main"]
            gone = ask("request", "GET", "/v3/balance", "--world", "thine")
        assert gone.exit_code == 1
        assert "thine" in gone.stderr

    def test_an_account_that_is_not_there_is_told(self, ask: Any) -> None:
        """With those that are."""
        done = ask("request", "GET", "/v3/balance", "--account", "mian")
        assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
        assert "main" in done.stderr

    @pytest.mark.parametrize(
        ("kind", "status", "told"),
        [
            ("reset", 3, "no answer came"),
            ("close", 3, "no answer came"),
            ("truncate", 3, "it broke off after"),
            ("garbage", 3, "no answer came"),
        ],
    )
    def test_a_connection_that_breaks_is_told(
        self, ask: Any, sandbox: Sandbox, kind: str, status: int, told: str
    ) -> None:
        """In one line, after what did come of it."""
        sandbox.faults.add(kind, match={"operation": "v3.balance"})
        try:
            done = ask("request", "GET", "/v3/balance", "--json")
        finally:
            sandbox.faults.clear()
        assert (done.exit_code, done.stderr.count("\n")) == (status, 1)
        assert told in done.stderr
        assert ('[{"client-id"' in done.stdout) == (kind == "truncate")

    def test_over_tls(self, ask: Any, server: Server) -> None:
        """It signs the https address, and trusts what it is told to trust."""
        done = ask("request", "GET", "/v3/balance", "--url", server.tls_url, "--ca", str(server.authority))
        assert done.exit_code == 0
        assert ask("request", "GET", "/v3/balance", "--url", server.tls_url).exit_code == 3


class TestSign:
    """It prints what curl needs."""

    @pytest.mark.parametrize("account", ["main", "other", "1001"])
    @pytest.mark.parametrize("forked", [False, True])
    def test_for_any_account_of_any_world(
        self, ask: Any, sandbox: Sandbox, account: str, forked: bool
    ) -> None:
        """The command works as it stands."""
        curl = program("curl")
        with sandbox.fork(name="mine"):
            world = ["--world", "mine"] if forked else []
            told = ask("sign", "--curl", "GET", "/v3/balance", "--account", account, *world).stdout
            words = told.strip().replace("curl ", f"{curl} -s ", 1)
            answer = subprocess.run(["bash", "-c", words], capture_output=True, text=True, check=True).stdout
        assert json.loads(answer)[0]["balance"]

    def test_over_tls_the_command_trusts_the_authority(self, ask: Any, server: Server) -> None:
        """As it was told to, itself."""
        program("curl")
        told = ask(
            "sign", "GET", "/v3/balance", "--curl", "--url", server.tls_url, "--ca", str(server.authority)
        )
        assert f"--cacert {server.authority}" in told.stdout
        answer = subprocess.run(
            ["bash", "-c", told.stdout], capture_output=True, text=True, check=True
        ).stdout
        assert json.loads(answer)[0]["balance"]

    def test_without_a_server_the_fixture_tells(self, ask: Any) -> None:
        """And with --fixture in any case; a world is the server's alone."""
        away = ("sign", "GET", "/v3/balance", "--port", "1")
        assert "sandbox-key" in ask(*away).stdout
        assert "sandbox-key" in ask("sign", "GET", "/v3/balance", "--fixture", "default").stdout
        assert ask(*away, "--world", "mine").exit_code == 3
        wrong = ask(*away, "--account", "nobody")
        assert (wrong.exit_code, "it has main" in wrong.stderr) == (2, True)


def test_a_guarded_server_is_asked_with_its_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the control interface wants, and clients do not."""
    monkeypatch.chdir(tmp_path)
    with Sandbox(REGISTRY, control_token="a-token").serve() as server:
        asked = ["request", "GET", "/v3/balance", "--url", server.url]
        refused = CliRunner().invoke(main, asked)
        assert (refused.exit_code, refused.stdout) == (1, "")
        assert "X-Sandbox-Token" in refused.stderr
        assert "--control-token" in refused.stderr
        for words in (asked, ["request", "GET", "/_sandbox/clock", "--url", server.url]):
            assert CliRunner().invoke(main, [*words, "--control-token", "a-token"]).exit_code == 0
        assert CliRunner().invoke(main, ["wait", "--url", server.url]).stdout == f"{server.url}\n"


class TestWhere:
    """Which server a command is for."""

    def test_what_is_typed_comes_first(
        self, ask: Any, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A port before an address of the environment; the two typed together contradict each other."""
        monkeypatch.setenv("RESELLER_SANDBOX_URL", "http://127.0.0.1:1")
        assert ask("clock", "show").exit_code == 3
        assert ask("clock", "show", "--port", str(server.port)).exit_code == 0
        both = ask("clock", "show", "--port", str(server.port), "--url", server.url)
        assert (both.exit_code, both.stdout) == (2, "")
        assert "--url and --port" in both.stderr

    @pytest.mark.parametrize("beyond", ["/foo", "/_sandbox", "?world=w1", "#journal"])
    def test_an_address_that_goes_on_is_refused(self, ask: Any, server: Server, beyond: str) -> None:
        """It would not be asked there."""
        done = ask("clock", "show", "--url", f"http://127.0.0.1:{server.port}{beyond}")
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert repr(beyond) in done.stderr


class TestWait:
    """It ends when there is a server, or when it is late."""

    def test_until_one_answers(self, ask: Any, server: Server) -> None:
        """Whose address it prints."""
        assert ask("wait").stdout == f"{server.url.replace('localhost', '127.0.0.1')}\n"

    @pytest.mark.parametrize("content", [None, "", "{}", "[1]", '{"url": 3}', "\x00"])
    def test_not_for_ever(self, ask: Any, tmp_path: Path, content: str | None) -> None:
        """A file that is none is as good as none, for it may become one."""
        if content is not None:
            (tmp_path / "ready.json").write_text(content)
        done = ask("wait", "--ready-file", "ready.json", "--timeout", "0.1")
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (3, "", 1)
        assert "(waited for 0.1 s)" in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
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
    ],
)
def test_words_that_no_request_can_have_are_refused(ask: Any, words: tuple[str, ...], told: str) -> None:
    """A shell hands on bytes that are no text as halves of characters."""
    done = ask(*words)
    assert done.exit_code == 2
    assert told in done.stderr
    assert "Traceback" not in done.output
