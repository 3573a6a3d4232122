"""Whoever has the wheel and the README comes to a first green test of their own by the README alone."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.documents import Block, blocks
from tests.installed.conftest import ROOT, interpreter, locked
from tests.outfit import free_ports

README = (ROOT / "README.md").read_text("utf-8")
PORT = "8053"
MARK = "--- the next one ---"


def steps() -> list[tuple[Block, str]]:
    """The README's lines in order, each with what a shell does for it; the server goes to the background."""
    wait = f"until curl -s -o /dev/null http://127.0.0.1:{PORT}/_sandbox/health; do sleep 0.1; done"
    told = [one for one in blocks(README) if one.language in ("shell", "sh") or one.file]
    serves = [one.language == "shell" and one.content.startswith("reseller-sandbox serve") for one in told]
    assert serves.count(True) == 1
    return [
        (one, f"{one.content.strip()} > server.txt &\n{wait}" if goes_on else one.command)
        for one, goes_on in zip(told, serves, strict=True)
    ]


def test_from_the_wheel_to_a_green_test_in_five_minutes(wheel: Path, tmp_path: Path) -> None:
    """In an empty folder with the wheel, line by line, as they stand; only the port is one that is free."""
    shutil.copy(wheel, tmp_path)
    port = str(free_ports())
    (tmp_path / "pins.txt").write_text("\n".join(locked()))
    python = Path(next(found for minor in (11, 12, 13, 14) if (found := interpreter(minor))))
    known = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment = {
        **known,
        "PATH": f"{python.parent}{os.pathsep}/usr/local/bin{os.pathsep}/usr/bin{os.pathsep}/bin",
        "PIP_CONSTRAINT": str(tmp_path / "pins.txt"),
        "RESELLER_SANDBOX_PORT": port,
        "RESELLER_SANDBOX_URL": f"http://127.0.0.1:{port}",
    }
    told = steps()
    script = f"\necho; echo '{MARK}'\n".join(
        ["set -e; trap 'kill $(jobs -p)' EXIT", *(command for _, command in told), "true"]
    )
    finished = subprocess.run(
        ["bash", "-c", script.replace(PORT, port)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    printed = finished.stdout.replace(port, PORT).split(MARK)[1:]
    assert len(printed) == len(told) + 1
    wrong = [
        (one, got) for (one, _), got in zip(told, printed, strict=False) if one.output and not one.fits(got)
    ]
    assert not wrong
    assert "3 passed" in printed[-2]
