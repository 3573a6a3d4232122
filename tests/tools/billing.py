"""A billing program, as a program by itself or in process: once with six planted mistakes, once without.

``python billing.py careless orders renewals`` does those jobs; ``careful`` in its place does them well. It
needs nothing but Python, and finds its world by the variables that a run is told. What it has sold it writes
to the file that ``RESELLER_SANDBOX_VIEW`` names.
"""

from __future__ import annotations

import hmac
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from http.client import HTTPConnection, HTTPException
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

T = TypeVar("T")


class Answer(NamedTuple):
    """A whole answer."""

    status: int
    retry_after: float
    body: Any


Send = Callable[[str, str, Any], Answer]


class Lost(Exception):
    """No answer of use came: nobody knows what became of the request."""


class Wrong(Exception):
    """Something has to be looked at by people; the program does not end as if all were well."""


#: What was ordered, and the price of a year that the customer has agreed to.
ORDERS = {"first-example.com": "10.99", "gold.com": "2500.00"}

#: What is due for renewal, and the price of a year that the customer has agreed to.
DUE = {"active-example.com": "12.99", "renewing-example.com": "12.99"}

#: What two workers do at once: order one name, each for a customer of its own, and add a name server each.
WANTED, SHARED = "wanted-example.com", "active-example.com"
WORKERS = ("ns7.example.net", "ns8.example.net")

TRIES = 4


def at_once(these: Iterable[T], work: Callable[[T], object]) -> None:
    """Do the work for each of these at the same time, on threads; raise what the first that fails raises."""
    problems: list[Exception] = []

    def worker(one: T) -> None:
        try:
            work(one)
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=worker, args=(one,)) for one in these]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


