"""``serve --tls``: a certificate that is made on the spot, and the clients that trust it."""

from __future__ import annotations

import json
import os
import shutil
import socket
import ssl
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import requests
from click.testing import CliRunner

from reseller_sandbox import BadSetting, Sandbox, connect
from reseller_sandbox.assembly import assemble, open_worlds, tls_of
from reseller_sandbox.banner import banner
from reseller_sandbox.cli import main
from reseller_sandbox.remote import Unreachable
from reseller_sandbox.server.authority import (
    ALWAYS,
    AUTHORITY,
    AUTHORITY_KEY,
    CERTIFICATE,
    VARIABLES,
    Tls,
    certificate_of,
)
from reseller_sandbox.server.server import Server
from reseller_sandbox.server.tls import BadCertificate
from reseller_sandbox.settings import ServerSettings
from reseller_sandbox.v3.signing import signed_headers
from tests.outfit import program

NAME = "api.example.com"


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    """A sandbox."""
    return Sandbox()


@pytest.fixture(scope="module")
def server(sandbox: Sandbox) -> Iterator[Server]:
    """The same on both ports, with a certificate for a name of somebody's."""
    with sandbox.serve(tls=True, tls_names=[NAME]) as server:
        yield server


@pytest.fixture(autouse=True)
def untold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has been told to trust anything."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def ran(server: Server, *command: str, trusting: bool = True) -> str:
    """What a program prints that is told whom to trust as the banner says."""
    told = dict.fromkeys(VARIABLES, str(server.authority)) if trusting else {}
    done = subprocess.run(
        command, env=os.environ | told, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
class TestClients:
    """Each trusts it when it is told so in its own way, and reaches the same world."""

    def test_curl(self, server: Server) -> None:
        """By the variable."""
        assert json.loads(ran(server, program("curl"), "-sS", f"{server.tls_url}/_sandbox/health"))["now"]

    def test_the_commands_of_the_banner(self, sandbox: Sandbox, server: Server) -> None:
        """They work as they stand, with nothing in the environment."""
        program("curl")
        lines = banner(sandbox.world, server, "default", "X-SVC-").splitlines()
        assert lines[0] == f"reseller-sandbox on {server.tls_url} and {server.url}"
        commands = [line for line in lines if line.startswith("    curl ")]
        assert len(commands) == 2
        for command in commands:
            assert f"--cacert {server.authority}" in command
            answer = json.loads(ran(server, program("bash"), "-c", command, trusting=False))
            assert "error" not in answer

    @pytest.mark.parametrize("variable", VARIABLES)
    def test_the_banner_exports_what_they_read(self, sandbox: Sandbox, server: Server, variable: str) -> None:
        """Line by line, to be pasted."""
        told = banner(sandbox.world, server, "default", "X-SVC-")
        assert f"    export {variable}={server.authority}\n" in told

    def test_httpx(self, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        """By ``SSL_CERT_FILE``."""
        monkeypatch.setenv("SSL_CERT_FILE", str(server.authority))
        assert httpx.get(f"{server.tls_url}/_sandbox/health").status_code == 200

    def test_requests(self, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        """By ``REQUESTS_CA_BUNDLE``."""
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(server.authority))
        assert requests.get(f"{server.tls_url}/_sandbox/health", timeout=240).status_code == 200

    def test_node(self, server: Server) -> None:
        """By ``NODE_EXTRA_CA_CERTS``."""
        script = (
            f"require('https').get('{server.tls_url}/_sandbox/health',"
            "a => console.log(a.resume().statusCode))"
            ".on('error', e => { console.error(e); process.exit(1); })"
        )
        assert ran(server, program("node"), "-e", script) == "200\n"

    def test_php(self, server: Server) -> None:
        """By the settings that the banner names; with its curl, and with its streams."""
        php = program("php")
        if "curl" not in ran(server, php, "-m").split():
            pytest.skip("PHP has no curl here")
        told = [f"-d{name}={server.authority}" for name in ("curl.cainfo", "openssl.cafile")]
        script = (
            f"$c = curl_init('{server.tls_url}/_sandbox/health');"
            "curl_setopt($c, CURLOPT_RETURNTRANSFER, true); $a = curl_exec($c);"
            "if ($a === false) { fwrite(STDERR, curl_error($c)); exit(1); }"
            f"echo $a, \"\\n\", file_get_contents('{server.tls_url}/_sandbox/health');"
        )
        first, second = ran(server, php, *told, "-r", script).splitlines()
        assert json.loads(first)["status"] == json.loads(second)["status"] == "ok"

    def test_java_imports_it(self, server: Server, tmp_path: Path) -> None:
        """By the command that the banner names."""
        command = (
            f"-importcert -noprompt -file {server.authority} -alias reseller-sandbox -storepass changeit"
        )
        ran(server, program("keytool"), *command.split(), "-keystore", str(tmp_path / "trust.p12"))

    def test_no_one_else_trusts_it(self, server: Server) -> None:
        """It is not in anybody's list."""
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            httpx.get(f"{server.tls_url}/_sandbox/health")


class TestConnect:
    """A remote sandbox over TLS."""

    def test_an_authority_is_told(self, server: Server) -> None:
        """By its file; forks of it trust it too."""
        there = connect(server.tls_url, authority=server.authority)
        with there.fork() as fork:
            assert fork.clock.show().frozen
        there.close()

    @pytest.mark.parametrize(
        "variable", ["RESELLER_SANDBOX_CA", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"]
    )
    def test_or_the_environment_names_it(
        self, server: Server, monkeypatch: pytest.MonkeyPatch, variable: str
    ) -> None:
        """As it does for other programs."""
        monkeypatch.setenv(variable, str(server.authority))
        assert connect(server.tls_url).health.show().status == "ok"
        done = CliRunner().invoke(main, ["health", "show", "--json", "--url", server.tls_url])
        assert json.loads(done.stdout)["status"] == "ok"

    def test_what_happens_can_be_followed(self, sandbox: Sandbox, server: Server) -> None:
        """A stream ends when it is closed, as without TLS."""
        there = connect(server.tls_url, authority=server.authority)
        with there.journal.follow() as followed:
            sandbox.client().get("/v3/balance")
            assert next(followed).operation == "v3.balance"

    def test_without_one_it_says_what_to_do(self, server: Server) -> None:
        """In one line."""
        with pytest.raises(Unreachable, match=r"not trusted.*RESELLER_SANDBOX_CA names the file"):
            connect(server.tls_url).health.show()

    def test_the_wrong_scheme_is_told_either_way(self, server: Server) -> None:
        """The two ports are easily mixed up."""
        with pytest.raises(Unreachable, match="use http:// in place of https://"):
            connect(f"https://127.0.0.1:{server.port}").health.show()
        done = CliRunner().invoke(main, ["health", "show", "--url", f"http://127.0.0.1:{server.tls_port}"])
        assert done.exit_code in (1, 3)
        assert "use https:// in place of http://" in done.stderr

    @pytest.mark.parametrize("content", [None, b"no certificate"])
    def test_a_file_that_is_of_no_use_is_refused(self, tmp_path: Path, content: bytes | None) -> None:
        """With its name, before anything is asked."""
        if content is not None:
            (tmp_path / "ca.pem").write_bytes(content)
        with pytest.raises(BadSetting, match=r"authority: .*ca\.pem cannot be used"):
            connect("https://127.0.0.1:1", authority=str(tmp_path / "ca.pem"))


def test_both_ports_lead_to_one_registry(sandbox: Sandbox, server: Server) -> None:
    """What is done through one shows through the other."""
    trust = ssl.create_default_context(cafile=server.authority)
    with httpx.Client(verify=trust) as client:
        client.post(f"{server.tls_url}/_sandbox/snapshots", json={"name": "by-tls"})
    told = httpx.get(f"{server.url}/_sandbox/snapshots").json()["snapshots"]
    assert "by-tls" in [one["name"] for one in told]


@pytest.mark.parametrize("name", [*ALWAYS, NAME])
def test_a_signature_is_over_the_address_that_the_client_has(
    sandbox: Sandbox, server: Server, name: str
) -> None:
    """With https and the name that the certificate is for."""
    trust = ssl.create_default_context(cafile=server.authority)
    account = sandbox.account()
    host = f"[{name}]" if ":" in name else name
    url = f"https://{host}:{server.tls_port}/v3/balance"
    signed = signed_headers(account.key, account.secret, "X-SVC-", url, b"")
    with (
        socket.create_connection(("127.0.0.1", server.tls_port)) as sock,
        trust.wrap_socket(sock, server_hostname=name) as over,
    ):
        lines = ["GET /v3/balance HTTP/1.1", f"Host: {host}:{server.tls_port}"]
        lines += [f"{one}: {value}" for one, value in signed.items()]
        over.sendall("\r\n".join([*lines, "", ""]).encode())
        answer = over.recv(65536)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"x-sandbox-signature: v3.signature.endpoint=url" in answer


def test_control_answers_to_the_names_of_the_certificate() -> None:
    """They are the server's own, by TLS and without; a page from elsewhere has another."""
    settings = ServerSettings(tls_names=[NAME])
    app = assemble(open_worlds(settings, frozen=True), settings)
    status = {
        host: app.test_client().get("/_sandbox/health", headers={"Host": host}).status_code
        for host in (f"{NAME}:8054", "elsewhere.example.com")
    }
    assert status == {f"{NAME}:8054": 200, "elsewhere.example.com": 403}


class TestFiles:
    """Where the certificate is, and who may read it."""

    def test_it_ends_with_the_server(self) -> None:
        """Its folder is nobody else's, and holds no key of the authority."""
        with certificate_of(Tls()) as made:
            assert made.authority is not None
            folder = Path(made.authority).parent
            assert sorted(one.name for one in folder.iterdir()) == [AUTHORITY, CERTIFICATE]
            if os.name == "posix":
                assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert not folder.exists()

    def test_a_folder_keeps_the_authority(self, tmp_path: Path) -> None:
        """Clients that trust it trust what it signs the next time, for other names; its key is private."""
        folder = tmp_path / "made" / "here"
        with certificate_of(Tls(folder=str(folder))) as made:
            first = Path(str(made.authority)).read_bytes()
        with certificate_of(Tls(folder=str(folder), names=[NAME])) as made:
            assert Path(str(made.authority)).read_bytes() == first
        if os.name == "posix":
            for name in (AUTHORITY_KEY, CERTIFICATE):
                assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600

    @pytest.mark.parametrize(
        ("spoil", "words"),
        [
            (lambda folder: (folder / AUTHORITY).write_text("text"), "is no certificate with its key"),
            (lambda folder: (folder / AUTHORITY_KEY).unlink(), "alone: remove it"),
            (lambda folder: (folder / AUTHORITY).unlink(), "alone: remove it"),
            (lambda folder: shutil.rmtree(folder) or folder.write_text(""), "File exists"),
        ],
    )
    def test_a_folder_of_no_use_is_refused(self, tmp_path: Path, spoil: Any, words: str) -> None:
        """In one line, before anything listens."""
        folder = tmp_path / "tls"
        with certificate_of(Tls(folder=str(folder))):
            pass
        spoil(folder)
        done = CliRunner().invoke(main, ["serve", "--port", "0", "--tls-folder", str(folder)])
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert words in done.stderr

    def test_another_authoritys_key_is_refused(self, tmp_path: Path) -> None:
        """It would sign what nobody trusts."""
        for name in ("one", "two"):
            with certificate_of(Tls(folder=str(tmp_path / name))):
                pass
        shutil.copy(tmp_path / "two" / AUTHORITY_KEY, tmp_path / "one" / AUTHORITY_KEY)
        with (
            pytest.raises(BadCertificate, match="is no certificate with its key"),
            certificate_of(Tls(folder=str(tmp_path / "one"))),
        ):
            pass


def test_without_the_extra_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what would do without."""
    monkeypatch.setitem(sys.modules, "trustme", None)
    done = CliRunner().invoke(main, ["serve", "--port", "0", "--tls"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert 'pip install "reseller-sandbox[tls]"' in done.stderr
    assert "--certfile" in done.stderr


@pytest.mark.parametrize(
    ("told", "ports"),
    [
        ({"tls": True}, (8053, 8054)),
        ({"tls": True, "port": 9000}, (9000, 9001)),
        ({"tls": True, "port": 0}, (0, 0)),
        ({"tls_port": 8443}, (8053, 8443)),
        ({"tls_names": ["a.example"]}, (8053, 8054)),
        ({"tls_folder": "here"}, (8053, 8054)),
        ({"certfile": "a.pem"}, (8053, None)),
        ({"certfile": "a.pem", "tls": True}, (8053, 8054)),
        ({"tls_port": 8443, "tls": False}, None),
        ({}, None),
    ],
)
def test_which_ports_there_are(told: Any, ports: Any) -> None:
    """HTTPS has the port after that of HTTP unless it is told; with one's own certificate, the only one."""
    settings = ServerSettings(**told)
    tls = tls_of(settings)
    assert (None if tls is None else (settings.port, tls.port)) == ports


def test_nothing_of_it_is_loaded_before_it_is_wanted() -> None:
    """Neither trustme nor ssl with the server."""
    script = (
        "import sys; from reseller_sandbox import Sandbox; Sandbox(); "
        "import reseller_sandbox.serving; print([n for n in ('trustme', 'cryptography') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
