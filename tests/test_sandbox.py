"""An exception that leaves a sandbox brings along what happened in its worlds."""

from __future__ import annotations

import pytest

from reseller_sandbox import Sandbox


def test_an_exception_has_a_note_for_each_world() -> None:

    def fail(sandbox: Sandbox) -> None:
        with sandbox:
            sandbox.client().post("/v3/domains/renewDomain/active-example.com")
            with sandbox.fork() as fork:
                fork.clock.advance("P1D")
                raise AssertionError

    sandbox = Sandbox()
    with pytest.raises(AssertionError) as raised:
        fail(sandbox)
    inner, outer = (note.splitlines() for note in raised.value.__notes__)
    assert inner[:2] == ["reseller sandbox: world w1", "clock     2026-01-16T12:00:00Z, frozen"]
    assert outer[0] == "reseller sandbox: world default"
    assert outer[-1] == "  r1   POST /v3/domains/renewDomain/active-example.com: 200 ok, main paid 12.99"
    assert [world.name for world in sandbox.worlds.list().worlds] == ["default"]


def test_an_exception_has_no_note_of_a_deleted_world() -> None:
    sandbox = Sandbox()
    with sandbox.fork() as fork:
        pass
    with pytest.raises(RuntimeError) as raised, fork:
        raise RuntimeError
    assert not hasattr(raised.value, "__notes__")
