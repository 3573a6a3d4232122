"""Shards behind a real nginx, with the configuration that ``deploy nginx`` prints."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from reseller_sandbox import Sandbox, connect
from tests.clients import Answer, Api, per_request
from tests.command import printed
from tests.outfit import free_ports, program
from tests.persistence.serving import wait_until

WORLDS = 40


@contextmanager
def router(folder: Path, first: int) -> Iterator[str]:
    """Run nginx in front of shards. Yield its address."""
    nginx = program("nginx")
    text = printed("deploy", "nginx").replace("8053", str(first))
    for number in range(4):
        text = text.replace(str(8060 + number), str(first + 1 + number))
    (folder / "nginx.conf").write_text(text)
    with running(first, nginx, "-p", str(folder), "-e", "stderr", "-c", "nginx.conf", "-g", "daemon off;"):
        yield f"http://127.0.0.1:{first}"


@contextmanager
def running(port: int, *command: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server, and wait until it listens."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet) as process:
        try:
            wait_until(lambda: listens(port))
            yield process
        finally:
            process.terminate()


def listens(port: int) -> bool:
    with closing(socket.socket()) as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def shard(number: int, first: int) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """Run a shard in a separate process."""
    port = first + 1 + number
    options = ("--shard", f"s{number}", "--port", str(port), "--quiet")
    return running(port, sys.executable, "-m", "reseller_sandbox", "serve", *options)


def raw(url: str, target: str, *headers: tuple[str, str]) -> Answer:
    """Send a GET without a signature."""
    return per_request(url)("GET", target, list(headers), b"")


def api_of(fork: Sandbox, url: str) -> Api:
    """Return the account ``main`` of a world behind the router."""
    account = fork.accounts["main"]
    return Api(per_request(url), url, account.key, account.secret)


def register(api: Api, name: str) -> Answer:
    return api.post("/v3/domains/createDomain", {"domain": {"domainName": name}})


def world_of(answer: Answer) -> str:
    return answer.headers["x-sandbox-world"]


def requests(shards: list[Sandbox]) -> list[int]:
    """Return how many requests the default worlds have had."""
    return [shard.worlds.get("default").requests for shard in shards]


@pytest.fixture(scope="module")
def routed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[Sandbox]]]:
    """Four shards in this process behind a router."""
    first = free_ports(5)
    shards = [Sandbox(shard=f"s{number}") for number in range(4)]
    with ExitStack() as stack:
        for number, shard in enumerate(shards):
            stack.enter_context(shard.serve(port=first + 1 + number))
        yield stack.enter_context(router(tmp_path_factory.mktemp("nginx"), first)), shards


def test_requests_reach_the_shard_of_their_world(routed: tuple[str, list[Sandbox]]) -> None:
    """By key, token, path and query. Each shard makes new worlds in turn."""
    url, shards = routed
    before, default, made = requests(shards), connect(url), []
    for _ in range(8):
        fork = default.fork()
        api = api_of(fork, url)
        answer = register(api, "routed.com")
        name = world_of(answer)
        assert answer.status == 200
        assert (
            world_of(raw(url, "/V2.0/domain/routed.com", ("X-Auth-Token", fork.accounts["main"].token)))
            == name
        )
        assert world_of(api.get(f"/_worlds/{name}/v3/balance")) == name
        assert world_of(raw(url, f"/v3/balance?X-SVC-APIKEY={api.key}&X-SVC-SIGNATURE=x")) == name
        assert [request.id for request in fork.journal] == ["r1", "r2", "r3", "r4"]
        assert fork.fork().accounts["main"].key.partition("-")[0] == name.partition("-")[0]
        made.append(name.partition("-")[0])
    assert sorted(made) == ["s0", "s0", "s1", "s1", "s2", "s2", "s3", "s3"]
    assert requests(shards) == before


def test_requests_without_a_shard_reach_the_first(routed: tuple[str, list[Sandbox]]) -> None:
    """The router does not change targets, so signatures over its address are correct."""
    url, shards = routed
    before, api = requests(shards), api_of(connect(url), url)
    for target in ("/v3/domains?perPage=3&x=%2F%20", "/v3//balance", "/v3/domains/getDomain/%C3%A9.com"):
        assert b"signature_mismatch" not in api.get(target).raw
    assert requests(shards) == [before[0] + 3, *before[1:]]
    unknown = raw(url, "/_worlds/s7-w1/v3/balance")
    assert (unknown.status, unknown.error) == (404, "unknown_shard")


@pytest.mark.slow
def test_a_dead_shard_takes_only_its_own_worlds(tmp_path: Path) -> None:
    first = free_ports(5)
    with ExitStack() as stack:
        url = stack.enter_context(router(tmp_path, first))
        processes = [stack.enter_context(shard(number, first)) for number in range(4)]
        default = connect(url)
        apis = [api_of(default.fork(), url) for _ in range(WORLDS)]
        with ThreadPoolExecutor(8) as workers:
            worlds = list(workers.map(lambda number: world_alone(apis[number], number), range(WORLDS)))
        processes[2].kill()
        processes[2].wait()
        lost = [world for world in worlds if world.startswith("s2-")]
        assert len(lost) == WORLDS / 4
        down = raw(url, f"/_worlds/{lost[0]}/_sandbox/health")
        assert (down.status, down.error) == (503, "shard_down")
        stack.enter_context(shard(2, first))
        gone = raw(url, f"/_worlds/{lost[0]}/v3/balance")
        assert gone.status == 404
        assert "belongs to this shard, s2, which has since restarted" in gone.message
        for api, world in zip(apis, worlds, strict=True):
            assert world in lost or world_of(api.get("/v3/balance")) == world
        assert {default.fork().accounts["main"].key[:2] for _ in range(4)} == {"s0", "s1", "s2", "s3"}


def world_alone(api: Api, number: int) -> str:
    """Register a name. Return the world, which must have no name of another world."""
    made, listed = register(api, f"n{number}.com"), api.get("/v3/domains?perPage=100")
    assert made.status == 200
    assert world_of(made) == world_of(listed)
    assert [other for other in range(WORLDS) if f'"n{other}.com"'.encode() in listed.raw] == [number]
    return world_of(made)
