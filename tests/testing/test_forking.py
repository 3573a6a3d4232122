"""A forked process uses neither a copy of the world of its parent nor connections of its parent."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
import requests
import urllib3

from reseller_sandbox import Sandbox, connect

API = "https://api.example.test"
ZONES = f"{API}/V2.0/domain/zones"
TOKEN = {"X-Auth-Token": "sandbox-token"}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")

#: The sandbox that the functions of child processes inherit.
WORLD: list[Sandbox] = []


def in_children(job: Callable[[int], Any], count: int = 1) -> list[Any]:
    """Return the results of ``count`` calls, each in a process that is forked from this one."""
    with ProcessPoolExecutor(count, multiprocessing.get_context("fork")) as pool:
        return list(pool.map(job, range(count)))


WAYS: dict[str, Callable[[], Any]] = {
    "control": lambda: WORLD[0].clock.now,
    "fork": lambda: WORLD[0].fork(),
    "client": lambda: WORLD[0].client(),
    "httpx": lambda: httpx.get(ZONES, headers=TOKEN),
    "requests": lambda: requests.get(ZONES, headers=TOKEN, timeout=60),
    "urllib3": lambda: urllib3.request("GET", ZONES, headers=TOKEN),
    "url": lambda: WORLD[0].url,
    "env": lambda: WORLD[0].env,
}


def _messages(_: int) -> dict[str, str]:
    messages = {}
    for name, use in WAYS.items():
        try:
            use()
        except RuntimeError as problem:
            messages[name] = str(problem)
    WORLD[0].close()
    return messages


def test_a_forked_process_cannot_use_a_copy_of_the_world() -> None:
    with Sandbox() as sandbox, sandbox.fork() as fork, fork.intercept(API):
        WORLD[:] = [fork]
        [messages] = in_children(_messages)
        assert messages.keys() == WAYS.keys()
        assert all("Read sandbox.url before the fork" in message for message in messages.values())
        assert fork.journal.count() == 0


def _name_through_url(_: int) -> str:
    return connect(WORLD[0].url).accounts["main"].name


def test_a_forked_process_reaches_the_world_at_its_url(sandbox: Sandbox) -> None:
    WORLD[:] = [sandbox]
    assert sandbox.url
    assert in_children(_name_through_url) == ["main"]


def _own_answers(number: int) -> set[str]:
    """Return the expiry years in the answers to requests about one name, in each child another one."""
    sandbox, name = WORLD[0], f"n{number}.com"
    found, headers = set(), {"X-Auth-Token": sandbox.accounts["main"].token}
    with httpx.Client(base_url=API, headers=headers) as client, requests.Session() as session:
        for _ in range(20):
            path = f"/V2.0/domain/{name}"
            found.add(client.get(path).json()["date_end"][:4])
            found.add(session.get(API + path, headers=headers, timeout=60).json()["date_end"][:4])
            domain = sandbox.client().get(f"/v3/domains/getDomain/{name}").json["domain"]
            found |= {domain["expireDate"][:4], str(sandbox.names[name].expires)[:4]}
    sandbox.close()
    return found


def test_forked_processes_do_not_share_connections_to_a_server() -> None:
    """Nor does a child delete the world of its parent when it closes the sandbox."""
    with Sandbox() as served, ExitStack() as stack:
        remote = stack.enter_context(connect(served.url).fork())
        api = remote.client()
        for number in range(4):
            body = {"domain": {"domainName": f"n{number}.com"}, "years": number + 1}
            assert api.post("/v3/domains/createDomain", json=body).status_code == 200
        stack.enter_context(remote.intercept(API))
        httpx.get(ZONES, headers=TOKEN)
        WORLD[:] = [remote]
        assert in_children(_own_answers, 4) == [{"2027"}, {"2028"}, {"2029"}, {"2030"}]
        assert remote.names["n0.com"].name == "n0.com"
