"""Shards: their names and credentials, the refusals of other shards, and the files for several shards."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml

from reseller_sandbox import Refused, Sandbox
from tests.clients import Api, InProcess
from tests.command import printed
from tests.outfit import program
from tests.registry import BASE

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


def test_names_and_credentials_begin_with_the_name_of_the_shard() -> None:
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


def test_default_worlds_are_equal_and_forks_of_shards_and_starts_differ() -> None:
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
    assert "belongs to this shard, s3, which has since restarted" in message(
        shards[2], "/v3/balance", old.key
    )


def test_a_request_for_another_shard_is_refused_with_both_names() -> None:
    zero, three = Sandbox(shard="s0"), Sandbox(shard="s3")
    elsewhere = three.fork(name="elsewhere").accounts["main"]
    both = "to the shard s3, and this is the shard s0"
    assert both in message(zero, "/v3/balance", elsewhere.key)
    assert both in message(zero, "/_worlds/s3-elsewhere/v3/balance", elsewhere.key)
    InProcess(zero.app)("GET", "/V2.0/domain/zones", [("X-Auth-Token", elsewhere.token)], b"")
    refusal = zero.journal.find().requests[-1].refusal  # because a v2.0 answer has no message
    assert refusal is not None
    assert both in refusal.message
    gone = message(zero, "/_worlds/s0-w99/v3/balance", elsewhere.key)
    assert "belongs to this shard, s0, which has since restarted or deleted its world" in gone
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


def test_the_name_of_a_shard_can_be_the_number_of_the_machine() -> None:
    done = subprocess.run([sys.executable, "-c", NUMBERED], capture_output=True, text=True, check=True)
    *names, laptop, long = done.stdout.splitlines()
    assert names == ["s12", "s0"]
    assert "laptop does not end with a hyphen and a number" in laptop
    assert "a-12345 does not end with a hyphen and a number" in long


def test_compose_names_each_shard_for_the_router() -> None:
    document = yaml.safe_load(printed("deploy", "compose-shards"))
    *shards, router = document["services"]
    assert (shards, router) == (["s0", "s1", "s2", "s3"], "router")
    for name in shards:
        assert document["services"][name]["environment"][SHARD] == name
        assert f"server {name}:8053 max_fails=0;" in document["configs"]["router"]["content"]
    assert all(row["read_only"] and row["cap_drop"] == ["ALL"] for row in document["services"].values())
    assert document["services"][router]["ports"] == ["127.0.0.1:8053:8053"]


def test_nginx_accepts_the_printed_file(tmp_path: Path) -> None:
    command = [program("nginx"), "-t", "-p", str(tmp_path), "-e", "stderr", "-c", "nginx.conf"]
    (tmp_path / "nginx.conf").write_text(printed("deploy", "nginx"))
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