class Careful:
    """Does the jobs as they should be done. ``connect`` opens a connection; ``rest`` waits some seconds."""

    def __init__(self, connect: Callable[[], Send], rest: Callable[[float], object] = time.sleep) -> None:
        self.sold: list[dict[str, str]] = []
        self._connect = connect
        self._rest = rest
        self._one_at_a_time = threading.Lock()

    def run(self, *jobs: str) -> list[dict[str, str]]:
        """Do the jobs of these names; return what was sold."""
        for job in jobs:
            getattr(self, job)()
        return self.sold

    # Jobs

    def orders(self) -> None:
        """Register what customers have ordered."""
        send = self._connect()
        for name, price in ORDERS.items():
            self.order(send, name, Decimal(price))

    def renewals(self) -> None:
        """Renew what is due."""
        send = self._connect()
        for name, price in DUE.items():
            self.renew(send, name, price)

    def race(self) -> None:
        """Let two workers order the same name."""
        self._both(lambda send, _: self.order(send, WANTED, Decimal("10.99")))

    def nameservers(self) -> None:
        """Let two workers add a name server each to the same name."""
        self._both(lambda send, host: self.delegate(send, SHARED, host))

    # What a worker does

    def order(self, send: Send, name: str, agreed: Decimal) -> None:
        """Register a name for a year, if it is free and costs what was agreed to."""
        offer = self.offered(send, name)
        if offer is None:
            return
        if Decimal(offer["purchaseCost"]) != agreed:
            raise Wrong(f"{name} costs {offer['purchaseCost']} now: the customer has to be asked")
        bought = self.buy(send, name, agreed if offer["premium"] else None)
        if bought is not None:
            self.sold.append({"name": name, "expires": bought})

    def offered(self, send: Send, name: str) -> Mapping[str, Any] | None:
        """Return what a free name is offered for, None where it is taken."""
        found = self.read(send, "POST", "/v3/domains/checkAvailability", {"domainNames": [name]})
        [offer] = done(found)["results"]
        return offer if offer["status"] == "available" else None

    def buy(self, send: Send, name: str, cost: Decimal | None) -> str | None:
        """Buy a name and return its expiry date, None where somebody else was quicker."""
        order = wish(name, cost)
        for _ in range(TRIES):
            try:
                answer = self.call(send, "POST", "/v3/domains/createDomain", order)
            except Lost:
                if (held := self.held(send, name)) is not None:
                    return str(held["expireDate"])
                continue
            if answer.status == 409 and answer.body["error"] == "name_taken":
                return None
            return str(done(answer)["domain"]["expireDate"])
        raise Wrong(f"{name} cannot be bought")

    def renew(self, send: Send, name: str, agreed: str) -> None:
        """Renew a name for a year, once, at the price that was agreed to."""
        before = self.expiry(send, name)
        wanted = f"{int(before[:4]) + 1}{before[4:10]}"
        for _ in range(TRIES):
            with suppress(Lost):
                order = {"years": 1, "purchaseCost": agreed}
                done(self.call(send, "POST", f"/v3/domains/renewDomain/{name}", order))
            now = self.expiry(send, name)[:10]
            if now == wanted:
                self.sold.append({"name": name, "expires": wanted})
                return
            if now != before[:10]:
                raise Wrong(f"{name} expires on {now}, not on {wanted}")
        raise Wrong(f"{name} cannot be renewed")

    def delegate(self, send: Send, name: str, host: str) -> None:
        """Add a name server to a name, one worker at a time."""
        with self._one_at_a_time:
            self._add(send, name, host)

    # Requests

    def held(self, send: Send, name: str) -> Mapping[str, Any] | None:
        """Return a name as the account has it, None where it does not."""
        found = self.read(send, "GET", f"/v3/domains/getDomain/{name}")
        return None if found.status == 404 else dict(done(found)["domain"])

    def expiry(self, send: Send, name: str) -> str:
        """Return the expiry date of a name that the account has."""
        if (found := self.held(send, name)) is None:
            raise Wrong(f"{name} is gone")
        return str(found["expireDate"])

    def read(self, send: Send, method: str, path: str, body: Any = None) -> Answer:
        """Ask something, again where no answer comes."""
        for _ in range(TRIES):
            try:
                return self.call(send, method, path, body)
            except Lost:
                continue
        raise Wrong(f"{path} is not answered")

    def call(self, send: Send, method: str, path: str, body: Any = None) -> Answer:
        """Send a request, later where it came too soon."""
        for _ in range(TRIES):
            answer = send(method, path, body)
            if answer.status == 429:
                self._rest(answer.retry_after)
            elif answer.status >= 500:
                raise Lost
            else:
                return answer
        raise Wrong("there are too many requests")

    def _add(self, send: Send, name: str, host: str) -> None:
        for _ in range(TRIES):
            hosts = (self.held(send, name) or {})["nameservers"]
            if host in hosts:
                return
            try:
                path, wanted = f"/v3/domains/setNameservers/{name}", {"nameservers": [*hosts, host]}
                done(self.call(send, "POST", path, wanted))
                return
            except Lost:
                continue
        raise Wrong(f"{host} cannot be added to {name}")

    def _both(self, work: Callable[[Send, str], None]) -> None:
        at_once(WORKERS, lambda host: work(self._connect(), host))


