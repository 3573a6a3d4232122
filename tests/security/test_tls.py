"""TLS: certificates of the user, and the authority of ``serve --tls`` that clients trust."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import ssl
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPSConnection
from pathlib import Path
from ssl import create_default_context

import httpx
import pytest
import requests
import trustme

from reseller_sandbox import BadSetting, Sandbox, connect
from tests.clients import signature
from tests.command import free_ports, printed, program, run
from tests.security.conftest import refusal, serving

NAME = "api.example.com"

#: Variables by which programs find the authority.
VARIABLES = (
    *("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
    "RESELLER_SANDBOX_CA",
)


@dataclass
class Served:
    """A server with TLS, and the text that it prints at its start."""

    text: str

    def __post_init__(self) -> None:
        self.tls_url, self.url = re.findall(r"(https?://[^\s]+)", self.text.splitlines()[0])
        self.authority = re.findall(r"export SSL_CERT_FILE=(\S+)", self.text)[0]

    @property
    def port(self) -> int:
        return int(self.tls_url.rpartition(":")[2])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the authority of the server stays."""
    return tmp_path_factory.mktemp("tls") / "made" / "here"


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    """A server whose certificate is for another name too."""
    port = str(free_ports(2))
    with serving("--port", port, "--tls-folder", str(folder), "--tls-name", NAME) as text:
        yield Served(text)


@pytest.fixture(autouse=True)
def _no_program_trusts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def output(served: Served, *words: str, trusting: bool = True) -> str:
    """The output of a program that has the variables of the banner."""
    env = os.environ | (dict.fromkeys(VARIABLES, served.authority) if trusting else {})
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
class TestPrograms:
    """Each program trusts the server if its own variable or option names the authority."""

    def test_curl_trusts_the_certificate_authority_in_banner_commands_too(self, served: Served) -> None:
        curl, bash = program("curl"), program("bash")
        assert json.loads(output(served, curl, "-sS", f"{served.tls_url}/_sandbox/health"))["now"]
        commands = [line for line in served.text.splitlines() if line.startswith("    curl ")]
        assert len(commands) == 2
        for line in commands:
            assert f"--cacert {served.authority}" in line
            assert "error" not in json.loads(output(served, bash, "-c", line, trusting=False))
        for variable in VARIABLES:
            assert f"    export {variable}={served.authority}\n" in served.text

    def test_node_trusts_the_certificate_authority(self, served: Served) -> None:
        script = (
            f"require('https').get('{served.tls_url}/_sandbox/health',"
            "a => console.log(a.resume().statusCode))"
            ".on('error', e => { console.error(e); process.exit(1); })"
        )
        assert output(served, program("node"), "-e", script) == "200\n"

    def test_php_trusts_the_certificate_authority(self, served: Served) -> None:
        php = program("php")
        if "curl" not in output(served, php, "-m").split():
            pytest.skip("PHP has no curl here")
        options = [f"-d{name}={served.authority}" for name in ("curl.cainfo", "openssl.cafile")]
        script = (
            f"$c = curl_init('{served.tls_url}/_sandbox/health');"
            "curl_setopt($c, CURLOPT_RETURNTRANSFER, true); $a = curl_exec($c);"
            "if ($a === false) { fwrite(STDERR, curl_error($c)); exit(1); }"
            f"echo $a, \"\\n\", file_get_contents('{served.tls_url}/_sandbox/health');"
        )
        first, second = output(served, php, *options, "-r", script).splitlines()
        assert json.loads(first)["status"] == json.loads(second)["status"] == "ok"


