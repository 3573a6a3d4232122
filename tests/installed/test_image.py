"""The image of the printed Dockerfile, built on this machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reseller_sandbox import connect
from tests.deploy.test_files import PINS, rows
from tests.installed.conftest import deploy, interpreter, output_of
from tests.installed.image import Image
from tests.outfit import free_ports

TOKEN = "a-token-of-this-test"


@pytest.fixture(scope="module")
def image(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Image:
    folder = tmp_path_factory.mktemp("image")
    context = folder / "context"
    context.mkdir()
    shutil.copy(wheel, context)
    text = deploy("dockerfile", at=context)
    found = re.search(r"^FROM python:3\.(\d+)", text, re.MULTILINE)
    assert found is not None
    python = interpreter(int(found[1]))
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
