"""Functions with several workers, which explore runs in this process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from reseller_sandbox import Sandbox
from tests.tools import workers

D = "/v3/domains"


def at_once(job: Callable[[Any], object], *arguments: Any) -> None:
    """Do a job for each argument, each in its thread. Raise the first error."""
    failures: list[Exception] = []

    def run(argument: Any) -> None:
        try:
            job(argument)
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(argument,)) for argument in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def buy_and_renew(sandbox: Sandbox, shared: str) -> None:
    """Two workers check five names each, and register or renew them. Both use the name ``shared``."""

    def job(worker: str) -> None:
        headers = {"X-Sandbox-Actor": worker}
        for number in range(5):
            name = shared if shared and number == 3 else f"{worker}-{number}.com"
            check = {"domainNames": [name]}
            [seen] = workers.call(sandbox, "POST", f"{D}/checkAvailability", check, **headers)["results"]
            if seen["status"] == "available":
                order = {"domain": {"domainName": name}, "years": 1}
                workers.call(sandbox, "POST", f"{D}/createDomain", order, **headers)
            else:
                workers.call(sandbox, "POST", f"{D}/renewDomain/{name}", **headers)

    at_once(job, "a", "b")


def renew_own_names(sandbox: Sandbox) -> None:
    """Three workers renew their own names twice."""

    def job(name: str) -> None:
        for _ in range(2):
            workers.call(sandbox, "POST", f"{D}/renewDomain/{name}", **{"X-Sandbox-Actor": name})

    at_once(job, workers.NAME, workers.OTHER, "locked-example.net")


def spend(sandbox: Sandbox) -> None:
    """Two workers spend a balance that is enough for one of them."""
    sandbox.accounts.set_balance("main", "20.00")
    at_once(
        lambda name: workers.call(sandbox, "POST", f"{D}/renewDomain/{name}"), workers.NAME, workers.OTHER
    )


def edit_and_renew(sandbox: Sandbox) -> None:
    """Two workers send ten requests each about one name, of which the last one pays."""

    def job(host: str) -> None:
        for number in range(4):
            workers.domain(sandbox)
            body = {"nameservers": ["ns1.example.net", f"ns{number}.{host}"]}
            workers.call(sandbox, "POST", f"{D}/setNameservers/{workers.NAME}", body)
        workers.renew_when_due(sandbox)

    at_once(job, "a.example.net", "a.example.net")


def look(sandbox: Sandbox) -> None:
    """Two workers read and change a domain six times each, which has very many orders."""

    def job(host: str) -> None:
        for _ in range(6):
            workers.domain(sandbox)
            body = {"nameservers": ["ns1.example.net", host]}
            workers.call(sandbox, "POST", f"{D}/setNameservers/{workers.NAME}", body)

    at_once(job, *workers.HOSTS)
