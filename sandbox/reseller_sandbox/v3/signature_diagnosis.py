"""Explains wrong signatures by reproducing common mistakes.

The likeliest mistakes are tried first. Their number is limited, so that an answer takes one or two
milliseconds for any request.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, permutations
from typing import Any, Literal, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from reseller_sandbox.registry.model import Account
from reseller_sandbox.registry.state import State
from reseller_sandbox.server.json_text import load_json
from reseller_sandbox.v3.signing import Reading, sign
from reseller_sandbox.values.names import to_unicode, well_formed
from reseller_sandbox.web.context import RequestContext

_ESCAPE = re.compile(rb"%[0-9A-Fa-f]{2}")
_ASCII = "".join(map(chr, range(0x21, 0x7F)))

#: Characters that a file, a form or a shell adds to a secret.
_AROUND = {b"\n": "a line feed", b"\r\n": "a carriage return and a line feed", b"\r": "a carriage return"}
_AROUND |= {b" ": "a space", b"\t": "a tab", b'"': "a quotation mark", b"'": "an apostrophe"}
_AROUND |= {"\u00a0".encode(): "a no-break space", "\ufeff".encode(): "a byte order mark"}

#: Host names of a service on this machine or in a container next to it.
_NEAR = ("localhost", "127.0.0.1", "[::1]", "0.0.0.0", "host.docker.internal")
#: Headers in which a client or a proxy names the address that it calls.
_PLACES = ("X-Forwarded-Server", "X-Original-Host", "X-Host", "Referer", "Origin")


#: The place of a mistake: a part of the signed string, the order of its parts, the secret, the algorithm, the
#: form of the signature, or an assumption of the world.
Place = Literal["key", "url", "body", "parts", "secret", "algorithm", "form", "assumption"]


class Guess(NamedTuple):
    """A wrong signature, and the mistake by which a client makes it.

    ``reading`` is the right string, and ``text`` the string that the client signs. The sentence ``mistake``
    says what is wrong.
    """

    signature: bytes
    mistake: str
    place: Place
    reading: Reading
    text: bytes


#: A wrong string to sign, a sentence about the mistake, and the place of the mistake.
Wrong = tuple[bytes, str, Place]


def wrong_hashes(reading: Reading, account: Account) -> Iterator[Guess]:
    """Yield signatures of the right string with a wrong algorithm or key."""
    text, secret = reading.text, account.secret.encode()

    def guess(signature: bytes, mistake: str, place: Place) -> Guess:
        return Guess(signature, mistake, place, reading, text)

    for name, called in (("sha256", "SHA-256"), ("sha1", "SHA-1"), ("md5", "MD5"), ("sha512", "SHA-512")):
        if name != "sha256":
            hashed = _hmac(secret, text, name)
            yield guess(hashed, f"It is an HMAC with {called}: use SHA-256.", "algorithm")
        plain = f"It is a plain {called}: use HMAC with SHA-256, the secret being its key."
        for whole in (text, secret + text, text + secret):
            hashed = hashlib.new(name, whole, usedforsecurity=False).hexdigest().encode()
            yield guess(hashed, plain, "algorithm")
        swapped = "The secret and the string have changed places: the secret is the HMAC's key."
        yield guess(_hmac(text, secret, name), swapped, "secret")
        for credential, kind in ((account.key, "API key"), (account.token, "v2.0 token")):
            hashed = _hmac(credential.encode(), text, name)
            yield guess(hashed, f"It was made with the {kind} in place of the secret.", "secret")
    for more, called in _AROUND.items():
        wrong = {secret + more: f"{called} after", more + secret: f"{called} before"}
        wrong[more + secret + more] = f"{called} before and after"
        for key, around in wrong.items():
            hashed = _hmac(key, text, "sha256")
            yield guess(hashed, f"It was made with {around} the secret: remove it.", "secret")


def wrong_strings(reading: Reading, method: bytes) -> Iterator[Wrong]:
    """Yield wrong strings to sign, with extra, missing or reordered parts."""
    key, where, data = reading.key, reading.where, reading.data
    yield where + data, "It leaves out the API key, with which the signed string begins.", "key"
    if data:
        yield key + where, "It leaves out the body, with which the signed string ends.", "body"
    with_method = f"It has the method {method.decode()} in the signed string, where it does not belong."
    for verb in (method, method.lower()):
        yield key + verb + where + data, with_method, "parts"
        yield verb + key + where + data, with_method, "parts"
        yield key + where + verb + data, with_method, "parts"
        yield key + where + data + verb, with_method, "parts"
    if b"/v3/" in where:
        short = where.replace(b"/v3/", b"/", 1)
        yield key + short + data, "It leaves /v3 out of the path: sign the path as it is requested.", "url"
    if b"?" in where:
        bare = where.partition(b"?")[0]
        yield key + bare + data, "It leaves out the query string, which belongs to the URL.", "url"
    another = "It was made over another spelling of the path: sign the path as it is sent."
    for spelt in _spellings(where):
        yield key + spelt + data, another, "url"
    joined = "Its parts have something between them: the key, the endpoint and the payload follow at once."
    for mark in (b"\n", b":", b"|", b" ", b"&"):
        yield mark.join((key, where, data)), joined, "parts"
    mixed = "Its parts are in another order: the key comes first, then endpoint and payload."
    for parts in permutations((key, where, data)):
        yield b"".join(parts), mixed, "parts"


def _spellings(where: bytes) -> Iterator[bytes]:
    """Yield other spellings of ``where``: with other percent-encoding, or with names in Unicode or ASCII."""
    yield quote(where, _ASCII).encode()
    yield _ESCAPE.sub(lambda escape: escape[0].lower(), where)
    yield _ESCAPE.sub(lambda escape: escape[0].upper(), where)
    scheme, mark, rest = where.decode("utf-8", "replace").rpartition("://")
    parts = [unquote(part) for part in rest.split("/")]
    for form in (to_unicode, _to_ascii):
        spelt = scheme + mark + "/".join(form(part) for part in parts)
        yield spelt.encode()
        yield quote(spelt, _ASCII).encode()


def _to_ascii(part: str) -> str:
    return part if part.isascii() else well_formed(part) or part


def wrong_hosts(
    readings: Sequence[Reading], request: RequestContext, bases: Sequence[str]
) -> Iterator[tuple[Reading, bytes, str]]:
    """Yield the strings that sign a request under another address of the service."""
    sent = bases[0]
    of_urls = (reading for reading in readings if reading.endpoint == "url")
    urls = [reading for reading in of_urls if reading.where.startswith(f"{sent}/".encode())]
    for base in _elsewhere(request):
        if base in bases:
            continue
        mistake = (
            f"It matches {base}, and the request was sent to {sent}: sign the address that is called, or "
            f"start the sandbox with --public-url {base}."
        )
        for reading in urls:
            where = base.encode() + reading.where.removeprefix(sent.encode())
            yield reading, reading.key + where + reading.data, mistake


def _elsewhere(request: RequestContext) -> Iterator[str]:
    """Yield base URLs that a client may have signed by mistake."""
    named = [urlsplit(value).netloc or value for value in map(request.headers.get, _PLACES) if value]
    host = request.headers.get("Host", "")
    ports = dict.fromkeys(("", f":{request.port}", f":{host.rpartition(':')[2]}" if ":" in host else ""))
    near = [f"{name}{port}" for name in _NEAR for port in ports]
    for place in dict.fromkeys([*named, *near]):
        if place.isascii() and place.isprintable() and len(place) < 200:
            yield from (f"http://{place}", f"https://{place}")


def _hmac(key: bytes, text: bytes, name: str) -> bytes:
    return hmac.new(key, text, name).hexdigest().encode()


_MOST_SHOWN = 16
#: Limits in bytes: a shown string, a body that is shown whole, and the shown beginning of a longer body.
_LONGEST_SHOWN, _LONGEST_BODY_SHOWN, _CUT_BODY_SHOWN = 600, 200, 120
#: The body size in bytes above which only a few readings are tried.
_LONGEST_BODY = 4_000
_FEW = 4
#: Maximum numbers: all readings, readings on which each mistake is tried, other accounts' secrets.
_MOST_READINGS = 40
_LIKELY = 5
_MOST_ACCOUNTS = 50


@dataclass(frozen=True)
class SignatureDiagnosis:
    """Diagnosis of a ``signature`` that matches no ``allowed`` reading of a request.

    ``readings`` are all readings, the likeliest first. ``bases`` are the sandbox's possible base URLs
    for this request.
    """

    state: State
    account: Account
    signature: bytes
    readings: Sequence[Reading]
    allowed: Sequence[Reading]
    request: RequestContext
    bases: Sequence[str]

    def explained(self) -> str:
        """Return the recognised mistake, or else the expected string, without secrets."""
        return self.recognised.mistake if self.recognised is not None else self._expected()

    def parts(self) -> Mapping[str, Any]:
        """Return the diagnosis as data, without secrets: the strings with their parts, and the mistake.

        ``place`` is the place of the mistake, and ``signed`` the string that the client signed, both None
        for a mistake that is not recognised. ``expected`` is the string to sign: its parts, and the
        assumptions that accept it. ``accepted`` lists all strings that are accepted.
        """
        guess = self.recognised
        expected = self.allowed[0] if guess is None else guess.reading
        return {
            "place": guess and guess.place,
            "signed": guess and _text(guess.text),
            "expected": _parts(expected),
            "accepted": [_parts(reading) for reading in self._accepted],
        }

    @cached_property
    def recognised(self) -> Guess | None:
        """The likeliest mistake that leads to the signature of the request, or None."""
        signature = self.signature.lower()
        return next(
            (guess for guess in self._recognisable() if hmac.compare_digest(guess.signature, signature)), None
        )

    def _recognisable(self) -> Iterator[Guess]:
        """Yield wrong signatures in lower case, each with its mistake, the likeliest first."""
        if len(self.request.body) > _LONGEST_BODY:
            for reading in self.allowed[:_FEW]:
                yield from self._wrong_form(reading)
            return
        for reading in self.readings[:_MOST_READINGS]:
            yield from self._wrong_form(reading)
        likely = self._likely()
        for reading in likely:
            yield from self._other_secrets(reading)
            yield from wrong_hashes(reading, self.account)
        for reading, text, mistake, place in self._strings(likely):
            yield Guess(sign(self.account.secret, text), mistake, place, reading, text)

    def _likely(self) -> list[Reading]:
        """Return a few readings on which mistakes are tried. The first ones have different endpoints."""
        not_decoded = (reading for reading in self.readings if not reading.decoded)
        plain = [reading for reading in not_decoded if reading.payload in ("body", "raw")]
        by_kind = {reading.endpoint: reading for reading in reversed(plain)}
        return list(dict.fromkeys([*by_kind.values(), *plain]))[:_LIKELY]

    def _strings(self, likely: Sequence[Reading]) -> Iterator[tuple[Reading, bytes, str, Place]]:
        """Yield wrong strings to sign that resemble the ``likely`` readings, with their mistakes."""
        method = self.request.method.encode()
        for reading in likely:
            for text, mistake, place in wrong_strings(reading, method):
                yield reading, text, mistake, place
        for reading, text, mistake in wrong_hosts(likely, self.request, self.bases):
            yield reading, text, mistake, "url"
        mistake = "It matches the body as another serialiser would write it: sign the bytes that are sent."
        for reading, text in self._reserialised(likely):
            yield reading, text, mistake, "body"

    def _wrong_form(self, reading: Reading) -> Iterator[Guess]:
        text = reading.text
        right = sign(self.account.secret, text)
        if self.signature == self.signature.lower():
            excluded = f"It matches a reading that the settings exclude; set {reading.settings} to take it."
            yield Guess(right, excluded, "assumption", reading, text)
        letters = "It matches but for its letters: it must be in lower-case hexadecimal."
        yield Guess(right, letters, "form", reading, text)
        in_base64 = base64.b64encode(bytes.fromhex(right.decode())).lower()
        in_hex = "It matches but for its form: it must be in hexadecimal, not in Base64."
        yield Guess(in_base64, in_hex, "form", reading, text)

    def _other_secrets(self, reading: Reading) -> Iterator[Guess]:
        for number in islice(sorted(self.state.accounts), _MOST_ACCOUNTS):
            other = self.state.accounts[number]
            if other.secret and other != self.account:
                accounts = f"the account {other.name}, not of {self.account.name}"
                mistake = f"It was made with the secret of {accounts}."
                yield Guess(sign(other.secret, reading.text), mistake, "secret", reading, reading.text)

    def _reserialised(self, likely: Iterable[Reading]) -> Iterator[tuple[Reading, bytes]]:
        try:
            value = load_json(self.request.body) if self.request.body else None
        except ValueError:
            value = None
        if value is None:
            return
        plain = [
            json.dumps(value, separators=separators, ensure_ascii=ascii_only, sort_keys=ordered)
            for separators in ((",", ":"), (", ", ": "))
            for ascii_only in (True, False)
            for ordered in (False, True)
        ]
        slashed = [spelling.replace("/", "\\/") for spelling in plain]  # as PHP writes slashes
        for spelling in dict.fromkeys(plain + slashed):
            for reading in likely:
                text = reading.key + reading.where + spelling.encode("utf-8", "surrogatepass")
                yield reading, text

    @cached_property
    def _accepted(self) -> list[Reading]:
        """The allowed readings, one for each different string, the likeliest first."""
        by_text: dict[tuple[str, ...], Reading] = {}
        for reading in self.allowed:
            by_text.setdefault(_shown(reading), reading)
        return list(by_text.values())[:_MOST_SHOWN]

    def _expected(self) -> str:
        others, size = len(self._accepted) - 1, len(self.signature)
        urls = any(reading.endpoint == "url" for reading in self.allowed)
        return (
            ("" if size == 64 else f"The signature has {size} characters instead of 64. ")
            + f"The string to sign is {''.join(_shown(self.allowed[0]))}, by HMAC-SHA256 in lower-case "
            f"hexadecimal with the secret of {self.account.name}. The secret or the string differs."
            + (f" The journal lists {others} other strings that are accepted." if others else "")
            + (" If the client uses another address, set --public-url." if urls else "")
        )


def _shown(reading: Reading) -> tuple[str, str, str]:
    """Return the key, the URL and the body of a reading as text, shortened if they are long."""
    data = reading.data
    if len(data) > _LONGEST_BODY_SHOWN:
        data = data[:_CUT_BODY_SHOWN] + f"…<{len(data)} bytes of body>".encode()
    return _text(reading.key), _text(reading.where), _text(data)


def _parts(reading: Reading) -> Mapping[str, str]:
    key, url, body = _shown(reading)
    return {"key": key, "url": url, "body": body, "settings": reading.settings}


def _text(raw: bytes) -> str:
    return raw[:_LONGEST_SHOWN].decode("utf-8", "replace")
