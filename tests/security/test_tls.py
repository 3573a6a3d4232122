"""TLS with a certificate of the user: it is served, or refused at the start."""

from __future__ import annotations

from http.client import HTTPSConnection
from pathlib import Path
from ssl import create_default_context

import trustme

from tests.security.conftest import refusal, serving


def test_a_certificate_is_served_with_its_key_and_refused_otherwise(tmp_path: Path, subtests) -> None:
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
