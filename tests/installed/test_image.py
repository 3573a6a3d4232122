"""The image that the printed Dockerfile makes, its steps carried out on this machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reseller_sandbox import connect
from tests.installed.conftest import deploy, interpreter, run
from tests.installed.image import Image
from tests.outfit import free_ports

TOKEN = "a-token-of-this-test"


@pytest.fixture(scope="module")
def image(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Image:
    """The image of this version's wheel."""
    folder = tmp_path_factory.mktemp("image")
    context = folder / "context"
    context.mkdir()
    shutil.copy(wheel, context)
    text = deploy("dockerfile", "--wheel", wheel.name, at=context)
    found = re.search(r"^FROM python:3\.(\d+)", text, re.MULTILINE)
    assert found is not None
    python = interpreter(int(found[1]))
    if python is None or sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("the image's Python, Linux and root are wanted")
    base = Path(run(python, "-c", "import sys; print(sys.base_prefix)").strip())
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    return Image(text, context, folder, base)


@pytest.fixture(scope="module")
def port() -> str:
    """A port that is free."""
    return str(free_ports())


@pytest.fixture(scope="module")
def running(image: Image, port: str) -> Iterator[str]:
    """The address of a server in the image: nobody's, with a root that cannot be written to."""
    last = image.last
    told = {"RESELLER_SANDBOX_CONTROL_TOKEN": TOKEN, "RESELLER_SANDBOX_PORT": port}
    words = last.words([*last.entry, *last.command], told, frozen=True)
    assert not _is_healthy(image, port)
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        assert server.stdout is not None
        assert port in server.stdout.readline()
        yield f"http://127.0.0.1:{port}"
        server.terminate()
        rest = server.stdout.read()
    assert server.returncode == 0, rest
    assert not _is_healthy(image, port)


def _is_healthy(image: Image, port: str) -> bool:
    done = image.last.run(image.last.healthy, {"RESELLER_SANDBOX_PORT": port}, frozen=True)
    return bool(done.returncode == 0)


def test_it_serves_as_nobody_and_writes_nowhere(image: Image, running: str) -> None:
    """Its control is for those who know the token."""
    sandbox = connect(running, control_token=TOKEN)
    assert sandbox.health.show().status == "ok"
    assert len(sandbox.names.list().names) > 10
    done = image.last.run(["touch", "/opt/sandbox/x", "/fixtures/x", "/tmp/x"], {}, frozen=True)
    assert done.stderr.count("Read-only file system") == 3
    assert image.last.run(["id", "-u"], {}, frozen=True).stdout.strip() == "10001"


def test_its_health_check_says_how_it_is(image: Image, running: str) -> None:
    """Well while the server runs; before and after, the server's own fixture looks."""
    assert _is_healthy(image, running.rpartition(":")[2])


def test_without_a_token_it_says_what_it_wants(image: Image) -> None:
    """Everybody on the network could reach it."""
    done = image.last.run([*image.last.entry, *image.last.command], {}, frozen=True)
    assert done.returncode == 2
    assert "--control-token" in done.stderr


def test_it_holds_what_it_needs_and_a_list_of_that(image: Image) -> None:
    """No pip, nothing of the stage before; the bill names each package that is there."""
    packages = next((image.last.upper / "opt/sandbox/lib").glob("python3.*/site-packages"))
    there = {path.name.partition("-")[0].lower().replace("_", "-") for path in packages.glob("*.dist-info")}
    bill = json.loads((image.last.upper / "opt/sandbox/bom.cdx.json").read_text("utf-8"))
    own = bill["metadata"]["component"]
    assert {own["name"], *(one["name"] for one in bill["components"])} == there
    assert "pip" not in there
    assert not (image.last.upper / "build").exists()
