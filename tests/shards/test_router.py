"""Shards behind a real nginx, with the configuration that ``deploy nginx`` prints."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from time import sleep
from typing import Any

import pytest
from click.testing import CliRunner

from reseller_sandbox import Sandbox, connect
from reseller_sandbox.cli import main
from reseller_sandbox.core.clock import stopwatch
from tests.clients import Answer, Api, Socket
from tests.outfit import free_ports, program


@contextmanager
def router(folder: Path, shards: int, first: int) -> Iterator[str]:
    """nginx in front of so many shards; where it is."""
    nginx = program("nginx")
    words = ["deploy", "nginx", "--shards", str(shards), "--first-port", str(first + 1)]
    told = CliRunner().invoke(main, [*words, "--listen", f"127.0.0.1:{first}"])
    assert told.exit_code == 0, told.output
    (folder / "nginx.conf").write_text(told.output)
    command = [nginx, "-p", str(folder), "-e", "stderr", "-c", "nginx.conf", "-g", "daemon off;"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as running:
        try:
            wait_for(first)
            yield f"http://127.0.0.1:{first}"
        finally:
            running.terminate()


def wait_for(port: int) -> None:
    """Wait until somebody listens."""
    latest = stopwatch() + 60
    while stopwatch() < latest:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            sleep(0.02)
        else:
            return
    raise AssertionError(f"nobody listens on {port}")


@contextmanager
def asking(sandbox: Sandbox, url: str) -> Iterator[Api]:
    """The account ``main`` of a world behind the router."""
    account, transport = sandbox.accounts.get("main"), Socket(url)
    yield Api(transport, url, account.key, account.secret)
    transport.close()


def raw(url: str, target: str, headers: dict[str, str] | None = None) -> Answer:
    """The answer to a GET as it is."""
    connection = HTTPConnection(url.removeprefix("http://"), timeout=60)
    connection.request("GET", target, headers=headers or {})
    answer = connection.getresponse()
    told = Answer(answer.status, {n.lower(): v for n, v in answer.getheaders()}, answer.read())
    connection.close()
    return told


def register(name: str) -> dict[str, Any]:
    """What registers a name."""
    return {"domain": {"domainName": name}}


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[Sandbox]]]:
    """Three shards of this process behind a router."""
    first = free_ports(4)
    shards = [Sandbox(shard=f"s{number}") for number in range(3)]
    with ExitStack() as stack:
        for number, one in enumerate(shards):
            stack.enter_context(one.serve(port=first + 1 + number))
        yield stack.enter_context(router(tmp_path_factory.mktemp("nginx"), 3, first)), shards


def test_new_worlds_go_round_and_each_request_to_its_own(three: tuple[str, list[Sandbox]]) -> None:
    """By key, by token, by the path and by the query; nothing of it reaches another shard."""
    url, shards = three
    default = connect(url)
    forks = [default.fork() for _ in range(6)]
    names = [_world(one) for one in forks]
    assert sorted(name.partition("-")[0] for name in names) == ["s0", "s0", "s1", "s1", "s2", "s2"]
    before = [shard.world.moment.requests for shard in shards]
    for name, fork in zip(names, forks, strict=True):
        with asking(fork, url) as api:
            made = api.post("/v3/domains/createDomain", register("routed.com"))
            assert (made.status, made.headers["x-sandbox-world"]) == (200, name)
            token = {"X-Auth-Token": fork.accounts.get("main").token}
            assert raw(url, "/V2.0/domain/routed.com", token).headers["x-sandbox-world"] == name
            assert api.get(f"/_worlds/{name}/v3/balance").headers["x-sandbox-world"] == name
            signed = raw(url, f"/v3/balance?X-SVC-APIKEY={api.key}&X-SVC-SIGNATURE=x")
            assert signed.headers["x-sandbox-world"] == name
        assert [entry.id for entry in fork.journal.find().requests] == ["r1", "r2", "r3", "r4"]
        again = fork.fork()
        assert _world(again).partition("-")[0] == name.partition("-")[0]
    assert [shard.world.moment.requests for shard in shards] == before


def test_what_names_no_shard_goes_to_the_first(three: tuple[str, list[Sandbox]]) -> None:
    """And what names one that is not there is told so."""
    url, shards = three
    before = [shard.world.moment.requests for shard in shards]
    with asking(connect(url), url) as api:
        assert api.get("/v3/balance").status == 200
    assert [shard.world.moment.requests for shard in shards] == [before[0] + 1, *before[1:]]
    told = raw(url, "/_worlds/s7-w1/v3/balance")
    assert (told.status, told.json["error"]) == (404, "unknown_shard")


def test_a_signature_over_the_routers_address_holds(three: tuple[str, list[Sandbox]]) -> None:
    """Targets arrive as they were sent: escapes, double slashes and all."""
    url, _ = three
    with asking(connect(url), url) as api:
        for target in ("/v3/domains?perPage=3&x=%2F%20", "/v3//balance", "/v3/domains/getDomain/%C3%A9.com"):
            assert b"signature_mismatch" not in api.get(target).raw


@pytest.mark.slow
def test_four_shards_serve_a_test_run_and_one_may_die(tmp_path: Path) -> None:
    """Two hundred worlds, eight workers: a shard that dies takes its own worlds, and nothing else."""
    first = free_ports(5)
    with ExitStack() as stack:
        url = stack.enter_context(router(tmp_path, 4, first))
        running = [stack.enter_context(_shard(number, first)) for number in range(4)]
        default = connect(url)
        forks = [default.fork() for _ in range(200)]
        with ThreadPoolExecutor(8) as workers:
            assert all(workers.map(lambda number: _works(forks[number], url, number), range(200)))
        running[2].kill()
        running[2].wait()
        lost = [one for one in forks if _world(one).startswith("s2-")]
        assert len(lost) == 50
        down = raw(url, f"/_worlds/{_world(lost[0])}/_sandbox/health")
        assert (down.status, down.json["error"]) == (503, "shard_down")
        kept = [one for one in forks if one not in lost]
        assert all(_goes_on(one, url) for one in kept)
        stack.enter_context(_shard(2, first))
        gone = raw(url, f"/_worlds/{_world(lost[0])}/v3/balance")
        assert gone.status == 404
        assert "of this shard, s2, which has started anew since" in gone.message
        assert all(_goes_on(one, url) for one in kept)
        assert {_world(default.fork()).partition("-")[0] for _ in range(4)} == {"s0", "s1", "s2", "s3"}


@contextmanager
def _shard(number: int, first: int) -> Iterator[subprocess.Popen[bytes]]:
    port = str(first + 1 + number)
    words = ["serve", "--shard", f"s{number}", "--port", port, "--quiet"]
    command = [sys.executable, "-m", "reseller_sandbox.cli", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
        try:
            wait_for(int(port))
            yield running
        finally:
            running.terminate()


def _world(sandbox: Sandbox) -> str:
    return str(sandbox.door.world)  # type: ignore[attr-defined]


def _works(fork: Sandbox, url: str, number: int) -> bool:
    with asking(fork, url) as api:
        made = api.post("/v3/domains/createDomain", register(f"n{number}.com"))
        listed = api.get("/v3/domains?perPage=100")
        return (
            made.status == 200
            and {made.headers["x-sandbox-world"], listed.headers["x-sandbox-world"]} == {_world(fork)}
            and sum(f'"n{other}.com"'.encode() in listed.raw for other in range(200)) == 1
        )


def _goes_on(fork: Sandbox, url: str) -> bool:
    with asking(fork, url) as api:
        answer = api.get("/v3/balance")
        return answer.status == 200 and answer.headers["x-sandbox-world"] == _world(fork)
