"""Checks who signed a v3 request, and explains a wrong signature.

The contract does not specify exactly what is signed (``v3.signature.*``), so each plausible reading is
a separate string. A request is authenticated if its signature matches a reading that the assumptions
allow.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote, unquote_to_bytes

from reseller_sandbox.refusals import CREDENTIALS_MISSING, SIGNATURE_MISMATCH, UNKNOWN_KEY, Refused
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.model import Account
from reseller_sandbox.server.secrecy import key_masked
from reseller_sandbox.v3.signature_diagnosis import SignatureDiagnosis
from reseller_sandbox.v3.signing import Reading, sign
from reseller_sandbox.web.context import RequestContext
from reseller_sandbox.worlds import Engine, World

#: The header that names the settings of a signature.
SIGNATURE = "X-Sandbox-Signature"

#: The name of one of the two elements, with any prefix.
_ELEMENT = re.compile(r"(.{0,40}?)(API[-_]?KEY|SIGNATURE)", re.IGNORECASE)
_MOST_NAMED = 4

#: The documentation of the signed string, by the values of ``v3.signature.*``.
_URL = {
    "any": "the complete URL as sent: scheme, host, port, path and query. The path alone, with or without "
    "its query, is also accepted",
    "url": "the complete URL as sent: scheme, host, port, path and query",
    "path": "the path with its query, without scheme, host and port",
    "path_no_query": "the path without scheme, host, port and query",
}
_ENDPOINTS = dict.fromkeys(_URL, "/v3/domains/checkAvailability")
_ENDPOINTS |= dict.fromkeys(("any", "url"), "https://api.example.com/v3/domains/checkAvailability")
_EMPTY = {"any": "nothing. `{}` and `[]` are also accepted", "raw": "nothing", "empty_object": "`{}` or `[]`"}
_QUERY = {
    "excluded": "then contains neither element",
    "included": "then contains the key, but not the signature",
}


@dataclass(frozen=True)
class Signatures:
    """Checks signatures.

    ``prefix`` begins the names of both elements. ``public_urls`` are base URLs that clients may use in
    addition to the Host header.
    """

    prefix: str
    public_urls: Sequence[str] = ()

    @cached_property
    def key_name(self) -> str:
        """The header (or query element) that names the API key."""
        return f"{self.prefix}APIKEY"

    @cached_property
    def signature_name(self) -> str:
        """The header (or query element) that carries the signature."""
        return f"{self.prefix}SIGNATURE"

    @cached_property
    def names(self) -> tuple[str, str]:
        """The names of both elements."""
        return self.key_name, self.signature_name

    def described(self, assumed: Assumptions) -> dict[str, str]:
        """Return the description of each element for documents, with an example."""
        key, secret, body = "demo-key", "demo-secret", b'{"domainNames": ["example.com"]}'
        endpoint = _ENDPOINTS[assumed.signature_endpoint]
        signature = sign(secret, key.encode() + endpoint.encode() + body).decode()
        return {
            self.key_name: "The API key that names the account.",
            self.signature_name: f"""The signature of the request: HMAC-SHA256, in lower-case hexadecimal, \
with the account's secret as the key. The signed string is the API key, the URL and the body, without \
separators.

* The URL is {_URL[assumed.signature_endpoint]}.
* The body is the bytes as sent. Without a body, sign {_EMPTY[assumed.signature_payload]}.

For example, the key `{key}`, the secret `{secret}`, a request to `{endpoint}` and the body \
`{body.decode()}` make the signature `{signature}`.

