"""Shards: their names, credentials and refusals, and an nginx in front of them."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path

import pytest
import yaml

from reseller_sandbox import Refused, Sandbox, connect
from tests.clients import Answer, Api, InProcess, per_request
from tests.command import free_ports, printed, program
from tests.registry import BASE
from tests.waiting import wait_until

FIXTURE = """
zones: {com: {prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}}
accounts: {shop: {balance: 9, key: shop-key, token: shop-token, secret: shop-secret, contact: {name: X}}}
"""
SHARD = "RESELLER_SANDBOX_SHARD"


def credentials(sandboxes: Iterable[Sandbox]) -> set[str]:
    """Return keys, secrets and tokens of worlds."""
    accounts = [account for sandbox in sandboxes for account in sandbox.accounts]
    return {word for account in accounts for word in (account.key, account.secret, account.token)}


def names_of(sandbox: Sandbox) -> list[str]:
    return [world.name for world in sandbox.worlds][1:]


def message(sandbox: Sandbox, target: str, key: str) -> str:
    """Return the refusal of a v3 request."""
    return Api(InProcess(sandbox.app), BASE, key, "no-such-secret").get(target).message


def test_names_and_credentials_begin_with_the_shard_name() -> None:
    shard = Sandbox(shard="s3")
    made = [shard.fork(), shard.fork(name="mine"), shard.fork(fixture="empty"), shard.fork(state=FIXTURE)]
    made.append(made[1].fork(name="s3-again"))
    names = [re.sub("-[0-9a-f]{8}-", "-", name) for name in names_of(shard)]
    assert names == ["s3-w1", "s3-mine", "s3-w3", "s3-w4", "s3-again"]
    made[0].load(FIXTURE)
    made[2].accounts.add("late", currency="USD", key="late-key", token="late-token", contact={"name": "X"})
    accounts = [account for fork in made for account in fork.accounts]
    assert [account for account in accounts if account.key[:3] != "s3-" or account.token[:3] != "s3-"] == []
    for name, problem in (("mine", "s3-mine"), ("s3-w9", "w with a number")):
        with pytest.raises(Refused, match=problem):
            shard.fork(name=name)


def test_shards_have_equal_default_worlds_but_unique_fork_credentials() -> None:
    shards = [Sandbox(shard=name) for name in ("s0", "s3", "s3")]
    first, *others = (credentials([shard]) for shard in shards)
    assert others == [first, first]
    made = [credentials(shard.fork() for _ in range(20)) | {*names_of(shard)} for shard in shards]
    assert [len(words) for words in made] == [20 * 3 * 3 + 20] * 3
    assert [{word[:3] for word in words} for words in made] == [{"s0-"}, {"s3-"}, {"s3-"}]
    assert len({word[3:] for words in made for word in words}) == sum(map(len, made))
    alone = Sandbox()
    assert alone.fork().accounts["main"].key == "main-key-w1-b0676a1c7ca4fbbd"
    assert names_of(alone) == ["w1"]
    old = shards[1].fork().accounts["main"]
    assert "belongs to this shard, s3, which deleted its world, restarted" in message(
        shards[2], "/v3/balance", old.key
    )


def test_a_request_to_the_wrong_shard_is_refused_with_both_shard_names() -> None:
    zero, three = Sandbox(shard="s0"), Sandbox(shard="s3")
    elsewhere = three.fork(name="elsewhere").accounts["main"]
    both = "to the shard s3, and this is the shard s0"
    assert both in message(zero, "/v3/balance", elsewhere.key)
    assert both in message(zero, "/_worlds/s3-elsewhere/v3/balance", elsewhere.key)
    InProcess(zero.app)("GET", "/V2.0/domain/zones", [("X-Auth-Token", elsewhere.token)], b"")
    refusal = zero.journal.list().requests[-1].refusal  # because a v2.0 answer has no message
    assert refusal is not None
    assert both in refusal.message
    gone = message(zero, "/_worlds/s0-w99/v3/balance", elsewhere.key)
    assert "belongs to this shard, s0, which deleted its world, restarted without it, or never had it" in gone
    assert "shard" not in message(zero, "/_worlds/nothing/v3/balance", elsewhere.key)
    assert "shard" not in message(Sandbox(), "/v3/balance", elsewhere.key)


NUMBERED = """
import socket
socket.gethostname = lambda: host
from reseller_sandbox import BadSetting, Sandbox
for host in ("reseller-sandbox-12", "pod-0", "laptop", "a-12345"):
    try:
        print(Sandbox(shard="hostname").fork().accounts["main"].key.partition("-")[0])
    except BadSetting as problem:
        print(problem)
"""


def test_a_shard_can_take_its_name_from_the_number_in_the_host_name() -> None:
    done = subprocess.run([sys.executable, "-c", NUMBERED], capture_output=True, text=True, check=True)
    *names, laptop, long = done.stdout.splitlines()
    assert names == ["s12", "s0"]
    assert "laptop does not end with a hyphen and a number" in laptop
    assert "a-12345 does not end with a hyphen and a number" in long


@pytest.mark.parametrize("number", [1, 4, 12])
def test_the_compose_file_gives_each_shard_a_name_known_to_the_router(number: int) -> None:
    document = yaml.safe_load(printed("deploy", "compose-shards", "--shards", str(number)))
    *shards, router = document["services"]
    assert (shards, router) == ([f"s{each}" for each in range(number)], "router")
    assert document["services"][router]["depends_on"] == shards
    for name in shards:
        assert document["services"][name]["environment"][SHARD] == name
        assert f"server {name}:8053 max_fails=0;" in document["configs"]["router"]["content"]
    assert all(row["read_only"] and row["cap_drop"] == ["ALL"] for row in document["services"].values())
    assert document["services"][router]["ports"] == ["127.0.0.1:8053:8053"]


def test_nginx_accepts_the_printed_configuration(tmp_path: Path) -> None:
    command = [program("nginx"), "-t", "-p", str(tmp_path), "-e", "stderr", "-c", "nginx.conf"]
    (tmp_path / "nginx.conf").write_text(printed("deploy", "nginx"))
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


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


def test_requests_that_name_no_shard_reach_the_first_shard(routed: tuple[str, list[Sandbox]]) -> None:
    """The router does not change targets, so signatures over its address are correct."""
    url, shards = routed
    before, api = requests(shards), api_of(connect(url), url)
    for target in ("/v3/domains?perPage=3&x=%2F%20", "/v3//balance", "/v3/domains/getDomain/%C3%A9.com"):
        assert b"signature_mismatch" not in api.get(target).raw
    assert requests(shards) == [before[0] + 3, *before[1:]]
    unknown = raw(url, "/_worlds/s7-w1/v3/balance")
    assert (unknown.status, unknown.error) == (404, "unknown_shard")


@pytest.mark.slow
def test_a_dead_shard_loses_only_its_own_worlds(tmp_path: Path) -> None:
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
        assert "belongs to this shard, s2, which deleted its world, restarted" in gone.message
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
