"""The README leads from the wheel to a first green test."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.documents import Block, blocks
from tests.installed.conftest import MINORS, ROOT, interpreter, locked
from tests.outfit import free_ports

README = (ROOT / "README.md").read_text("utf-8")
PORT = "8053"
MARK = "--- the next one ---"


def steps() -> list[tuple[Block, str]]:
    """Return the README's blocks in order, each with its command; the server runs in the background."""
    wait = f"until curl -s -o /dev/null http://127.0.0.1:{PORT}/_sandbox/health; do sleep 0.1; done"
    found = [one for one in blocks(README) if one.language in ("shell", "sh") or one.file]
    serves = [one.language == "shell" and one.content.startswith("reseller-sandbox serve") for one in found]
    assert serves.count(True) == 1
    return [
        (one, f"{one.content.strip()} > server.txt &\n{wait}" if goes_on else one.command)
        for one, goes_on in zip(found, serves, strict=True)
    ]


def test_the_readme_leads_from_the_wheel_to_a_green_test(wheel: Path, tmp_path: Path) -> None:
    """The port is replaced by a free port."""
    shutil.copy(wheel, tmp_path)
    port = str(free_ports())
    (tmp_path / "pins.txt").write_text("\n".join(locked()))
    python = Path(next(filter(None, map(interpreter, MINORS))))
    known = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment = {
        **known,
        "PATH": f"{python.parent}{os.pathsep}/usr/local/bin{os.pathsep}/usr/bin{os.pathsep}/bin",
        "PIP_CONSTRAINT": str(tmp_path / "pins.txt"),
        "RESELLER_SANDBOX_PORT": port,
        "RESELLER_SANDBOX_URL": f"http://127.0.0.1:{port}",
    }
    commands = steps()
    script = f"\necho; echo '{MARK}'\n".join(
        ["set -e; trap 'kill $(jobs -p)' EXIT", *(command for _, command in commands), "true"]
    )
    command = ["bash", "-c", script.replace(PORT, port)]
    finished = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    printed = finished.stdout.replace(port, PORT).split(MARK)[1:]
    assert len(printed) == len(commands) + 1
    for (block, _), output in zip(commands, printed, strict=False):
        assert not block.output or block.fits(output), (block, output)
    assert "1 passed" in printed[-2]
