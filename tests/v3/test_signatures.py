"""Which strings may be signed, where the key and the signature travel, and how mistakes are explained."""

from __future__ import annotations

import base64
import itertools
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest

from reseller_sandbox import Sandbox
from tests.clients import JSON, Answer, Headers, InProcess, Socket, signature
from tests.registry import BASE, Make, contents

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


def test_every_reading_is_accepted_by_default(send: Sender, subtests: pytest.Subtests) -> None:
    """Whichever part of the URL is signed, in whichever spelling, and wherever the elements travel."""
    for target, endpoint, spelling in itertools.product(TARGETS, ENDPOINTS, ("encoded", "raw")):
        text = ENDPOINTS[endpoint](target)
        for payload, place in itertools.product((b"", b"{}", b"[]"), ("headers", "query")):
            with subtests.test(
                target=target, endpoint=endpoint, spelling=spelling, payload=payload, place=place
            ):
                signed = signature(SECRET, KEY, decoded(text) if spelling == "raw" else text, payload)
                placed = (target, headers(signed)) if place == "headers" else (in_query(target, signed), [])
                answer = send.get(*placed)
                assert answer.status == 200, answer.raw
                assert answer.assumptions["v3.signature.endpoint"] == "any"
                assert "v3.signature." in answer.headers["x-sandbox-signature"]


def test_the_answer_names_the_settings_of_the_signature(send: Sender) -> None:
    url = send.get(QUERIED, headers(signature(SECRET, KEY, BASE + QUERIED, b"")))
    path = send.get(QUERIED, headers(signature(SECRET, KEY, PLAIN.replace("balance", "domains"), b"{}")))
    assert url.headers["x-sandbox-signature"] == "v3.signature.endpoint=url v3.signature.payload=raw"
    assert path.headers["x-sandbox-signature"] == (
        "v3.signature.endpoint=path_no_query v3.signature.payload=empty_object"
    )


def test_one_reading_of_the_endpoint_can_be_demanded(make: Make, subtests: pytest.Subtests) -> None:
    for value, target, endpoint in itertools.product(ENDPOINTS, TARGETS, ENDPOINTS):
        with subtests.test(value=value, target=target, endpoint=endpoint):
            send = Sender(make(assume={"v3.signature.endpoint": value}))
            signed = ENDPOINTS[endpoint](target)
            answer = send.get(target, headers(signature(SECRET, KEY, signed, b"")))
            assert answer.assumptions["v3.signature.endpoint"] == value
            if signed == ENDPOINTS[value](target):
                assert answer.status == 200, answer.raw
            else:
                assert answer.error == "signature_mismatch"
                named = next(name for name, reading in ENDPOINTS.items() if reading(target) == signed)
                assert f"set v3.signature.endpoint={named} v3.signature.payload=raw" in answer.message


def test_one_reading_of_an_empty_payload_can_be_demanded(make: Make) -> None:
    for value in PAYLOADS:
        send = Sender(make(assume={"v3.signature.payload": value}))
        for reading, payloads in PAYLOADS.items():
            for payload in payloads:
                answer = send.get(PLAIN, headers(signature(SECRET, KEY, BASE + PLAIN, payload)))
                assert answer.assumptions["v3.signature.payload"] == value
                if reading == value:
                    assert answer.status == 200
                else:
                    assert answer.error == "signature_mismatch"
                    assert f"v3.signature.payload={reading}" in answer.message


def test_the_key_in_the_query_is_signed_or_not_as_assumed(make: Make) -> None:
    signed_urls = {"excluded": BASE + QUERIED, "included": f"{BASE}{QUERIED}&X-SVC-APIKEY={KEY}"}
    for value, reading in itertools.product(signed_urls, signed_urls):
        send = Sender(make(assume={"v3.signature.query": value}))
        answer = send.get(in_query(QUERIED, signature(SECRET, KEY, signed_urls[reading], b"")))
        if reading == value:
            assert answer.status == 200
            assert answer.assumptions["v3.signature.query"] == value
        else:
            assert answer.error == "signature_mismatch"
            assert f"v3.signature.query={reading}" in answer.message
        signed = signature(SECRET, KEY, BASE + PLAIN, b"")
        assert send.get(f"{PLAIN}?X-SVC-SIGNATURE={signed}", [("X-SVC-APIKEY", KEY)]).status == 200


