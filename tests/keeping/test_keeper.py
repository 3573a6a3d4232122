"""Worlds are saved while they change: a save that fails is not the end of it, and a link stays one."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from time import sleep

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.keeping import keeper
from reseller_sandbox.keeping.worlds import opened
from reseller_sandbox.settings import BadSetting
from tests.registry import REGISTRY


@pytest.fixture
def blocked(tmp_path: Path) -> Path:
    """A file that cannot be written as long as the folder is there that stands in its way."""
    (tmp_path / "worlds.new").mkdir()
    return tmp_path / "worlds"


@pytest.mark.parametrize("again", [0, 600], ids=["while it goes on", "at the end"])
def test_what_could_not_be_saved_is_saved_as_soon_as_it_can_be(
    blocked: Path, again: float, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Although nothing has changed since."""
    monkeypatch.setattr(keeper, "QUIET", 0)
    monkeypatch.setattr(keeper, "LATEST", again)
    sandbox = Sandbox(REGISTRY)
    sandbox.names.add("kept.com")
    with caplog.at_level(logging.ERROR), keeper.Keeper(sandbox.engine, blocked, nullcontext()):
        _wait(lambda: "could not be saved" in caplog.text)
        assert not blocked.exists()
        blocked.with_name("worlds.new").rmdir()
        if again == 0:
            _wait(blocked.exists)
    assert opened(blocked).worlds[0].moment.state == sandbox.world.state


def test_a_link_leads_to_the_file_that_is_written(tmp_path: Path) -> None:
    """So whoever names the file itself does not get it, as it is one file, and the link stays a link."""
    (tmp_path / "disk").mkdir()
    file, link = tmp_path / "disk" / "worlds", tmp_path / "link"
    link.symlink_to(file)
    sandbox = Sandbox(REGISTRY)
    with keeper.KeptFile(str(link)) as held:
        with pytest.raises(BadSetting, match="another server keeps its worlds"):
            keeper.KeptFile(str(file))
        with held.keeping(sandbox.engine, nullcontext()):
            pass
    assert link.is_symlink()
    assert opened(file).worlds[0].moment.state == sandbox.world.state


def _wait(done: Callable[[], bool]) -> None:
    latest = stopwatch() + 60
    while not done():
        assert stopwatch() < latest
        sleep(0.01)
