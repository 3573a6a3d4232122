"""``serve --watch``: an edited fixture is loaded again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from reseller_sandbox import Sandbox, connect
from tests.command import PROGRAM, run, started
from tests.waiting import wait_until

ZONES = "zones: {com: {prices: {registration: 1, renewal: 2, transfer: 3, restore: 4}}}\n"


def edit(file: Path, content: str) -> None:
    """Write a file with a later time, however fast that is."""
    before = file.stat().st_mtime_ns if file.exists() else 0
    file.write_text(content)
    os.utime(file, ns=(before + 1_000_000, before + 1_000_000))


def wait_for(sandbox: Sandbox, zone: str, year: int) -> None:
    wait_until(lambda: f" {zone}:" in sandbox.export() and sandbox.clock.now.year == year)


@pytest.mark.slow
def test_the_option_watch_loads_an_edited_fixture_again(tmp_path: Path) -> None:
    """So is an included file. Options still count, and the previous history remains as a branch.

    A mistake is reported once with its place, and changes nothing until its correction.
    """
    main, zones, more = (tmp_path / name for name in ("world.yaml", "zones.yaml", "more.yaml"))
    zones.write_text(ZONES)
    main.write_text("include: {zones.yaml: [zones]}\nnow: 2030-01-01\n")
    words = ("serve", "--port", "0", "--fixture", main, "--watch", "--quiet", "--seed", "mine", "--frozen")
    with started(*words) as (server, line):
        assert server.stderr is not None
        with connect(line.split()[-1]) as there:
            wait_for(there, "com", 2030)
            edit(main, "include: {zones.yaml: [zones]}\nnow: 2031-01-01\n")
            assert "restarts from the new version" in server.stderr.readline()
            wait_for(there, "com", 2031)
            assert there.worlds.get("default").seed == "mine"
            assert len(list(there.branches)) == 1
            edit(zones, ZONES.replace("com", "net"))
            assert "restarts from the new version" in server.stderr.readline()
            wait_for(there, "net", 2031)
            for content, place in (
                ("zones: [", "world.yaml"),
                ("include: {more.yaml: [zones]}", "more.yaml"),
            ):
                edit(main, content)
                line = server.stderr.readline()
                assert "The world is unchanged" in line
                assert place in line
                wait_for(there, "net", 2031)
            main.unlink()
            assert "world.yaml" in server.stderr.readline()
            more.write_text(ZONES.replace("com", "org"))
            edit(main, "include: {more.yaml: [zones]}\nnow: 2032-01-01\n")
            assert "restarts from the new version" in server.stderr.readline()
            wait_for(there, "org", 2032)
            there.clock.advance("P9Y")
            edit(main, main.read_text())
            assert "restarts from the new version" in server.stderr.readline()
            wait_for(there, "org", 2032)
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0
        assert "Traceback" not in server.stderr.read()


def test_a_ready_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "no" / "where.json", tmp_path):
        done = run("serve", "--port", "0", "--ready-file", str(path))
        assert (done.status, done.err.count("\n")) == (2, 1)
        assert done.err.startswith(f"reseller-sandbox: --ready-file {path} cannot be written: ")


def test_wait_never_accepts_another_server_than_the_one_it_names(tmp_path: Path) -> None:
    """Another sandbox has the port, and its ready file may be there. The new server ends immediately."""
    ready = tmp_path / "ready.json"
    wait = ("wait", "--ready-file", str(ready), "--timeout", "20")
    with Sandbox().serve() as stranger:
        port = str(stranger.port)
        command = [PROGRAM, "serve", "--port", port, "--ready-file", str(ready)]
        for content in (None, {"url": stranger.url, "pid": os.getpid()}):
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as server:
                server.wait(60)
                if content is not None:
                    ready.write_text(json.dumps(content))
                done = run(*wait, "--pid", str(server.pid))
            assert (done.status, done.out) == (3, "")
            assert f"process {server.pid} has ended." in done.err
        assert run(*wait, "--pid", str(os.getpid())).out == f"{stranger.url}\n"
        alone = run("wait", "--port", port, "--pid", "1")
        assert (alone.status, "--pid needs --ready-file" in alone.err) == (2, True)
