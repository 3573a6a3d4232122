"""The state file: its lock, the records in it, and the times of its saves."""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from operator import methodcaller
from pathlib import Path
from time import sleep
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from reseller_sandbox import Sandbox
from reseller_sandbox.app_factory import open_worlds
from reseller_sandbox.persistence import file, state_file, worlds
from reseller_sandbox.persistence.worlds import opened, save
from reseller_sandbox.registry.events import RegistryEvent
from reseller_sandbox.registry.model import Card
from reseller_sandbox.registry.stepwise import interruptible
from reseller_sandbox.values.extras import program_version
from reseller_sandbox.worlds.snapshot import Event
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
    header = pickle.dumps({"version": "1", "fields": {}})
    for foreign, words in (
        (tmp_path, f"{type(tmp_path).__name__} is not a record of this version"),
        (["kept"], "its content is invalid"),
        (None, "its content is invalid"),
    ):
        content = header + pickle.dumps(foreign)
        file.write(path, worlds.VERSION, methodcaller("write", content), Path.replace)
        with pytest.raises(file.BadFile, match=words):
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
        assert again.events.list() == sandbox.events.list()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state file with records of most types."""
    sandbox, path = Sandbox(REGISTRY), tmp_path_factory.mktemp("written") / "worlds"
    sandbox.client().get("/v3/balance")
    sandbox.clock.advance("30d")
    save(path, sandbox.engine.dump(), Path.replace)
    return path


#: Records of each sort: a record, one with named fields only, and one that the collector does not visit.
SORTS = (Card, Event, RegistryEvent)


def with_fields(kind: type, fields: Mapping[str, str], **defaults: object) -> type:
    """Return the record that another version has in place of ``kind``."""
    known = {"__module__": kind.__module__, "__annotations__": fields}
    meta: Any = type(Struct)
    other: type = meta(kind.__name__, (Struct,), {**known, **defaults}, kw_only=True)
    return other


@pytest.mark.parametrize("kind", SORTS)
def test_state_file_is_read_by_field_name(written: Path, monkeypatch: pytest.MonkeyPatch, kind: type) -> None:
    """A later version can have more fields, wider types, and another order."""
    fields = dict(reversed(worlds.fields_of(kind).items()))
    name = next(name for name, of in fields.items() if of in ("int", "str", "datetime"))
    later = with_fields(kind, {"added": "int", **fields, name: f"{fields[name]} | bool"}, added=7)
    monkeypatch.setitem(worlds._KINDS, kind.__name__, later)
    records = list(found(opened(written), later))
    assert records
    assert {record.added for record in records} == {7}
    assert all(type(getattr(record, name)).__name__ in (fields[name], "FakeDatetime") for record in records)


@pytest.mark.parametrize("kind", SORTS)
def test_state_file_with_other_fields_is_refused_with_the_field_and_the_version(
    written: Path, monkeypatch: pytest.MonkeyPatch, kind: type, subtests: pytest.Subtests
) -> None:
    fields = worlds.fields_of(kind)
    name, of = next(iter(fields.items()))
    less = {other: fields[other] for other in fields if other != name}
    cases = {
        f"{kind.__name__} has no field {name} in this version": less,
        f"{kind.__name__} differs in this version: Missing required argument 'more'": {
            **fields,
            "more": "int",
        },
        f"{kind.__name__}.{name} has the type set[str] in this version, and had {of}": {
            **fields,
            name: "set[str]",
        },
    }
    for words, other in cases.items():
        with subtests.test(words), monkeypatch.context() as patch:
            patch.setitem(worlds._KINDS, kind.__name__, with_fields(kind, other))
            with pytest.raises(file.BadFile) as refused:
                opened(written)
            by = f"The file is from version {program_version()} of the sandbox"
            assert str(refused.value) == f"{written}: {words}. {by}"


def found(value: Any, kind: type) -> Iterator[Any]:
    """Yield each record of the type ``kind`` in a value."""
    if isinstance(value, kind):
        yield value
    if hasattr(value, "__struct_fields__"):
        value = [getattr(value, field) for field in value.__struct_fields__]
    elif hasattr(value, "values"):
        value = list(value.values())
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for part in value:
            yield from found(part, kind)


class Times:
    """A state_file with a clock of its own; ``saves`` are the times of its saves."""

    def __init__(self, path: Path, patch: pytest.MonkeyPatch) -> None:
        self.sandbox = Sandbox(REGISTRY)
        self.path = path
        self.saves: list[float] = []
        self.problem: Exception | None = None
        self.takes = 0.0
        self.now, self._asked = 100.0, 0
        patch.setattr(state_file, "LOOK", 0.0005)
        patch.setattr(state_file, "stopwatch", self._stopwatch)

    def _stopwatch(self) -> float:
        self._asked += 1
        return self.now

    def put_in_place(self, new: Path, path: Path) -> None:
        self.saves.append(self.now)
        self.now += self.takes
        if self.takes:
            self.sandbox.clock.advance("1s")
        if self.problem is not None:
            raise self.problem
        new.replace(path)

    @contextmanager
    def kept(self, *, is_saved: bool = True) -> Iterator[None]:
        with state_file.StateFileWriter(self.sandbox.engine, self.path, self.put_in_place, is_saved=is_saved):
            self.pass_to(self.now)
            yield

    def pass_to(self, now: float) -> None:
        """Set the clock, and wait until the keeper has looked."""
        self.now, asked = now, self._asked
        while self._asked < asked + 5:
            sleep(0.0005)

    def change(self) -> None:
        """Change the world, and wait until the keeper has noticed that."""
        self.sandbox.clock.advance("1s")
        self.pass_to(self.now)


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


def test_interval_between_saves_counts_from_the_beginning_of_a_save(times: Times) -> None:
    """A save takes four seconds, and changes come meanwhile. They are in the file ten seconds later."""
    times.takes = 4
    with times.kept():
        for half_second in range(1, 100):
            times.change()
            times.pass_to(max(times.now, 100 + half_second / 2))
    gaps = [after - before for before, after in pairwise(times.saves)]
    assert set(gaps[:-1]) == {6.0}


def test_state_file_has_the_committed_content_of_a_busy_world(times: Times) -> None:
    """A save neither waits for long work nor stores a part of it. The end of the work is a change."""
    sandbox, free, busy = times.sandbox, threading.Event(), threading.Event()
    sandbox.client().get("/v3/balance")
    before, side = describe(sandbox), sandbox.fork(name="side")

    def work() -> None:
        with interruptible(threading.Event()), sandbox.world.lock:
            sandbox.client().get("/v3/balance")
            sandbox.clock.advance("30d")
            busy.set()
            free.wait()

    worker = threading.Thread(target=work)
    with times.kept():
        worker.start()
        busy.wait()
        side.names.add("side.com")
        for now in (101.0, 102.0, 103.0):
            times.pass_to(now)
        saved = reopened(times.path, sandbox)
        assert describe(saved) == before
        assert "side.com" in Sandbox.through(saved.transport.entering("side")).names
        count = len(times.saves)
        times.pass_to(130.0)
        assert len(times.saves) == count
        free.set()
        worker.join()
        for now in (131.0, 132.0, 133.0):
            times.pass_to(now)
        assert describe(reopened(times.path, sandbox)) == describe(sandbox) != before


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
