"""The state file: a damaged file is refused, and a failed or interrupted save leaves the previous one."""

from __future__ import annotations

import signal
import struct
import zlib
from pathlib import Path
from random import Random
from time import sleep

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.keeping.serving import refusal, register, serving, wait_until
from tests.keeping.test_start import blocks
from tests.outfit import program


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of two worlds with a past."""
    path = tmp_path_factory.mktemp("kept") / "worlds"
    with serving("--keep", path) as served:
        served.sandbox.fork()
        for target in ("/v3/balance", "/v3/domains/getDomain/nobodys.com", "/v3/domains"):
            served.sandbox.client().get(target)
    return path


@given(data=st.data())
def test_damage_anywhere_is_refused_with_its_place(kept: Path, data: st.DataObject) -> None:
    """A wrong byte, a missing end, and bytes after the end."""
    content, path = bytearray(kept.read_bytes()), kept.with_name("damaged")
    at = data.draw(st.integers(0, len(content) - 1))
    wrong = content.copy()
    wrong[at] ^= data.draw(st.integers(1, 255))
    for damaged in (wrong, content[:at], content + data.draw(st.binary(min_size=1, max_size=40))):
        path.write_bytes(damaged)
        assert damaged == b"" or "byte " in refusal(path)


def test_a_foreign_file_is_refused_by_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "other"
    for content, words in (
        (b"zones: {com: {}}\n", "no file that worlds are kept in"),
        (b"\x80\x04\x95", "no file that worlds are kept in"),
        (b"reseller-sandbox worlds, version 99\n", "of version 99 of the format; this program reads 3"),
    ):
        path.write_bytes(content)
        assert words in refusal(path)
    assert "No such file or directory" in refusal(tmp_path / "no" / "folder")


def test_records_of_another_version_are_refused_by_name(kept: Path) -> None:
    content = bytearray(kept.read_bytes())
    for begin, end in blocks(bytes(content)):
        at = content.find(b"Order(id", begin, end)
        if at >= 0:
            content[at : at + 8] = b"Order(no"
            struct.pack_into("<I", content, begin - 8, zlib.crc32(content[begin - 4 : end]))
            break
    path = kept.with_name("older")
    path.write_bytes(content)
    assert "whose Order has other fields" in refusal(path)


@pytest.mark.parametrize("running", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_failed_save_is_repeated(tmp_path: Path, running: bool) -> None:
    """At the end of the server, and after some seconds while it runs, although nothing has changed."""
    path, blocker = tmp_path / "worlds", tmp_path / "worlds.new"
    blocker.mkdir()
    with serving("--keep", path) as served:
        served.sandbox.names.add("kept.com")
        assert served.process.stderr is not None
        assert "could not be saved" in served.process.stderr.readline()
        assert path.stat().st_size == 0
        blocker.rmdir()
        if running:
            wait_until(lambda: path.stat().st_size)
    with serving("--keep", path) as served:
        assert "kept.com" in served.sandbox.names


def test_a_full_disk_leaves_the_last_save(kept: Path, tmp_path: Path) -> None:
    """A limit of the size of files stands for the disk."""
    program("prlimit")
    path = tmp_path / "worlds"
    path.write_bytes(kept.read_bytes())
    with serving("--keep", path, limit=path.stat().st_size - 100) as served:
        served.sandbox.names.add("lost.com")
    assert path.read_bytes() == kept.read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["worlds"]


@pytest.mark.slow
def test_a_killed_server_leaves_its_last_whole_save(tmp_path: Path) -> None:
    path, random, number, saved = tmp_path / "worlds", Random(1), 0, 0
    for _ in range(10):
        with serving("--keep", path, end=signal.SIGKILL) as served:
            requests = served.sandbox.journal.find().matching
            assert saved <= requests <= number
            registered = [name for name in served.sandbox.names if name.name.startswith("k")]
            assert served.sandbox.account().balance == 10000 - 10 * len(registered)
            for number in range(requests, requests + 5):
                assert register(served.sandbox, f"k{number}.com") == 200
            number, before = requests + 5, path.stat().st_mtime_ns if path.exists() else 0
            if random.random() < 0.7:
                wait_until(lambda: path.exists() and path.stat().st_mtime_ns != before)
                saved = requests + 1
            sleep(random.uniform(0, 0.05))