def test_header_names_have_no_case_and_query_names_have(send: Sender) -> None:
    signed = signature(SECRET, KEY, BASE + PLAIN, b"")
    assert send.get(PLAIN, [("x-svc-apikey", KEY), ("x-svc-signature", signed)]).status == 200
    refused = send.get(f"{PLAIN}?x-svc-apikey={KEY}&x-svc-signature={signed}")
    assert (refused.status, refused.error) == (401, "credentials_missing")
    assert "X-SVC-SIGNATURE; it carries x-svc-apikey and x-svc-signature." in refused.message
    assert KEY not in refused.message


def test_the_elements_stand_anywhere_in_the_query_and_may_be_encoded(send: Sender) -> None:
    signed = signature(SECRET, KEY, BASE + QUERIED, b"")
    elements = f"X-SVC-APIKEY={KEY}&X-SVC-SIGNATURE={signed}"
    for query in (
        f"{elements}&perPage=2&page=1",
        f"perPage=2&{elements}&page=1",
        f"perPage=2&page=1&{elements}",
        f"perPage=2&page=1&{elements}".replace("X-SVC-", "X%2DSVC%2D"),
    ):
        assert send.get(f"/v3/domains?{query}").status == 200, query


# The host


def test_the_signed_host_is_the_requests_under_either_scheme_with_or_without_its_port(
    send: Sender, subtests: pytest.Subtests
) -> None:
    for sent, scheme in itertools.product(
        ("sandbox.test", "api.test:8443", "[::1]:8053", "127.0.0.1:80"), ("http", "https")
    ):
        for host in {sent, re.sub(r":\d+$", "", sent)}:
            with subtests.test(sent=sent, scheme=scheme, host=host):
                signed = signature(SECRET, KEY, f"{scheme}://{host}{PLAIN}", b"")
                assert send.get(PLAIN, [*headers(signed), ("Host", sent)]).status == 200


def test_the_port_may_be_left_out_of_the_host_header(url: str) -> None:
    socket = Socket(url)
    signed = signature(SECRET, KEY, url + PLAIN, b"")
    answer = socket("GET", PLAIN, [*headers(signed), ("Host", "127.0.0.1")], b"")
    socket.close()
    assert answer.status == 200, answer.raw


def test_the_host_may_be_that_of_a_proxy_or_of_a_configured_public_url(send: Sender, make: Make) -> None:
    signed = signature(SECRET, KEY, f"https://api.reseller.test{PLAIN}", b"")
    forwarded = [("X-Forwarded-Host", "api.reseller.test, inner.test"), ("X-Forwarded-Proto", "https")]
    assert send.get(PLAIN, [*headers(signed), *forwarded]).status == 200
    assert send.get(PLAIN, headers(signed)).error == "signature_mismatch"
    public = Sender(make(public_urls=("https://api.reseller.test/base/",)))
    signed = signature(SECRET, KEY, f"https://api.reseller.test/base{PLAIN}", b"")
    assert public.get(PLAIN, headers(signed)).status == 200
    assert send.get(PLAIN, headers(signed)).error == "signature_mismatch"


def test_the_world_prefix_may_be_signed_or_not(send: Sender) -> None:
    for prefix in ("", "/_worlds/default"):
        signed = signature(SECRET, KEY, BASE + prefix + QUERIED, b"")
        assert send.get(f"/_worlds/default{QUERIED}", headers(signed)).status == 200


# The body


def test_the_very_bytes_of_a_body_are_signed(make: Make) -> None:
    for payload in ("any", "raw", "empty_object"):
        send = Sender(make(assume={"v3.signature.payload": payload}))
        for raw in (
            b'{"domainNames":["a.com"]}',
            b'{ "domainNames" : [ "a.com" ] }\n',
            b'{"domainNames":["a\\/b.com"]}',
            b'{"domainNames":["espa\\u00f1a.com"]}',
            '{"domainNames":["españa.com"]}'.encode(),
        ):
            signed = check_signed(raw)
            answer = send.post(CHECK, headers(signed), raw)
            assert answer.status == 200, raw
            assert "v3.signature.payload" not in answer.assumptions
            assert send.post(CHECK, headers(signed), raw + b" ").error == "signature_mismatch"


def test_a_header_prefix_may_be_configured(make: Make) -> None:
    sandbox = make(header_prefix="X-ACME-")
    signed = signature(SECRET, KEY, BASE + PLAIN, b"")
    named = [("X-ACME-APIKEY", KEY), ("X-ACME-SIGNATURE", signed)]
    assert Sender(sandbox).get(PLAIN, named).status == 200
    refused = Sender(sandbox).get(PLAIN, headers(signed))
    assert refused.error == "credentials_missing"
    assert "X-ACME-APIKEY" in refused.message


# Refusals


