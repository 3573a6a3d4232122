"""What may be signed, and how a request says by whom: every reading of the contract's two open words."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest
from click.testing import CliRunner

from reseller_sandbox import Sandbox
from reseller_sandbox.cli import main
from tests.clients import JSON, Answer, Headers, InProcess, Socket, signature
from tests.registry import BASE, Make

KEY, SECRET = "main-key", "main-secret"
PLAIN = "/v3/balance"
QUERIED = "/v3/domains?perPage=2&page=1"
SPANISH = "/v3/domains/getDomain/espa%C3%B1a.com"
TARGETS = (PLAIN, QUERIED, SPANISH)

#: What of a request's URL each value of ``v3.signature.endpoint`` signs.
ENDPOINTS: dict[str, Callable[[str], str]] = {
    "url": lambda target: BASE + target,
    "path": lambda target: target,
    "path_no_query": lambda target: target.partition("?")[0],
}
#: What each value of ``v3.signature.payload`` signs for an empty body.
PAYLOADS = {"raw": (b"",), "empty_object": (b"{}", b"[]")}


def headers(signed: str, key: str = KEY) -> Headers:
    """The two elements as headers."""
    return [("X-SVC-APIKEY", key), ("X-SVC-SIGNATURE", signed)]


def in_query(target: str, signed: str, key: str = KEY) -> str:
    """The target with the two elements in its query string."""
    joint = "&" if "?" in target else "?"
    return f"{target}{joint}X-SVC-APIKEY={key}&X-SVC-SIGNATURE={signed}"


def in_encoded_query(target: str, signed: str) -> str:
    """The same, by a client that percent-encodes more than it must."""
    return in_query(target, signed).replace("X-SVC-", "X%2DSVC%2D")


def decoded(target: str) -> bytes:
    """The target as a caller types it, before it is percent-encoded."""
    return unquote_to_bytes(target)


@dataclass
class Sender:
    """Sends requests to a sandbox in this process."""

    sandbox: Sandbox
    scheme: str = "http"

    def get(self, target: str, sent: Headers = ()) -> Answer:  # type: ignore[assignment]
        """A GET with these headers and no others."""
        return InProcess(self.sandbox.app, self.scheme)("GET", target, list(sent), b"")

    def post(self, target: str, sent: Headers, raw: bytes) -> Answer:
        """A POST with these headers and this body."""
        return InProcess(self.sandbox.app, self.scheme)("POST", target, [JSON, *sent], raw)


@pytest.fixture
def send(sandbox: Sandbox) -> Sender:
    """A sender to a sandbox with the default assumptions."""
    return Sender(sandbox)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("endpoint", ENDPOINTS)
@pytest.mark.parametrize("payload", [b"", b"{}", b"[]"])
@pytest.mark.parametrize("spelling", ["encoded", "raw"])
@pytest.mark.parametrize("place", ["headers", "query"])
def test_any_reading_is_taken(
    send: Sender, target: str, endpoint: str, payload: bytes, spelling: str, place: str
) -> None:
    """By default every reading lets a request in, wherever the two elements travel."""
    text = ENDPOINTS[endpoint](target)
    signed = signature(SECRET, KEY, decoded(text) if spelling == "raw" else text, payload)
    answer = send.get(target, headers(signed)) if place == "headers" else send.get(in_query(target, signed))
    assert answer.status == 200, answer.raw
    assert answer.assumptions["v3.signature.endpoint"] == "any"
    assert "v3.signature." in answer.headers["x-sandbox-signature"]


def test_the_answer_names_the_reading(send: Sender) -> None:
    """X-Sandbox-Signature has the settings that would do for this caller."""
    url = send.get(QUERIED, headers(signature(SECRET, KEY, BASE + QUERIED, b"")))
    path = send.get(QUERIED, headers(signature(SECRET, KEY, PLAIN.replace("balance", "domains"), b"{}")))
    assert url.headers["x-sandbox-signature"] == "v3.signature.endpoint=url v3.signature.payload=raw"
    assert path.headers["x-sandbox-signature"] == (
        "v3.signature.endpoint=path_no_query v3.signature.payload=empty_object"
    )


@pytest.mark.parametrize("value", ENDPOINTS)
def test_one_endpoint_reading_can_be_demanded(make: Make, value: str) -> None:
    """Each value of v3.signature.endpoint takes its own reading; another is refused by name."""
    send = Sender(make(assume={"v3.signature.endpoint": value}))
    for target, endpoint in itertools.product(TARGETS, ENDPOINTS):
        answer = send.get(target, headers(signature(SECRET, KEY, ENDPOINTS[endpoint](target), b"")))
        signed = ENDPOINTS[endpoint](target)
        if signed == ENDPOINTS[value](target):
            assert answer.status == 200, (target, endpoint, answer.raw)
            assert answer.assumptions["v3.signature.endpoint"] == value
        else:
            assert answer.error == "signature_mismatch"
            named = [name for name, reading in ENDPOINTS.items() if reading(target) == signed]
            assert f"set v3.signature.endpoint={named[0]} v3.signature.payload=raw" in answer.message


@pytest.mark.parametrize("value", PAYLOADS)
def test_one_payload_reading_can_be_demanded(make: Make, value: str) -> None:
    """Each value of v3.signature.payload says what stands for an empty body."""
    send = Sender(make(assume={"v3.signature.payload": value}))
    for reading, payloads in PAYLOADS.items():
        for payload in payloads:
            answer = send.get(PLAIN, headers(signature(SECRET, KEY, BASE + PLAIN, payload)))
            if reading == value:
                assert answer.status == 200
                assert answer.assumptions["v3.signature.payload"] == value
            else:
                assert answer.error == "signature_mismatch"
                assert f"v3.signature.payload={reading}" in answer.message


@pytest.mark.parametrize("value", ["excluded", "included"])
def test_the_key_in_the_query_may_be_signed_or_not(make: Make, value: str) -> None:
    """v3.signature.query: whether the key stays in the signed URL; the signature never does."""
    send = Sender(make(assume={"v3.signature.query": value}))
    signed_urls = {"excluded": BASE + QUERIED, "included": f"{BASE}{QUERIED}&X-SVC-APIKEY={KEY}"}
    for reading, signed_url in signed_urls.items():
        answer = send.get(in_query(QUERIED, signature(SECRET, KEY, signed_url, b"")))
        if reading == value:
            assert answer.status == 200
            assert answer.assumptions["v3.signature.query"] == value
        else:
            assert answer.error == "signature_mismatch"
            assert f"v3.signature.query={reading}" in answer.message


@pytest.mark.parametrize("value", ["excluded", "included"])
def test_elements_may_be_split_between_header_and_query(make: Make, value: str) -> None:
    """With the key in a header, a signature in the query leaves the same URL under both readings."""
    send = Sender(make(assume={"v3.signature.query": value}))
    signed = signature(SECRET, KEY, BASE + PLAIN, b"")
    assert send.get(f"{PLAIN}?X-SVC-SIGNATURE={signed}", [("X-SVC-APIKEY", KEY)]).status == 200


def test_names_of_query_elements_match_exactly(send: Sender) -> None:
    """Header names have no case, but those of a query have."""
    signed = signature(SECRET, KEY, BASE + PLAIN, b"")
    assert send.get(PLAIN, [("x-svc-apikey", KEY), ("x-svc-signature", signed)]).status == 200
    refused = send.get(f"{PLAIN}?x-svc-apikey={KEY}&x-svc-signature={signed}")
    assert (refused.status, refused.error) == (401, "credentials_missing")
    assert "X-SVC-SIGNATURE; it carries x-svc-apikey and x-svc-signature." in refused.message
    assert KEY not in refused.message


@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_elements_stand_anywhere_in_the_query(send: Sender, place: str) -> None:
    """What is left of the query keeps its order when the elements are taken out."""
    signed = signature(SECRET, KEY, BASE + QUERIED, b"")
    elements = f"X-SVC-APIKEY={KEY}&X-SVC-SIGNATURE={signed}"
    target = {
        "first": f"/v3/domains?{elements}&perPage=2&page=1",
        "middle": f"/v3/domains?perPage=2&{elements}&page=1",
        "last": f"/v3/domains?perPage=2&page=1&{elements}",
    }[place]
    assert send.get(target).status == 200


# The host


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("sent", ["sandbox.test", "api.test:8443", "[::1]:8053", "127.0.0.1:80"])
def test_the_signed_host_is_the_one_of_the_request(send: Sender, scheme: str, sent: str) -> None:
    """Either scheme with the Host header: behind a proxy that ends TLS the two differ."""
    signed = signature(SECRET, KEY, f"{scheme}://{sent}{PLAIN}", b"")
    assert send.get(PLAIN, [*headers(signed), ("Host", sent)]).status == 200


@pytest.mark.parametrize("sent", ["api.test:8443", "[::1]:8053"])
def test_the_port_may_be_left_out_of_the_signed_host(send: Sender, sent: str) -> None:
    """The Host header has a port and the signed URL none."""
    signed = signature(SECRET, KEY, f"https://{sent.rpartition(':')[0]}{PLAIN}", b"")
    assert send.get(PLAIN, [*headers(signed), ("Host", sent)]).status == 200


def test_the_port_may_be_left_out_of_the_host_header(url: str) -> None:
    """The signed URL has the server's port and the Host header none, as some callers send it."""
    socket = Socket(url)
    signed = signature(SECRET, KEY, url + PLAIN, b"")
    answer = socket("GET", PLAIN, [*headers(signed), ("Host", "127.0.0.1")], b"")
    socket.close()
    assert answer.status == 200, answer.raw


