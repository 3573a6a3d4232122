"""The documented Python API means the same wherever the worlds are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.testing import api_suite
from tests.testing.conftest import run


@pytest.mark.parametrize("mode", ["process", "server", pytest.param("address", marks=pytest.mark.slow)])
def test_the_documented_api_behaves_the_same_in_every_mode(mode: str, running: str, tmp_path: Path) -> None:
    """Forks, worlds, handles, streams and clients: one suite, unchanged."""
    printed = run(
        tmp_path,
        Path(api_suite.__file__).read_text("utf-8"),
        "--reseller-sandbox-mode",
        running if mode == "address" else mode,
    )
    assert "status 0" in printed, printed