def test_python_clients_trust_only_the_given_certificate_authority(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    health = f"{served.tls_url}/_sandbox/health"
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.get(health)
    with pytest.raises(Exception, match=r"not trusted.*Set RESELLER_SANDBOX_CA"):
        connect(served.tls_url).health.show()
    monkeypatch.setenv("SSL_CERT_FILE", served.authority)
    assert httpx.get(health).status_code == 200
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", served.authority)
    assert requests.get(health, timeout=240).status_code == 200


def test_connect_trusts_a_certificate_authority_from_an_argument_or_the_environment(
    served: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, subtests
) -> None:
    there, plain = connect(served.tls_url, authority=served.authority), connect(served.url)
    with there.fork() as fork:
        assert fork.health.show().world in [world.name for world in plain.worlds.list().worlds]
    with there.journal.follow() as followed:
        plain.client().get("/v3/balance")
        assert next(followed).operation == "v3.balance"
    there.close()
    for variable in ("RESELLER_SANDBOX_CA", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        with subtests.test(variable), monkeypatch.context() as patch:
            patch.setenv(variable, served.authority)
            assert connect(served.tls_url).health.show().status == "ok"
            assert json.loads(printed("health", "show", "--json", "--url", served.tls_url))["status"] == "ok"
    file = tmp_path / "ca.pem"
    for _ in range(2):
        with pytest.raises(BadSetting, match=r"authority: .*ca\.pem cannot be used"):
            connect("https://127.0.0.1:1", authority=str(file))
        file.write_bytes(b"no certificate")


def test_a_server_url_with_the_wrong_scheme_is_reported_with_the_right_scheme(served: Served) -> None:
    with pytest.raises(Exception, match="Use http:// instead of https://"):
        connect(served.url.replace("http", "https")).health.show()
    done = run("health", "show", "--url", served.tls_url.replace("https", "http"))
    assert done.status in (1, 3)
    assert "use https:// in place of http://" in done.err


def test_a_signature_covers_the_url_used_by_the_client(served: Served, subtests) -> None:
    trust = ssl.create_default_context(cafile=served.authority)
    account = connect(served.url).accounts["main"]
    for name in ("localhost", "127.0.0.1", "::1", NAME):
        with subtests.test(name):
            host = f"[{name}]:{served.port}" if ":" in name else f"{name}:{served.port}"
            signed = signature(account.secret, account.key, f"https://{host}/v3/balance", b"")
            lines = ["GET /v3/balance HTTP/1.1", f"Host: {host}", f"X-SVC-APIKEY: {account.key}"]
            with (
                socket.create_connection(("127.0.0.1", served.port)) as sock,
                trust.wrap_socket(sock, server_hostname=name) as over,
            ):
                over.sendall("\r\n".join([*lines, f"X-SVC-SIGNATURE: {signed}", "", ""]).encode())
                answer = over.recv(65536)
            assert answer.startswith(b"HTTP/1.1 200 ")
            assert b"x-sandbox-signature: v3.signature.endpoint=url" in answer


def test_the_control_interface_accepts_the_host_names_in_the_certificate(served: Served) -> None:
    for host, status in ((f"{NAME}:8054", 200), ("elsewhere.example.com", 403)):
        health = f"{served.url}/_sandbox/health"
        assert httpx.get(health, headers={"Host": host}).status_code == status


def test_the_certificate_is_deleted_when_the_server_stops() -> None:
    with Sandbox().serve(tls=True) as server:
        folder = Path(str(server.authority)).parent
        assert sorted(file.name for file in folder.iterdir()) == ["authority.pem", "server.pem"]
        if os.name == "posix":
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not folder.exists()


def test_a_tls_folder_keeps_the_certificate_authority_between_starts(served: Served, folder: Path) -> None:
    assert served.port == int(served.url.rpartition(":")[2]) + 1, "the port after that of HTTP"
    first = Path(served.authority).read_bytes()
    words = ("--port", "0", "--tls-folder", str(folder))
    port = free_ports()
    with serving(*words, "--tls-port", str(port)) as text:
        again = Served(text)
        assert again.port == port
        assert Path(again.authority).read_bytes() == first
        assert connect(again.tls_url, authority=again.authority).health.show().status == "ok"
    authority, key = folder / "authority.pem", folder / "authority-key.pem"
    if os.name == "posix":
        for file in (key, folder / "server.pem"):
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
    kept = key.read_bytes()
    key.write_bytes(trustme.CA().private_key_pem.bytes())
    assert "is not a certificate with its key" in refusal("serve", *words), "the key of another authority"
    key.unlink()
    assert "has only" in refusal("serve", *words)
    key.write_bytes(kept)
    authority.write_text("text")
    assert "is not a certificate with its key" in refusal("serve", *words)
    authority.unlink()
    assert "has only" in refusal("serve", *words)
    shutil.rmtree(folder)
    folder.write_text("")
    assert "File exists" in refusal("serve", *words)
    folder.unlink()
    folder.mkdir()
    authority.write_bytes(first)
    key.write_bytes(kept)


def test_serve_with_tls_suggests_alternatives_if_trustme_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trustme", None)
    line = refusal("serve", "--port", "0", "--tls")
    assert "needs trustme: pip install 'trustme>=" in line
    assert "--certfile" in line


def test_a_certificate_file_without_its_matching_key_is_refused(tmp_path: Path, subtests) -> None:
    authority = trustme.CA()
    issued, another = authority.issue_cert("127.0.0.1"), authority.issue_cert("127.0.0.1")
    for name, content in {
        "cert": issued.cert_chain_pems[0].bytes(),
        "key": issued.private_key_pem.bytes(),
        "both": issued.private_key_and_cert_chain_pem.bytes(),
        "other": another.private_key_pem.bytes(),
        "text": b"no certificate\n",
    }.items():
        (tmp_path / name).write_bytes(content)

    def files(**options: str) -> list[str]:
        return [word for name, file in options.items() for word in (f"--{name}", str(tmp_path / file))]

    trust = create_default_context()
    authority.configure_trust(trust)
    with serving("--port", "0", "--quiet", *files(certfile="cert", keyfile="key")) as text:
        url = text.splitlines()[0].split()[-1]
        assert url.startswith("https://127.0.0.1:")
        client = HTTPSConnection(url.removeprefix("https://"), context=trust, timeout=60)
        client.request("GET", "/_sandbox/health")
        assert client.getresponse().status == 200
        client.close()
        port = url.rpartition(":")[2]
        assert "is in use" in refusal("serve", "--port", port, *files(certfile="both")), "only the port is"
    ports = ["--port", "8055", "--tls-port", "8055"]
    for options, complaint in (
        (files(certfile="missing"), "missing: No such file"),
        ([*ports, *files(certfile="cert", keyfile="key")], "HTTP and for HTTPS are the same: 8055"),
        (files(certfile="cert", keyfile="missing"), "missing: No such file"),
        (files(certfile="text"), "text is not a certificate with its key"),
        (files(certfile="cert"), "cert is not a certificate with its key"),
        (files(certfile="cert", keyfile="other"), "is not a certificate with its key"),
        (files(keyfile="key"), "without a certificate"),
    ):
        with subtests.test(options=options):
            assert complaint in refusal("serve", "--port", "0", *options)