def test_a_proxy_may_stand_in_between(send: Sender) -> None:
    """The host that a proxy forwarded for was the one the caller typed."""
    signed = signature(SECRET, KEY, f"https://api.reseller.test{PLAIN}", b"")
    forwarded = [("X-Forwarded-Host", "api.reseller.test, inner.test"), ("X-Forwarded-Proto", "https")]
    assert send.get(PLAIN, [*headers(signed), *forwarded]).status == 200
    assert send.get(PLAIN, headers(signed)).error == "signature_mismatch"


def test_a_public_url_may_be_configured(make: Make) -> None:
    """Where the service is known under another address, a base path of its own included."""
    send = Sender(make(public_urls=("https://api.reseller.test/base/",)))
    signed = signature(SECRET, KEY, f"https://api.reseller.test/base{PLAIN}", b"")
    assert send.get(PLAIN, headers(signed)).status == 200
    assert Sender(make()).get(PLAIN, headers(signed)).error == "signature_mismatch"


@pytest.mark.parametrize("signed_prefix", ["", "/_worlds/default"])
def test_the_world_prefix_may_be_signed_or_not(send: Sender, signed_prefix: str) -> None:
    """The prefix that chooses a world belongs to the URL or does not; the caller may see it either way."""
    signed = signature(SECRET, KEY, BASE + signed_prefix + QUERIED, b"")
    assert send.get(f"/_worlds/default{QUERIED}", headers(signed)).status == 200


