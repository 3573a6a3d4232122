"""v3: authentication, request bodies, answers and refusals.

The contract does not specify exactly what is signed (``v3.signature.*``), so each plausible reading is
a separate string. A request is authenticated if its signature matches a reading that the assumptions
allow.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

from msgspec.structs import replace

from reseller_sandbox import refusals as r
from reseller_sandbox.refusals import Refused, Rule, Term, Wording
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.lifecycle import Action
from reseller_sandbox.server.secrecy import key_masked
from reseller_sandbox.settings import Settings
from reseller_sandbox.v3 import availability, balance, contacts, domains, glue, locks, transfers
from reseller_sandbox.v3.signature_diagnosis import SignatureDiagnosis
from reseller_sandbox.v3.signing import Reading, sign
from reseller_sandbox.web.context import RequestContext
from reseller_sandbox.web.errors import ErrorEntry, documented_error
from reseller_sandbox.web.fields import load
from reseller_sandbox.web.headers import HEADERS
from reseller_sandbox.web.interface import Answer, Endpoint, Interface, endpoints_of
from reseller_sandbox.web.reading import note_ignored, require_consistent
from reseller_sandbox.worlds import Engine, World

WORDING = Wording(
    {
        Term.YEARS: "years",
        Term.AGREED_PRICE: "purchaseCost",
        Term.NAMESERVERS: "nameservers",
        Term.ADDRESSES: "ips",
        Term.HOST: "hostname",
        Term.TRANSFER_REQUEST: "requestTransfer",
        Term.AUTH_CODE: "authCode",
        Action.LOCK_TRANSFER: "lockTransfer",
        Action.UNLOCK_TRANSFER: "unlockTransfer",
        Action.LOCK_UPDATE: "lockUpdate",
        Action.UNLOCK_UPDATE: "unlockUpdate",
        Action.SET_FLAGS: "v2.0 domain edit",
        Action.RESTORE: "restore in v2.0",
        Action.DELETE: "delete in v2.0",
        Action.CHECK_HOST: "check for a glue record in v2.0",
    }
)

#: The response header that names the assumptions by which the signature is valid.
SIGNATURE = "X-Sandbox-Signature"

#: Matches the port at the end of an authority.
_PORT = re.compile(r":[0-9]*$")

#: The name of a header or parameter for the API key or the signature, with any prefix.
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


class V3(Interface):
    """The v3 interface over the worlds of one server."""

    name = "v3"
    owner = "the contract's v3"
    common: tuple[Rule, ...] = (*Interface.common, r.CREDENTIALS_MISSING, r.UNKNOWN_KEY, r.SIGNATURE_MISMATCH)
    wording = WORDING
    headers: Mapping[str, str] = {
        **HEADERS,
        SIGNATURE: "In v3, the signature assumptions with which the signature is valid.",
    }
    endpoints = endpoints_of(balance, availability, domains, locks, glue, transfers, contacts)

    def __init__(self, worlds: Engine, settings: Settings) -> None:
        super().__init__(worlds, settings)
        # The names of the headers or query parameters for the API key and for the signature.
        self._key_name = f"{settings.header_prefix}APIKEY"
        self._signature_name = f"{settings.header_prefix}SIGNATURE"
        self._names = self._key_name, self._signature_name

    def arguments(self, request: RequestContext, endpoint: Endpoint, world: World) -> dict[str, Any]:
        """Return the values of body, query and path, read by the endpoint's schemas."""
        reads_body = request.method in ("POST", "PUT")
        content_type = request.headers.get("Content-Type", "")
        if (
            reads_body
            and request.body
            and "json" not in content_type.lower()
            and request.assumed_in(world).content_type == "json"
        ):
            raise Refused(
                r.UNSUPPORTED_MEDIA_TYPE,
                given=content_type[:80] or "none",
                expected="Content-Type: application/json",
                setting="v3.request.content_type=any",
            )
        body = request.object if reads_body else request.object_if_any
        note_ignored(endpoint, request, world, body, self._names)
        arguments = load(endpoint.schemas.body, body, world.secrecy)
        arguments |= request.path_arguments
        if endpoint.schemas.query is not None and (request.query or request.path_arguments):
            query = {name: request.query_value(name) for name in endpoint.schemas.query.fields}
            arguments |= load(endpoint.schemas.query, query | request.path_arguments, world.secrecy)
        require_consistent(endpoint, request, world, body)
        return arguments

    def error(self, request: RequestContext, refused: Refused) -> Answer:
        """Return ``error`` and ``message``, with the status that the assumptions choose."""
        answer = super().error(request, refused)
        always_200 = self.assumed(request).v3_http_status == "always_200"
        return replace(answer, status=200) if always_200 else answer

    def name_form(self, request: RequestContext) -> str:
        """Return the form of names that ``v3.names.form`` chooses."""
        return self.assumed(request).name_form

    def security(self, assumed: Assumptions) -> Mapping[str, str]:
        """Return the descriptions of the headers for the API key and the signature, with an example."""
        key, secret, body = "demo-key", "demo-secret", b'{"domainNames": ["example.com"]}'
        endpoint = _ENDPOINTS[assumed.signature_endpoint]
        signature = sign(secret, key.encode() + endpoint.encode() + body).decode()
        return {
            self._key_name: "The API key that names the account.",
            self._signature_name: f"""The signature of the request: HMAC-SHA256, in lower-case hexadecimal, \
with the account's secret as the key. The signed string is the API key, the URL and the body, without \
separators.

* The URL is {_URL[assumed.signature_endpoint]}.
* The body is the bytes as sent. Without a body, sign {_EMPTY[assumed.signature_payload]}.

For example, the key `{key}`, the secret `{secret}`, a request to `{endpoint}` and the body \
`{body.decode()}` make the signature `{signature}`.

Both elements can be in the query string instead of the headers, under the same names. The signed URL \
{_QUERY[assumed.signature_query]}.""",
        }

    def documented_errors(self, endpoint: Endpoint, rule: Rule, assumed: Assumptions) -> Iterable[ErrorEntry]:  # noqa: ARG002
        """Return the documented error of ``rule``. Each rule has exactly one in v3."""
        return [documented_error(rule, self.wording, always_200=assumed.v3_http_status == "always_200")]

    # Signatures

    def authenticate(self, request: RequestContext) -> None:
        """Find the world and the account of the API key, and check the signature.

        Raise ``credentials_missing``, ``unknown_key`` or ``signature_mismatch``.
        """
        key = self._element(request, self._key_name)
        signature = self._element(request, self._signature_name)
        if not key or not signature:
            elements = zip(self._names, (key, signature), strict=True)
            missing = " and ".join([name for name, value in elements if not value])
            raise Refused(r.CREDENTIALS_MISSING, missing=missing, instead=self._instead(request))
        holder = self.worlds.by_key(key, request.world)
        if holder is None:
            rejection = self.worlds.rejection(key, request.world)
            request.recognise(rejection.sender)
            raise Refused(r.UNKNOWN_KEY, key=key_masked(key), reason=rejection.reason)
        world, account = request.world, request.sender = holder
        assumed, sent = request.assumed_in(world), signature.encode("utf-8", "surrogatepass")
        for reading in self._readings(request, account.key):
            if reading.allowed(assumed) and hmac.compare_digest(sign(account.secret, reading.text), sent):
                request.headers_out[SIGNATURE] = reading.settings
                return
        readings = list(dict.fromkeys(self._readings(request, account.key)))
        allowed = [reading for reading in readings if reading.allowed(assumed)]
        bases = list(dict.fromkeys(self._bases(request)))
        diagnosis = SignatureDiagnosis(world.state, account, sent, readings, allowed, request, bases)
        raise Refused(r.SIGNATURE_MISMATCH, explanation=diagnosis.explained(), diagnosis=diagnosis.parts())

    def _element(self, request: RequestContext, name: str) -> str | None:
        sent = request.headers.get(name)
        if sent:
            return sent
        sent = request.query_value(name)
        request.credentials_in_query |= sent is not None
        return sent

    def _instead(self, request: RequestContext) -> str:
        """Return a hint about similar headers and parameters, with the option that accepts them."""
        expected = {name.lower() for name in self._names}
        names = [name for name, _ in request.headers.items() if name.lower() not in expected]
        names += [name for name, _ in request.query if name not in self._names]
        elements = [element for element in map(_ELEMENT.fullmatch, names) if element]
        if not elements:
            return ""
        hint = f"; it carries {' and '.join(element[0][:80] for element in elements[:_MOST_NAMED])}"
        others = (
            element for element in elements if element[1].lower() != self.settings.header_prefix.lower()
        )
        prefix = next((element[1] for element in others if not {"-", "_"} & {*element[2]}), None)
        return hint if prefix is None else f"{hint}, which --header-prefix {prefix or repr('')} would take"

    def _readings(self, request: RequestContext, key: str) -> Iterator[Reading]:
        """Yield every string that the client may have signed, the likeliest first.

        The strings are made lazily, because the first string is usually right. Some strings occur twice.
        """
        name, payloads = key.encode(), [("body", request.body)]
        if not request.body:
            payloads = [("raw", b""), ("empty_object", b"{}"), ("empty_object", b"[]")]
        for query, target in self._targets(request):
            for endpoint, where, decoded in self._endpoints(request, target):
                for payload, data in payloads:
                    yield Reading(name, where, data, endpoint, payload, query, decoded)

    def _targets(self, request: RequestContext) -> Iterator[tuple[str, str]]:
        """Yield each target that may be signed, as a pair: value of ``v3.signature.query``, target."""
        if "?" not in request.target:
            yield "", request.target
            return
        path, _, query = request.target.partition("?")
        parts = query.split("&") if query else []
        named = [(unquote(part.partition("=")[0]), part) for part in parts]
        if not any(name in self._names for name, _ in named):
            yield "", request.target
            return
        yield "excluded", _joined(path, [part for name, part in named if name not in self._names])
        yield "included", _joined(path, [part for name, part in named if name != self._signature_name])

    def _endpoints(self, request: RequestContext, target: str) -> Iterator[tuple[str, bytes, bool]]:
        """Yield the forms of the URL that may be signed: the kind, the bytes, whether they are decoded."""
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
        """Yield the base URLs that a client may have signed, the likeliest first."""
        yield request.base
        host = request.headers.get("Host", "")
        other = "https" if request.scheme == "http" else "http"
        forwarded = request.headers.get("X-Forwarded-Host", "").partition(",")[0].strip()
        bare, _, port = host.rpartition(":")
        sibling = bare if port.isdigit() else f"{host}:{request.port}"
        others = [
            f"{other}://{host}",
            *(url.rstrip("/") for url in self.settings.public_urls),
            *(f"{scheme}://{forwarded}" for scheme in ("https", "http") if forwarded),
            *(f"{scheme}://{sibling}" for scheme in (request.scheme, other)),
        ]
        yield from others
        # Some clients sign the default port, but do not send it in the header Host.
        for base in (request.base, *others):
            scheme, _, rest = base.partition("://")
            host, slash, path = rest.partition("/")
            if host and not _PORT.search(host):
                yield f"{scheme}://{host}:{443 if scheme == 'https' else 80}{slash}{path}"


def _joined(path: str, query: Sequence[str]) -> str:
    return f"{path}?{'&'.join(query)}" if query else path
