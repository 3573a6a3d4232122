"""A certificate made on the spot, and the authority that has signed it, for clients to trust."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from msgspec import Struct

from reseller_sandbox.server.tls import BadCertificate, require_certificate

if TYPE_CHECKING:
    import trustme

#: What each certificate is for, whatever else it is for.
ALWAYS = ("localhost", "127.0.0.1", "::1")

#: The files: what clients trust, its key, and what the server has.
AUTHORITY, AUTHORITY_KEY, CERTIFICATE = "authority.pem", "authority-key.pem", "server.pem"

#: The variables by which programs are told what to trust, beside their own list or in its place.
VARIABLES = (
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "RESELLER_SANDBOX_CA",
)

_MISSING = (
    "a certificate is made by trustme, which is not installed: "
    'pip install "reseller-sandbox[tls]", or give one with --certfile'
)


class Tls(Struct, frozen=True):
    """What is wanted of TLS: its ``port`` where there is one beside that of plain HTTP, and a certificate.

    Without ``certfile`` one is made for ``names``. Its authority stays in ``folder``, and is used again the
    next time; without a folder it lasts as long as the server.
    """

    port: int | None = None
    certfile: str | None = None
    keyfile: str | None = None
    names: Sequence[str] = ()
    folder: str | None = None


class Certificate(Struct, frozen=True):
    """The files of a certificate and its key, and the one by which clients trust it, where that is known."""

    certfile: str | None = None
    keyfile: str | None = None
    authority: str | None = None


@contextmanager
def certificate_of(tls: Tls) -> Iterator[Certificate]:
    """Yield the certificate that is given or made; raise ``BadCertificate``."""
    require_certificate(tls.certfile, tls.keyfile)
    with ExitStack() as stack:
        if tls.certfile is not None:
            yield Certificate(tls.certfile, tls.keyfile)
            return
        folder = tls.folder
        if folder is None:  # nobody else may enter this one
            folder = stack.enter_context(TemporaryDirectory(prefix="reseller-sandbox-"))
        place = Path(folder).absolute()
        _make(place, tls.names, lasting=tls.folder is not None)
        yield Certificate(str(place / CERTIFICATE), authority=str(place / AUTHORITY))


def _make(place: Path, names: Sequence[str], *, lasting: bool) -> None:
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        authority = _authority(place)
        issued = authority.issue_cert(*dict.fromkeys((*ALWAYS, *names)))
        _write(place / CERTIFICATE, issued.private_key_and_cert_chain_pem.bytes(), secret=True)
        if lasting:
            _write(place / AUTHORITY_KEY, authority.private_key_pem.bytes(), secret=True)
        _write(place / AUTHORITY, authority.cert_pem.bytes())
    except OSError as error:
        raise BadCertificate(
            f"no certificate can be made: {error.filename or place}: {error.strerror}"
        ) from None


def _authority(place: Path) -> trustme.CA:
    """Return the authority that ``place`` has, or a new one."""
    try:
        import trustme
    except ImportError:
        raise BadCertificate(_MISSING) from None
    files = place / AUTHORITY, place / AUTHORITY_KEY
    there = [file for file in files if file.exists()]
    if not there:
        return trustme.CA(organization_name="reseller-sandbox")
    if len(there) == 1:
        raise BadCertificate(f"{place} has {there[0].name} alone: remove it, and both are made anew")
    require_certificate(*map(str, files))
    return trustme.CA.from_pem(*(file.read_bytes() for file in files))


def _write(file: Path, content: bytes, *, secret: bool = False) -> None:
    """Write a file that is whole whenever somebody reads it; a ``secret`` one is for its owner alone."""
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if secret else 0o644), "wb") as new:
        new.write(content)
    draft.replace(file)
