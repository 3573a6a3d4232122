"""Pairs of small client programs: a careless client that breaks one rule, and a careful client."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPException
from typing import Any, NamedTuple

from reseller_sandbox import Sandbox

DOMAINS = "/v3/domains"
OPTION = re.compile(r"\w+=")


class Client:
    """A client of one account that uses both interfaces, waits, and loses answers."""

    def __init__(self, sandbox: Sandbox, account: str = "main") -> None:
        self.sandbox = sandbox
        self._client = sandbox.client(account)
        self._known = ""

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
            f"contact_{role}": self.sandbox.accounts["main"].contact
            for role in ("registrant", "admin", "tech", "billing")
        }
        body = {**roles, "ns": ["ns1.home.net", "ns2.home.net"], "period": 1}
        return self.send("POST", f"/V2.0/domain/{name}", body)

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

    # Steps of the programs below.

    def balance(self) -> Any:
        return self.send("GET", "/v3/balance")

    def look(self, name: str) -> Any:
        return self.get(f"getDomain/{name}")

    def look_v2(self, path: str) -> Any:
        return self.send("GET", f"/V2.0/domain/{path}")

    def page(self, length: str, number: str) -> Any:
        return self.send("GET", f"{DOMAINS}?perPage={length}&page={number}")

    def all_pages(self) -> None:
        number = "1"
        while number:
            number = self.page("6", number).get("nextPage")

    def create_private(self, name: str, **more: Any) -> Any:
        return self.post("createDomain", {"domain": {"domainName": name, "privacyEnabled": True}, **more})

    def learn_expiry(self, name: str) -> None:
        self._known = self.expiry(name)

    def renew_guarded(self, name: str) -> None:
        self.renew_v2(name, current_expiry_date=self._known)

    def renew_end(self, name: str, end: str) -> None:
        self.learn_expiry(name)
        self.renew_v2(name, current_expiry_date=self._known, date_end=end)

    def renew_inside(self, name: str, **more: Any) -> Any:
        return self.post("renewDomain", {"domain": {"domainName": name, **more}})

    def error_429(self, retry_after: str) -> None:
        self.sandbox.faults.add("error", status=429, retry_after=int(retry_after))

    def limit(self, requests: str) -> None:
        self.sandbox.faults.add("rate_limit", limit=int(requests), window=60)

    def fail(self, operation: str) -> None:
        """Let the next request of an operation fail before it takes effect."""
        when = {"phase": "before", "times": 1}
        self.sandbox.faults.add("error", error="internal_error", match={"operation": operation}, when=when)

    def duplicate(self) -> None:
        self.sandbox.faults.add("duplicate")

    def check(self, name: str) -> Any:
        return self.post("checkAvailability", {"domainNames": [name]})

    def set_code(self, name: str, code: str) -> Any:
        return self.post(f"setAuthcode/{name}", {"authCode": f"code-{code}"})

    def other(self, verb: str, *words: str) -> None:
        """Take a step as another account."""
        another = Client(self.sandbox, "other")
        getattr(another, verb)(*words)

    def add_overdue(self, name: str) -> None:
        self.sandbox.names.add(name, account="main", stage="overdue", autorenew=True)

    def run_the_clock(self) -> None:
        self.sandbox.clock.run()

    def stop_the_clock(self) -> None:
        self.sandbox.clock.freeze()

    def assume(self, name: str, number: str) -> None:
        self.sandbox.assumptions.set({name: int(number)})

    def to_expiry(self, name: str) -> None:
        self.sandbox.clock.set(self.sandbox.names[name].expires)

    def have(self, balance: str) -> None:
        self.sandbox.accounts.set_balance("main", balance)

    def do(self, program: str) -> None:
        """Take the steps of a program. Commas divide steps, and ``3 times:`` repeats the steps up to ``;``.

        In a repeated step ``{n}`` is the number of the repetition.
        """
        for group in program.split(";"):
            times, repeated, steps = group.rpartition(" times:")
            for number in range(int(times) if repeated else 1):
                for step in steps.split(","):
                    verb, *words = step.replace("{n}", str(number)).split()
                    names = [word for word in words if not OPTION.match(word)]
                    options = [word.split("=") for word in words if OPTION.match(word)]
                    values = {key: int(value) if value.isdigit() else value for key, value in options}
                    getattr(self, verb)(*names, **values)


class Pair(NamedTuple):
    """A rule, a client that breaks the rule, and a client that does the same correctly."""

    rule: str
    about: str
    careless: str
    careful: str


def pairs(text: str) -> Iterator[Pair]:
    """Yield the pairs of a text. Each pair has three lines."""
    lines = text.strip().splitlines()
    for first, careless, careful in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        rule, about = first.split(": ")
        yield Pair(rule, about, careless.removeprefix("  wrong  "), careful.removeprefix("  right  "))


CORPUS = tuple(
    pairs("""
renewed_twice: by an hourly job
  wrong  renew second.com, wait PT1H5S, renew second.com
  right  renew second.com, wait PT2H, renew second.com
renewed_twice: with a guard read anew
  wrong  2 times: learn_expiry second.com, renew_guarded second.com
  right  learn_expiry second.com; 2 times: renew_guarded second.com
renewed_after_auto_renewal: by a job that did not know
  wrong  to_expiry active.com, wait PT3H, renew active.com
  right  to_expiry active.com, wait PT3H, look active.com
registration_repeated: after a reset
  wrong  lose v3.createDomain kind=reset, create new.com, create new.com
  right  lose v3.createDomain kind=reset, create new.com, look new.com
