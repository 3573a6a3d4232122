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
from tests.registry import REGISTRY, edit


@pytest.mark.parametrize("system", ["posix", "nt"])
def test_lock_of_the_state_file_moves_to_its_replacement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
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


def test_state_file_refuses_python_objects_that_are_not_records(tmp_path: Path) -> None:
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
        with pytest.raises(file.BadFile, match="its content is invalid"):
            opened(path)


def reopened(path: Path, sandbox: Sandbox) -> Sandbox:
    return Sandbox.over(open_worlds(sandbox.settings, frozen=True, dump=opened(path)), sandbox.settings)


def test_state_file_stores_shared_records_and_events_only_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worlds, "PIECE", 100)
    sandbox, path, sizes = Sandbox(REGISTRY), tmp_path / "worlds", list[int]()
    names = {f"name{number}.com": {"expires": "+900d"} if number < 15 else {} for number in range(600)}
    edit(sandbox, {"domains": names})
    sandbox.clock.advance("500d")
    client = sandbox.client()

    def saved() -> Sandbox:
        save(path, sandbox.engine.dump(), Path.replace)
        sizes.append(path.stat().st_size)
        again = reopened(path, sandbox)
        for point in ["now", *(f"before:{request.id}" for request in tuple(sandbox.journal)[:15:7])]:
            assert again.at(point).export() == sandbox.at(point).export()
        assert describe(again) == describe(sandbox)
        return again

    saved()
    for number in range(15):
        sandbox.clock.advance("1d")
        assert client.post(f"/v3/domains/renewDomain/name{number}.com").status_code == 200
    saved()
    sandbox.snapshot("here")
    sandbox.fork(name="side").names.add("fork.com")
    saved()
    sandbox.rewind("r9")
    saved()
    assert sizes[0] > 100_000
    grown = [after - before for before, after in pairwise(sizes)]
    assert max(grown) < 50_000, grown
    for branch in range(3):  # each branch has more events than the one before, and other events
        sandbox.rewind("r1")
        for number in range(9 * branch + 9):
            sandbox.names.add(f"branch{branch}-{number}.com", expires="+1d")
        sandbox.clock.advance("2d")
        client.get("/v3/balance")
    again = saved()
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


CHANGE = 0
#: Whether the worlds are those of the file, times and changes, and the times of saves; the last is the end.
TIMELINES: dict[str, tuple[bool, list[float], list[float]]] = {
    "a second after the last change": (
        True,
        [150, CHANGE, 150.5, 150.75, CHANGE, 151.25, 151.5, 151.75, 160, 200, CHANGE],
        [151.75, 200],
    ),
    "every ten seconds while worlds change": (
        True,
        [150, *(step for number in range(1, 51) for step in (CHANGE, 150 + number / 2))],
        [160, 170, 175],
    ),
    "never without a change": (True, [120], []),
    "new worlds": (False, [100.75, 101.5], [101.5]),
}


def test_state_file_is_saved_soon_after_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    for case, (is_saved, steps, saves) in TIMELINES.items():
        times = Times(tmp_path / case, monkeypatch)
        with subtests.test(case):
            with times.kept(is_saved=is_saved):
                for step in steps:
                    times.pass_to(step) if step else times.change()
            assert times.saves == saves


def test_failed_save_of_the_state_file_is_logged_and_repeated_after_ten_seconds(
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


def test_each_kind_of_change_is_saved_to_the_state_file(times: Times, subtests: pytest.Subtests) -> None:
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
