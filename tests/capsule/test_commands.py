"""Capsules from the command line: written over a socket, replayed elsewhere, served at their end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from http.client import HTTPException
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from reseller_sandbox import Sandbox, connect
from reseller_sandbox.capsule.document import from_bytes, to_bytes
from reseller_sandbox.capsule.steps import FiredStep, RequestStep
from reseller_sandbox.cli import main
from tests.clients import Api, Socket
from tests.registry import REGISTRY


def told(*words: object) -> Result:
    """What a command comes to."""
    return CliRunner().invoke(main, list(map(str, words)))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The capsule of a world that was asked over a socket."""
    file = tmp_path_factory.mktemp("capsules") / "a.capsule"
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
        done = told("capsule", "-o", file, "--url", server.url)
        assert (done.exit_code, done.stderr) == (0, "")
        assert f"Open it with: reseller-sandbox open {file}\n" in done.stdout
        yield file


@pytest.mark.parametrize(
    "zone", ["Pacific/Kiritimati", pytest.param("America/St_Johns", marks=pytest.mark.slow)]
)
def test_it_replays_in_other_surroundings(written: Path, zone: str) -> None:
    """Under another hash seed, in another time zone, with a clock that shows another day."""
    code = (
        "import sys\nfrom freezegun import freeze_time\nfrom reseller_sandbox.cli import main\n"
        f"with freeze_time('2031-07-01', tick=True): main(['replay', {str(written)!r}, '--json'])"
    )
    environment = {**os.environ, "PYTHONHASHSEED": str(len(zone)), "TZ": zone}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    found = json.loads(done.stdout)
    assert (found["identical"], found["beyond"], found["difference"]) == (True, {}, None)
    assert found["requests"] >= 3


def test_it_says_that_all_is_the_same(written: Path) -> None:
    """In a line, with the version that wrote it."""
    done = told("replay", written)
    assert done.exit_code == 0
    assert done.stdout.startswith("identical to the byte: ")


def test_it_shows_the_first_difference_and_ends_with_1(written: Path, tmp_path: Path) -> None:
    """An answer that is another one, with both sides."""
    recording = from_bytes(written.read_bytes())
    changed = [
        replace(one, came=replace(one.came, body=one.came.body.replace(b"lost.com", b"last.com")))
        if isinstance(one, RequestStep)
        else one
        for one in recording.steps
    ]
    other = tmp_path / "other.capsule"
    other.write_bytes(to_bytes(replace(recording, steps=tuple(changed))))
    done = told("replay", other)
    assert done.exit_code == 1
    title, recorded, replayed = done.stdout.splitlines()
    assert title == "r1 v3.createDomain: the body of the answer differs"
    assert recorded.startswith("  recorded  ")
    assert "last.com" in recorded
    assert "lost.com" in replayed
    assert not json.loads(told("replay", other, "--json").stdout)["identical"]


@pytest.mark.parametrize("change", ["missing", "extra", "another"])
def test_an_event_that_differs_is_told_with_both_sides(written: Path, tmp_path: Path, change: str) -> None:
    """One that only one side has as well: the other has nothing there then."""
    recording = from_bytes(written.read_bytes())
    steps = list(recording.steps)
    at = max(at for at, one in enumerate(steps) if isinstance(one, FiredStep))
    event = steps.pop(at)
    assert isinstance(event, FiredStep)
    if change != "missing":
        steps.insert(at, replace(event, subject="another.com"))
    if change == "extra":
        steps.insert(at, event)
    other = tmp_path / "other.capsule"
    other.write_bytes(to_bytes(replace(recording, steps=tuple(steps))))
    done = told("replay", other)
    assert (done.exit_code, done.stdout.splitlines()[0]) == (1, "what happened by itself: the event differs")
    difference = json.loads(told("replay", other, "--json").stdout)["difference"]
    happened = [event.at.isoformat().replace("+00:00", "Z"), event.event, event.subject]
    recorded = None if change == "missing" else [*happened[:2], "another.com"]
    assert difference["recorded"] == recorded
    assert difference["replayed"] == (None if change == "extra" else happened)


def test_a_file_that_is_no_capsule_is_refused(written: Path, tmp_path: Path) -> None:
    """In a line, with status 2, whether it is replayed or opened."""
    other = tmp_path / "other.capsule"
    for content, problem in (
        (b"zones: {}", "byte 0: this is no capsule"),
        (written.read_bytes()[:-9], "it breaks off"),
    ):
        other.write_bytes(content)
        for command in ("replay", "open"):
            done = told(command, other)
            assert (done.exit_code, done.stdout) == (2, "")
            assert problem in done.stderr
    assert "No such file" in told("replay", tmp_path / "none").stderr


def test_the_world_is_served_where_it_was_left(written: Path) -> None:
    """With its journal, to go back in and try again by hand."""
    command = [sys.executable, "-m", "reseller_sandbox", "open", str(written), "--port", "0", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = next(word for word in process.stdout.readline().split() if word.startswith("http://"))
            there = connect(url.rstrip(".,"))
            assert there.clock.frozen
            assert there.names["lost.com"].account == "main"
            lost = there.journal["r1"]
            assert (lost.carried_out, lost.answer.lost) == (True, True)
            there.rewind("r1")
            assert not [one for one in there.names.list().names if one.name == "lost.com"]
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
