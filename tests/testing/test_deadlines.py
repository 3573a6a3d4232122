"""A deadline of the calling task ends the wait for a delayed response, as over a socket."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import httpx
import httpx2
import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.values.clock import stopwatch

API = "https://api.example.test"
ZONES = f"{API}/V2.0/domain/zones"
DEADLINE = 0.2


async def by_timeout(request: Callable[[], Awaitable[Any]]) -> None:
    async with asyncio.timeout(DEADLINE):
        await request()


async def by_wait_for(request: Callable[[], Awaitable[Any]]) -> None:
    await asyncio.wait_for(request(), DEADLINE)


async def by_fail_after(request: Callable[[], Awaitable[Any]]) -> None:
    with anyio.fail_after(DEADLINE):
        await request()


async def by_gather(request: Callable[[], Awaitable[Any]]) -> None:
    async with asyncio.timeout(DEADLINE):
        await asyncio.gather(request(), request())


DEADLINES = [by_timeout, by_wait_for, by_fail_after, by_gather]


@pytest.mark.parametrize("client", [httpx.AsyncClient, httpx2.AsyncClient])
@pytest.mark.parametrize("limit", DEADLINES)
@pytest.mark.parametrize("fault", ["latency", "hang"])
def test_a_deadline_of_the_caller_ends_the_wait(
    sandbox: Sandbox, client: Any, limit: Any, fault: str
) -> None:
    parameters = {"seconds": 30} if fault == "latency" else {}

    async def run() -> None:
        async with client(timeout=60) as made:
            await limit(lambda: made.get(ZONES))

    with sandbox.intercept(API), sandbox.faults.add(fault, **parameters), pytest.raises(TimeoutError):
        asyncio.run(run())


def test_delays_that_no_deadline_of_the_caller_ends_take_no_time(sandbox: Sandbox) -> None:
    async def run() -> None:
        async with httpx.AsyncClient(timeout=60) as made:
            sleeping = asyncio.create_task(asyncio.sleep(20))
            assert (await made.get(ZONES)).status_code == 403
            async with asyncio.timeout(40):
                assert (await made.get(ZONES)).status_code == 403
            with pytest.raises(httpx.ReadTimeout):
                async with asyncio.timeout(40):
                    await made.get(ZONES, timeout=2)
            sleeping.cancel()

    since = stopwatch()
    with sandbox.intercept(API), sandbox.faults.add("latency", seconds=30):
        asyncio.run(run())
    assert stopwatch() - since < 5
