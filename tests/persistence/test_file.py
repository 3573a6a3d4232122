"""The state file: which files are refused, and what a failed save leaves."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.outfit import program
from tests.persistence.conftest import Kept
from tests.persistence.serving import refusal, serving
from tests.thorough import tries


def with_checksum(content: bytes) -> bytes:
    """Return a state file whose checksum fits the rest of it."""
    return content[:-4] + zlib.crc32(content[:-4]).to_bytes(4, "little")


@settings(max_examples=tries(10))
@given(data=st.data())
def test_damage_anywhere_is_refused(kept: Kept, data: st.DataObject) -> None:
    """A wrong byte, a missing end, and bytes after the end."""
    content, path = bytearray(kept.path.read_bytes()), kept.path.with_name("damaged")
    at = data.draw(st.integers(0, len(content) - 1))
    wrong = content.copy()
    wrong[at] ^= data.draw(st.integers(1, 255))
    for damaged in (wrong, content[:at], content + data.draw(st.binary(min_size=1, max_size=40))):
        path.write_bytes(damaged)
        words = refusal(path) if damaged else "damaged"
        assert "damaged" in words or "is not a state file" in words or "of version" in words


def test_damage_with_a_correct_checksum_is_refused_without_the_name_of_an_exception(
    kept: Kept, tmp_path: Path
) -> None:
    content, random, refusals, path = kept.path.read_bytes(), Random(7), set(), tmp_path / "worlds"
    for _ in range(12):
        changed, begin = bytearray(content), random.randrange(100, len(content) - 1000)
        changed[begin : begin + 1000] = bytes(1000)
        path.write_bytes(with_checksum(bytes(changed)))
        refusals.add(refusal(path).partition(": ")[2])
    assert any("content is damaged" in words for words in refusals)
    assert [words for words in refusals if "Error" in words or "(" in words] == []


def test_records_of_another_version_are_refused_by_name(kept: Kept, tmp_path: Path) -> None:
    path = tmp_path / "older"
    path.write_bytes(with_checksum(kept.path.read_bytes().replace(b"Order(id", b"Order(no", 1)))
    assert "fields of Order differ" in refusal(path)


def test_a_file_that_no_server_can_use_is_refused_and_stays(tmp_path: Path) -> None:
    path, fifo = tmp_path / "other", tmp_path / "fifo"
    for content, words in (
        (b"zones: {com: {}}\n", "is not a state file"),
        (b"\x80\x04\x95", "is not a state file"),
        (b"reseller-sandbox worlds, version 99\n", "of version 99 of the format; this program reads 7"),
    ):
        path.write_bytes(content)
        assert words in refusal(path)
    assert "No such file or directory" in refusal(tmp_path / "no" / "folder")
    os.mkfifo(fifo)
    for special in (Path("/dev/full"), Path("/dev/null"), fifo, tmp_path):
        assert f"{special} is not a regular file" in refusal(special)
    assert sorted(tmp_path.iterdir()) == [fifo, path]


def test_a_full_disk_leaves_the_last_save(kept: Kept, tmp_path: Path) -> None:
    """A limit of the size of files stands for the disk."""
    program("prlimit")
    path = tmp_path / "worlds"
    path.write_bytes(kept.path.read_bytes())
    with serving("--state-file", path, limit=path.stat().st_size - 100) as served:
        served.sandbox.names.add("lost.com")
    assert path.read_bytes() == kept.path.read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["worlds"]
