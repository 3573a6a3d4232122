"""Clients as small programs, careless and well-behaved side by side; each careless one breaks one rule.

Their sandbox's clock runs, so that a client that pauses can be told from one that does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any

from reseller_sandbox import Sandbox

DOMAINS = "/v3/domains"


class Client:
    """The account ``main`` with both interfaces, time that passes, and a bad network."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self._client = sandbox.client()

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Return the body of the answer, or None if no answer arrives."""
        with suppress(OSError, HTTPException):
            return self._client.open(path, method=method, json=body).get_json(silent=True)
        return None

    def get(self, operation: str) -> Any:
        return self.send("GET", f"{DOMAINS}/{operation}")

    def post(self, operation: str, body: Any = None) -> Any:
        return self.send("POST", f"{DOMAINS}/{operation}", body)

    def create(self, name: str, **more: Any) -> Any:
        return self.post("createDomain", {"domain": {"domainName": name}, **more})

    def transfer(self, name: str, **more: Any) -> Any:
        return self.post("requestTransfer", {"domain": {"domainName": name}, "authCode": "let-me-in", **more})

    def renew(self, name: str, **more: Any) -> Any:
        return self.post(f"renewDomain/{name}", more)

    def renew_v2(self, name: str, **more: Any) -> Any:
        return self.send("PUT", f"/V2.0/domain/{name}/renew", {"period": 1, **more})

    def create_v2(self, name: str) -> Any:
        roles = {
            f"contact_{role}": self.sandbox.account().contact
            for role in ("registrant", "admin", "tech", "billing")
        }
        wanted = {**roles, "ns": ["ns1.home.net", "ns2.home.net"], "period": 1}
        return self.send("POST", f"/V2.0/domain/{name}", wanted)

    def transfer_v2(self, name: str) -> Any:
        return self.send("POST", f"/V2.0/domain/{name}/transfer", {"transfer_code": "let-me-in"})

    def expiry(self, name: str) -> str:
        return str(self.send("GET", f"/V2.0/domain/{name}")["date_end"])

    def wait(self, length: str) -> None:
        self.sandbox.clock.advance(length)

    def lose(self, operation: str = "*", **fault: Any) -> None:
        """Lose the answer to the next request of an operation."""
        how = fault or {"kind": "error", "error": "internal_error"}
        self.sandbox.faults.add(match={"operation": operation}, when={"phase": "after", "times": 1}, **how)

    def limit(self, requests: int) -> None:
        """Limit the requests per minute."""
        self.sandbox.faults.add("rate_limit", limit=requests, window=60)


Program = Callable[[Client], object]


@dataclass(frozen=True)
class Pair:
    """A rule, a client that breaks it, and a client that does the same correctly."""

    rule: str
    about: str
    careless: Program
    careful: Program


def _do(step: str, *args: Any, **more: Any) -> Program:
    """Return a call of a method of the client."""
    return lambda client: getattr(client, step)(*args, **more)


def _each(*steps: Program) -> Program:
    def run(client: Client) -> None:
        for step in steps:
            step(client)

    return run


def _again(times: int, *steps: Program) -> Program:
    return _each(*steps * times)


def _pages(numbers: Sequence[int], length: int = 6) -> Program:
    return _each(*(_page(number, length) for number in numbers))


def _page(number: int, length: int) -> Program:
    return lambda client: client.send("GET", f"{DOMAINS}?perPage={length}&page={number}")


def _to_the_end(client: Client) -> None:
    page = 1
    while page:
        page = client.send("GET", f"{DOMAINS}?perPage=6&page={page}").get("nextPage")


def _guarded(client: Client) -> None:
    """The date is read once, and sent with the repetition as well."""
    known = client.expiry("second.com")
    for _ in range(2):
        client.renew_v2("second.com", current_expiry_date=known)


def _read_anew(client: Client) -> None:
    for _ in range(2):
        _renew_as_it_is(client)


def _renew_as_it_is(client: Client) -> None:
    client.renew_v2("second.com", current_expiry_date=client.expiry("second.com"))


def _guarded_across(client: Client) -> None:
    """What v3 cannot be sent, v2.0 can: the date as it was before the first."""
    known = client.expiry("second.com")
    client.renew("second.com")
    client.renew_v2("second.com", current_expiry_date=known)


def _stop_the_clock(client: Client) -> None:
    client.sandbox.clock.freeze()


def _beside_the_balance(name: str) -> Program:
    return _each(_do("send", "GET", "/v3/balance"), _do("get", f"getDomain/{name}"))


def _to_expiry(client: Client) -> None:
    client.sandbox.clock.advance(until={"event": "automatic renewal", "domain": "active.com"})


def _almost_broke(client: Client) -> None:
    client.sandbox.outside.adjust_balance("main", to="21.99")
    client.create("new.com")


def _topped_up(client: Client) -> None:
    _almost_broke(client)
    client.sandbox.outside.adjust_balance("main", to="500")


def _a_year(client: Client) -> None:
    client.wait("P11M")
    client.send("GET", "/v3/balance")


def _query(client: Client) -> None:
    client.send("GET", "/v3/balance?X-SVC-APIKEY=k")


def _error_429(retry_after: int) -> Program:
    return lambda client: client.sandbox.faults.add("error", status=429, retry_after=retry_after)


def _create_private(price: str, name: str = "new.com") -> Program:
    domain = {"domainName": name, "privacyEnabled": True}
    return lambda client: client.post("createDomain", {"domain": domain, "purchaseCost": price})


def _renewing(length: str) -> Program:
    return _each(_do("renew", "second.com"), _do("wait", length), _do("renew", "second.com"))


def _lost(operation: str, *steps: Program, **fault: Any) -> Program:
    return _each(_do("lose", operation, **fault), *steps)


CREATE, CREATES = "v3.createDomain", [_do("create", "new.com")]
TRANSFER, TRANSFERS = "v3.requestTransfer", [_do("transfer", "theirs.com")]
LOOK, LOOK_AT_THEIRS = [_do("get", "getDomain/new.com")], [_do("get", "getDomain/theirs.com")]
LOOK_AT_SECOND = [_do("get", "getDomain/second.com")]
RENEW, RENEWS = "v3.renewDomain", [_do("renew", "second.com")]
RESET, CUT = {"kind": "reset"}, {"kind": "truncate"}

GOLD = {"purchaseCost": "300.00"}

CORPUS: tuple[Pair, ...] = (
    Pair("renewed_twice", "by an hourly job", _renewing("PT1H5S"), _renewing("PT2H")),
    Pair("renewed_twice", "with a guard read anew", _read_anew, _guarded),
    Pair(
        "renewed_twice",
        "in the other generation after a lost answer",
        _lost(RENEW, *RENEWS, _renew_as_it_is),
        _lost(RENEW, _guarded_across),
    ),
    Pair(
        "renewed_after_auto_renewal",
        "by a job that did not know",
        _each(_to_expiry, _do("wait", "PT3H"), _do("renew", "active.com")),
        _each(_to_expiry, _do("wait", "PT3H"), _do("get", "getDomain/active.com")),
    ),
    Pair(
        "registration_repeated",
        "after a reset",
        _lost(CREATE, *CREATES * 2, **RESET),
        _lost(CREATE, *CREATES, *LOOK, **RESET),
    ),
    Pair(
        "registration_repeated",
        "in the other generation",
        _lost(CREATE, *CREATES, _do("create_v2", "new.com")),
        _lost(CREATE, *CREATES, _do("send", "GET", "/V2.0/domain/new.com")),
    ),
    Pair(
        "transfer_repeated",
        "in the other generation",
        _lost(TRANSFER, *TRANSFERS, _do("transfer_v2", "theirs.com")),
        _lost(TRANSFER, *TRANSFERS, _do("send", "GET", "/V2.0/domain/theirs.com/transfer")),
    ),
    Pair(
        "lost_answer_ignored",
        "of a registration, reset",
        _lost(CREATE, *CREATES, **RESET),
        _lost(CREATE, *CREATES, *LOOK, **RESET),
    ),
    Pair(
        "lost_answer_ignored",
        "of a registration, found in the list",
        _lost(CREATE, *CREATES, _do("get", "getDomain/second.com")),
        _lost(CREATE, *CREATES, _to_the_end),
    ),
    Pair(
        "lost_answer_ignored",
        "of a transfer, cut short",
        _lost(TRANSFER, *TRANSFERS, **CUT),
        _lost(TRANSFER, *TRANSFERS, *LOOK_AT_THEIRS, **CUT),
    ),
    Pair(
        "lost_answer_ignored", "of a renewal", _lost(RENEW, *RENEWS), _lost(RENEW, *RENEWS, *LOOK_AT_SECOND)
    ),
    Pair(
        "lost_answer_ignored",
        "or only late",
        _lost(RENEW, *RENEWS, **RESET),
        _lost(RENEW, *RENEWS, kind="latency", seconds=0.01),
    ),
    Pair("auto_renewal_unpaid", "for 0.01", _each(_almost_broke, _a_year), _each(_topped_up, _a_year)),
    Pair("pages_not_followed", "in parallel", _pages([2, 1]), _pages([4, 2, 1, 5, 3, 6])),
    Pair("pages_not_followed", "once more", _pages([1, 2, 1]), _each(_to_the_end, _page(1, 6))),
    Pair("pages_not_followed", "of another length", _pages([1], 3), _each(_page(1, 3), _page(1, 100))),
    Pair(
        "premium_without_price",
        "once each",
        _each(_do("create", "copper.com"), _do("create", "tin.com")),
        _each(
            _do("create", "copper.com"),
            _do("create", "copper.com", purchaseCost="20.00"),
            _do("create", "tin.com"),
        ),
    ),
    Pair(
        "wrong_price_repeated",
        "the same again",
        _again(2, _do("renew", "gold.com", years=2, **GOLD)),
        _each(
            _do("renew", "gold.com", years=2, **GOLD),
            _do("renew", "gold.com", years=2, purchaseCost="600.00"),
        ),
    ),
    Pair(
        "wrong_price_repeated",
        "once each",
        _each(
            _do("renew", "gold.com", purchaseCost="12.00"), _do("transfer", "silver.com", purchaseCost="9.00")
        ),
        _each(_do("renew", "gold.com", purchaseCost="12.00"), _do("renew", "gold.com", **GOLD)),
    ),
    Pair(
        "price_not_enforced",
        "the price of one year for two",
        _do("create", "new.com", years=2, purchaseCost="10.00"),
        _do("create", "new.com", years=2, purchaseCost="20.00"),
    ),
    Pair(
        "price_not_enforced",
        "with privacy",
        _create_private("9.00"),
        _each(_create_private("10.00"), _do("wait", "P1D"), _create_private("13.00", "newer.com")),
    ),
    Pair(
        "price_not_enforced",
        "of a renewal, in each place",
        _each(
            _do("renew", "second.com", purchaseCost="1.00"),
            _do("post", "renewDomain", {"domain": {"domainName": "active.com", "purchaseCost": "1.00"}}),
            _do("post", "renewDomain/held.com.ua?purchaseCost=1.00"),
        ),
        _do("post", "renewDomain/second.com?purchaseCost=12.00"),
    ),
    Pair(
        "price_not_enforced",
        "of a transfer",
        _do("transfer", "theirs.com", purchaseCost="1.00"),
        _do("transfer", "theirs.com", purchaseCost="9.00"),
    ),
    Pair("renewed_without_guard", "once", _do("renew_v2", "second.com"), _guarded),
    Pair("credentials_in_query", "of v3", _query, _do("send", "GET", "/v3/balance")),
    Pair(
        "keys_ignored",
        "a key misspelt",
        _do("renew", "second.com", year=2),
        _do("renew", "second.com", years=2, domainName="second.com"),
    ),
    Pair(
        "polled_without_pause",
        "two names in turn",
        _again(5, *LOOK_AT_SECOND, _do("get", "getDomain/active.com")),
        _again(5, *LOOK_AT_SECOND, _do("get", "getDomain/active.com"), _do("wait", "PT1S")),
    ),
    Pair(
        "polled_without_pause",
        "the balance",
        _again(6, _do("send", "GET", "/v3/balance")),
        _each(
            *(
                _beside_the_balance(name)
                for name in ("second.com", "active.com", "gold.com", "early.com", "theirs.com")
            )
        ),
    ),
    Pair(
        "polled_without_pause",
        "with the clock stopped",
        _again(5, *LOOK_AT_SECOND),
        _each(_stop_the_clock, _again(9, *LOOK_AT_SECOND)),
    ),
    Pair(
        "rate_limit_ignored",
        "by a loop",
        _each(_do("limit", 1), _again(5, *LOOK_AT_SECOND)),
        _each(_do("limit", 1), _again(3, *LOOK_AT_SECOND, _do("wait", "PT1M"))),
    ),
    Pair(
        "rate_limit_ignored",
        "by many workers",
        _each(_do("limit", 0), _again(3, *CREATES)),
        _each(_do("limit", 0), *(_do("get", f"getDomain/name{number}.com") for number in range(9))),
    ),
    Pair(
        "rate_limit_ignored",
        "with pauses shorter than Retry-After",
        _each(_do("limit", 1), _again(30, *LOOK_AT_SECOND, _do("wait", "PT2S"))),
        _each(_do("limit", 1), _again(6, *LOOK_AT_SECOND, _do("wait", "PT1M"))),
    ),
    Pair(
        "rate_limit_ignored",
        "with the clock stopped",
        _each(_stop_the_clock, _do("limit", 1), _again(12, *LOOK_AT_SECOND)),
        _each(_stop_the_clock, _do("limit", 1), _again(10, *LOOK_AT_SECOND)),
    ),
    Pair(
        "rate_limit_ignored",
        "by one request after the other",
        _each(_do("limit", 1), *(_do("get", f"getDomain/name{number}.com") for number in range(30))),
        _each(
            _do("limit", 1),
            *(_each(_do("get", f"getDomain/name{number}.com"), _do("wait", "PT1M")) for number in range(12)),
        ),
    ),
    Pair(
        "rate_limit_ignored",
        "of an error with a Retry-After",
        _each(_error_429(30), _again(3, *LOOK_AT_SECOND, _do("wait", "PT29S"))),
        _each(_error_429(30), _again(30, *LOOK_AT_SECOND, _do("wait", "PT30S"))),
    ),
)
