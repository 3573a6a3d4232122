"""Signing of v3 requests. The contract can be read in several ways (``Reading``)."""

from __future__ import annotations

import hmac
from typing import NamedTuple

from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.web.interfaces import SignedRequest, UnsignedRequest


def sign(secret: str, text: bytes) -> bytes:
    """Return the signature of ``text``: HMAC-SHA256 in lower-case hexadecimal."""
    return hmac.digest(secret.encode(), text, "sha256").hex().encode()


def sign_request(request: UnsignedRequest) -> SignedRequest:
    """Return the headers that sign a request as its assumptions require, and the signed string."""
    account, assumed, target = request.account, request.assumed, request.target
    urls = {"path": target, "path_no_query": target.partition("?")[0]}
    url = urls.get(assumed.signature_endpoint, request.base + target)
    empty = b"{}" if assumed.signature_payload == "empty_object" else b""
    signature = sign(account.secret, account.key.encode() + url.encode() + (request.body or empty)).decode()
    names = (f"{request.header_prefix}{name}" for name in ("APIKEY", "SIGNATURE"))
    signed = (account.key, url, (request.body or empty).decode("utf-8", "replace"))
    return SignedRequest(dict(zip(names, (account.key, signature), strict=True)), signed)


class Reading(NamedTuple):
    """A string that may have been signed, and the assumptions that produce it.

    ``decoded`` is whether the target was percent-decoded for this reading.
    """

    key: bytes
    where: bytes
    data: bytes
    endpoint: str
    payload: str
    query: str
    decoded: bool = False

    @property
    def text(self) -> bytes:
        """The signed string: key, endpoint and payload, without separators."""
        return self.key + self.where + self.data

    def allowed(self, assumed: Assumptions) -> bool:
        """Whether the assumptions accept this reading. Only relevant assumptions are read."""
        return (
            assumed.signature_endpoint in ("any", self.endpoint)
            and (self.payload == "body" or assumed.signature_payload in ("any", self.payload))
            and (self.query == "" or assumed.signature_query == self.query)
        )

    @property
    def settings(self) -> str:
        """The assumptions that accept this reading, such as ``v3.signature.endpoint=url``."""
        named = {"endpoint": self.endpoint, "payload": self.payload, "query": self.query}
        relevant = {name: value for name, value in named.items() if value not in ("", "body")}
        settings = " ".join(f"v3.signature.{name}={value}" for name, value in relevant.items())
        return f"{settings} (percent-decoded)" if self.decoded else settings
