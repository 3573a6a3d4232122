"""The state file: its lock, the records in it, and the times of its saves."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from operator import methodcaller
from pathlib import Path
from time import sleep
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from reseller_sandbox import Sandbox
from reseller_sandbox.app_factory import open_worlds
from reseller_sandbox.persistence import file, state_file, worlds
from reseller_sandbox.persistence.worlds import opened, save
from tests.persistence.conftest import describe
from tests.registry import REGISTRY, connect, edit


@pytest.mark.parametrize("system", ["posix", "nt"])
def test_lock_moves_to_the_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str) -> None:
    monkeypatch.setattr(file, "os", SimpleNamespace(**{**vars(os), "name": system}))
    path, new = tmp_path / "kept", tmp_path / "new"
    lock = file.FileLock(path)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"", 0o600)
    for content in (b"", b"1", b"2"):
        if content:
            new.write_bytes(content)
            lock.replace(new, path)
        with pytest.raises(file.Locked):
            file.FileLock(path)
        assert path.read_bytes() == content
    lock.close()
    file.FileLock(path).close()
    with pytest.raises(FileNotFoundError):
        file.FileLock(tmp_path / "no" / "file")


def test_objects_of_other_kinds_are_not_written_and_not_read(tmp_path: Path) -> None:
    kept, path = Sandbox(REGISTRY).engine.dump(), tmp_path / "worlds"
    for foreign, kind in (
        (tmp_path, type(tmp_path).__name__),
        (object(), "object"),
        (os.getcwd, "builtin_function_or_method"),
    ):
        with pytest.raises(TypeError, match=f"{kind} objects cannot be saved"):
            save(path, replace(kept, departed=foreign), Path.replace)
        assert [*tmp_path.iterdir()] == []
    save(path, kept, Path.replace)
    shapes = pickle.dumps(worlds._shape())
    for foreign in (tmp_path, ["kept"], None):
        content = shapes + pickle.dumps(foreign)
        file.write(path, worlds.VERSION, methodcaller("write", content), Path.replace)
        with pytest.raises(file.BadFile, match="its content is damaged"):
            opened(path)


def reopened(path: Path, sandbox: Sandbox) -> Sandbox:
    return Sandbox.over(open_worlds(sandbox.settings, frozen=True, dump=opened(path)), sandbox.settings)


def test_worlds_share_their_records_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds, "PIECE", 100)
    sandbox, path, sizes = Sandbox(REGISTRY), tmp_path / "worlds", list[int]()
    edit(sandbox, {"domains": {f"name{number}.com": {} for number in range(600)}})
    api = connect(sandbox)

    def saved() -> None:
        save(path, sandbox.engine.dump(), Path.replace)
        sizes.append(path.stat().st_size)
        again = reopened(path, sandbox)
        points = [f"before:{request.id}" for request in sandbox.journal][:15:7]
        for before, after in [(sandbox, again), *((sandbox.at(one), again.at(one)) for one in points)]:
            assert after.export() == before.export()
        assert describe(again) == describe(sandbox)

    saved()
    for number in range(15):
        name = {"domain": {"domainName": f"name{number}.com"}}
        assert api.post("/v3/domains/renewDomain", name).status == 200
    saved()
    sandbox.snapshot("here")
    sandbox.fork(name="side").names.add("fork.com")
    saved()
    sandbox.rewind("r9")
    saved()
    assert sizes[0] > 100_000
    grown = [after - before for before, after in pairwise(sizes)]
    assert max(grown) < 50_000, grown


def test_logs_of_events_share_their_common_part_in_a_file(tmp_path: Path) -> None:
    sandbox, path, sizes = Sandbox(REGISTRY), tmp_path / "worlds", list[int]()
    edit(sandbox, {"domains": {f"name{number}.com": {} for number in range(600)}})
    sandbox.clock.advance("500d")
    api = connect(sandbox)
    for days in (0, 15):
        for _ in range(days):
            sandbox.clock.advance("1d")
            assert api.get("/v3/balance").status == 200
        save(path, sandbox.engine.dump(), Path.replace)
        sizes.append(path.stat().st_size)
    assert sizes[1] - sizes[0] < 50_000
    for branch in range(3):  # each branch has more events than the one before, and other events
        sandbox.rewind("r1")
        for number in range(9 * branch + 9):
            sandbox.names.add(f"branch{branch}-{number}.com", expires="+1d")
        sandbox.clock.advance("2d")
        assert api.get("/v3/balance").status == 200
    save(path, sandbox.engine.dump(), Path.replace)
    again = reopened(path, sandbox)
    assert describe(again) == describe(sandbox)
    for checkpoint in tuple(sandbox.branches):
        for world in (sandbox, again):
            world.branches.switch(checkpoint.name)
        assert again.events.find() == sandbox.events.find()


class Times:
    """A state_file with a clock of its own; ``saves`` are the times of its saves."""

    def __init__(self, path: Path, patch: pytest.MonkeyPatch) -> None:
        self.sandbox = Sandbox(REGISTRY)
        self.path = path
        self.saves: list[float] = []
        self.problem: Exception | None = None
        self._now, self._asked = 100.0, 0
        patch.setattr(state_file, "LOOK", 0.0005)
        patch.setattr(state_file, "stopwatch", self._stopwatch)

    def _stopwatch(self) -> float:
        self._asked += 1
        return self._now

    def put_in_place(self, new: Path, path: Path) -> None:
        self.saves.append(self._now)
        if self.problem is not None:
            raise self.problem
        new.replace(path)

    @contextmanager
    def kept(self, *, is_saved: bool = True) -> Iterator[None]:
        with state_file.StateFileWriter(self.sandbox.engine, self.path, self.put_in_place, is_saved=is_saved):
            self.pass_to(self._now)
            yield

    def pass_to(self, now: float) -> None:
        """Set the clock, and wait until the keeper has looked."""
        self._now, asked = now, self._asked
        while self._asked < asked + 5:
            sleep(0.0005)

    def change(self) -> None:
        """Change the world, and wait until the keeper has noticed that."""
        self.sandbox.clock.advance("1s")
        self.pass_to(self._now)


@pytest.fixture
def times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Times:
    return Times(tmp_path / "worlds", monkeypatch)


def test_worlds_are_saved_a_second_after_the_last_change(times: Times) -> None:
    with times.kept():
        times.pass_to(150)
        assert times.saves == []
        times.change()
        for now in (150.5, 150.75):
            times.pass_to(now)
        times.change()
        for now in (151.25, 151.5):
            times.pass_to(now)
        assert times.saves == []
        for now in (151.75, 160, 200):
            times.pass_to(now)
        assert times.saves == [151.75]
        times.change()
    assert times.saves == [151.75, 200]
    assert "now: " in reopened(times.path, times.sandbox).export()


def test_worlds_that_change_all_the_time_are_saved_every_ten_seconds(times: Times) -> None:
    with times.kept():
        times.pass_to(150)
        for step in range(1, 51):
            times.change()
            times.pass_to(150 + step / 2)
        assert times.saves == [160, 170]


def test_new_worlds_are_saved_without_a_change_and_saved_worlds_are_not(times: Times) -> None:
    with times.kept():
        times.pass_to(120)
    assert times.saves == []
    with times.kept(is_saved=False):
        times.pass_to(120.75)
        assert times.saves == []
        times.pass_to(121.5)
    assert times.saves == [121.5]


def test_a_failed_save_is_repeated_after_ten_seconds_and_logged(
    times: Times, caplog: pytest.LogCaptureFixture, subtests: pytest.Subtests
) -> None:
    start = 100.0
    for problem, words in (
        (OSError(28, "No space left"), "No space left"),
        (KeyError("no"), "KeyError('no')"),
    ):
        with subtests.test(words), times.kept():
            times.saves.clear()
            times.problem = problem
            times.change()
            for after in (0.25, 1.25, 5, 11):
                times.pass_to(start + after)
            assert times.saves == [start + 1.25]
            assert caplog.messages == [f"the worlds could not be saved in {times.path}: {words}"]
            times.problem = None
            for after in (11.25, 30):
                times.pass_to(start + after)
            assert times.saves == [start + 1.25, start + 11.25]
        caplog.clear()
        start += 30


def test_each_kind_of_change_is_saved(times: Times, subtests: pytest.Subtests) -> None:
    sandbox, now = times.sandbox, 100.0
    changes: dict[str, Callable[[], object]] = {
        "request": lambda: sandbox.client().get("/v3/balance"),
        "snapshot": lambda: sandbox.snapshot("here"),
        "restore": lambda: sandbox.restore("here"),
        "fault": lambda: sandbox.faults.add("latency", seconds=1),
        "fork": lambda: sandbox.fork(name="side"),
        "removal": lambda: sandbox.worlds.remove("side"),
        "cleared journal": lambda: sandbox.journal.clear(),
        "reset": lambda: sandbox.reset(),
    }
    with times.kept():
        for name, change in changes.items():
            with subtests.test(name):
                times.saves.clear()
                change()
                for _ in range(3):
                    now += 1
                    times.pass_to(now)
                assert len(times.saves) == 1
                assert describe(reopened(times.path, sandbox)) == describe(sandbox)
