"""A capsule is opened beside other worlds: as a world of its own, where the past in it ends."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace

import pytest

from reseller_sandbox import Refused, Sandbox
from reseller_sandbox.capsule.document import from_bytes, to_bytes
from reseller_sandbox.capsule.steps import EndStep
from tests.capsule.test_replay import lived
from tests.registry import REGISTRY, connect


@pytest.fixture(scope="module")
def capsule() -> bytes:
    """The past of a sandbox that has been used."""
    return lived(Sandbox(REGISTRY)).capsule.get().content


def test_it_stands_where_the_past_ends(capsule: bytes) -> None:
    """With its time, its names and its journal; and the world that was there is as before."""
    sandbox, first = Sandbox(REGISTRY), lived(Sandbox(REGISTRY))
    before = sandbox.export()
    opened = sandbox.worlds.open(capsule, name="opened")
    assert (opened.difference, opened.notes, opened.frozen) == (None, (), True)
    assert sandbox.export() == before
    world = sandbox.engine.find("opened")
    assert [one.id for one in world.journal] == [one.id for one in first.world.journal]
    assert world.clock.now() == first.clock.now
    assert sorted(world.state.orders) == sorted(first.world.state.orders)


def test_its_credentials_are_its_own_at_every_moment(capsule: bytes) -> None:
    """Whatever it goes back to; those of the capsule choose the world they did, and work below its path."""
    sandbox = Sandbox(REGISTRY)
    opened = sandbox.worlds.open(capsule)
    new = {one.name: one.key for one in opened.accounts}
    assert not set(new.values()) & set(sandbox.world.state.account_by_key)
    world = sandbox.engine.find(opened.name)
    for entry in world.journal:
        for moment in (entry.before, entry.after):
            assert set(new.values()) <= set(moment.state.account_by_key)
    assert connect(sandbox, "main").get("/v3/balance").status == 200
    assert sandbox.journal.find().matching == 1
    old = sandbox.account("main")
    assert world.inherited.by_key(old.key, world.state) is not None
    assert world.inherited.by_token(old.token, world.state) is not None


def test_a_difference_is_told(capsule: bytes) -> None:
    """It opens all the same: what it came to is there to be looked at."""
    recording = from_bytes(capsule)
    *others, end = recording.steps
    assert isinstance(end, EndStep)
    changed = replace(recording, steps=(*others, replace(end, requests=99)))
    told = Sandbox(REGISTRY).worlds.open(to_bytes(changed)).difference
    assert told == "the end: the number of requests differs"


def test_settings_that_are_none_of_a_capsules_are_refused(capsule: bytes) -> None:
    """A file that somebody sends reads no other file."""
    recording = from_bytes(capsule)
    head = replace(recording.head, settings={"fixture": "/etc/hostname", "profile": "/etc/hostname"})
    sandbox = Sandbox(REGISTRY)
    with pytest.raises(Refused, match="settings cannot be fixture, profile") as refused:
        sandbox.worlds.open(b64encode(to_bytes(replace(recording, head=head))).decode())
    assert refused.value.code == "invalid_capsule"
    assert len(sandbox.worlds.list().worlds) == 1
