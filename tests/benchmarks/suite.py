"""A test of ten calls by ours and by other libraries: ``python suite.py WAY`` where they are installed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

API, NAME = "https://api.example.test", "ten-calls.com"
D = "/v3/domains"

CALLS = (
    ("POST", f"{D}/checkAvailability", b'{"domainNames": ["ten-calls.com"]}'),
    ("GET", "/v3/balance", b""),
    ("POST", f"{D}/createDomain", b'{"domain": {"domainName": "ten-calls.com"}}'),
    ("GET", f"{D}/getDomain/{NAME}", b""),
    ("POST", f"{D}/setNameservers/{NAME}", b'{"nameservers": ["ns1.a.net", "ns2.a.net"]}'),
    *(("POST", f"{D}/{action}/{NAME}", b"") for action in ("lock", "unlock", "renewDomain")),
    ("GET", f"{D}/getDomain/{NAME}", b""),
    ("GET", "/v3/balance", b""),
)
STUB = {"domain": {f"field{number}": "a value of some length" for number in range(25)}}

#: Holds servers until the process ends.
FOR_LIFE = ExitStack()

#: A test, from its set-up to its last assertion.
Test = Callable[[], None]


def ours(client: str) -> Test:
    """Use a fork for each test; all tests share a client."""
    import httpx
    import requests

    from reseller_sandbox import Sandbox, connect
    from reseller_sandbox.testing import SandboxAdapter, SandboxTransport
    from tests.clients import signature

    local, api = Sandbox(), API
    session = requests.Session()
    session.mount(API, SandboxAdapter(local))
    clients: dict[str, Any] = {
        "httpx": httpx.Client(transport=SandboxTransport(local)),
        "socket": httpx.Client(),
        "requests": session,
        "at once": httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(200, json=STUB))),
    }
    if client == "socket":
        api = FOR_LIFE.enter_context(local.serve()).url
        local = connect(api)

    def call(account: Any) -> None:
        for method, path, body in CALLS:
            signed = signature(account.secret, account.key, api + path, body)
            headers = {"X-SVC-APIKEY": account.key, "X-SVC-SIGNATURE": signed}
            data = {"data" if client == "requests" else "content": body}
            response = clients[client].request(method, api + path, headers=headers, **data)
            assert response.status_code == 200

    def test() -> None:
        if client == "at once":
            call(local.account())
            return
        with local.fork() as world:
            call(world.accounts["main"])
            assert world.names[NAME].expires.year == 2028
            assert world.journal.find(limit=0).matching == len(CALLS)

    return test


def respx() -> Test:
    import httpx
    import respx as library

    client = httpx.Client()

    def test() -> None:
        with library.mock(base_url=API, assert_all_called=True) as mock:
            for method, path, _ in dict.fromkeys(CALLS):
                mock.route(method=method, path=path).respond(json=STUB)
            for method, path, body in CALLS:
                assert client.request(method, API + path, content=body).status_code == 200

    return test


SCRIPT = Path(__file__)
FLOOR = "httpx alone, answered at once"
WAYS: dict[str, Callable[[], Test]] = {
    FLOOR: partial(ours, "at once"),
    "ours in process, httpx": partial(ours, "httpx"),
    "ours in process, requests": partial(ours, "requests"),
    "ours over a socket, httpx": partial(ours, "socket"),
    "respx, httpx": respx,
}


def measure(how: Any) -> Iterator[Any]:
    """A test of ten calls, set up and verified, as in a user's suite; and the same with other libraries.

    Each way is a separate process, and its tests share one client.
    """
    from tests.benchmarks.measuring import ROOT, Figure, differences, interleaved, line_of, running

    with ExitStack() as stack:
        ways: dict[str, Callable[[], float]] = {}
        for way in WAYS:
            is_ours = way == FLOOR or way.startswith("ours")
            python = Path(sys.executable) if is_ours else ROOT / ".venv" / "bench" / "bin" / "python"
            program = python.exists() and stack.enter_context(running(python, SCRIPT, way))
            if program and line_of(program):
                ways[way] = partial(_milliseconds, line_of, program, how.times(50))
            else:
                yield f"{way} is left out: {python} {'has ended' if program else 'is missing'}"
        found = interleaved(ways, how.rounds)
    beyond = differences(found["ours in process, httpx"], found[FLOOR])
    yield Figure("ours in process, beyond httpx itself", "ms", beyond, "≤ 4")
    for way, taken in found.items():
        yield Figure(way, "ms", taken)


def _milliseconds(line_of: Any, program: Any, times: int) -> float:
    return float(line_of(program, str(times)))


if __name__ == "__main__":
    sys.path.insert(0, str(SCRIPT.parents[2]))
    test = WAYS[sys.argv[1]]()
    for _ in range(3):
        test()
    print("ready", flush=True)
    for line in sys.stdin:
        taken = []
        for _ in range(int(line)):
            began = perf_counter()
            test()
            taken.append(perf_counter() - began)
        print(median(taken) * 1e3, flush=True)
