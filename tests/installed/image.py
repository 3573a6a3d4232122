"""Builds a Dockerfile on this machine without an engine for containers. Needs root and Linux.

A stage is a layer over this machine's own files, with a Python where its official images have one.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

#: The environment of the official images of Python.
OF_THE_BASE = {
    "PATH": "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LD_LIBRARY_PATH": "/usr/local/lib",
}

_ROOT = """
set -e
mount -t overlay overlay -o "lowerdir=/,upperdir=$UPPER,workdir=$WORK" "$MERGED"
mount --bind "$PYTHON" "$MERGED/usr/local"
mount --rbind /dev "$MERGED/dev"
mount -t proc proc "$MERGED/proc"
"""


class Stage:
    """A stage of the file: its written files, and the setting of its commands."""

    def __init__(self, folder: Path, python: Path) -> None:
        self.upper, self.work, self.merged = (folder / name for name in ("upper", "work", "merged"))
        for layer in (self.upper, self.work, self.merged):
            layer.mkdir(parents=True)
        self.python = python
        self.environment = dict(OF_THE_BASE)
        self.folder, self.user = "/", "0:0"
        self.shell = ["/bin/sh", "-c"]
        self.entry: list[str] = []
        self.command: list[str] = []
        self.healthy: list[str] = []

    def words(self, command: Sequence[str], environment: Mapping[str, str], *, frozen: bool) -> list[str]:
        """Return the command line for ``command`` in this stage, with ``frozen`` on a read-only root."""
        user, _, group = self.user.partition(":")
        become = ["setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups"]
        if frozen:
            become += ["--no-new-privs", "--bounding-set=-all"]
        variables = [f"{name}={value}" for name, value in {**self.environment, **environment}.items()]
        inside = ["env", "-i", "-C", self.folder, *variables, *command]
        script = _ROOT + ('mount -o remount,ro "$MERGED"\n' if frozen else "")
        script += shlex.join(["exec", "chroot", str(self.merged), *become, *inside])
        places = {"UPPER": self.upper, "WORK": self.work, "MERGED": self.merged, "PYTHON": self.python}
        variables = [f"{name}={path}" for name, path in places.items()]
        return ["unshare", "--mount", "--propagation", "private", "env", *variables, "sh", "-c", script]

    def execute(self, command: Sequence[str], environment: Mapping[str, str], *, frozen: bool = False) -> Any:
        words = self.words(command, environment, frozen=frozen)
        return subprocess.run(words, capture_output=True, text=True, check=False, timeout=600)


class Image:
    """A built Dockerfile, with the instructions that ``deploy`` prints."""

    def __init__(self, text: str, context: Path, folder: Path, python: Path) -> None:
        self._context, self._folder, self._python = context, folder, python
        self._stages: list[Stage] = []
        self._names: dict[str, Stage] = {}
        for line in _lines(text):
            instruction, _, rest = line.partition(" ")
            getattr(self, f"_{instruction.lower()}")(rest.strip())

    @property
    def last(self) -> Stage:
        return self._stages[-1]

    def _from(self, rest: str) -> None:
        stage = Stage(self._folder / str(len(self._stages)), self._python)
        self._names[rest.partition(" AS ")[2]] = stage
        self._stages.append(stage)

    def _copy(self, rest: str) -> None:
        *options, source, target = rest.split()
        place = self._context
        if options:
            (option,) = options
            place = self._names[option.removeprefix("--from=")].upper
        origin = place / source.lstrip("/")
        to = self.last.upper / self.last.folder.lstrip("/") / target.lstrip("./") if target == "./" else None
        there = to or self.last.upper / target.lstrip("/")
        there.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-a", str(origin), str(there)], check=True)

    def _run(self, rest: str) -> None:
        registry = {
            name: os.environ[name] for name in os.environ if re.match(r"PIP_|.*_CERT|.*_BUNDLE", name)
        }
        done = self.last.execute([*self.last.shell, rest], registry)
        assert done.returncode == 0, done.stdout + done.stderr

    def _env(self, rest: str) -> None:
        pairs = dict(pair.split("=", 1) for pair in shlex.split(rest))
        known = dict(self.last.environment)
        for name, value in pairs.items():
            self.last.environment[name] = re.sub(r"\$(\w+)", lambda match: known[match[1]], value)

    def _workdir(self, rest: str) -> None:
        self.last.folder = rest
        (self.last.upper / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)

    def _user(self, rest: str) -> None:
        self.last.user = rest

    def _shell(self, rest: str) -> None:
        self.last.shell = json.loads(rest)

    def _entrypoint(self, rest: str) -> None:
        self.last.entry = json.loads(rest)

    def _cmd(self, rest: str) -> None:
        self.last.command = json.loads(rest)

    def _healthcheck(self, rest: str) -> None:
        self.last.healthy = json.loads(rest.partition("CMD ")[2])

    def _label(self, rest: str) -> None:
        assert all("=" in pair for pair in shlex.split(rest))

    def _expose(self, rest: str) -> None:
        assert rest.isdigit()


def _lines(text: str) -> list[str]:
    """Return the instructions, each on one line."""
    kept = "\n".join(line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return [re.sub(r"\s+", " ", line) for line in kept.replace("\\\n", " ").splitlines()]
