"""The image of the printed Dockerfile, the printed CI jobs, and the README, each run on this machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from reseller_sandbox import connect
from tests.command import free_ports
from tests.deploy.test_files import PINS, rows
from tests.documents import blocks, without_installation
from tests.installed.conftest import MINORS, PROJECT, ROOT, deploy, interpreter, locked, output_of
from tests.installed.image import Image
from tests.thorough import WHOLE

TOKEN = "a-token-of-this-test"


@pytest.fixture(scope="module")
def image(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Image:
    folder = tmp_path_factory.mktemp("image")
    context = folder / "context"
    context.mkdir()
    shutil.copy(wheel, context)
    text = deploy("dockerfile", at=context)
    version = re.search(r"^FROM python:3\.(\d+)", text, re.MULTILINE)
    assert version is not None
    python = interpreter(int(version[1]))
    if python is None or sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("the image's Python, Linux and root are wanted")
    base = Path(output_of(python, "-c", "import sys; print(sys.base_prefix)").strip())
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    return Image(text, context, folder, base)


@pytest.fixture(scope="module")
def running(image: Image) -> Iterator[str]:
    """The port of a server in the image, with a read-only root."""
    last, port = image.last, str(free_ports())
    variables = {"RESELLER_SANDBOX_CONTROL_TOKEN": TOKEN, "RESELLER_SANDBOX_PORT": port}
    words = last.words([*last.entry, *last.command], variables, frozen=True)
    assert not _is_healthy(image, port)
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        assert server.stdout is not None
        assert port in server.stdout.readline()
        yield port
        server.terminate()
        rest = server.stdout.read()
    assert server.returncode == 0, rest
    assert not _is_healthy(image, port)


def _is_healthy(image: Image, port: str) -> bool:
    done = image.last.execute(image.last.healthy, {"RESELLER_SANDBOX_PORT": port}, frozen=True)
    return bool(done.returncode == 0)


def test_the_image_serves_without_privileges_and_writes_no_file(image: Image, running: str) -> None:
    """The health check fails before and after the server runs, in the fixture."""
    assert _is_healthy(image, running)
    sandbox = connect(f"http://127.0.0.1:{running}", control_token=TOKEN)
    assert sandbox.health.show().status == "ok"
    assert len(sandbox.names.list().names) > 10
    done = image.last.execute(["touch", "/opt/sandbox/x", "/fixtures/x", "/tmp/x"], {}, frozen=True)
    assert done.stderr.count("Read-only file system") == 3
    assert image.last.execute(["id", "-u"], {}, frozen=True).stdout.strip() == "10001"


def test_the_image_requires_a_control_token(image: Image) -> None:
    done = image.last.execute([*image.last.entry, *image.last.command], {}, frozen=True)
    assert done.returncode == 2
    assert "--control-token" in done.stderr


def test_the_image_holds_only_its_pinned_dependencies(image: Image) -> None:
    packages = next((image.last.upper / "opt/sandbox/lib").glob("python3.*/site-packages"))
    names = {path.name.partition("-")[0].lower().replace("_", "-") for path in packages.glob("*.dist-info")}
    pinned = {name for name, row in rows(PINS).items() if "sys_platform" not in (row[2] or "")}
    assert names == {"reseller-sandbox", *pinned}
    assert "pip" not in names
    assert not (image.last.upper / "build").exists()


@pytest.fixture
def checkout(wheel: Path, tmp_path: Path) -> Path:
    """A project with the wheel beside it."""
    skipped = shutil.ignore_patterns(".*", "__pycache__")
    made = Path(shutil.copytree(PROJECT, tmp_path / "billing", ignore=skipped))
    shutil.copy(wheel, made)
    return made


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    """The environment of a job, whose ``python`` has nothing installed."""
    output_of(interpreter(sys.version_info.minor) or sys.executable, "-m", "venv", str(tmp_path / "python"))
    path = f"{tmp_path / 'python' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {**plain, "PATH": path}


def carry_out(script: str, at: Path, environment: dict[str, str]) -> str:
    """Run a whole job in one shell. Return its output."""
    command = ["bash", "-eo", "pipefail", "-c", script]
    done = subprocess.run(
        command,
        cwd=at,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        timeout=1000,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


#: Ends the server of a job with the job.
END = "trap 'kill $(jobs -p)' EXIT\n"


@pytest.mark.parametrize("form", ["github-actions", "gitlab-ci"])
def test_the_ci_jobs_printed_by_the_command_deploy_succeed(
    checkout: Path, surroundings: dict[str, str], form: str
) -> None:
    """The job installs, serves, waits and tests, with two workers and one server."""
    port = str(free_ports())
    document: Any = yaml.safe_load(deploy(form, at=checkout).replace("8053", port))
    if form == "github-actions":
        job = document["jobs"]["tests"]
        script = [step["run"] for step in job["steps"] if "run" in step and "if" not in step]
        environment = {**surroundings, **job["env"], "RESELLER_SANDBOX_PORT": port}
    else:
        job = document["tests"]
        script = [*job["before_script"], *job["script"], *job["after_script"]]
        environment = {**surroundings, **job["variables"], "RESELLER_SANDBOX_PORT": port}
    output = carry_out(END + "\n".join(script), checkout, environment)
    assert "14 passed" in output
    log = (checkout / "sandbox.log").read_text("utf-8") if form == "github-actions" else output
    assert "/_worlds/" in log


README = (ROOT / "README.md").read_text("utf-8")
PORT = "8053"
MARK = "--- the next one ---"
SERVED = f"until curl -s -o /dev/null http://127.0.0.1:{PORT}/_sandbox/health; do sleep 0.1; done"


#: Lends the clone the packages of this environment, which has the same pins. A whole run installs them.
LENT = f"""
echo {sysconfig.get_path("purelib")} > "$(echo .venv/lib/python*/site-packages)/lent.pth"
printf '#!/bin/sh\\nexec .venv/bin/python -m pytest "$@"\\n' > .venv/bin/pytest
chmod +x .venv/bin/pytest
touch .venv/ready"""


def _lender() -> Path | None:
    """Return the Python whose packages are lent."""
    found = None if WHOLE else interpreter(sys.version_info.minor)
    return Path(found) if found else None


def carry_out_readme(text: str, before: str, folder: Path) -> None:
    """Run all blocks of the README in one shell, below ``before``. Each prints the shown output.

    ``make run`` runs in the background, and ``make test`` runs a few tests. The port is a free one.
    """
    port = str(free_ports())
    pins = folder.parent / "pins.txt"
    pins.write_text("\n".join(locked()))
    python = Path(next(filter(None, map(interpreter, MINORS))))
    known = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment = {
        **known,
        "PATH": f"{python.parent}{os.pathsep}/usr/local/bin{os.pathsep}/usr/bin{os.pathsep}/bin",
        "RESELLER_SANDBOX_PORT": port,
    }
    text = re.sub("(?m)^make run .*", f"make run > server.txt 2>&1 &\n{SERVED}", text)
    test = "make test ARGS=tests/units/test_values.py || exit 1"
    text = re.sub("(?m)^make test .*", f"{LENT}\n{test}" if python == _lender() else test, text)
    text = re.sub("(?m)^pip install ", f"PIP_CONSTRAINT={pins} pip install ", text)
    shown = [block for block in blocks(text) if block.language in ("shell", "sh") or block.file]
    script = f"\necho; echo '{MARK}'\n".join(
        ["trap 'kill $(jobs -p)' EXIT", before, *(block.command for block in shown), "true"]
    )
    command = ["bash", "-c", script.replace(PORT, port)]
    finished = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    printed = finished.stdout.replace(port, PORT).split(MARK)[2:]
    assert len(printed) == len(shown) + 1
    for block, output in zip(shown, printed, strict=False):
        assert not block.output or block.fits(output), (block, output)
    assert "1 passed" in printed[-2]


def test_following_the_readme_in_a_clone_leads_to_a_passing_test(tmp_path: Path) -> None:
    """A clone contains only what is committed."""
    if not (ROOT / ".git").exists():
        pytest.skip("the source is not a clone")
    output_of("git", "clone", "--quiet", ROOT, "reseller-sandbox", at=tmp_path)
    carry_out_readme(README, "true", tmp_path / "reseller-sandbox")


def test_following_the_readme_with_the_wheel_leads_to_a_passing_test(wheel: Path, tmp_path: Path) -> None:
    """The environment has only the wheel and pytest, and none of the commands for the clone are run."""
    before = (
        "python3 -m venv .venv && . .venv/bin/activate\n"
        f"PIP_CONSTRAINT=../pins.txt pip install {wheel} pytest\n"
        f"reseller-sandbox serve > server.txt &\n{SERVED}"
    )
    folder = tmp_path / "shop"
    folder.mkdir()
    carry_out_readme(without_installation(README), before, folder)
