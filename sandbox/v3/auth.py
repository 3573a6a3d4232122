"""Who signed a request, and when the signature is wrong, why.

The contract leaves open what exactly is signed (``v3.signature.*``), so each
plausible reading is a string of its own; a request is let in when its
signature is that of a reading the assumptions allow.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from sandbox.core.assumptions import Assumptions
from sandbox.core.model import Account
from sandbox.core.refusals import CREDENTIALS_MISSING, SIGNATURE_MISMATCH, UNKNOWN_KEY, Refused
from sandbox.core.state import State
from sandbox.web.generation import Incoming, assumed_by
from sandbox.worlds import World, Worlds

_SHOWN = 16


@dataclass(frozen=True, slots=True)
class Reading:
    """One string that may have been signed, and the values of the assumptions that make it."""

    text: bytes
    endpoint: str
    payload: str
    query: str

    def allowed(self, assumed: Assumptions) -> bool:
        """Whether the assumptions take this reading; only those that bear on it are read."""
        return (
            assumed.signature_endpoint in ("any", self.endpoint)
            and (self.payload == "body" or assumed.signature_payload in ("any", self.payload))
            and (self.query == "" or assumed.signature_query == self.query)
        )

    @property
    def settings(self) -> str:
        """The assumptions that would let it in, as they are written on the command line."""
        named = {"endpoint": self.endpoint, "payload": self.payload, "query": self.query}
        return " ".join(
            f"v3.signature.{name}={value}" for name, value in named.items() if value not in ("", "body")
        )


@dataclass(frozen=True, slots=True)
class Signatures:
    """Checks signatures. ``prefix`` begins the names of both elements; ``public_urls`` are where clients
    believe the service to be, beside the Host header."""

    prefix: str
    public_urls: tuple[str, ...] = ()

    @property
    def key_name(self) -> str:
        """The header (or query element) that names the API key."""
        return f"{self.prefix}APIKEY"

    @property
    def signature_name(self) -> str:
        """The header (or query element) that carries the signature."""
        return f"{self.prefix}SIGNATURE"

    def authenticate(self, incoming: Incoming, worlds: Worlds) -> tuple[World, Account]:
        """The world and account that signed; refuses with ``credentials_missing``, ``unknown_key`` or
        ``signature_mismatch``."""
        key, signature = (self._element(incoming, name) for name in (self.key_name, self.signature_name))
        missing = [
            name for name, value in ((self.key_name, key), (self.signature_name, signature)) if not value
        ]
        if not key or not signature:
            raise Refused(CREDENTIALS_MISSING, missing=" and no ".join(missing))
        found = _account(incoming, worlds, key)
        if found is None:
            raise Refused(UNKNOWN_KEY, key=key[:80])
        world, account = incoming.world, incoming.account = found
        self._verify(incoming, world, account, signature)
        return world, account

    def _element(self, incoming: Incoming, name: str) -> str | None:
        sent = incoming.headers.get(name)
        if sent:
            return sent
        sent = incoming.query_value(name)
        incoming.credentials_in_query |= sent is not None
        return sent

    def _verify(self, incoming: Incoming, world: World, account: Account, signature: str) -> None:
        assumed = assumed_by(world, incoming)
        given = signature.encode("utf-8", "surrogatepass")
        for reading in self._readings(incoming, account.key):
            if reading.allowed(assumed) and hmac.compare_digest(sign(account.secret, reading.text), given):
                incoming.headers_out["X-Sandbox-Signature"] = reading.settings
                return
        readings = list(self._readings(incoming, account.key))
        allowed = [reading for reading in readings if reading.allowed(assumed)]
        explanation = _explain(world.state, account, given, readings, allowed, incoming.body)
        raise Refused(SIGNATURE_MISMATCH, explanation=explanation)

    def _readings(self, incoming: Incoming, key: str) -> Iterator[Reading]:
        """Every string that the request's sender may have signed, the likeliest first."""
        seen: set[Reading] = set()
        for query, target in self._targets(incoming):
            for endpoint, text in self._endpoints(incoming, target):
                for payload, data in _payloads(incoming.body):
                    reading = Reading(key.encode() + text + data, endpoint, payload, query)
                    if reading not in seen:
                        seen.add(reading)
                        yield reading

    def _targets(self, incoming: Incoming) -> Iterator[tuple[str, str]]:
        """The request target, and the value of ``v3.signature.query`` that it goes with (if any)."""
        elements = {self.key_name.lower(), self.signature_name.lower()}
        path, _, query = incoming.target.partition("?")
        parts = query.split("&") if query else []
        named = [(part.partition("=")[0].lower(), part) for part in parts]
        if not any(name in elements for name, _ in named):
            yield "", incoming.target
            return
        signature = self.signature_name.lower()
        yield "excluded", _joined(path, [part for name, part in named if name not in elements])
        yield "included", _joined(path, [part for name, part in named if name != signature])

    def _endpoints(self, incoming: Incoming, target: str) -> Iterator[tuple[str, bytes]]:
        forms = [target.encode("latin-1", "replace")]
        if incoming.prefix:
            forms.append(forms[0].removeprefix(incoming.prefix.encode()))
        forms += [unquote_to_bytes(form) for form in forms]
        for base in self._bases(incoming):
            for form in forms:
                yield "url", base.encode("utf-8", "replace") + form
        for form in forms:
            yield "path", form
            yield "path_no_query", form.partition(b"?")[0]

    def _bases(self, incoming: Incoming) -> list[str]:
        host = incoming.headers.get("Host", "")
        forwarded = incoming.headers.get("X-Forwarded-Host", "").partition(",")[0].strip()
        other = "https" if incoming.scheme == "http" else "http"
        bases = [f"{scheme}://{host}" for scheme in (incoming.scheme, other)]
        bases += [url.rstrip("/") for url in self.public_urls]
        bases += [f"{scheme}://{forwarded}" for scheme in ("https", "http") if forwarded]
        bare, _, port = host.rpartition(":")
        sibling = bare if port.isdigit() else f"{host}:{incoming.port}"
        bases += [f"{scheme}://{sibling}" for scheme in (incoming.scheme, other)]
        return list(dict.fromkeys(bases))


