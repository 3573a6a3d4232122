"""Whether a certificate and its key can be served with, found out before anybody connects."""

from __future__ import annotations

import ssl


class BadCertificate(ValueError):
    """The certificate or its key is of no use; the message is one line that says why."""


def require_certificate(certfile: str | None, keyfile: str | None) -> None:
    """Raise ``BadCertificate`` unless the two files, where they are given, go together."""
    if certfile is None:
        if keyfile is not None:
            raise BadCertificate(f"{keyfile} is a key without a certificate: give --certfile too")
        return
    try:
        # Without a password of ours OpenSSL would ask the terminal for one.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certfile, keyfile, password=lambda: "")
    except ssl.SSLError as error:
        files = certfile if keyfile is None else f"{certfile} with {keyfile}"
        raise BadCertificate(f"{files} is no certificate with its key: {error.reason or error}") from None
    except OSError as error:
        raise BadCertificate(f"{certfile if keyfile is None else keyfile}: {error.strerror}") from None
