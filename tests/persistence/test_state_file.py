"""The state file: restarts, refused files, failed saves, and losses of power."""

from __future__ import annotations

import os
import signal
import subprocess
import zlib
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reseller_sandbox import connect, replay
from tests.command import PROGRAM, program
from tests.connection import Connection
from tests.persistence.conftest import Kept, act, describe
from tests.persistence.serving import refusal, serving
from tests.thorough import tries
from tests.waiting import wait_until


def test_a_restarted_server_has_the_same_worlds_and_gives_the_same_answers(
    kept: Kept, tmp_path: Path
) -> None:
    """The next server has a shorter journal. Meanwhile no other server can use the file."""
    path, linked, symlink = tmp_path / "worlds", tmp_path / "hard-link", tmp_path / "symlink"
    assert kept.path.with_name("worlds").is_symlink()
    assert kept.path.stat().st_mode & 0o777 == 0o600
    path.write_bytes(kept.path.read_bytes())
    os.link(path, linked)
    symlink.symlink_to(path)
    with serving("--journal", "2", "--state-file", path) as served, connect(served.url, world="side") as fork:
        assert [world.name for world in served.sandbox.worlds] == ["default", "side"]
        for name in (path, linked, symlink):
            assert "another server keeps its worlds in" in refusal(name), name
        assert describe(fork) == kept.described
        assert act(fork) == kept.answers
        assert len(fork.journal.list().requests) == 2
        assert fork.events.list(domain="kept0.com", name="v3.createDomain").events
        fork.restore("before")
        assert "kept1.com" in fork.names


@pytest.mark.slow
def test_a_delayed_request_never_takes_effect_after_a_restart_of_the_server(tmp_path: Path) -> None:
    """It never takes effect. The past has the request and its fault, and can be replayed.

    The journal has dropped the state before the request.
    """
    path, name = tmp_path / "worlds", {"domain": {"domainName": "later.com"}}
    with serving("--journal", "1", "--state-file", path) as served:
        served.sandbox.faults.add("latency", seconds=60, match={"operation": "v2.domain.zones"})
        token = served.sandbox.accounts["main"].token
        served.sandbox.client().post("/v3/domains/createDomain", json=name)
        with Connection.to(served.url) as waiting:
            head = f"GET /V2.0/domain/zones HTTP/1.1\r\nHost: localhost\r\nX-Auth-Token: {token}\r\n\r\n"
            waiting.send(head.encode())
            wait_until(lambda: served.sandbox.faults.list().faults[0].applied)
            for _ in range(2):
                served.sandbox.client().post("/v3/domains/renewDomain", json=name)
            served.sandbox.snapshot("here")
            served.process.send_signal(signal.SIGTERM)
            served.process.wait(60)
    with serving("--journal", "1", "--state-file", path) as served:
        sandbox = served.sandbox
        assert sandbox.names["later.com"].expires.year == 2029
        sandbox.client().get("/v3/domains")
        sandbox.restore("here")
        sandbox.client().get("/v3/domains")
        assert [request.operation for request in sandbox.journal] == ["v3.listDomains"]
        assert sandbox.faults.list().faults[0].applied == 1
        replayed = replay(sandbox.recording.get().content)
        assert replayed.identical, replayed.difference


def with_checksum(content: bytes) -> bytes:
    """Return a state file whose checksum fits the rest of it."""
    return content[:-4] + zlib.crc32(content[:-4]).to_bytes(4, "little")


@settings(max_examples=tries(10))
@given(data=st.data())
def test_a_state_file_with_damage_at_any_byte_is_refused(kept: Kept, data: st.DataObject) -> None:
    """A wrong byte, a missing end, and bytes after the end."""
    content, path = bytearray(kept.path.read_bytes()), kept.path.with_name("damaged")
    at = data.draw(st.integers(0, len(content) - 1))
    wrong = content.copy()
    wrong[at] ^= data.draw(st.integers(1, 255))
    for damaged in (wrong, content[:at], content + data.draw(st.binary(min_size=1, max_size=40))):
        path.write_bytes(damaged)
        words = refusal(path) if damaged else "damaged"
        assert "damaged" in words or "is not a state file" in words or "of version" in words


def test_a_damaged_state_file_with_a_correct_checksum_is_refused_in_plain_words(
    kept: Kept, tmp_path: Path
) -> None:
    content, random, refusals, path = kept.path.read_bytes(), Random(7), set(), tmp_path / "worlds"
    for _ in range(12):
        changed, begin = bytearray(content), random.randrange(100, len(content) - 1000)
        changed[begin : begin + 1000] = bytes(1000)
        path.write_bytes(with_checksum(bytes(changed)))
        refusals.add(refusal(path).partition(": ")[2])
    assert any("content is invalid" in words for words in refusals)
    assert [words for words in refusals if "Error" in words or "(" in words] == []


def test_a_file_that_is_not_a_state_file_is_refused_and_not_changed(tmp_path: Path) -> None:
    path, fifo = tmp_path / "other", tmp_path / "fifo"
    for content, words in (
        (b"zones: {com: {}}\n", "is not a state file"),
        (b"\x80\x04\x95", "is not a state file"),
        (b"reseller-sandbox worlds, version 99\n", "has format version 99; this program reads version 8"),
    ):
        path.write_bytes(content)
        assert words in refusal(path)
    assert "No such file or directory" in refusal(tmp_path / "no" / "folder")
    os.mkfifo(fifo)
    for special in (Path("/dev/full"), Path("/dev/null"), fifo, tmp_path):
        assert f"{special} is not a regular file" in refusal(special)
    assert sorted(tmp_path.iterdir()) == [fifo, path]


