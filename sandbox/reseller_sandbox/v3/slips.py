"""What clients sign by mistake: each slip makes the string, or the signature, that it would have come to."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator, Sequence
from itertools import permutations
from urllib.parse import quote, unquote, urlsplit

from reseller_sandbox.core.model import Account
from reseller_sandbox.core.names import to_unicode, well_formed
from reseller_sandbox.v3.signing import Reading
from reseller_sandbox.web.incoming import Incoming

_ESCAPE = re.compile(rb"%[0-9A-Fa-f]{2}")
_ASCII = "".join(map(chr, range(0x21, 0x7F)))

#: Names under which a service on this machine is called, or one next to it.
_NEAR = ("localhost", "127.0.0.1", "[::1]", "0.0.0.0", "host.docker.internal")
#: Headers in which a client or a proxy names the place that it believes to be calling.
_PLACES = ("X-Forwarded-Server", "X-Original-Host", "X-Host", "Referer", "Origin")


def otherwise_hashed(reading: Reading, account: Account, size: int) -> Iterator[tuple[bytes, str]]:
    """Yield the signatures of ``size`` letters that were made of the right string in a wrong way."""
    text, secret = reading.text, account.secret.encode()
    for name, called in (("sha256", "SHA-256"), ("sha1", "SHA-1"), ("md5", "MD5"), ("sha512", "SHA-512")):
        if hashlib.new(name, usedforsecurity=False).digest_size * 2 != size:
            continue
        if name != "sha256":
            yield _hmac(secret, text, name), f"It is an HMAC with {called}: use SHA-256."
        plain = f"It is a plain {called}: use HMAC with SHA-256, the secret being its key."
        for whole in (text, secret + text, text + secret):
            yield hashlib.new(name, whole, usedforsecurity=False).hexdigest().encode(), plain
        swapped = "The secret and the string have changed places: the secret is the HMAC's key."
        yield _hmac(text, secret, name), swapped
        for other, what in ((account.key, "API key"), (account.token, "v2.0 token")):
            yield _hmac(other.encode(), text, name), f"It was made with the {what} in place of the secret."


def otherwise_put(reading: Reading, method: bytes) -> Iterator[tuple[bytes, str]]:
    """Yield the strings that say the same as the right one with more or less in them, or in another order."""
    key, where, data = reading.key, reading.where, reading.data
    yield where + data, "It leaves out the API key, with which the signed string begins."
    if data:
        yield key + where, "It leaves out the body, with which the signed string ends."
    with_method = f"It has the method {method.decode()} in the signed string, where it does not belong."
    for verb in (method, method.lower()):
        yield key + verb + where + data, with_method
        yield verb + key + where + data, with_method
        yield key + where + verb + data, with_method
        yield key + where + data + verb, with_method
    if b"/v3/" in where:
        short = where.replace(b"/v3/", b"/", 1)
        yield key + short + data, "It leaves /v3 out of the path: sign the path as it is requested."
    if b"?" in where:
        bare = where.partition(b"?")[0]
        yield key + bare + data, "It leaves out the query string, which belongs to the URL."
    for spelt in _spellings(where):
        yield (
            key + spelt + data,
            "It was made over another spelling of the path: sign the path as it is sent.",
        )
    joined = "Its parts have something between them: the key, the endpoint and the payload follow at once."
    for mark in (b"\n", b":", b"|", b" ", b"&"):
        yield mark.join((key, where, data)), joined
    for parts in permutations((key, where, data)):
        yield (
            b"".join(parts),
            "Its parts are in another order: the key comes first, then endpoint and payload.",
        )


def _spellings(where: bytes) -> Iterator[bytes]:
    """Yield an endpoint in its other spellings: percent-encoded or not, its names in the other alphabet."""
    yield quote(where, _ASCII).encode()
    yield _ESCAPE.sub(lambda found: found[0].lower(), where)
    yield _ESCAPE.sub(lambda found: found[0].upper(), where)
    scheme, mark, rest = where.decode("utf-8", "replace").rpartition("://")
    parts = [unquote(part) for part in rest.split("/")]
    for form in (to_unicode, _to_ascii):
        spelt = scheme + mark + "/".join(form(part) for part in parts)
        yield spelt.encode()
        yield quote(spelt, _ASCII).encode()


def _to_ascii(part: str) -> str:
    return part if part.isascii() else well_formed(part) or part


def other_hosts(
    readings: Sequence[Reading], incoming: Incoming, bases: Sequence[str]
) -> Iterator[tuple[bytes, str]]:
    """Yield the strings that sign a request under another address of the service."""
    sent = bases[0]
    urls = [one for one in readings if one.endpoint == "url" and one.where.startswith(f"{sent}/".encode())]
    for base in _elsewhere(incoming):
        if base in bases:
            continue
        told = (
            f"It matches {base}, and the request was sent to {sent}: sign the address that is called, or "
            f"start the sandbox with --public-url {base}."
        )
        for one in urls:
            yield one.key + base.encode() + one.where.removeprefix(sent.encode()) + one.data, told


def _elsewhere(incoming: Incoming) -> Iterator[str]:
    """Yield the places that a client may take the service to be at."""
    named = [urlsplit(value).netloc or value for value in map(incoming.headers.get, _PLACES) if value]
    host = incoming.headers.get("Host", "")
    ports = dict.fromkeys(("", f":{incoming.port}", f":{host.rpartition(':')[2]}" if ":" in host else ""))
    near = [f"{name}{port}" for name in _NEAR for port in ports]
    for place in dict.fromkeys([*named, *near]):
        if place.isascii() and place.isprintable() and len(place) < 200:
            yield from (f"http://{place}", f"https://{place}")


def _hmac(key: bytes, text: bytes, name: str) -> bytes:
    return hmac.new(key, text, name).hexdigest().encode()