# The body


@pytest.mark.parametrize(
    "raw",
    [
        b'{"domainNames":["a.com"]}',
        b'{ "domainNames" : [ "a.com" ] }\n',
        b'{"domainNames":["a\\/b.com"]}',
        b'{"domainNames":["espa\\u00f1a.com"]}',
        '{"domainNames":["españa.com"]}'.encode(),
    ],
    ids=["compact", "spaced", "escaped-slash", "escaped-letter", "utf-8"],
)
@pytest.mark.parametrize("payload", ["any", "raw", "empty_object"])
def test_the_very_bytes_of_a_body_are_signed(make: Make, raw: bytes, payload: str) -> None:
    """Whatever serialiser wrote them; what an empty body stands for does not matter then."""
    send = Sender(make(assume={"v3.signature.payload": payload}))
    target = "/v3/domains/checkAvailability"
    signed = signature(SECRET, KEY, BASE + target, raw)
    answer = send.post(target, headers(signed), raw)
    assert answer.status == 200
    assert "v3.signature.payload" not in answer.assumptions
    assert send.post(target, headers(signed), raw + b" ").error == "signature_mismatch"


def test_a_header_prefix_may_be_configured(make: Make) -> None:
    """The two elements are named after the service; a sandbox can stand for one of another name."""
    sandbox = make(header_prefix="X-ACME-")
    signed = signature(SECRET, KEY, BASE + PLAIN, b"")
    named = [("X-ACME-APIKEY", KEY), ("X-ACME-SIGNATURE", signed)]
    assert Sender(sandbox).get(PLAIN, named).status == 200
    refused = Sender(sandbox).get(PLAIN, headers(signed))
    assert refused.error == "credentials_missing"
    assert "X-ACME-APIKEY" in refused.message


