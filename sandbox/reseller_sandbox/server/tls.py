"""TLS as the server speaks it: with its certificate, and with an answer for those who speak plain HTTP."""

from __future__ import annotations

import logging
import os
import ssl
from collections.abc import Callable
from typing import Any

from reseller_sandbox.server.messages import SPOKE_PLAIN, is_tls

log = logging.getLogger("reseller_sandbox")


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