class Careless(Careful):
    """Does the same jobs with six mistakes, none of which shows as long as all goes well."""

    def race(self) -> None:
        """Sell whatever was free when it was checked, and not look at what becomes of it (the third)."""

        def sell(send: Send, _: str) -> None:
            if self.offered(send, WANTED) is not None:
                self.call(send, "POST", "/v3/domains/createDomain", wish(WANTED, None))
                self.sold.append({"name": WANTED})

        self._both(sell)

    def order(self, send: Send, name: str, agreed: Decimal) -> None:
        """Order again when the answer is lost, and take a refusal of that for news (the first).

        Whatever the name costs by then is what is paid (the fifth).
        """
        while (offer := self.offered(send, name)) is not None:
            cost = Decimal(offer["purchaseCost"]) if offer["premium"] else None
            answer = self.read(send, "POST", "/v3/domains/createDomain", wish(name, cost))
            error = answer.body.get("error")
            if error in ("premium_cost_required", "price_mismatch"):
                continue
            if error != "name_taken":
                self.sold.append({"name": name, "expires": done(answer)["domain"]["expireDate"]})
            return

    def renew(self, send: Send, name: str, agreed: str) -> None:
        """Renew again when the answer is lost (the second), and not at all after a 429 (the fourth)."""
        for _ in range(TRIES):
            try:
                answer = send("POST", f"/v3/domains/renewDomain/{name}", {"years": 1})
            except Lost:
                continue
            if answer.status == 429:
                return
            if answer.status < 500:
                done(answer)
                self.sold.append({"name": name})
                return
        raise Wrong(f"{name} cannot be renewed")

    def delegate(self, send: Send, name: str, host: str) -> None:
        """Write back a list that another worker may have changed since it was read (the sixth)."""
        self._add(send, name, host)


def wish(name: str, cost: Decimal | None) -> dict[str, Any]:
    """Return an order of a name for a year; the cost of a premium one goes with it."""
    price = {} if cost is None else {"purchaseCost": str(cost)}
    return {"domain": {"domainName": name}, "years": 1, **price}


def done(answer: Answer) -> Any:
    """Return the body of an answer; anything but success is for people to look at."""
    if answer.status != 200 or not isinstance(answer.body, dict):
        raise Wrong(f"{answer.status}: {answer.body}")
    return answer.body


def over_http() -> Send:
    """Open a connection to the run's world, as the program by itself does."""
    parts = urlsplit(os.environ["RESELLER_SANDBOX_URL"])
    key, secret = os.environ["RESELLER_SANDBOX_KEY"], os.environ["RESELLER_SANDBOX_SECRET"]
    patience = float(os.environ.get("BILLING_PATIENCE", "10"))
    assert parts.hostname
    connection = HTTPConnection(parts.hostname, parts.port, timeout=patience)

    def send(method: str, path: str, body: Any) -> Answer:
        content = b"" if body is None else json.dumps(body).encode()
        signed = key.encode() + f"{parts.path}{path}".encode() + content
        headers = {
            "X-SVC-APIKEY": key,
            "X-SVC-SIGNATURE": hmac.digest(secret.encode(), signed, "sha256").hex(),
            "Content-Type": "application/json",
        }
        try:
            connection.request(method, parts.path + path, content, headers)
            response = connection.getresponse()
            return answer_of(response.status, response.getheader("Retry-After"), response.read())
        except (OSError, HTTPException) as problem:
            connection.close()
            raise Lost from problem

    return send


def in_process(sandbox: Any) -> Callable[[], Send]:
    """Return what opens connections to a sandbox in this process."""

    def connect() -> Send:
        client = sandbox.client(timeout=10)

        def send(method: str, path: str, body: Any) -> Answer:
            try:
                response = client.open(path, method=method, json=body)
                return answer_of(response.status_code, response.headers.get("Retry-After"), response.data)
            except (OSError, HTTPException) as problem:
                raise Lost from problem

        return send

    return connect


def answer_of(status: int, retry_after: str | None, content: bytes) -> Answer:
    """Return an answer with its JSON; one without any is lost."""
    try:
        return Answer(status, float(retry_after or 0), json.loads(content))
    except ValueError as problem:
        raise Lost from problem


def main(kind: str, *jobs: str) -> int:
    """Do the jobs; return the exit status."""
    program = {"careful": Careful, "careless": Careless}[kind](over_http)
    try:
        program.run(*jobs)
    except (Wrong, Lost) as problem:
        print(f"billing: {problem or 'an answer was lost'}", file=sys.stderr)
        return 1
    finally:
        if view := os.environ.get("RESELLER_SANDBOX_VIEW"):
            with open(view, "w", encoding="utf-8") as file:
                json.dump(program.sold, file)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