registration_repeated: in the other generation
  wrong  lose v3.createDomain, create new.com, create_v2 new.com
  right  lose v3.createDomain, create new.com, look_v2 new.com
transfer_repeated: in the other generation
  wrong  lose v3.requestTransfer, transfer theirs.com, transfer_v2 theirs.com
  right  lose v3.requestTransfer, transfer theirs.com, look_v2 theirs.com/transfer
lost_answer_ignored: of a registration, reset
  wrong  lose v3.createDomain kind=reset, create new.com
  right  lose v3.createDomain kind=reset, create new.com, look new.com
lost_answer_ignored: of a registration, found in the list
  wrong  lose v3.createDomain, create new.com, look second.com
  right  lose v3.createDomain, create new.com, all_pages
lost_answer_ignored: of a transfer, cut short
  wrong  lose v3.requestTransfer kind=truncate, transfer theirs.com
  right  lose v3.requestTransfer kind=truncate, transfer theirs.com, look theirs.com
lost_answer_ignored: or only late
  wrong  lose v3.renewDomain kind=reset, renew second.com
  right  lose v3.renewDomain kind=latency seconds=0.01, renew second.com
auto_renewal_unpaid: for 0.01
  wrong  have 21.99, create new.com, wait P11M, balance
  right  have 21.99, create new.com, have 500, wait P11M, balance
pages_not_followed: in parallel
  wrong  page 6 2, page 6 1
  right  page 6 4, page 6 2, page 6 1, page 6 5, page 6 3, page 6 6
pages_not_followed: of another length
  wrong  page 3 1
  right  page 3 1, page 100 1
pages_not_followed: on pages that the service shortens
  wrong  assume v3.list.max_per_page 8, page 100 1
  right  assume v3.list.max_per_page 8, page 100 1, page 100 2
premium_without_price: once each
  wrong  create copper.com, create tin.com
  right  create copper.com, create copper.com purchaseCost=20.00, create tin.com
wrong_price_repeated: once each
  wrong  renew gold.com purchaseCost=12.00, transfer silver.com purchaseCost=9.00
  right  renew gold.com purchaseCost=12.00, renew gold.com purchaseCost=300.00
pending_transfer_used: without a read
  wrong  transfer theirs.com; 2 times: renew theirs.com; get getDomain/theirs.com
  right  transfer theirs.com, renew theirs.com, get getDomain/theirs.com, renew theirs.com
pending_transfer_used: in both interfaces
  wrong  transfer theirs.com, page 100 1, renew_v2 theirs.com current_expiry_date=2030-01-01, renew theirs.com
  right  transfer theirs.com, renew_v2 theirs.com current_expiry_date=2030-01-01, page 100 1, renew theirs.com
wrong_expiry_repeated: a computed end
  wrong  2 times: renew_end active.com 2030-01-01
  right  renew_end active.com 2030-01-01, renew active.com
wrong_expiry_repeated: a computed date
  wrong  2 times: renew_v2 active.com current_expiry_date=2020-01-01
  right  renew_v2 active.com current_expiry_date=2020-01-01, learn_expiry active.com, renew_guarded active.com
price_not_enforced: the price of one year for two
  wrong  create new.com years=2 purchaseCost=10.00
  right  create new.com years=2 purchaseCost=20.00
price_not_enforced: with privacy
  wrong  create_private new.com purchaseCost=9.00
  right  create_private new.com purchaseCost=10.00, wait P1D, create_private newer.com purchaseCost=13.00
price_not_enforced: of a renewal, in each place
  wrong  renew second.com purchaseCost=1.00, renew_inside active.com purchaseCost=1.00
  right  post renewDomain/second.com?purchaseCost=12.00
price_not_enforced: of a transfer
  wrong  transfer theirs.com purchaseCost=1.00
  right  transfer theirs.com purchaseCost=9.00
renewed_without_guard: once
  wrong  renew_v2 second.com
  right  learn_expiry second.com; 2 times: renew_guarded second.com
credentials_in_query: of v3
  wrong  send GET /v3/balance?X-SVC-APIKEY
  right  balance
keys_ignored: a key misspelt
  wrong  renew second.com year=2
  right  renew second.com years=2 domainName=second.com
polled_without_pause: two names in turn
  wrong  5 times: look second.com, look active.com
  right  5 times: look second.com, look active.com, wait PT1S
polled_without_pause: the balance
  wrong  6 times: balance
  right  balance, look second.com, balance, look active.com, balance, look gold.com, balance, look early.com
polled_without_pause: with the clock stopped
  wrong  5 times: look second.com
  right  stop_the_clock; 9 times: look second.com
rate_limit_ignored: by a loop
  wrong  limit 1; 5 times: look second.com
  right  limit 1; 3 times: look second.com, wait PT1M
rate_limit_ignored: by one request after the other
  wrong  limit 1; 30 times: look name{n}.com
  right  limit 1; 12 times: look name{n}.com, wait PT1M
rate_limit_ignored: with pauses shorter than Retry-After
  wrong  limit 1; 30 times: look second.com, wait PT2S
  right  limit 1; 6 times: look second.com, wait PT1M
rate_limit_ignored: with the clock stopped
  wrong  stop_the_clock, limit 1; 12 times: look second.com
  right  stop_the_clock, limit 1; 10 times: look second.com
rate_limit_ignored: of an error with a Retry-After
  wrong  error_429 30; 3 times: look second.com, wait PT29S
  right  error_429 30; 30 times: look second.com, wait PT30S
""")
)