Both elements can be in the query string instead of the headers, under the same names. The signed URL \
{_QUERY[assumed.signature_query]}.""",
        }

    def authenticate(self, request: RequestContext, worlds: Engine) -> None:
        """Determine the world and the account that signed.

        Raise ``credentials_missing``, ``unknown_key`` or ``signature_mismatch``.
        """
        key = self._element(request, self.key_name)
        signature = self._element(request, self.signature_name)
        if not key or not signature:
            elements = zip(self.names, (key, signature), strict=True)
            missing = " and ".join([name for name, value in elements if not value])
            raise Refused(CREDENTIALS_MISSING, missing=missing, instead=self._instead(request))
        holder = _account(request, worlds, key)
        if holder is None:
            rejection = worlds.rejection(key, request.world)
            request.recognise(rejection.sender)
            raise Refused(UNKNOWN_KEY, key=key_masked(key), reason=rejection.reason)
        world, account = request.world, request.sender = holder
        self._verify(request, world, account, signature)

    def _element(self, request: RequestContext, name: str) -> str | None:
        sent = request.headers.get(name)
        if sent:
            return sent
        sent = request.query_value(name)
        request.credentials_in_query |= sent is not None
        return sent

    def _instead(self, request: RequestContext) -> str:
        """Return a hint to elements with another prefix, and the option that accepts them."""
        expected = {name.lower() for name in self.names}
        names = [name for name, _ in request.headers.items() if name.lower() not in expected]
        names += [name for name, _ in request.query if name not in self.names]
        elements = [element for element in map(_ELEMENT.fullmatch, names) if element]
        if not elements:
            return ""
        hint = f"; it carries {' and '.join(element[0][:80] for element in elements[:_MOST_NAMED])}"
        others = (element for element in elements if element[1].lower() != self.prefix.lower())
        prefix = next((element[1] for element in others if not {"-", "_"} & {*element[2]}), None)
        return hint if prefix is None else f"{hint}, which --header-prefix {prefix or repr('')} would take"

    def _verify(self, request: RequestContext, world: World, account: Account, signature: str) -> None:
        assumed = request.assumed_in(world)
        sent = signature.encode("utf-8", "surrogatepass")
        for reading in self._readings(request, account.key):
            if reading.allowed(assumed) and hmac.compare_digest(sign(account.secret, reading.text), sent):
                request.headers_out[SIGNATURE] = reading.settings
                return
        readings = list(dict.fromkeys(self._readings(request, account.key)))
        allowed = [reading for reading in readings if reading.allowed(assumed)]
        bases = list(dict.fromkeys(self._bases(request)))
        diagnosis = SignatureDiagnosis(world.state, account, sent, readings, allowed, request, bases)
        raise Refused(SIGNATURE_MISMATCH, explanation=diagnosis.explained(), diagnosis=diagnosis.parts())

    def _readings(self, request: RequestContext, key: str) -> Iterator[Reading]:
        """Yield every string that the client may have signed, the likeliest first.

        They are made lazily, because the first one is usually right. Some occur twice.
        """
        name, payloads = key.encode(), _payloads(request.body)
        if "?" not in request.target:
            payload, data = payloads[0]
            yield Reading(name, _called(request), data, "url", payload, "")
        for query, target in self._targets(request):
            for endpoint, where, decoded in self._endpoints(request, target):
                for payload, data in payloads:
                    yield Reading(name, where, data, endpoint, payload, query, decoded)

    def _targets(self, request: RequestContext) -> Iterator[tuple[str, str]]:
        """Yield each request target with its value of ``v3.signature.query``."""
        if "?" not in request.target:
            yield "", request.target
            return
        path, _, query = request.target.partition("?")
        parts = query.split("&") if query else []
        named = [(unquote(part.partition("=")[0]), part) for part in parts]
        if not any(name in self.names for name, _ in named):
            yield "", request.target
            return
        yield "excluded", _joined(path, [part for name, part in named if name not in self.names])
        yield "included", _joined(path, [part for name, part in named if name != self.signature_name])

    def _endpoints(self, request: RequestContext, target: str) -> Iterator[tuple[str, bytes, bool]]:
        """Yield each endpoint kind, the signed text, and whether it is percent-decoded."""
        sent = [target.encode("latin-1", "replace")]
        if request.prefix:
            sent.append(sent[0].removeprefix(request.prefix.encode()))
        forms = [(form, False) for form in sent]
        forms += [(unquote_to_bytes(form), True) for form in sent if b"%" in form]
        for base in self._bases(request):
            for form, decoded in forms:
                yield "url", base.encode("utf-8", "replace") + form, decoded
        for form, decoded in forms:
            yield "path", form, decoded
            yield "path_no_query", form.partition(b"?")[0], decoded

    def _bases(self, request: RequestContext) -> Iterator[str]:
        """Yield the base URLs that a client may have used, the likeliest first."""
        yield _base(request)
        host = request.headers.get("Host", "")
        other = "https" if request.scheme == "http" else "http"
        yield f"{other}://{host}"
        yield from (url.rstrip("/") for url in self.public_urls)
        forwarded = request.headers.get("X-Forwarded-Host", "").partition(",")[0].strip()
        yield from (f"{scheme}://{forwarded}" for scheme in ("https", "http") if forwarded)
        bare, _, port = host.rpartition(":")
        sibling = bare if port.isdigit() else f"{host}:{request.port}"
        yield from (f"{scheme}://{sibling}" for scheme in (request.scheme, other))


def _account(request: RequestContext, worlds: Engine, key: str) -> tuple[World, Account] | None:
    if request.world is None:
        return worlds.by_key(key)
    account = request.world.inherited.by_key(key, request.world.state)
    return None if account is None else (request.world, account)


def _called(request: RequestContext) -> bytes:
    """Return the complete URL as sent."""
    return _base(request).encode("utf-8", "replace") + request.target.encode("latin-1", "replace")


def _base(request: RequestContext) -> str:
    """Return the likeliest base URL, from the Host header."""
    return f"{request.scheme}://{request.headers.get('Host', '')}"


def _joined(path: str, query: Sequence[str]) -> str:
    return f"{path}?{'&'.join(query)}" if query else path


def _payloads(body: bytes) -> tuple[tuple[str, bytes], ...]:
    """Return the possible payloads. Only an empty body has more than one."""
    if body:
        return (("body", body),)
    return (("raw", b""), ("empty_object", b"{}"), ("empty_object", b"[]"))