def test_the_last_save_survives_a_full_disk(kept: Kept, tmp_path: Path) -> None:
    """A limit of the size of files stands for the disk. The status says that the last save failed."""
    program("prlimit")
    path = tmp_path / "worlds"
    path.write_bytes(kept.path.read_bytes())
    with serving("--state-file", path, limit=path.stat().st_size - 100) as served:
        served.sandbox.names.add("lost.com")
        served.process.terminate()
        assert "the latest changes are not saved in" in served.process.communicate()[1]
    assert served.process.returncode == 1
    assert path.read_bytes() == kept.path.read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["worlds"]


def test_a_save_opens_no_file_that_exists_already(kept: Kept, tmp_path: Path) -> None:
    """A link, a FIFO and the state file of another server may have the name of a new file."""
    path, other, victim = tmp_path / "a.state", tmp_path / "a.state.new", tmp_path / "victim"
    victim.write_text("mine")
    unfinished = tmp_path / ".a.state.0000000_.new"
    unfinished.symlink_to(victim)
    os.mkfifo(tmp_path / ".a.state.new")
    with serving("--state-file", path) as one, serving("--state-file", other) as two:
        one.sandbox.names.add("one.com")
        two.sandbox.names.add("two.com")
    assert (one.process.wait(), two.process.wait()) == (0, 0)
    for file, name in ((path, "one.com"), (other, "two.com")):
        assert file.stat().st_mode & 0o777 == 0o600
        with serving("--state-file", file) as served:
            assert name in served.sandbox.names
    assert victim.read_text() == "mine"
    assert sorted(tmp_path.iterdir()) == sorted([path, other, victim, tmp_path / ".a.state.new"])


MOUNTS = {
    "is mounted as a single file": "mount --bind {folder}/source {folder}/worlds",
    "a save cannot create a file in its folder: Read-only file system": (
        "mount --bind {folder} {folder}; mount --bind {folder}/worlds {folder}/worlds; "
        "mount -o remount,bind,ro {folder}"
    ),
}


def test_a_state_file_that_no_save_can_replace_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    program("unshare")
    if run_mounted("true", tmp_path).returncode:
        pytest.skip("this system does not allow mounts")
    serve = f"{PROGRAM} serve --port 0 --state-file {tmp_path / 'worlds'}"
    for words, mount in MOUNTS.items():
        with subtests.test(words):
            (tmp_path / "worlds").touch()
            (tmp_path / "source").touch()
            done = run_mounted(f"{mount} && {serve}", tmp_path)
            assert done.returncode == 2, done
            assert words in " ".join(done.stderr.split()), done


def run_mounted(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a shell command, which can mount files of ``folder`` for itself."""
    words = ["unshare", "--map-root-user", "--mount", "sh", "-c", command.format(folder=folder)]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


class Disk:
    """The possible contents of one file after a loss of power, by the events that came before."""

    def __init__(self, path: Path) -> None:
        self.path = path
        #: The inodes that the disk may have under the file's name. Only one of them is certain.
        self.named: list[int | None] = [None]
        self._synced: dict[int, str] = {}
        self._written: dict[int, str] = {}

    def take(self, event: dict[str, Any]) -> None:
        """Let an event happen."""
        inode: int = event["inode"]
        content: Any = event.get("content")
        if event["event"] == "open" and event["truncated"]:
            self._written[inode] = ""
            self._synced.pop(inode, None)
        elif event["event"] == "rename" and event["path"] == str(self.path):
            self._written[inode] = content
            self.named.append(inode)
        elif event["event"] == "fsync" and content is not None:
            self._synced[inode] = self._written[inode] = content
        elif event["event"] == "fsync" and event["path"] == str(self.path.parent):
            self.named = self.named[-1:]

    def contents(self) -> set[str]:
        """Return everything that the file may have."""
        return {content for inode in self.named for content in self._contents(inode)}

    def _contents(self, inode: int | None) -> set[str]:
        if inode is None:
            return {""}
        written = self._written[inode]
        half = written[: len(written) // 4 * 2]
        return {written} if self._synced.get(inode) == written else {"", half, written}


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the shim reads /proc")
def test_a_power_loss_at_any_point_leaves_the_last_save_or_the_next(kept: Kept) -> None:
    """A save is over, and has to stay, when the next begins, and at the end."""
    rows, disk, over, begun = kept.events, Disk(kept.path), 0, 0
    saves = [row for row in rows if (row["event"], row["path"]) == ("rename", str(kept.path))]
    sources = {row["source"] for row in saves}
    known = ["", *(row["content"] for row in saves)]
    assert len(saves) >= 2
    for number, row in enumerate(rows):
        if row["event"] == "open" and row["path"] in sources and row["truncated"]:
            over, begun = begun, begun + 1
        disk.take(row)
        allowed = set(known[over : begun + 1])
        assert disk.contents() <= allowed, f"after event {number}, {row['event']} {row['path']}"
    assert disk.contents() == {known[-1]}
    assert kept.path.read_bytes().hex() == known[-1]
