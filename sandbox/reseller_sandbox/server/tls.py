"""TLS: certificate of the server, its authority, and an error for clients that speak plain HTTP."""

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
from reseller_sandbox.values.extras import needs

if TYPE_CHECKING:
    import trustme


log = logging.getLogger("reseller_sandbox")

#: The names that each certificate includes.
ALWAYS = ("localhost", "127.0.0.1", "::1")

#: File names: of the authority that clients trust, of its key, and of the server's certificate.
AUTHORITY, AUTHORITY_KEY, CERTIFICATE = "authority.pem", "authority-key.pem", "server.pem"

#: Environment variables in which programs look for a certificate authority to trust.
VARIABLES = (
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "RESELLER_SANDBOX_CA",
)


class BadCertificate(ValueError):
    """Error for an unusable certificate or key. The message gives the reason in one line."""


class Handshake(ssl.SSLObject):
    """TLS of one connection. A client that begins in plain HTTP gets an error in plain HTTP."""

    context: Context
    incoming: ssl.MemoryBIO
    outgoing: ssl.MemoryBIO
    begun = refused = False

    def do_handshake(self) -> None:
        """Continue the handshake. Raise ``ssl.SSLWantReadError`` if more bytes are needed."""
        if not self.begun:
            received = self.incoming.read()
            if received and not self.refused and not is_tls(received[:1]):
                self.refused = True
                self.outgoing.write(SPOKE_PLAIN.raw())
                self.context.when_plain(received)
            if self.refused:
                raise ssl.SSLWantReadError  # asyncio then sends the error, and waits until the client closes.
            self.begun = bool(received)
            self.incoming.write(received)
        try:
            super().do_handshake()
        except ssl.SSLError as error:
            if "UNKNOWN_CA" in (error.reason or ""):
                log.warning("A client disconnected: it does not trust the authority of the certificate.")
            raise


class Context(ssl.SSLContext):
    """TLS context that calls ``when_plain`` with the first bytes of a client without TLS."""

    sslobject_class = Handshake
    when_plain: Callable[[bytes], None]

    def wrap_bio(
        self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, *args: Any, **kwargs: Any
    ) -> Handshake:
        """Return the ``Handshake`` of a new connection."""
        handshake = super().wrap_bio(incoming, outgoing, *args, **kwargs)
        assert isinstance(handshake, Handshake)
        handshake.incoming, handshake.outgoing = incoming, outgoing
        return handshake


def tls_context(certfile: str, keyfile: str | None) -> Context:
    """Return a TLS context for a certificate and its key. Raise ``BadCertificate``."""
    context = Context(ssl.PROTOCOL_TLS_SERVER)
    try:
        # Give an empty password, because OpenSSL would otherwise ask for one on the terminal.
        context.load_cert_chain(certfile, keyfile, password=lambda: "")
    except ssl.SSLError as error:
        files = certfile if keyfile is None else f"{certfile} with {keyfile}"
        raise BadCertificate(f"{files} is not a certificate with its key: {error.reason or error}") from None
    except OSError as error:
        file = keyfile if keyfile is not None and os.access(certfile, os.R_OK) else certfile
        raise BadCertificate(f"the certificate cannot be read: {file}: {error.strerror}") from None
    return context


def require_certificate(certfile: str | None, keyfile: str | None) -> None:
    """Raise ``BadCertificate`` if the certificate and the key do not belong together."""
    if certfile is not None:
        tls_context(certfile, keyfile)
    elif keyfile is not None:
        raise BadCertificate(f"{keyfile} is a key without a certificate. Set --certfile, too")


class Tls(Struct, frozen=True):
    """TLS options: a certificate, and the HTTPS ``port`` if the server also speaks plain HTTP.

    Without ``certfile``, the server makes a certificate for ``names``. The server keeps the authority of the
    certificate in ``folder``, and the next server uses the same authority. Without ``folder``, the authority
    lasts as long as the server.
    """

    port: int | None = None
    certfile: str | None = None
    keyfile: str | None = None
    names: Sequence[str] = ()
    folder: str | None = None


class Certificate(Struct, frozen=True):
    """Paths of a certificate, of its key, and of its certificate authority if that is known."""

    certfile: str | None = None
    keyfile: str | None = None
    authority: str | None = None


@contextmanager
def certificate_of(tls: Tls) -> Iterator[Certificate]:
    """Yield the certificate that ``tls`` names, or a new one. Raise ``BadCertificate``."""
    require_certificate(tls.certfile, tls.keyfile)
    with ExitStack() as stack:
        if tls.certfile is not None:
            yield Certificate(tls.certfile, tls.keyfile)
            return
        folder = tls.folder
        if folder is None:  # The temporary folder is private to this user.
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
        file = error.filename or place
        raise BadCertificate(f"the certificate cannot be written: {file}: {error.strerror}") from None


def _authority(place: Path) -> trustme.CA:
    """Return the certificate authority in the folder ``place``, or a new one."""
    try:
        import trustme
    except ImportError:
        missing = needs("A server that makes its certificate", "trustme")
        raise BadCertificate(f"{missing}. Or choose a certificate with --certfile") from None
    files = place / AUTHORITY, place / AUTHORITY_KEY
    existing = [file for file in files if file.exists()]
    if not existing:
        return trustme.CA(organization_name="reseller-sandbox")
    if len(existing) == 1:
        raise BadCertificate(
            f"{place} has only {existing[0].name}. Remove this file, and the server makes both files"
        )
    require_certificate(*map(str, files))
    return trustme.CA.from_pem(*(file.read_bytes() for file in files))


def _write(file: Path, content: bytes, *, secret: bool = False) -> None:
    """Write a file atomically. Only its owner can read a ``secret`` file."""
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if secret else 0o644), "wb") as new:
        new.write(content)
    draft.replace(file)
