"""TLS: the certificate of the server, its authority, and an answer for clients that speak plain HTTP."""

from __future__ import annotations

import logging
import os
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from reseller_sandbox.server.messages import SPOKE_PLAIN, is_tls

if TYPE_CHECKING:
    import trustme


log = logging.getLogger("reseller_sandbox")

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


class BadCertificate(ValueError):
    """The certificate or its key is of no use; the message is one line that says why."""


class Handshake(ssl.SSLObject):
    """The TLS of one connection. A client that begins in plain HTTP is told so, in plain HTTP."""

    context: Context
    incoming: ssl.MemoryBIO
    outgoing: ssl.MemoryBIO
    begun = refused = False

    def do_handshake(self) -> None:
        """Shake hands as far as what has come allows; raise ``ssl.SSLWantReadError`` where more is wanted."""
        if not self.begun:
            came = self.incoming.read()
            if came and not self.refused and not is_tls(came[:1]):
                self.refused = True
                self.outgoing.write(SPOKE_PLAIN.raw())
                self.context.when_plain(came)
            if self.refused:
                raise ssl.SSLWantReadError  # which sends what is to go out; it is the client that leaves
            self.begun = bool(came)
            self.incoming.write(came)
        try:
            super().do_handshake()
        except ssl.SSLError as error:
            if "UNKNOWN_CA" in (error.reason or ""):
                log.warning("A client has left: it does not know the authority that signed the certificate.")
            raise


class Context(ssl.SSLContext):
    """Serves with a certificate; ``when_plain`` is called with the first bytes of a client without TLS."""

    sslobject_class = Handshake
    when_plain: Callable[[bytes], None]

    def wrap_bio(
        self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, *args: Any, **kwargs: Any
    ) -> Handshake:
        """Return the TLS of a new connection."""
        made = super().wrap_bio(incoming, outgoing, *args, **kwargs)
        assert isinstance(made, Handshake)
        made.incoming, made.outgoing = incoming, outgoing
        return made


def serving(certfile: str, keyfile: str | None) -> Context:
    """Return what serves with a certificate and its key; raise ``BadCertificate``."""
    context = Context(ssl.PROTOCOL_TLS_SERVER)
    try:
        # Without a password of ours OpenSSL would ask the terminal for one.
        context.load_cert_chain(certfile, keyfile, password=lambda: "")
    except ssl.SSLError as error:
        files = certfile if keyfile is None else f"{certfile} with {keyfile}"
        raise BadCertificate(f"{files} is no certificate with its key: {error.reason or error}") from None
    except OSError as error:
        wrong = keyfile if keyfile is not None and os.access(certfile, os.R_OK) else certfile
        raise BadCertificate(f"the certificate cannot be read: {wrong}: {error.strerror}") from None
    return context


def require_certificate(certfile: str | None, keyfile: str | None) -> None:
    """Raise ``BadCertificate`` unless the two files, where they are given, go together."""
    if certfile is not None:
        serving(certfile, keyfile)
    elif keyfile is not None:
        raise BadCertificate(f"{keyfile} is a key without a certificate: give --certfile too")


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
