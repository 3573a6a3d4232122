"""Suites that pytest runs in this process take nothing away that others of it have."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.pytester import SysModulesSnapshot


@pytest.fixture(scope="session", autouse=True)
def _packages_stay_loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """After a suite all that it has loaded would be forgotten: of packages this is kept.

    Parts of this package that are loaded a second time would be others than those that know them.
    """
    suites = tmp_path_factory.getbasetemp()

    def stays(name: str) -> bool:
        file = getattr(sys.modules[name], "__file__", None)
        return file is not None and suites not in Path(file).parents

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("_pytest.pytester.SysModulesSnapshot", lambda preserve: SysModulesSnapshot(stays))
        yield
