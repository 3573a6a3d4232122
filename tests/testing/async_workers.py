"""A suite whose workers are coroutines, which pytest explores: each form careless and correct."""

import asyncio
import hashlib
import hmac
from contextlib import asynccontextmanager, nullcontext

import aiohttp
import httpx
import pytest

API = "https://api.example.test"
NAME, KEY, SECRET = "active-example.com", "sandbox-key", "sandbox-secret"


def headers(path):
    signature = hmac.new(SECRET.encode(), f"{KEY}{API}{path}".encode(), hashlib.sha256).hexdigest()
    return {"X-SVC-APIKEY": KEY, "X-SVC-SIGNATURE": signature}


@asynccontextmanager
async def by_httpx():
    async with httpx.AsyncClient(base_url=API) as client:

        async def send(method, path):
            response = await client.request(method, path, headers=headers(path))
            assert response.status_code == 200, response.text
            return response.json()

        yield send


@asynccontextmanager
async def by_aiohttp():
    async with aiohttp.ClientSession(API) as client:

        async def send(method, path):
            async with client.request(method, path, headers=headers(path)) as response:
                assert response.status == 200, await response.text()
                return await response.json()

        yield send


async def with_gather(job):
    await asyncio.gather(job(), job())


async def with_group(job):
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(job())
        tasks.create_task(job())


async def renew_when_due(client, together, is_correct):
    """Two workers renew a domain, unless its expiry date is far away."""
    lock = asyncio.Lock() if is_correct else nullcontext()
    async with client() as send:

        async def job():
            async with lock:
                found = await send("GET", f"/v3/domains/getDomain/{NAME}")
                if found["domain"]["expireDate"] < "2027":
                    await send("POST", f"/v3/domains/renewDomain/{NAME}")

        await together(job)


def forms(test):
    test = pytest.mark.parametrize("together", [with_gather, with_group])(test)
    return pytest.mark.parametrize("client", [by_httpx, by_aiohttp])(test)


CARELESS = pytest.mark.reseller_sandbox_explore
CORRECT = pytest.mark.reseller_sandbox_explore(locked=True)
twins = pytest.mark.parametrize(
    "is_correct",
    [pytest.param(False, marks=CARELESS, id="careless"), pytest.param(True, marks=CORRECT, id="correct")],
)


@pytest.fixture
def anyio_backend():
    return "asyncio"


@forms
@twins
def test_run(reseller_sandbox, client, together, is_correct):
    with reseller_sandbox.intercept(API, others="refuse"):
        asyncio.run(renew_when_due(client, together, is_correct))


@forms
@twins
@pytest.mark.anyio
async def test_async(reseller_sandbox, client, together, is_correct):
    with reseller_sandbox.intercept(API, others="refuse"):
        await renew_when_due(client, together, is_correct)
