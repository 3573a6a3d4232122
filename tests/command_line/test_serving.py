"""``serve``: its ready file, and the fixture that it watches."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from reseller_sandbox import Sandbox, connect
from tests.command import PROGRAM, run

ZONES = "zones: {com: {prices: {registration: 1, renewal: 2, transfer: 3, restore: 4}}}\n"


@contextmanager
def served(*options: str) -> Iterator[subprocess.Popen[str]]:
    """Run the command; end it."""
    command = [PROGRAM, "serve", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            yield server
        finally:
            server.kill()


def test_the_ready_file_exists_while_the_server_listens(tmp_path: Path) -> None:
    """It says where. One that a killed server left behind is removed first."""
    file = tmp_path / "ready.json"
    file.write_text('{"url": "http://127.0.0.1:1"}')
    assert run("serve", "--port", "70000", "--ready-file", str(file)).status == 2
    with served("--ready-file", str(file), "--tls") as server:
        done = run("wait", "--ready-file", str(file), "--timeout", "100")
        told = json.loads(file.read_text())
        assert (done.status, done.out.strip(), told["pid"]) == (0, told["url"], server.pid)
        assert connect(told["url"]).health.show().status == "ok"
        assert connect(told["tls_url"], authority=told["authority"]).health.show().status == "ok"
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_ready_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "no" / "where.json", tmp_path):
        done = run("serve", "--port", "0", "--ready-file", str(path))
        assert (done.status, done.err.count("\n")) == (2, 1)
        assert done.err.startswith(f"reseller-sandbox: --ready-file {path} cannot be written: ")


def edit(file: Path, content: str) -> None:
    """Write a file with a later time, however fast that is."""
    before = file.stat().st_mtime_ns if file.exists() else 0
    file.write_text(content)
    os.utime(file, ns=(before + 1_000_000, before + 1_000_000))


def eventually(sandbox: Sandbox, zone: str, year: int) -> None:
    """Wait until the world has a zone and a year."""
    began = monotonic()
    while f" {zone}:" not in sandbox.export() or sandbox.clock.now.year != year:
        assert monotonic() - began < 60, sandbox.export()
        sleep(0.02)


def test_an_edited_fixture_is_loaded_again(tmp_path: Path) -> None:
    """So is a file that it includes. Options still count, and the world so far remains as a branch.

    A mistake is reported once with its place, and changes nothing until it is mended.
    """
    main, zones, more = (tmp_path / name for name in ("world.yaml", "zones.yaml", "more.yaml"))
    zones.write_text(ZONES)
    main.write_text("include: {zones.yaml: [zones]}\nnow: 2030-01-01\n")
    with served("--fixture", str(main), "--watch", "--quiet", "--seed", "mine", "--frozen") as server:
        assert server.stdout is not None
        assert server.stderr is not None
        there = connect(server.stdout.readline().split()[-1])
        eventually(there, "com", 2030)
        edit(main, "include: {zones.yaml: [zones]}\nnow: 2031-01-01\n")
        assert "begins again" in server.stderr.readline()
        eventually(there, "com", 2031)
        assert there.worlds.get("default").seed == "mine"
        assert len(list(there.branches)) == 1
        edit(zones, ZONES.replace("com", "net"))
        assert "begins again" in server.stderr.readline()
        eventually(there, "net", 2031)
        for content in ("zones: [", "zones: {com: {prics: 1}}", "include: {more.yaml: [zones]}\n"):
            edit(main, content)
            line = server.stderr.readline()
            assert "stays as it was" in line
            assert ("world.yaml" in line) or ("more.yaml" in line)
            eventually(there, "net", 2031)
        main.unlink()
        assert "world.yaml" in server.stderr.readline()
        more.write_text(ZONES.replace("com", "org"))
        edit(main, "include: {more.yaml: [zones]}\nnow: 2032-01-01\n")
        assert "begins again" in server.stderr.readline()
        eventually(there, "org", 2032)
        there.clock.advance("P9Y")
        edit(main, main.read_text())
        assert "begins again" in server.stderr.readline()
        eventually(there, "org", 2032)
        there.close()
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0
        server.stdout.read()
        assert "Traceback" not in server.stderr.read()
