"""The tasks of a Python developer: run with pytest, in process or with a server (--reseller-sandbox-mode)."""

from __future__ import annotations

import asyncio

import aiohttp
import httpx
import pytest
import requests
from fastapi import FastAPI
from fastapi.testclient import TestClient

import reseller_sandbox as rs
from reseller_sandbox.testing import NetworkRefused, freeze_time

URL = "https://api.example.test"
CHECK = f"{URL}/V2.0/domain/free-example.com/check"


@pytest.fixture
def token(reseller_sandbox):
    return {"X-Auth-Token": reseller_sandbox.accounts["main"].token}


async def by_aiohttp(url, headers):
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
        return await answer.json()


def test_one_check_by_three_libraries(reseller_sandbox, token):
    with reseller_sandbox.intercept(URL, others="refuse"):
        answers = [
            httpx.get(CHECK, headers=token).json(),
            requests.get(CHECK, headers=token, timeout=5).json(),
            asyncio.run(by_aiohttp(CHECK, token)),
        ]
        with pytest.raises(NetworkRefused):
            requests.get("https://registrar.example.test", timeout=5)
    assert [answer["avail"] for answer in answers] == ["true"] * 3


def test_a_fault_is_the_exception_of_the_library(reseller_sandbox, token):
    with reseller_sandbox.intercept(URL), reseller_sandbox.faults.add("reset"):
        with pytest.raises(httpx.ReadError):
            httpx.get(CHECK, headers=token)
        with pytest.raises(requests.ConnectionError):
            requests.get(CHECK, headers=token, timeout=5)
        with pytest.raises(aiohttp.ClientConnectionError):
            asyncio.run(by_aiohttp(CHECK, token))
    reseller_sandbox.assert_all_faults_applied()


@rs.intercept(URL)
def test_an_app_that_calls_the_api(reseller_sandbox, token):
    app = FastAPI()

    @app.get("/free/{name}")
    async def free(name: str) -> bool:
        async with httpx.AsyncClient(base_url=URL, headers=token) as service:
            return (await service.get(f"/V2.0/domain/{name}/check")).json()["avail"] == "true"

    shop = TestClient(app)
    assert shop.get("/free/free-example.com").json() is True
    assert shop.get("/free/active-example.com").json() is False


def test_an_expiry_a_year_away(reseller_sandbox):
    with freeze_time(reseller_sandbox) as clocks:
        clocks.advance(until={"domain": "active-example.com", "stage": "overdue"})
        assert clocks.now.year == 2026
    assert reseller_sandbox.names["active-example.com"].stage == "overdue"
