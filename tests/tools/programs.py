"""Programs as tests of pytest, careless and careful. The test of sweep copies this file and sweeps each."""

import time
from contextlib import suppress
from http.client import HTTPException
from itertools import count

import pytest

D = "/v3/domains"
LOST = (OSError, HTTPException)
TRIES = 4
RUNS = count()


def order(world, name="a-example.com", **more):
    body = {"domain": {"domainName": name}, "years": 1, **more}
    return world.client(timeout=10).post(f"{D}/createDomain", json=body)


def offered(client, name):
    """Return the offer for a free name, None for a taken name."""
    [offer] = patient(client, "POST", f"{D}/checkAvailability", {"domainNames": [name]}).json["results"]
    return offer if offer["status"] == "available" else None


def patient(client, method, path, body=None):
    """Send a request that only reads, until its response arrives and is no temporary refusal."""
    for _ in range(TRIES):
        with suppress(*LOST, ValueError):
            response = client.open(path, method=method, json=body)
            if response.status_code != 429 and response.status_code < 500 and response.json is not None:
                return response
    raise RuntimeError(f"{path} gives no answer")


def expiry(client, name):
    """Return the expiry date of a held name, None if the account does not hold it."""
    response = patient(client, "GET", f"{D}/getDomain/{name}")
    if response.status_code == 404:
        return None
    assert response.status_code == 200
    return response.json["domain"]["expireDate"][:10]


def test_careful_order(reseller_sandbox):
    client = reseller_sandbox.client(timeout=10)
    for name, agreed in {"first-example.com": "10.99", "gold.com": "2500.00"}.items():
        offer = offered(client, name)
        assert offer
        assert offer["purchaseCost"] == agreed
        price = {"purchaseCost": agreed} if offer["premium"] else {}
        for _ in range(TRIES):
            try:
                response = order(reseller_sandbox, name, **price)
            except LOST:
                response = None
            if response and response.status_code not in (429, 409) and response.status_code < 500:
                assert response.status_code == 200
            if expiry(client, name):
                break
        assert expiry(client, name)


def test_careful_renewal(reseller_sandbox):
    client, name = reseller_sandbox.client(timeout=10), "active-example.com"
    before = expiry(client, name)
    after = f"{int(before[:4]) + 1}{before[4:]}"
    for _ in range(TRIES):
        with suppress(*LOST):
            body = {"years": 1, "purchaseCost": "12.99"}
            response = client.post(f"{D}/renewDomain/{name}", json=body)
            assert response.status_code in (200, 429) or response.status_code >= 500
        if expiry(client, name) != before:
            break
    assert expiry(client, name) == after


def test_order_repeated_after_a_loss(reseller_sandbox):
    for _ in range(TRIES):
        with suppress(*LOST):
            if order(reseller_sandbox).status_code in (200, 409):
                return
    pytest.fail("a-example.com is not sold")


def test_order_at_any_price(reseller_sandbox):
    client = reseller_sandbox.client(timeout=10)
    for _ in range(TRIES):
        offer = offered(client, "gold.com")
        if order(reseller_sandbox, "gold.com", purchaseCost=offer["purchaseCost"]).status_code == 200:
            return
    pytest.fail("gold.com is not sold")


def test_renewal_repeated_after_a_loss(reseller_sandbox):
    client = reseller_sandbox.client(timeout=10)
    for _ in range(TRIES):
        with suppress(*LOST):
            if client.post(f"{D}/renewDomain/active-example.com").status_code < 500:
                return


def test_looks_away(reseller_sandbox):
    with suppress(*LOST):
        order(reseller_sandbox)


def test_only_reads(reseller_sandbox):
    with suppress(*LOST):
        reseller_sandbox.client(timeout=10).get("/v3/balance")


def test_paid_and_given_up(reseller_sandbox):
    try:
        order(reseller_sandbox)
    except LOST:
        if "a-example.com" in reseller_sandbox.names:
            reseller_sandbox.simulate.release("a-example.com")


def test_orders_another_name_after_a_loss(reseller_sandbox):
    for name in ("a-example.com", "b-example.com"):
        with suppress(*LOST):
            if order(reseller_sandbox, name).status_code == 200:
                return


def test_asks_in_changing_order(reseller_sandbox):
    names = ("a-example.com", "b-example.com")
    for name in names if next(RUNS) % 2 else names[::-1]:
        with suppress(*LOST):
            offered(reseller_sandbox.client(timeout=10), name)


def test_never_asks_the_same(reseller_sandbox):
    with suppress(*LOST):
        reseller_sandbox.client().get(f"/V2.0/domain/a{time.time_ns()}-example.com/check")


def test_is_refused(reseller_sandbox):
    client = reseller_sandbox.client()
    order(reseller_sandbox, "gold.com")
    for _ in range(4):
        client.post("/v3/nothing/of/the/kind")
