"""``serve``: the file that says where it is, and the fixture that it looks after."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import sleep
from typing import Any

import pytest
from click.testing import CliRunner

from reseller_sandbox import connect, serving
from reseller_sandbox.assembly import open_worlds
from reseller_sandbox.cli import main
from reseller_sandbox.settings import ServerSettings
from reseller_sandbox.watching import Watch
from reseller_sandbox.worlds import Engine

ZONES = "zones: {com: {prices: {registration: 1, renewal: 2, transfer: 3, restore: 4}}}\n"


@contextmanager
def served(*options: str) -> Iterator[subprocess.Popen[str]]:
    """The command, running."""
    command = [sys.executable, "-m", "reseller_sandbox", "serve", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            yield server
        finally:
            server.kill()


def wait(*words: str) -> tuple[int, str, str]:
    """What ``wait`` comes to."""
    done = CliRunner().invoke(main, ["wait", *words])
    return done.exit_code, done.stdout.strip(), done.stderr.strip()


class TestReadyFile:
    """A program that starts a server finds it by a file, and need not read what is printed."""

    def test_it_says_where_the_server_is(self, tmp_path: Path) -> None:
        """Whole as soon as it is there, and gone when the server is."""
        file = tmp_path / "ready.json"
        with served("--ready-file", str(file), "--tls") as server:
            status, url, _ = wait("--ready-file", str(file), "--timeout", "100")
            told = json.loads(file.read_text())
            assert (status, url) == (0, told["url"])
            assert told["pid"] == server.pid
            assert connect(told["url"]).health.show().status == "ok"
            assert connect(told["tls_url"], authority=told["authority"]).health.show().status == "ok"
            server.send_signal(signal.SIGTERM)
            assert server.wait(60) == 0
            assert list(tmp_path.iterdir()) == []

    def test_one_that_was_left_behind_is_not_believed(self, tmp_path: Path) -> None:
        """A server that was killed leaves its file; the next one takes that away first."""
        file = tmp_path / "ready.json"
        file.write_text('{"url": "http://127.0.0.1:1"}')
        done = CliRunner().invoke(main, ["serve", "--port", "70000", "--ready-file", str(file)])
        assert done.exit_code == 2
        with served("--ready-file", str(file)) as server:
            status, url, _ = wait("--ready-file", str(file), "--timeout", "100")
            assert (status, url) == (0, json.loads(file.read_text())["url"])
            assert json.loads(file.read_text())["pid"] == server.pid

    def test_a_place_that_is_not_there_is_refused(self, tmp_path: Path) -> None:
        """In one line."""
        for path in (tmp_path / "no" / "where.json", tmp_path):
            done = CliRunner().invoke(main, ["serve", "--port", "0", "--ready-file", str(path)])
            assert done.exit_code == 2
            assert done.stderr.startswith(f"reseller-sandbox: --ready-file {path} cannot be written: ")
            assert done.stderr.count("\n") == 1


class TestWatch:
    """An edited fixture is loaded as a new start would load it."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> Path:
        """A fixture that includes another."""
        (tmp_path / "zones.yaml").write_text(ZONES)
        (tmp_path / "world.yaml").write_text("include: {zones.yaml: [zones]}\nseed: one\n")
        return tmp_path

    @staticmethod
    def watch(place: Path, **settings: Any) -> tuple[Engine, Callable[[], bool]]:
        """The worlds, and what looks after it."""
        told = ServerSettings(fixture=place / "world.yaml", frozen=True, **settings)
        watch = Watch(told)
        worlds = open_worlds(told, frozen=False)
        return worlds, partial(watch.look, worlds)

    @staticmethod
    def edit(file: Path, content: str) -> None:
        """Write a file, with a time of its own however fast that is."""
        before = file.stat().st_mtime_ns if file.exists() else 0
        file.write_text(content)
        os.utime(file, ns=(before + 1_000_000, before + 1_000_000))

    def test_an_edit_is_loaded(self, place: Path) -> None:
        """With what the command line says, which still counts; what the world was stays as a branch."""
        worlds, look = self.watch(place, now="2030-05-05T00:00:00Z", seed="mine")
        assert not look()
        self.edit(place / "world.yaml", ZONES.replace("com", "net"))
        assert look()
        world = worlds.default
        assert list(world.state.zones) == ["net"]
        assert (world.now().year, world.state.seed, world.clock.frozen) == (2030, "mine", True)
        assert len(world.branches) == 1
        assert not look()

    def test_what_is_included_counts(self, place: Path) -> None:
        """Also what has come to be included since."""
        worlds, look = self.watch(place)
        self.edit(place / "zones.yaml", ZONES.replace("com", "net"))
        assert look()
        assert list(worlds.default.state.zones) == ["net"]
        self.edit(place / "world.yaml", "include: {more.yaml: [zones]}\n")
        assert look()  # there is no such file yet
        self.edit(place / "more.yaml", ZONES.replace("com", "org"))
        assert look()
        assert list(worlds.default.state.zones) == ["org"]

    @pytest.mark.parametrize("content", ["zones: [", "zones: {com: {prics: 1}}", "- 1", "\x00", None])
    def test_a_mistake_is_told_and_changes_nothing(
        self, place: Path, content: str | None, caplog: pytest.LogCaptureFixture
    ) -> None:
        """With its place; once, and until it is mended."""
        worlds, look = self.watch(place)
        before, file = worlds.default.moment, place / "world.yaml"
        good = file.read_text()
        if content is None:
            file.unlink()
        else:
            self.edit(file, content)
        assert look()
        assert not look()
        assert worlds.default.moment is before
        (told,) = caplog.records
        assert "stays as it was" in told.getMessage()
        assert "world.yaml" in told.getMessage()
        self.edit(file, good + "now: 2031-01-01T00:00:00Z\n")
        assert look()
        assert worlds.default.now().year == 2031

    def test_a_file_that_is_touched_but_says_the_same_begins_again(self, place: Path) -> None:
        """Whoever saves it wants the world as it says."""
        worlds, look = self.watch(place)
        before = worlds.default.moment
        self.edit(place / "world.yaml", (place / "world.yaml").read_text())
        assert look()
        assert worlds.default.moment is not before

    def test_an_edit_while_the_server_starts_is_not_lost(
        self, place: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Be it made as soon as the server has read the fixture and said where it is."""

        def until_told(*_: object) -> None:
            while "begins again" not in caplog.text:
                sleep(0.001)

        monkeypatch.setattr("reseller_sandbox.watching.PAUSE", 0.01)
        monkeypatch.setattr(serving, "say", lambda _: self.edit(place / "world.yaml", "seed: two\n"))
        monkeypatch.setattr("reseller_sandbox.server.server.Server.run", until_told)
        serving.serve(ServerSettings(fixture=place / "world.yaml", port=0, watch=True, quiet=True))

    def test_the_server_does_it_by_itself(self, place: Path) -> None:
        """And says so in its log."""
        with served("--fixture", str(place / "world.yaml"), "--watch", "--quiet") as server:
            assert server.stdout is not None
            assert server.stderr is not None
            there = connect(server.stdout.readline().split()[-1])
            assert there.worlds.get("default").seed == "one"
            self.edit(place / "world.yaml", "seed: two\n")
            assert "begins again" in server.stderr.readline()
            assert there.worlds.get("default").seed == "two"
            there.close()
            server.send_signal(signal.SIGTERM)
            assert server.wait(60) == 0
            server.stdout.read()
