"""Common mistakes with signatures and keys: each is recognised and named in the refusal."""

from __future__ import annotations

import hashlib
import hmac
import time
from urllib.parse import quote

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Answer, Headers, InProcess
from tests.registry import BASE, Make, edit

KEY, SECRET, TOKEN = "main-key", "main-secret", "main-token"
CHECK = "/v3/domains/checkAvailability"
LIST = "/v3/domains?perPage=2&page=1"
SPANISH = "/v3/domains/getDomain/españa.com"
SENT = quote(SPANISH)
LOCAL = "http://localhost:80"
RAW = SPANISH.encode().decode("latin-1")
PUNYCODE = "/v3/domains/getDomain/xn--espaa-rta.com"
BODY = b'{"domainNames": ["a.com"]}'


def send(sandbox: Sandbox, target: str, headers: Headers, body: bytes = b"", host: str = "") -> Answer:
    """A request with these headers: a POST where there is a body."""
    sent = [*headers, ("Content-Type", "application/json"), *([("Host", host)] if host else [])]
    return InProcess(sandbox.app)("POST" if body else "GET", target, sent, body)


def signed(value: str, key: str = KEY) -> Headers:
    """The two elements."""
    return [("X-SVC-APIKEY", key), ("X-SVC-SIGNATURE", value)]


def over(*parts: bytes | str, secret: str = SECRET, name: str = "sha256") -> str:
    """The HMAC of the parts together."""
    text = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
    return hmac.new(secret.encode(), text, name).hexdigest()


def plain(name: str, *parts: bytes | str) -> str:
    """The bare hash of the parts together."""
    text = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
    return hashlib.new(name, text).hexdigest()


URL = BASE + CHECK
TEXT = KEY.encode() + URL.encode() + BODY

#: A slip: where the request goes, its body, the signature it comes to, and what is said of it.
SLIPS: dict[str, tuple[str, bytes, str, str]] = {
    "the method before": (CHECK, BODY, over("POST", KEY, URL, BODY), "has the method POST"),
    "the method after the key": (CHECK, BODY, over(KEY, "POST", URL, BODY), "has the method POST"),
    "the method after the endpoint": (CHECK, BODY, over(KEY, CHECK, "POST", BODY), "has the method POST"),
    "the method of a GET": (LIST, b"", over(KEY, "GET", BASE + LIST), "has the method GET"),
    "no /v3": (CHECK, BODY, over(KEY, CHECK.removeprefix("/v3"), BODY), "leaves /v3 out"),
    "no /v3 in the URL": (CHECK, BODY, over(KEY, URL.replace("/v3", ""), BODY), "leaves /v3 out"),
    "no query": (LIST, b"", over(KEY, BASE + "/v3/domains"), "leaves out the query"),
    "SHA-1": (CHECK, BODY, over(TEXT, name="sha1"), "an HMAC with SHA-1"),
    "MD5": (CHECK, BODY, over(TEXT, name="md5"), "an HMAC with MD5"),
    "SHA-512": (CHECK, BODY, over(TEXT, name="sha512"), "an HMAC with SHA-512"),
    "plain SHA-256": (CHECK, BODY, plain("sha256", TEXT), "a plain SHA-256"),
    "plain SHA-256, secret first": (CHECK, BODY, plain("sha256", SECRET, TEXT), "a plain SHA-256"),
    "plain SHA-256, secret last": (CHECK, BODY, plain("sha256", TEXT, SECRET), "a plain SHA-256"),
    "plain SHA-1": (CHECK, BODY, plain("sha1", TEXT, SECRET), "a plain SHA-1"),
    "swapped": (CHECK, BODY, hmac.new(TEXT, SECRET.encode(), "sha256").hexdigest(), "changed places"),
    "the key for the secret": (CHECK, BODY, over(TEXT, secret=KEY), "the API key in place of"),
    "the token for the secret": (CHECK, BODY, over(TEXT, secret=TOKEN), "the v2.0 token in place of"),
    "lines between": (CHECK, BODY, over(KEY, "\n", URL, "\n", BODY), "something between them"),
    "another order": (CHECK, BODY, over(URL, KEY, BODY), "in another order"),
    "small escapes": (SENT, b"", over(KEY, BASE, SENT.replace("C3%B1", "c3%b1")), "another spelling"),
    "xn-- signed, letters sent": (SENT, b"", over(KEY, BASE, PUNYCODE), "another spelling"),
    "letters signed, xn-- sent": (PUNYCODE, b"", over(KEY, BASE, SPANISH), "another spelling"),
    "escapes signed, xn-- sent": (PUNYCODE, b"", over(KEY, BASE, SENT), "another spelling"),
    "escapes signed, bytes sent": (RAW, b"", over(KEY, SENT), "another spelling"),
    "localhost": (CHECK, BODY, over(KEY, LOCAL, CHECK, BODY), f"--public-url {LOCAL}"),
    "unknown host": (CHECK, BODY, over(KEY, f"https://api.test{CHECK}", BODY), "set --public-url"),
}  # fmt: skip


