"""What is wrong with a request's credentials, where it can be told: each slip of a first day by its name."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.v3 import mistakes
from reseller_sandbox.v3.signing import Signer, sign
from reseller_sandbox.worlds import credentials
from tests.clients import Answer, Headers, InProcess, signature
from tests.registry import BASE, Make, account_of, write

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


@pytest.mark.parametrize(("target", "body", "made", "told"), SLIPS.values(), ids=SLIPS)
def test_a_slip_is_told_by_its_name(sandbox: Sandbox, target: str, body: bytes, made: str, told: str) -> None:
    """It is recognised by making it; nothing of the secret is told."""
    answer = send(sandbox, target, signed(made), body)
    assert (answer.status, answer.error) == (401, "signature_mismatch")
    assert told in answer.message
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


def test_a_signature_of_the_wrong_length_is_reported_with_its_length(sandbox: Sandbox) -> None:
    answer = send(sandbox, CHECK, signed("0000"), BODY)
    assert "The signature has 4 characters instead of 64." in answer.message


@pytest.mark.parametrize(
    ("host", "other"),
    [
        ("127.0.0.1:8053", "http://localhost:8053"),
        ("localhost:8053", "http://127.0.0.1:8053"),
        ("localhost:8053", "http://[::1]:8053"),
        ("172.17.0.1:8053", "http://host.docker.internal:8053"),
        ("127.0.0.1:8053", "https://localhost"),
    ],
)
def test_another_name_of_this_machine_is_told_with_both(sandbox: Sandbox, host: str, other: str) -> None:
    """And with the option that takes it."""
    answer = send(sandbox, CHECK, signed(over(KEY, other, CHECK, BODY)), BODY, host)
    assert f"It matches {other}, and the request was sent to http://{host}" in answer.message
    assert f"--public-url {other}" in answer.message


def test_letters_signed_where_escapes_were_sent_are_taken_and_told(sandbox: Sandbox) -> None:
    """Callers type a name as it is and their client encodes it."""
    answer = send(sandbox, SENT, signed(over(KEY, BASE, SPANISH)))
    assert answer.headers["x-sandbox-signature"].endswith("v3.signature.payload=raw (percent-decoded)")


class Counted:
    """How often a text is signed in search of a slip."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = 0
        monkeypatch.setattr(mistakes, "sign", self._counting(sign))
        monkeypatch.setattr(Signer, "gives", self._counting(Signer.gives))

    def _counting(self, made: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any) -> Any:
            self.times += 1
            return made(*given)

        return counted


@pytest.mark.parametrize(
    ("size", "most"), [(100, 700), (3_000, 700), (5_000, 10), (900_000, 10)], ids="{} bytes".format
)
def test_a_long_body_is_not_hashed_without_end(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, size: int, most: int
) -> None:
    """Looking for slips costs little where each look takes long."""
    counted, body = Counted(monkeypatch), b'{"domainNames": ["' + b"a" * size + b'"]}'
    assert send(sandbox, CHECK, signed("0" * 64), body).error == "signature_mismatch"
    assert 0 < counted.times < most