# Refusals


@pytest.mark.parametrize(
    ("sent", "missing"),
    [
        ([], "lacks X-SVC-APIKEY and X-SVC-SIGNATURE."),
        ([("X-SVC-APIKEY", KEY)], "lacks X-SVC-SIGNATURE"),
        ([("X-SVC-SIGNATURE", "00")], "lacks X-SVC-APIKEY"),
        ([("X-SVC-APIKEY", ""), ("X-SVC-SIGNATURE", "00")], "lacks X-SVC-APIKEY"),
    ],
)
def test_missing_elements_are_named(send: Sender, sent: Headers, missing: str) -> None:
    """Both, or the one that is not there."""
    answer = send.get(PLAIN, sent)
    assert (answer.status, answer.error) == (401, "credentials_missing")
    assert missing in answer.message


def test_an_unknown_key_is_named(send: Sender) -> None:
    """By its ends: it may be a key of the real service."""
    answer = send.get(PLAIN, headers("00", "no-such-key"))
    assert (answer.status, answer.error) == (401, "unknown_key")
    assert "'no***ey'" in answer.message


def _base64(hexadecimal: str) -> str:
    import base64

    return base64.b64encode(bytes.fromhex(hexadecimal)).decode()


BODY = b'{"domainNames": ["a.com"], "note": "x/y"}'
CHECK = "/v3/domains/checkAvailability"


def check_signed(payload: bytes) -> str:
    """The signature of a check with that payload."""
    return signature(SECRET, KEY, BASE + CHECK, payload)


RIGHT = check_signed(BODY)


@pytest.mark.parametrize(
    ("signed", "hint"),
    [
        (RIGHT.upper(), "lower-case hexadecimal"),
        (_base64(RIGHT), "not in Base64"),
        (signature("other-secret", KEY, BASE + CHECK, BODY), "the secret of the account other, not of main"),
        (check_signed(b'{"domainNames":["a.com"],"note":"x/y"}'), "another serialiser"),
        (check_signed(rb'{"domainNames":["a.com"],"note":"x\/y"}'), "another serialiser"),
        (check_signed(b'{"note": "x/y", "domainNames": ["a.com"]}'), None),
        (signature(SECRET, "", BASE + CHECK, BODY), "leaves out the API key"),
        (check_signed(b""), "leaves out the body"),
        (signature("wrong", KEY, BASE + CHECK, BODY), f"{KEY}{BASE}{CHECK}{BODY.decode()}"),
        ("nonsense", f"{KEY}{BASE}{CHECK}{BODY.decode()}"),
        ("ünïcode", f"{KEY}{BASE}{CHECK}"),
    ],
    ids=[
        "upper",
        "base64",
        "other-secret",
        "reserialised",
        "slashes",
        "reordered",
        "without-the-key",
        "without-the-body",
        "wrong-secret",
        "nonsense",
        "letters",
    ],
)
def test_a_wrong_signature_is_explained(send: Sender, signed: str, hint: str | None) -> None:
    """The mistakes that can be recognised by name; for the others, what was expected to be signed."""
    answer = send.post(CHECK, headers(signed.encode().decode("latin-1")), BODY)
    assert (answer.status, answer.error) == (401, "signature_mismatch")
    assert hint is None or hint in answer.message


