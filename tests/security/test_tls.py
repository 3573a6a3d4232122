"""TLS on the command line: served with a certificate, and refused at the start with anything else."""

from __future__ import annotations

import ssl
import subprocess
import sys
from http.client import HTTPSConnection
from pathlib import Path

import pytest
import trustme

from tests.security.conftest import refusal


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """Who signs the certificate."""
    return trustme.CA()


@pytest.fixture(scope="module")
def files(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A certificate, its key, both in one, another's key, and a text."""
    folder: Path = tmp_path_factory.mktemp("tls")
    issued, another = authority.issue_cert("127.0.0.1"), authority.issue_cert("127.0.0.1")
    contents = {
        "cert": issued.cert_chain_pems[0].bytes(),
        "key": issued.private_key_pem.bytes(),
        "both": issued.private_key_and_cert_chain_pem.bytes(),
        "other": another.private_key_pem.bytes(),
        "text": b"no certificate\n",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return {name: str(folder / name) for name in (*contents, "missing")}


@pytest.mark.parametrize("options", [("--certfile", "both"), ("--certfile", "cert", "--keyfile", "key")])
def test_it_is_served(authority: trustme.CA, files: dict[str, str], options: tuple[str, ...]) -> None:
    """With the key in the same file, or in its own."""
    told = [files.get(word, word) for word in options]
    command = [sys.executable, "-m", "reseller_sandbox", "serve", "--port", "0", "--quiet", *told]
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1]
        assert address.startswith("https://127.0.0.1:")
        client = HTTPSConnection(address.removeprefix("https://"), context=trust, timeout=60)
        client.request("GET", "/_sandbox/health")
        assert client.getresponse().status == 200
        client.close()
        server.terminate()
        assert server.wait(60) == 0


def test_what_cannot_be_served_with_is_refused(files: dict[str, str], subtests) -> None:
    """Before anything listens."""
    both_ports = ("--port", "8055", "--tls-port", "8055")
    for options, words in (
        (("--certfile", "missing"), "missing: No such file"),
        ((*both_ports, "--certfile", "cert", "--keyfile", "key"), "HTTP and for HTTPS are the same: 8055"),
        (("--certfile", "cert", "--keyfile", "missing"), "missing: No such file"),
        (("--certfile", "text"), "text is no certificate with its key"),
        (("--certfile", "cert"), "cert is no certificate with its key"),
        (("--certfile", "cert", "--keyfile", "other"), "is no certificate with its key"),
        (("--keyfile", "key"), "without a certificate"),
    ):
        with subtests.test(options=options):
            given = [files.get(word, word) for word in options]
            assert words in refusal("serve", "--port", "0", *given)