def sign(secret: str, text: bytes) -> bytes:
    """The signature of ``text``: HMAC-SHA256 in lower-case hexadecimal."""
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest().encode()


def signed_headers(key: str, secret: str, prefix: str, endpoint: str, body: bytes) -> dict[str, str]:
    """The two headers of a request with ``body`` to ``endpoint``, a full URL or whatever reading is meant."""
    signature = sign(secret, key.encode() + endpoint.encode() + body).decode()
    return {f"{prefix}APIKEY": key, f"{prefix}SIGNATURE": signature}


def _account(incoming: Incoming, worlds: Worlds, key: str) -> tuple[World, Account] | None:
    if incoming.world is None:
        return worlds.by_key(key)
    client_id = incoming.world.state.account_by_key.get(key)
    return None if client_id is None else (incoming.world, incoming.world.state.accounts[client_id])


def _joined(path: str, query: Sequence[str]) -> str:
    return f"{path}?{'&'.join(query)}" if query else path


def _payloads(body: bytes) -> tuple[tuple[str, bytes], ...]:
    """What PAYLOAD may stand for; an empty body is the one place where readings differ."""
    if body:
        return (("body", body),)
    return (("raw", b""), ("empty_object", b"{}"), ("empty_object", b"[]"))


def _explain(
    state: State,
    account: Account,
    given: bytes,
    readings: Sequence[Reading],
    allowed: Sequence[Reading],
    body: bytes,
) -> str:
    """What is wrong with a signature, in words: the mistakes that can be recognised, else what was tried."""
    for reading in readings:
        right = sign(account.secret, reading.text)
        if hmac.compare_digest(right, given):
            return f"It matches a reading that the settings exclude; set {reading.settings} to take it."
        if hmac.compare_digest(right, given.lower()):
            return "It matches but for its letters: it must be in lower-case hexadecimal."
        if hmac.compare_digest(base64.b64encode(bytes.fromhex(right.decode())), given):
            return "It matches but for its form: it must be in hexadecimal, not in Base64."
        for number in sorted(state.accounts):
            other = state.accounts[number]
            if other.secret and hmac.compare_digest(sign(other.secret, reading.text), given):
                return f"It was made with the secret of the account {other.name}, not of {account.name}."
    if _reserialised(account, given, readings, body):
        return "It matches the body as another serialiser would write it: sign the very bytes that are sent."
    texts = list(dict.fromkeys(_shown(reading.text, body) for reading in allowed))
    tried = " | ".join(texts[:_SHOWN])
    more = f" (and {len(texts) - _SHOWN} more)" if len(texts) > _SHOWN else ""
    return (
        "Either the secret or the string is another one. Expected is the HMAC-SHA256, in lower-case "
        f"hexadecimal, under the secret of {account.name}, of one of: {tried}{more}."
    )


def _reserialised(account: Account, given: bytes, readings: Sequence[Reading], body: bytes) -> bool:
    try:
        value = json.loads(body) if 0 < len(body) < 10_000 else None
    except (ValueError, RecursionError):
        value = None
    if value is None:
        return False
    plain = [
        json.dumps(value, separators=separators, ensure_ascii=ascii_only, sort_keys=ordered)
        for separators in ((",", ":"), (", ", ": "))
        for ascii_only in (True, False)
        for ordered in (False, True)
    ]
    slashed = [spelling.replace("/", "\\/") for spelling in plain]  # as PHP writes them
    spellings = [spelling.encode("utf-8", "surrogatepass") for spelling in dict.fromkeys(plain + slashed)]
    return any(
        hmac.compare_digest(sign(account.secret, reading.text.removesuffix(body) + spelling), given)
        for reading in readings
        for spelling in spellings
    )


def _shown(text: bytes, body: bytes) -> str:
    if len(body) > 200:
        text = text.removesuffix(body) + body[:120] + f"…<{len(body)} bytes of body>".encode()
    return text[:600].decode("utf-8", "replace")
