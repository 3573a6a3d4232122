"""Programs with several workers as tests of pytest. The test of explore copies and explores them."""

import json
import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

D = "/v3/domains"
NAME, OTHER, FREE = "active-example.com", "renewing-example.com", "wanted-example.com"


def call(world, method, path, body=None, account="main", **headers):
    """Send a request. Raise an error if it is refused."""
    response = world.client(account).open(path, method=method, json=body, headers=headers)
    if response.status_code != 200:
        raise RuntimeError(f"{method} {path}: {response.json}")
    return response.json


def at_once(job, *arguments):
    """Do a job for each argument, in parallel. Raise the first error."""
    with ThreadPoolExecutor() as pool:
        list(pool.map(job, arguments))


def domain(world, name=NAME):
    return call(world, "GET", f"{D}/getDomain/{name}")["domain"]


def add(world, host):
    """Add a name server to those that a domain has."""
    servers = domain(world)["nameservers"]
    call(world, "POST", f"{D}/setNameservers/{NAME}", {"nameservers": [*servers, host]})


def register(world, name):
    call(world, "POST", f"{D}/createDomain", {"domain": {"domainName": name}, "years": 1})


def renew_when_due(world):
    """Renew a domain, unless its expiry date is far away."""
    if domain(world)["expireDate"] < "2027":
        call(world, "POST", f"{D}/renewDomain/{NAME}")


HOSTS = ("ns7.example.net", "ns8.example.net")


def test_renew_when_due(reseller_sandbox):
    at_once(lambda _: renew_when_due(reseller_sandbox), 1, 2)


def test_renew_when_due_under_a_lock(reseller_sandbox):
    lock = threading.Lock()

    def job(_):
        with lock:
            renew_when_due(reseller_sandbox)

    at_once(job, 1, 2)


def test_renew_blindly(reseller_sandbox):
    at_once(lambda _: call(reseller_sandbox, "POST", f"{D}/renewDomain/{NAME}"), 1, 2)


def test_add_name_servers(reseller_sandbox):
    at_once(lambda host: add(reseller_sandbox, host), *HOSTS)


RUNS = count()


def test_check_and_register(reseller_sandbox):
    """The first run is not explored. There the workers take turns, because at once both may register."""

    def job(_):
        body = {"domainNames": [FREE]}
        [found] = call(reseller_sandbox, "POST", f"{D}/checkAvailability", body)["results"]
        if found["status"] == "available":
            register(reseller_sandbox, FREE)

    if next(RUNS):
        at_once(job, 1, 2)
    else:
        job(1)
        job(2)


def test_two_names(reseller_sandbox):
    def job(case):
        name, switch = case
        domain(reseller_sandbox, name)
        call(reseller_sandbox, "POST", f"{D}/{switch}/{name}")
        domain(reseller_sandbox, name)

    at_once(job, (NAME, "lockUpdate"), (OTHER, "lockTransfer"))


def test_three_accounts(reseller_sandbox):
    def job(account):
        headers = {"X-Sandbox-Actor": "third worker"} if account == "poor" else {}
        call(reseller_sandbox, "GET", "/v3/balance", account=account, **headers)

    at_once(job, "main", "other", "poor")


CHANGING = count()


def test_begin_in_changing_order(reseller_sandbox):
    """The threads start in this order, each with another name server."""

    def job(host):
        call(reseller_sandbox, "POST", f"{D}/setNameservers/{NAME}", {"nameservers": [host]})

    threads = [threading.Thread(target=job, args=(host,)) for host in HOSTS]
    for thread in threads if next(CHANGING) % 2 else threads[::-1]:
        thread.start()
    for thread in threads:
        thread.join()


def test_always_refused(reseller_sandbox):
    def job(_):
        with suppress(RuntimeError):
            call(reseller_sandbox, "PUT", "/v3/nothing")

    at_once(job, 1, 2)


def left_in(world):
    """Return the exported world without credentials, which differ, and the order of requests."""
    return re.sub(r"(?m)^ *(requests|seed|key|secret|token|auth_code|cause):.*\n", "", world.export())


SCRIPTS = Path("scripts.json")


@pytest.mark.parametrize("case", json.loads(SCRIPTS.read_text()) if SCRIPTS.exists() else [])
def test_script(reseller_sandbox, case):
    """Two workers with some requests each; one more line of results for each order."""
    responses: dict[str, list[object]] = {}

    def job(worker):
        for account, method, path, body in case["scripts"][worker]:
            response = reseller_sandbox.client(account).open(
                path, method=method, json=body, headers={"X-Sandbox-Actor": worker}
            )
            responses.setdefault(worker, []).append([response.status_code, response.text])

    at_once(job, "a", "b")
    line = json.dumps([case["number"], sorted(responses.items()), left_in(reseller_sandbox)])
    with open(f"results-{os.getpid()}.jsonl", "a") as file:
        file.write(line + "\n")
