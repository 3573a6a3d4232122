"""Shards: the names and credentials of a shard begin with its name, and other shards refuse them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.clients import Api, InProcess
from tests.registry import BASE

FIXTURE = """
zones: {com: {prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}}
accounts: {shop: {balance: 9, key: shop-key, token: shop-token, secret: shop-secret, contact: {name: X}}}
"""


@pytest.fixture(scope="module")
def shards() -> tuple[Sandbox, Sandbox]:
    return Sandbox(shard="s0"), Sandbox(shard="s3")


def credentials(sandboxes: Iterable[Sandbox]) -> set[str]:
    """Return keys, secrets and tokens of worlds."""
    accounts = [account for sandbox in sandboxes for account in sandbox.accounts]
    return {word for account in accounts for word in (account.key, account.secret, account.token)}


def names_of(sandbox: Sandbox) -> list[str]:
    return [world.name for world in sandbox.worlds][1:]


def message(sandbox: Sandbox, target: str, key: str) -> str:
    """Return the refusal of a v3 request."""
    return Api(InProcess(sandbox.app), BASE, key, "no-such-secret").get(target).message


def test_names_and_credentials_begin_with_the_name_of_the_shard(shards: tuple[Sandbox, Sandbox]) -> None:
    _, three = shards
    made = [three.fork(), three.fork(name="mine"), three.fork(fixture="empty"), three.fork(state=FIXTURE)]
    made.append(made[1].fork(name="s3-again"))
    names = [re.sub("-[0-9a-f]{8}-", "-", name) for name in names_of(three)]
    assert names == ["s3-w1", "s3-mine", "s3-w3", "s3-w4", "s3-again"]
    made[0].load(FIXTURE)
    made[2].accounts.add("late", currency="USD", key="late-key", token="late-token", contact={"name": "X"})
    accounts = [account for fork in made for account in fork.accounts]
    assert [account for account in accounts if account.key[:3] != "s3-" or account.token[:3] != "s3-"] == []
    with pytest.raises(Refused, match="s3-mine"):
        three.fork(name="mine")
    with pytest.raises(Refused, match="w with a number"):
        three.fork(name="s3-w9")


def test_default_worlds_are_equal_and_forks_share_no_credentials(shards: tuple[Sandbox, Sandbox]) -> None:
    assert credentials(shards[:1]) == credentials(shards[1:])
    kinds = [{word[3:] for word in credentials([shard.fork(name="apart")])} for shard in shards]
    assert not kinds[0] & kinds[1]
    alone = Sandbox()
    assert alone.fork().account().key == "main-key-w1-b0676a1c7ca4fbbd"
    assert names_of(alone) == ["w1"]


def test_a_request_for_another_shard_is_refused_with_both_names(shards: tuple[Sandbox, Sandbox]) -> None:
    zero, three = shards
    elsewhere = three.fork(name="elsewhere").account()
    both = "of the shard s3, and this is the shard s0"
    assert both in message(zero, "/v3/balance", elsewhere.key)
    assert both in message(zero, "/_worlds/s3-elsewhere/v3/balance", elsewhere.key)
    InProcess(zero.app)("GET", "/V2.0/domain/zones", [("X-Auth-Token", elsewhere.token)], b"")
    refusal = zero.journal.find().requests[-1].refusal  # the v2.0 answer has no text for it
    assert refusal is not None
    assert both in refusal.message
    gone = message(zero, "/_worlds/s0-w99/v3/balance", elsewhere.key)
    assert "of this shard, s0, which has started anew since or has dropped its world" in gone
    assert "shard" not in message(zero, "/_worlds/nothing/v3/balance", elsewhere.key)
    assert "shard" not in message(Sandbox(), "/v3/balance", elsewhere.key)


def test_two_starts_of_a_shard_share_no_names_and_credentials() -> None:
    made = []
    for _ in range(2):
        shard = Sandbox(shard="s1")
        forks = [shard.fork() for _ in range(20)]
        made.append(credentials(forks) | {*names_of(shard)})
    assert len(made[0]) == 20 * 3 * 3 + 20
    assert not made[0] & made[1]
    assert all(value.startswith("s1-") for value in made[0] | made[1])
    old = Sandbox(shard="s1").fork().account()
    assert "of this shard, s1, which has started anew since" in message(shard, "/v3/balance", old.key)


NUMBERED = """
import socket
socket.gethostname = lambda: host
from reseller_sandbox import BadSetting, Sandbox
for host in ("reseller-sandbox-12", "pod-0", "laptop", "a-12345"):
    try:
        print(Sandbox(shard="hostname").fork().account().key.partition("-")[0])
    except BadSetting as problem:
        print(problem)
"""


def test_the_name_of_a_shard_can_be_the_number_of_the_machine() -> None:
    done = subprocess.run([sys.executable, "-c", NUMBERED], capture_output=True, text=True, check=True)
    *names, laptop, long = done.stdout.splitlines()
    assert names == ["s12", "s0"]
    assert "laptop does not end in a hyphen and a number" in laptop
    assert "a-12345 does not end in a hyphen and a number" in long
