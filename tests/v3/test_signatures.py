"""Which strings may be signed, where the key and the signature travel, and how mistakes are explained."""

from __future__ import annotations

import base64
import hashlib
import hmac
import itertools
import json
import re
import time
from typing import Any
from urllib.parse import quote

import pytest

from reseller_sandbox import Sandbox
from tests.clients import JSON, Answer, Headers, InProcess, Socket
from tests.registry import BASE, Make, contents, edit
from tests.waiting import wait_until

KEY, SECRET, TOKEN = "main-key", "main-secret", "main-token"
PLAIN = "/v3/balance"
LIST = "/v3/domains?perPage=2&page=1"
CHECK = "/v3/domains/checkAvailability"
LETTERS = "/v3/domains/getDomain/españa.com"
ESCAPED = quote(LETTERS)
PUNYCODE = "/v3/domains/getDomain/xn--espaa-rta.com"
URL = BASE + CHECK
BODY = b'{"domainNames": ["a.com"], "note": "x/y"}'
TEXT = KEY.encode() + URL.encode() + BODY
#: The host on the local machine, in another name than that of the request.
LOCAL = "http://localhost:80"


def over(*parts: bytes | str, secret: str = SECRET, name: str = "sha256") -> str:
    text = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
    return hmac.new(secret.encode(), text, name).hexdigest()


def headers(signed: str, key: str = KEY) -> Headers:
    return [("X-SVC-APIKEY", key), ("X-SVC-SIGNATURE", signed)]


def in_query(target: str, signed: str) -> str:
    return f"{target}{'&' if '?' in target else '?'}X-SVC-APIKEY={KEY}&X-SVC-SIGNATURE={signed}"


def send(
    sandbox: Sandbox, target: str, sent: Headers, body: bytes = b"", host: str = "", scheme: str = "http"
) -> Answer:
    """A request with these headers: a POST if there is a body."""
    sent = [JSON, *sent, *([("Host", host)] if host else [])]
    return InProcess(sandbox.app, scheme)("POST" if body else "GET", target, sent, body)