@pytest.mark.parametrize("sort_keys", [False, True])
@pytest.mark.parametrize("ensure_ascii", [False, True])
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
@pytest.mark.parametrize("slash", ["/", "\\/"])
def test_a_body_that_was_signed_in_another_spelling_is_recognised(
    send: Sender, sort_keys: bool, ensure_ascii: bool, separators: tuple[str, str], slash: str
) -> None:
    """Whichever serialiser has written it, and the client then sent it in this one."""
    told = {"note": "x/é", "domainNames": ["a.com"]}
    sent = json.dumps(told, indent=1).encode()
    spelt = json.dumps(told, sort_keys=sort_keys, ensure_ascii=ensure_ascii, separators=separators)
    answer = send.post(CHECK, headers(check_signed(spelt.replace("/", slash).encode())), sent)
    assert (answer.status, answer.error) == (401, "signature_mismatch")
    assert "another serialiser" in answer.message


@pytest.mark.parametrize(
    "signed", ["", "nonsense", RIGHT.upper(), RIGHT[:-1], signature("other-secret", KEY, BASE + CHECK, BODY)]
)
def test_no_answer_tells_a_secret_or_a_signature(send: Sender, signed: str) -> None:
    """However a signature fails, neither a secret nor the right signature is in the answer."""
    answer = send.post(CHECK, headers(signed), BODY)
    whole = answer.raw.decode() + str(answer.headers)
    assert not any(told in whole for told in (SECRET, "other-secret", "poor-secret", RIGHT))


def test_a_refused_signature_changes_nothing(sandbox: Sandbox, send: Sender) -> None:
    """Whatever it asked for."""
    before = sandbox.world.state
    assert send.post("/v3/domains/lock/active.com", headers("00"), b"").error == "signature_mismatch"
    assert sandbox.world.state is before


def test_a_refusal_names_the_assumptions_it_rests_on(make: Make) -> None:
    """Also when the signature is what was refused."""
    send = Sender(make(assume={"v3.signature.endpoint": "path"}))
    answer = send.get(PLAIN, headers(signature(SECRET, KEY, BASE + PLAIN, b"")))
    assert answer.error == "signature_mismatch"
    assert answer.assumptions["v3.signature.endpoint"] == "path"
    assert answer.assumptions["v3.errors.http_status"] == "semantic"


def test_the_sign_command_takes_the_very_bytes_of_a_file(tmp_path: Path) -> None:
    """With the line break at its end; what is not text cannot stand in a command, and that is said."""
    body = tmp_path / "body"
    body.write_bytes(b'{"domainNames": []}\r\n')
    told = CliRunner().invoke(main, ["sign", "POST", CHECK, "--data", f"@{body}"])
    url = f"http://127.0.0.1:8053{CHECK}"
    assert signature("sandbox-secret", "sandbox-key", url, body.read_bytes()) in told.output
    body.write_bytes(b"{\xff}")
    refused = CliRunner().invoke(main, ["sign", "POST", CHECK, "--data", f"@{body}"])
    assert refused.exit_code == 2
    assert refused.output.endswith("byte 1 is not UTF-8, which JSON is written in\n")


@pytest.mark.parametrize("target", [PLAIN, QUERIED])
def test_the_names_of_the_elements_may_be_encoded(send: Sender, target: str) -> None:
    """They are taken out of the signed URL all the same."""
    signed = signature(SECRET, KEY, BASE + target, b"")
    assert send.get(in_encoded_query(target, signed)).status == 200
