"""An exception that leaves a sandbox brings along what happened in its worlds."""

from __future__ import annotations

import pytest

from reseller_sandbox import Sandbox


def test_what_fails_within_a_with_tells_what_happened_in_its_world() -> None:
    """Without pytest too: the exception brings it along, for each world that it leaves."""

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
    assert inner[:2] == ["reseller sandbox: world w1", "clock     2026-01-16T12:00:00Z, standing still"]
    assert outer[0] == "reseller sandbox: world default"
    assert outer[-1] == "  r1   POST /v3/domains/renewDomain/active-example.com: 200 ok, main paid 12.99"
    assert [world.name for world in sandbox.worlds.list().worlds] == ["default"]


def test_nothing_is_told_of_a_world_that_is_gone() -> None:
    """Nor of one that has ended in peace."""
    sandbox = Sandbox()
    with sandbox.fork() as fork:
        pass
    with pytest.raises(RuntimeError) as raised, fork:
        raise RuntimeError
    assert not hasattr(raised.value, "__notes__")