@pytest.mark.parametrize(
    "target", ["/v3/balance", LIST, SENT, f"{SENT}?x=%20&X-SVC-APIKEY=a&X-SVC-SIGNATURE=b"]
)
def test_a_wrong_signature_is_explained_after_a_bounded_search(
    make: Make, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """However many readings a request has, and accounts and public URLs the service."""
    sandbox = make(public_urls=tuple(f"https://api{number}.test" for number in range(20)))
    account = account_of(sandbox)
    write(sandbox, *(replace(account, client_id=9000 + n, key=f"k{n}", secret=f"s{n}") for n in range(300)))
    counted = Counted(monkeypatch)
    headers = [*signed("0" * 64), ("X-Forwarded-Host", "proxy.test"), ("Referer", "https://elsewhere.test")]
    assert send(sandbox, target, headers).error == "signature_mismatch"
    assert 0 < counted.times < 700


# The key


@pytest.mark.parametrize(
    ("names", "would"),
    [
        (("X-ACME-APIKEY", "X-ACME-SIGNATURE"), "Signature, which --header-prefix X-Acme- would take"),
        (("APIKEY", "SIGNATURE"), "which --header-prefix '' would take"),
        (("X-API-KEY",), "it carries X-Api-Key."),
    ],
)  # fmt: skip
def test_another_header_prefix_is_told_with_the_option(
    sandbox: Sandbox, names: tuple[str, ...], would: str
) -> None:
    """And the one that came."""
    answer = send(sandbox, "/v3/balance", [(name, "x") for name in names])
    assert answer.error == "credentials_missing"
    assert would in answer.message


def test_another_prefix_in_the_query_is_told_too(sandbox: Sandbox) -> None:
    """The elements may travel there."""
    answer = send(sandbox, "/v3/balance?X-ACME-APIKEY=k&X-ACME-SIGNATURE=s", [])
    assert "--header-prefix X-ACME- would take" in answer.message


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        (SECRET, "No account has the API key 'ma***et': it is the v3 secret of the account main."),
        (TOKEN, "No account has the API key 'ma***en': it is the v2.0 token of the account main."),
        ("nobody", "No account has the API key '***': nobody has it."),
    ],
)
def test_what_was_sent_for_a_key_is_told(sandbox: Sandbox, key: str, reason: str) -> None:
    """A secret or a token is named and not repeated: neither in the answer nor in the journal."""
    answer = send(sandbox, "/v3/balance", signed("0", key))
    assert answer.message == reason
    if key != "nobody":
        shown = sandbox.client().get("/_sandbox/journal?limit=1").text
        assert "unknown_key" in shown
        assert key not in shown


def test_a_revoked_key_is_told(sandbox: Sandbox) -> None:
    """As what it was."""
    sandbox.outside.revoke_credentials(account="main")
    assert "it has been revoked" in send(sandbox, "/v3/balance", signed("0")).message


def test_the_key_of_another_world_than_the_paths_is_told(make: Make) -> None:
    """With the world that it is of."""
    sandbox = make()
    with sandbox.fork(name="mine") as fork:
        message = send(sandbox, "/_worlds/default/v3/balance", signed("0", fork.account().key)).message
        assert "it is of the world mine, and the path names another" in message


ENDS: dict[str, tuple[Callable[[Sandbox, Sandbox], Any], str]] = {
    "deleted": (lambda sandbox, fork: sandbox.engine.drop(fork.world.name), "was deleted"),
    "started over": (lambda sandbox, fork: sandbox.engine.start_over(), "was deleted"),
    "expired": (
        lambda sandbox, fork: setattr(fork.world, "used", stopwatch() - 5000),
        "nobody used for 3600 seconds (--world-idle)",
    ),
}


@pytest.mark.parametrize(("end", "told"), ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("credential", ["key", "token"])
def test_a_credential_of_a_world_that_is_no_more_says_so(
    make: Make, end: Callable[[Sandbox, Sandbox], Any], told: str, credential: str
) -> None:
    """However it came to its end."""
    sandbox = make()
    fork = sandbox.fork(name="gone")
    value = getattr(fork.account(), credential)
    end(sandbox, fork)
    if credential == "key":
        reason = send(sandbox, "/v3/balance", signed("0", value)).message
    else:
        reason = send(sandbox, "/V2.0/customer/1", [("X-Auth-Token", value)]).headers["x-sandbox-refusal"]
    assert f"it was of the world gone, which {told}" in reason


def test_how_many_are_remembered_is_bounded(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The latest."""
    monkeypatch.setattr(credentials, "MOST_REMEMBERED", 18)
    sandbox = make()
    keys = []
    for _ in range(5):
        with sandbox.fork() as fork:
            keys.append(fork.account().key)
    told = [send(sandbox, "/v3/balance", signed("0", key)).message for key in keys]
    assert ["which was deleted" in message for message in told] == [False, False, False, True, True]


def test_a_credential_that_is_given_again_is_no_former_one(make: Make) -> None:
    """After a start over the first fork has the first fork's credentials."""
    sandbox = make()
    first = sandbox.fork().account()
    sandbox.engine.start_over()
    assert sandbox.fork().account() == replace(first, balance=first.balance)
    answer = send(
        sandbox,
        "/v3/balance",
        signed(signature(first.secret, first.key, f"{BASE}/v3/balance", b""), first.key),
    )
    assert answer.status == 200
