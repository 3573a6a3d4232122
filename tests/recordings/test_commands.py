"""Recordings on the command line: written over a socket, replayed elsewhere, served at their end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

import pytest

from reseller_sandbox import Sandbox, connect
from tests.clients import Api, Socket
from tests.command import PROGRAM, Done, run, started
from tests.recordings.recording import lines, packed
from tests.registry import REGISTRY


def command(*words: object) -> Done:
    return run(*map(str, words))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The recording of a world that has had requests over a socket."""
    file = tmp_path_factory.mktemp("recordings") / "a.recording"
    with Sandbox(REGISTRY, frozen=False).serve() as server:
        there, socket = connect(server.url), Socket(server.url)
        api = Api(socket, server.url, "main-key", "main-secret")
        there.faults.add("reset", match={"operation": "v3.createDomain"}, when={"phase": "after", "nth": 1})
        there.faults.add("latency", seconds=0.01, match={"method": "GET"}, when={"phase": "before"})
        with suppress(HTTPException, OSError):
            api.post("/v3/domains/createDomain", {"domain": {"domainName": "lost.com"}})
        there.clock.advance("P40D")
        assert api.get("/v3/balance").status == 200
        assert api.post("/v3/domains/createDomain", {"domain": {"domainName": "lost.com"}}).status == 409
        with suppress(HTTPException, OSError):
            socket("GET", "nonsense", [], b"")
        socket.close()
        done = command("recording", "export", "-o", file, "--url", server.url)
        assert (done.status, done.err) == (0, "")
        assert f"Open it with: reseller-sandbox recording open --port 0 {file}\n" in done.out
        yield file


def test_a_recording_replays_in_another_environment(written: Path) -> None:
    code = (
        "import sys, runpy\nfrom freezegun import freeze_time\n"
        f"sys.argv = ['reseller-sandbox', 'replay', {str(written)!r}, '--json']\n"
        f"with freeze_time('2031-07-01', tick=True): runpy.run_path({PROGRAM!r}, run_name='__main__')"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "18", "TZ": "Pacific/Kiritimati"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    report = json.loads(done.stdout)
    assert (report["identical"], report["skipped"], report["difference"]) == (True, {}, None)
    assert report["requests"] >= 3
    assert command("replay", written).out.startswith("identical to the byte: ")


def test_the_command_replay_shows_both_values_of_a_difference(written: Path, tmp_path: Path) -> None:
    """The body of an answer, or an event. An event that only one side has has nothing on third parties."""
    other, steps = tmp_path / "other.recording", lines(written.read_bytes())
    at = max(at for at, step in enumerate(steps) if step.get("step") == "events")
    before, event, after = steps[:at], steps[at], steps[at + 1 :]
    renamed = {**event, "subject": "another.com"}
    happened, unknown = ([step["at"], step["event"], step["subject"]] for step in (event, renamed))
    for change, recorded, replayed in (
        ([], None, happened),
        ([renamed], unknown, happened),
        ([event, renamed], unknown, None),
    ):
        other.write_bytes(packed([*before, *change, *after]))
        done = command("replay", other)
        assert (done.status, done.out.splitlines()[0]) == (1, "timed events: the event differs")
        difference = json.loads(command("replay", other, "--json").out)["difference"]
        assert (difference["recorded"], difference["replayed"]) == (recorded, replayed)
    for step in steps:
        if step.get("step") == "request":
            step["result"]["body"] = step["result"]["body"].replace("lost.com", "last.com")
    other.write_bytes(packed(steps))
    done = command("replay", other)
    title, ours, theirs = done.out.splitlines()
    assert (done.status, title) == (1, "r1 v3.createDomain: the body of the response differs")
    assert "last.com" in ours
    assert "lost.com" in theirs
    difference = json.loads(command("replay", other, "--json").out)["difference"]
    assert ("last.com" in difference["recorded"], "lost.com" in difference["replayed"]) == (True, True)


def test_a_damaged_recording_is_refused(written: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.recording"
    other.write_bytes(written.read_bytes()[:-9])
    for name in (["replay"], ["recording", "open"]):
        done = command(*name, other)
        assert (done.status, done.out) == (2, "")
        assert "the recording ends too early" in done.err


def test_an_opened_recording_is_served_with_its_journal(written: Path) -> None:
    with started("recording", "open", written, "--port", "0", "--quiet") as (_, line):
        url = next(word for word in line.split() if word.startswith("http://"))
        there = connect(url.rstrip(".,"))
        assert there.clock.frozen
        assert there.names["lost.com"].account == "main"
        lost = there.journal["r1"]
        assert (lost.carried_out, lost.answer.lost) == (True, True)
        there.rewind("r1")
        assert not [record for record in there.names.list().names if record.name == "lost.com"]