def test_missing_elements_and_an_unknown_key_are_named(send: Sender) -> None:
    for sent, missing in [
        ([], "lacks X-SVC-APIKEY and X-SVC-SIGNATURE."),
        ([("X-SVC-APIKEY", KEY)], "lacks X-SVC-SIGNATURE"),
        ([("X-SVC-SIGNATURE", "00")], "lacks X-SVC-APIKEY"),
        ([("X-SVC-APIKEY", ""), ("X-SVC-SIGNATURE", "00")], "lacks X-SVC-APIKEY"),
    ]:
        answer = send.get(PLAIN, sent)
        assert (answer.status, answer.error) == (401, "credentials_missing")
        assert missing in answer.message
    answer = send.get(PLAIN, headers("00", "no-such-key"))
    assert (answer.status, answer.error) == (401, "unknown_key")
    assert "'no***ey'" in answer.message, "masked: it may be a key of the real service"


BODY = b'{"domainNames": ["a.com"], "note": "x/y"}'
CHECK = "/v3/domains/checkAvailability"


def check_signed(payload: bytes) -> str:
    """Return the signature of a check with that payload."""
    return signature(SECRET, KEY, BASE + CHECK, payload)


RIGHT = check_signed(BODY)
#: Signatures that a client made by mistake, and the distinctive part of their explanation.
MISTAKES = {
    RIGHT.upper(): "lower-case hexadecimal",
    base64.b64encode(bytes.fromhex(RIGHT)).decode(): "not in Base64",
    signature("other-secret", KEY, BASE + CHECK, BODY): "the secret of the account other, not of main",
    signature(SECRET, "", BASE + CHECK, BODY): "leaves out the API key",
    check_signed(b""): "leaves out the body",
    signature("wrong", KEY, BASE + CHECK, BODY): f"{KEY}{BASE}{CHECK}{BODY.decode()}",
    "nonsense": f"{KEY}{BASE}{CHECK}{BODY.decode()}",
    "ünïcode": f"{KEY}{BASE}{CHECK}",
    RIGHT[:-1]: "63 characters instead of 64",
}


def test_a_wrong_signature_is_explained_without_a_secret_or_the_right_signature(
    sandbox: Sandbox, send: Sender, subtests: pytest.Subtests
) -> None:
    before = contents(sandbox)
    for signed, hint in MISTAKES.items():
        with subtests.test(hint=hint):
            answer = send.post(CHECK, headers(signed.encode().decode("latin-1")), BODY)
            assert (answer.status, answer.error) == (401, "signature_mismatch")
            assert hint in answer.message
            whole = answer.raw.decode() + str(answer.headers)
            assert not any(word in whole for word in (SECRET, "other-secret", "poor-secret", RIGHT))
    assert send.post("/v3/domains/lock/active.com", headers("00"), b"").error == "signature_mismatch"
    assert contents(sandbox) == before


def test_a_body_that_was_signed_in_another_spelling_is_recognised(
    send: Sender, subtests: pytest.Subtests
) -> None:
    body = {"note": "x/é", "domainNames": ["a.com"]}
    sent = json.dumps(body, indent=1).encode()
    for sort_keys, ensure_ascii, separators, slash in itertools.product(
        (False, True), (False, True), ((",", ":"), (", ", ": ")), ("/", "\\/")
    ):
        spelt = json.dumps(body, sort_keys=sort_keys, ensure_ascii=ensure_ascii, separators=separators)
        signed = spelt.replace("/", slash).encode()
        with subtests.test(signed=signed):
            answer = send.post(CHECK, headers(check_signed(signed)), sent)
            assert (answer.status, answer.error) == (401, "signature_mismatch")
            assert "another serialiser" in answer.message


def test_a_refused_signature_names_the_assumptions_of_the_answer(make: Make) -> None:
    send = Sender(make(assume={"v3.signature.endpoint": "path"}))
    answer = send.get(PLAIN, headers(signature(SECRET, KEY, BASE + PLAIN, b"")))
    assert answer.error == "signature_mismatch"
    assert answer.assumptions["v3.signature.endpoint"] == "path"
    assert answer.assumptions["v3.errors.http_status"] == "semantic"


def test_the_sign_command_signs_the_very_bytes_of_a_file(tmp_path: Path) -> None:
    body = tmp_path / "body"
    body.write_bytes(b'{"domainNames": []}\r\n')
    command = [sys.executable, "-m", "reseller_sandbox", "sign", "POST", CHECK, "--data", f"@{body}"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    url = f"http://127.0.0.1:8053{CHECK}"
    assert signature("sandbox-secret", "sandbox-key", url, body.read_bytes()) in printed
    body.write_bytes(b"{\xff}")
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert refused.stderr.endswith("byte 1 is not UTF-8, which JSON is written in\n")
