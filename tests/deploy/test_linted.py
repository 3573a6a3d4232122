"""Each printed file as the tool sees it that is made for such files."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.deploy.conftest import FORMS, NAMES, tool

pytestmark = pytest.mark.slow

#: The tools for each kind of file, with what comes before the file's name.
TOOLS: dict[str, tuple[tuple[str, ...], ...]] = {
    "dockerfile": (("hadolint", "--failure-threshold", "style"),),
    "compose": (("check-jsonschema", "--builtin-schema", "vendor.compose-spec"),),
    "github-actions": (
        ("check-jsonschema", "--builtin-schema", "vendor.github-workflows"),
        ("check-jsonschema", "--builtin-schema", "custom.github-workflows-require-timeout"),
    ),
    "gitlab-ci": (
        ("check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci"),
    ),
    "kubernetes": (("kubernetes-validate", "--strict"),),
}

#: yamllint's own rules but for the length of lines: a hash is as long as it is.
YAMLLINT = (
    "{extends: default, rules: {line-length: disable, document-start: disable, truthy: {check-keys: false}}}"
)


def test_the_tools_for_such_files_find_nothing(
    printed: Callable[[str], str], tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for form in FORMS:
        kind = form.partition(",")[0]
        file = tmp_path / NAMES[kind]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(printed(form), "utf-8")
        with subtests.test(form):
            for command in TOOLS[kind]:
                tool(*command, str(file), at=tmp_path)
            if kind != "dockerfile":
                tool("yamllint", "--strict", "-d", YAMLLINT, str(file), at=tmp_path)
            if kind == "github-actions" and (actionlint := shutil.which("actionlint")):
                tool(actionlint, str(file), at=tmp_path)