def test_every_reading_of_the_string_to_sign_is_accepted_and_reported(
    sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    """Each part of the URL may be signed, in each spelling, and the elements travel in either place."""
    for target, payload in itertools.product((PLAIN, LIST, ESCAPED), (b"", b"{}", b"[]")):
        endpoints = {BASE + target, target, target.partition("?")[0]}
        for endpoint in endpoints | {text.replace(ESCAPED, LETTERS) for text in endpoints}:
            with subtests.test(target=target, endpoint=endpoint, payload=payload):
                signed = over(KEY, endpoint, payload)
                for asked, sent in ((target, headers(signed)), (in_query(target, signed), [])):
                    answer = send(sandbox, asked, sent)
                    assert answer.status == 200, answer.raw
                    assert answer.assumptions["v3.signature.endpoint"] == "any"
                    part = "url" if endpoint.startswith(BASE) else "path"
                    report = answer.headers["x-sandbox-signature"]
                    assert report.startswith(f"v3.signature.endpoint={part}")
                    assert f"payload={'empty_object' if payload else 'raw'}" in report
                    assert ("(percent-decoded)" in report) is (LETTERS in endpoint)


#: The string that a GET of LIST signs under each value of an assumption.
READINGS: dict[str, dict[str, tuple[str, ...]]] = {
    "v3.signature.endpoint": {"url": (BASE + LIST,), "path": (LIST,), "path_no_query": ("/v3/domains",)},
    "v3.signature.payload": {"raw": (BASE + LIST,), "empty_object": (f"{BASE}{LIST}{{}}", f"{BASE}{LIST}[]")},
    "v3.signature.query": {"excluded": (BASE + LIST,), "included": (f"{BASE}{LIST}&X-SVC-APIKEY={KEY}",)},
}


def test_assumptions_can_require_one_reading_of_the_string_to_sign(
    make: Make, subtests: pytest.Subtests
) -> None:
    for assumption, readings in READINGS.items():
        for value, reading in itertools.product(readings, readings):
            sandbox = make(assume={assumption: value})
            for text in readings[reading]:
                with subtests.test(value=value, text=text):
                    signed = over(KEY, text)
                    placed = (
                        (in_query(LIST, signed), []) if "query" in assumption else (LIST, headers(signed))
                    )
                    answer = send(sandbox, *placed)
                    assert answer.assumptions[assumption] == value
                    if reading == value:
                        assert answer.status == 200
                    else:
                        assert (answer.status, answer.error) == (401, "signature_mismatch")
                        assert f"{assumption}={reading}" in answer.message


def test_key_and_signature_may_be_in_headers_or_anywhere_in_the_query(sandbox: Sandbox) -> None:
    signed = over(KEY, BASE, LIST)
    elements = f"X-SVC-APIKEY={KEY}&X-SVC-SIGNATURE={signed}"
    for query in (
        f"{elements}&perPage=2&page=1",
        f"perPage=2&{elements}&page=1",
        f"perPage=2&page=1&{elements}".replace("X-SVC-", "X%2DSVC%2D"),
    ):
        assert send(sandbox, f"/v3/domains?{query}", []).status == 200, query
    assert send(sandbox, f"{LIST}&X-SVC-SIGNATURE={signed}", [("X-SVC-APIKEY", KEY)]).status == 200
    assert send(sandbox, LIST, [("x-svc-apikey", KEY), ("x-svc-signature", signed)]).status == 200
    refused = send(sandbox, f"{LIST}&{elements.lower()}", [])
    assert (refused.status, refused.error) == (401, "credentials_missing")
    assert "X-SVC-SIGNATURE; it carries x-svc-apikey and x-svc-signature." in refused.message
    assert KEY not in refused.message


def test_the_signed_url_may_have_either_scheme_and_may_omit_the_port(
    sandbox: Sandbox, url: str, subtests: pytest.Subtests
) -> None:
    for host, scheme in itertools.product(
        ("sandbox.test", "api.test:8443", "[::1]:8053", "127.0.0.1:80"), ("http", "https")
    ):
        for name in {host, re.sub(r":\d+$", "", host)}:
            with subtests.test(host=host, scheme=scheme, name=name):
                signed = over(KEY, f"{scheme}://{name}{PLAIN}")
                assert send(sandbox, PLAIN, headers(signed), host=host).status == 200
        without, port = re.sub(r":\d+$", "", host), {"http": 80, "https": 443}[scheme]
        with subtests.test(host=host, scheme=scheme, port=port):
            signed = over(KEY, f"{scheme}://{without}:{port}{PLAIN}")
            assert send(sandbox, PLAIN, headers(signed), host=without).status == 200
    socket = Socket(url)
    answer = socket("GET", PLAIN, [*headers(over(KEY, url, PLAIN)), ("Host", "127.0.0.1")], b"")
    socket.close()
    assert answer.status == 200, answer.raw


def test_the_signed_host_may_be_a_forwarded_host_or_a_public_url(sandbox: Sandbox, make: Make) -> None:
    signed = headers(over(KEY, f"https://api.reseller.test{PLAIN}"))
    forwarded = [("X-Forwarded-Host", "api.reseller.test, inner.test"), ("X-Forwarded-Proto", "https")]
    assert send(sandbox, PLAIN, [*signed, *forwarded]).status == 200
    assert send(sandbox, PLAIN, signed).error == "signature_mismatch"
    public = make(public_urls=("https://api.reseller.test/base/",))
    signed = headers(over(KEY, f"https://api.reseller.test/base{PLAIN}"))
    assert send(public, PLAIN, signed).status == 200
    assert send(sandbox, PLAIN, signed).error == "signature_mismatch"
    signed = headers(over(KEY, f"https://api.reseller.test:443/base{PLAIN}"))
    assert send(public, PLAIN, signed).status == 200
    for prefix in ("", "/_worlds/default"):
        signed = headers(over(KEY, BASE, prefix, LIST))
        assert send(sandbox, f"/_worlds/default{LIST}", signed).status == 200


def test_the_signature_covers_the_exact_bytes_of_the_body(make: Make) -> None:
    for payload in ("any", "raw", "empty_object"):
        sandbox = make(assume={"v3.signature.payload": payload})
        for raw in (
            b'{ "domainNames" : [ "a.com" ] }\n',
            b'{"domainNames":["a\\/b.com", "espa\\u00f1a.com"]}',
            '{"domainNames":["españa.com"]}'.encode(),
        ):
            signed = headers(over(KEY, URL, raw))
            answer = send(sandbox, CHECK, signed, raw)
            assert answer.status == 200, raw
            assert "v3.signature.payload" not in answer.assumptions
            assert send(sandbox, CHECK, signed, raw + b" ").error == "signature_mismatch"


# Refused

RIGHT = over(TEXT)
#: A mistake: the target of the request, its body, the signature that it results in, and the explanation.
MISTAKES: list[tuple[str, bytes, str, str]] = [
    (CHECK, BODY, RIGHT.upper(), "lower-case hexadecimal"),
    (CHECK, BODY, base64.b64encode(bytes.fromhex(RIGHT)).decode(), "not in Base64"),
    (CHECK, BODY, RIGHT[:-1], "63 characters instead of 64"),
    (CHECK, BODY, "ünïcode", f"{KEY}{URL}"),
    (CHECK, BODY, over(TEXT, secret="other-secret"), "the secret of the account other, not of main"),
    (CHECK, BODY, over(TEXT, secret=SECRET + "\n"), "It was made with a line feed after the secret"),
    (CHECK, BODY, over(TEXT, secret=SECRET + " "), "It was made with a space after the secret"),
    (CHECK, BODY, over(TEXT, secret="\ufeff" + SECRET), "with a byte order mark before the secret"),
    (CHECK, BODY, over(TEXT, secret=f"'{SECRET}'"), "with an apostrophe before and after the secret"),
    (CHECK, BODY, over(TEXT, secret="wrong"), f"The string to sign is {TEXT.decode()}, by HMAC-SHA256"),
    (CHECK, BODY, over(URL, BODY), "leaves out the API key"),
    (CHECK, BODY, over(KEY, URL), "leaves out the body"),
    (CHECK, BODY, over("POST", KEY, URL, BODY), "has the method POST"),
    (CHECK, BODY, over(KEY, CHECK, "POST", BODY), "has the method POST"),
    (CHECK, BODY, over(KEY, URL.replace("/v3", ""), BODY), "leaves /v3 out"),
    (LIST, b"", over(KEY, BASE + "/v3/domains"), "leaves out the query"),
    (CHECK, BODY, over(TEXT, name="sha1"), "an HMAC with SHA-1"),
    (CHECK, BODY, over(TEXT, name="sha512"), "an HMAC with SHA-512"),
    (CHECK, BODY, hashlib.sha256(TEXT).hexdigest(), "a plain SHA-256"),
    (CHECK, BODY, hashlib.sha1(TEXT + SECRET.encode()).hexdigest(), "a plain SHA-1"),
    (CHECK, BODY, hmac.new(TEXT, SECRET.encode(), "sha256").hexdigest(), "changed places"),
    (CHECK, BODY, over(TEXT, secret=KEY), "the API key in place of"),
    (CHECK, BODY, over(TEXT, secret=TOKEN), "the v2.0 token in place of"),
    (CHECK, BODY, over(KEY, "\n", URL, "\n", BODY), "something between them"),
    (CHECK, BODY, over(URL, KEY, BODY), "in another order"),
    (ESCAPED, b"", over(KEY, BASE, ESCAPED.replace("C3%B1", "c3%b1")), "another spelling"),
    (ESCAPED, b"", over(KEY, BASE, PUNYCODE), "another spelling"),
    (PUNYCODE, b"", over(KEY, BASE, LETTERS), "another spelling"),
    (LETTERS.encode().decode("latin-1"), b"", over(KEY, ESCAPED), "another spelling"),
    (CHECK, BODY, over(KEY, LOCAL, CHECK, BODY), f"--public-url {LOCAL}"),
    (CHECK, BODY, over(KEY, LOCAL, CHECK, BODY), f"It matches {LOCAL}, and the request was sent to {BASE}"),
    (CHECK, BODY, over(KEY, "https://localhost", CHECK, BODY), "--public-url https://localhost"),
    (CHECK, BODY, over(KEY, f"https://api.test{CHECK}", BODY), "set --public-url"),
]  # fmt: skip
INDENTED = json.dumps({"note": "x/é", "domainNames": ["a.com"]}, indent=1).encode()
for sort_keys, ensure_ascii, separators, slash in itertools.product(
    (False, True), (False, True), ((",", ":"), (", ", ": ")), ("/", "\\/")
):
    options: dict[str, Any] = {"sort_keys": sort_keys, "ensure_ascii": ensure_ascii, "separators": separators}
    spelt = json.dumps(json.loads(INDENTED), **options).replace("/", slash)
    MISTAKES.append((CHECK, INDENTED, over(KEY, URL, spelt), "another serialiser"))


def test_a_mistake_in_the_signature_is_explained_without_a_secret_or_the_right_signature(
    sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    before = contents(sandbox)
    for number, (target, body, signed, message) in enumerate(MISTAKES):
        with subtests.test(number=number, message=message):
            answer = send(sandbox, target, headers(signed.encode().decode("latin-1")), body)
            assert (answer.status, answer.error) == (401, "signature_mismatch")
            assert message in answer.message
            whole = answer.raw.decode() + str(answer.headers)
            assert not any(word in whole for word in (SECRET, TOKEN, "other-secret", "poor-secret", RIGHT))
    assert contents(sandbox) == before


def text_of(parts: dict[str, str]) -> str:
    return parts["key"] + parts["url"] + parts["body"]


def test_the_journal_shows_the_mistake_and_the_signed_and_expected_strings(sandbox: Sandbox) -> None:
    for signed, place, text in [
        (over(URL, BODY), "key", URL + BODY.decode()),
        (over(KEY, LOCAL, CHECK, BODY), "url", KEY + LOCAL + CHECK + BODY.decode()),
        (over(KEY, URL), "body", KEY + URL),
        (over("POST", KEY, URL, BODY), "parts", "POST" + TEXT.decode()),
        (over(TEXT, name="sha1"), "algorithm", TEXT.decode()),
        (over(TEXT, secret="other-secret"), "secret", TEXT.decode()),
        (RIGHT.upper(), "form", TEXT.decode()),
        (over(TEXT, secret="wrong"), None, None),
    ]:
        send(sandbox, CHECK, headers(signed), BODY)
        refusal = sandbox.journal.list(limit=1).requests[0].refusal
        assert refusal is not None
        shown = refusal.facts["diagnosis"]
        assert (shown["place"], shown["signed"], text_of(shown["expected"])) == (place, text, TEXT.decode())
        assert shown["expected"]["settings"] == "v3.signature.endpoint=url"
    sandbox.assumptions.set({"v3.signature.endpoint": "path"})
    send(sandbox, CHECK, headers(RIGHT), BODY)
    refusal = sandbox.journal.list(limit=1).requests[0].refusal
    assert refusal is not None
    shown = refusal.facts["diagnosis"]
    assert (shown["place"], shown["expected"]["settings"]) == ("assumption", "v3.signature.endpoint=url")
    assert text_of(shown["accepted"][0]) == KEY + CHECK + BODY.decode()


def test_the_journal_lists_every_accepted_string_of_a_wrong_signature(sandbox: Sandbox) -> None:
    answer = send(sandbox, CHECK, headers("0" * 64), BODY)
    assert answer.message.count(KEY) == 1
    why = sandbox.journal.why("r1")
    assert why is not None
    accepted = why.facts["diagnosis"]["accepted"]
    assert accepted[0] == why.facts["diagnosis"]["expected"]
    assert text_of(accepted[0]) == TEXT.decode()
    assert f"{KEY}{CHECK}{BODY.decode()}" in list(map(text_of, accepted))
    assert f"lists {len(accepted) - 1} other strings that are accepted" in answer.message


@pytest.mark.slow
def test_a_wrong_signature_is_refused_quickly(make: Make) -> None:
    """The search for mistakes is bounded for long bodies, many accounts, public URLs and readings."""
    sandbox = make(public_urls=tuple(f"https://api{number}.test" for number in range(20)))
    edit(sandbox, {"accounts": {f"a{number}": {"contact": {"name": "A"}} for number in range(300)}})
    forwarded = [("X-Forwarded-Host", "proxy.test"), ("Referer", "https://elsewhere.test")]
    query = f"{ESCAPED}?x=%20&X-SVC-APIKEY=a&X-SVC-SIGNATURE=b"
    long = b'{"domainNames": ["' + b"a" * 900_000 + b'"]}'
    for target, body in [(LIST, b""), (query, b""), (CHECK, long)]:
        began = time.process_time()
        assert send(sandbox, target, [*headers("0" * 64), *forwarded], body).error == "signature_mismatch"
        assert time.process_time() - began < 0.5, target  # 0.02 as measured


def test_the_refusal_names_missing_signature_headers_and_a_possible_header_prefix(
    sandbox: Sandbox, make: Make
) -> None:
    for sent, missing in [
        ([("X-SVC-APIKEY", KEY)], "lacks X-SVC-SIGNATURE"),
        ([("X-SVC-SIGNATURE", "00")], "lacks X-SVC-APIKEY"),
        ([("X-SVC-APIKEY", ""), ("X-SVC-SIGNATURE", "00")], "lacks X-SVC-APIKEY"),
        ([("X-ACME-APIKEY", "x"), ("X-ACME-SIGNATURE", "x")], "which --header-prefix X-Acme- would take"),
        ([("APIKEY", "x"), ("SIGNATURE", "x")], "which --header-prefix '' would take"),
        ([("X-API-KEY", "x")], "it carries X-Api-Key."),
    ]:
        answer = send(sandbox, PLAIN, sent)
        assert (answer.status, answer.error) == (401, "credentials_missing")
        assert missing in answer.message
    answer = send(sandbox, f"{PLAIN}?X-ACME-APIKEY=k&X-ACME-SIGNATURE=s", [])
    assert "--header-prefix X-ACME- would take" in answer.message
    configured, signed = make(header_prefix="X-ACME-"), over(KEY, BASE, PLAIN)
    assert send(configured, PLAIN, [("X-ACME-APIKEY", KEY), ("X-ACME-SIGNATURE", signed)]).status == 200
    refused = send(configured, PLAIN, headers(signed))
    assert (refused.error, "X-ACME-APIKEY" in refused.message) == ("credentials_missing", True)


def test_a_wrong_credential_sent_as_api_key_is_named_in_the_refusal(sandbox: Sandbox) -> None:
    for key, reason in {
        SECRET: "No account has the API key 'ma***et': it is the secret of the account main.",
        TOKEN: "No account has the API key 'ma***en': it is the token of the account main.",
        "nobody": "No account has the API key '***': nobody has it.",
    }.items():
        assert send(sandbox, PLAIN, headers("0", key)).message == reason
        shown = sandbox.client().get("/_sandbox/journal?limit=1").text
        assert "unknown_key" in shown
        assert key == "nobody" or key not in shown
    sandbox.simulate.revoke_credentials(account="main")
    assert "it has been revoked" in send(sandbox, PLAIN, headers("0")).message


def test_a_key_of_another_or_deleted_world_is_refused_with_the_world_name(
    sandbox: Sandbox, make: Make
) -> None:
    with sandbox.fork(name="mine") as fork:
        mine = fork.accounts["main"]
        message = send(sandbox, "/_worlds/default/v3/balance", headers("0", mine.key)).message
        assert "it is of the world mine, and the path names another" in message
    forgetful = make(world_idle=0.05)
    left = forgetful.fork(name="left").accounts["main"]
    wait_until(lambda: "left" not in [world.name for world in forgetful.worlds])
    for origin, former, end in [
        (sandbox, mine, "it was of the world mine, which was deleted"),
        (forgetful, left, "it was of the world left, which nobody used for 0.05 seconds (--world-idle)"),
    ]:
        assert end in send(origin, PLAIN, headers("0", former.key)).message
        v2 = send(origin, "/V2.0/customer/1", [("X-Auth-Token", former.token)])
        assert end in v2.headers["x-sandbox-refusal"]