def test_a_mistake_in_the_signature_is_named_without_a_secret(
    sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    for name, (target, body, made, message) in SLIPS.items():
        with subtests.test(name=name):
            answer = send(sandbox, target, signed(made), body)
            assert (answer.status, answer.error) == (401, "signature_mismatch")
            assert message in answer.message
            assert SECRET not in answer.message
            assert TOKEN not in answer.message


def test_a_wrong_signature_names_one_string_and_the_journal_lists_every_accepted_string(
    sandbox: Sandbox,
) -> None:
    answer = send(sandbox, CHECK, signed("0" * 64), BODY)
    assert f"The string to sign is {KEY}{URL}{BODY.decode()}, by HMAC-SHA256" in answer.message
    assert answer.message.count(KEY) == 1
    why = sandbox.journal.why("r1")
    assert why is not None
    accepted = why.facts["accepted"]
    assert accepted[0] == f"{KEY}{URL}{BODY.decode()}"
    assert f"{KEY}{CHECK}{BODY.decode()}" in accepted
    assert f"lists {len(accepted) - 1} other strings that are accepted" in answer.message


def test_another_name_of_this_machine_is_reported_with_both_and_the_option(
    sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    for host, other in [
        ("127.0.0.1:8053", "http://localhost:8053"),
        ("localhost:8053", "http://127.0.0.1:8053"),
        ("localhost:8053", "http://[::1]:8053"),
        ("172.17.0.1:8053", "http://host.docker.internal:8053"),
        ("127.0.0.1:8053", "https://localhost"),
    ]:
        with subtests.test(host=host, other=other):
            answer = send(sandbox, CHECK, signed(over(KEY, other, CHECK, BODY)), BODY, host)
            assert f"It matches {other}, and the request was sent to http://{host}" in answer.message
            assert f"--public-url {other}" in answer.message


def test_a_signed_name_in_letters_is_accepted_and_reported(sandbox: Sandbox) -> None:
    answer = send(sandbox, SENT, signed(over(KEY, BASE, SPANISH)))
    assert answer.headers["x-sandbox-signature"].endswith("v3.signature.payload=raw (percent-decoded)")


def test_a_wrong_signature_is_refused_quickly(make: Make) -> None:
    """The search for mistakes is bounded for long bodies, many accounts, public URLs and readings."""
    sandbox = make(public_urls=tuple(f"https://api{number}.test" for number in range(20)))
    edit(sandbox, {"accounts": {f"a{number}": {"contact": {"name": "A"}} for number in range(300)}})
    forwarded = [("X-Forwarded-Host", "proxy.test"), ("Referer", "https://elsewhere.test")]
    query = f"{SENT}?x=%20&X-SVC-APIKEY=a&X-SVC-SIGNATURE=b"
    long = b'{"domainNames": ["' + b"a" * 900_000 + b'"]}'
    for target, body in [(LIST, b""), (SENT, b""), (query, b""), (CHECK, long)]:
        began = time.process_time()
        assert send(sandbox, target, [*signed("0" * 64), *forwarded], body).error == "signature_mismatch"
        assert time.process_time() - began < 0.5, target  # 0.02 as measured


# The key


def test_another_header_prefix_is_reported_with_the_option(sandbox: Sandbox) -> None:
    for names, reason in [
        (("X-ACME-APIKEY", "X-ACME-SIGNATURE"), "Signature, which --header-prefix X-Acme- would take"),
        (("APIKEY", "SIGNATURE"), "which --header-prefix '' would take"),
        (("X-API-KEY",), "it carries X-Api-Key."),
    ]:
        answer = send(sandbox, "/v3/balance", [(name, "x") for name in names])
        assert answer.error == "credentials_missing"
        assert reason in answer.message
    answer = send(sandbox, "/v3/balance?X-ACME-APIKEY=k&X-ACME-SIGNATURE=s", [])
    assert "--header-prefix X-ACME- would take" in answer.message


def test_a_credential_that_is_not_a_key_is_named_and_not_repeated(sandbox: Sandbox) -> None:
    for key, reason in {
        SECRET: "No account has the API key 'ma***et': it is the v3 secret of the account main.",
        TOKEN: "No account has the API key 'ma***en': it is the v2.0 token of the account main.",
        "nobody": "No account has the API key '***': nobody has it.",
    }.items():
        assert send(sandbox, "/v3/balance", signed("0", key)).message == reason
        shown = sandbox.client().get("/_sandbox/journal?limit=1").text
        assert "unknown_key" in shown
        assert key == "nobody" or key not in shown


def test_a_revoked_key_is_reported_as_revoked(sandbox: Sandbox) -> None:
    sandbox.outside.revoke_credentials(account="main")
    assert "it has been revoked" in send(sandbox, "/v3/balance", signed("0")).message


def test_a_credential_of_another_or_a_former_world_is_reported_with_that_world(make: Make) -> None:
    sandbox = make(world_idle=1)
    with sandbox.fork(name="mine") as fork:
        mine = fork.account()
        message = send(sandbox, "/_worlds/default/v3/balance", signed("0", mine.key)).message
        assert "it is of the world mine, and the path names another" in message
    left = sandbox.fork(name="left").account()
    time.sleep(1.1)
    for former, end in [
        (mine, "it was of the world mine, which was deleted"),
        (left, "it was of the world left, which nobody used for 1 seconds (--world-idle)"),
    ]:
        v3 = send(sandbox, "/v3/balance", signed("0", former.key)).message
        v2 = send(sandbox, "/V2.0/customer/1", [("X-Auth-Token", former.token)])
        assert end in v3
        assert end in v2.headers["x-sandbox-refusal"]
