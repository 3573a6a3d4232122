"""For each setting an accepted and a refused value, and ways to give them to the command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.command import PROGRAM, printed

#: Values of Python and TOML. The refused value of a path is a number, for any text may be a path.
EXAMPLES: dict[str, tuple[Any, Any]] = {
    "host": ("localhost", "two words"),
    "port": (9053, 70_000),
    "tls_port": (9443, 70_000),
    "tls_names": (["api.example.com", "*.example.net", "192.0.2.1"], ["no/name"]),
    "tls_folder": ("certificates", 3),
    "certfile": ("cert.pem", 3),
    "keyfile": ("key.pem", 3),
    "quiet": (False, "perhaps"),
    "log": ("json", "jsn"),
    "ready_file": ("ready.json", 3),
    "state_file": ("worlds.state", 3),
    "fixture": ("mine.yaml", "emty"),
    "now": ("2030-01-31T12:00:00Z", "yesterday"),
    "seed": ("mine", "two\nlines"),
    "assume": ({"v3.ids": "integer"}, {"v3.idz": "integer"}),
    "profile": ("observed", "observd"),
    "public_urls": (["https://a.example", "http://b.example:81"], ["a.example"]),
    "header_prefix": ("X-ACME-", "X_ACME_"),
    "interfaces": (["reseller_sandbox.v3:INTERFACE"], ["v3"]),
    "token_headers": (["X-Token", "X-Other"], ["X_Token"]),
    "max_body": (1000, 0),
    "max_control_body": (2000, 0),
    "max_connections": (50, 0),
    "keep_alive": (30, -1),
    "control_token": ("a-token", "two words"),
    "shard": ("s3", "three"),
    "max_worlds": (2, 0),
    "world_idle": (90.5, -1),
    "journal": (3, -1),
    "journal_body": (4, -1),
    "max_events": (6, -1),
    **dict.fromkeys(("max_branches", "max_snapshots", "max_faults"), (1, -1)),
    "secret_names": (["customerNo", "order-ref"], ["a/b"]),
    **dict.fromkeys(("tls", "watch", "frozen", "control_open"), (True, "perhaps")),
}
#: The settings that only a server has.
OF_A_SERVER = {
    *("host", "port", "tls", "tls_port", "tls_names", "tls_folder", "certfile", "keyfile", "quiet", "log"),
    *("ready_file", "watch", "state_file"),
}


def as_option(name: str) -> str:
    """Return the option for a setting, as the manual spells it."""
    lists = "public_urls", "token_headers", "tls_names", "interfaces", "secret_names"
    singular = {name: name[:-1] for name in lists}
    return "--" + singular.get(name, name).replace("_", "-")


def as_variable(name: str) -> str:
    return "RESELLER_SANDBOX_" + as_option(name)[2:].replace("-", "_").upper()


def words(value: Any) -> list[str]:
    """Return a value as words: one for each item of a list, NAME=VALUE for each pair."""
    if isinstance(value, Mapping):
        return [f"{name}={item}" for name, item in value.items()]
    items = value if isinstance(value, list) else [value]
    return [str(item).lower() if isinstance(item, bool) else str(item) for item in items]


def on_the_command_line(settings: Mapping[str, Any]) -> list[str]:
    """Return the options that give these settings to ``serve``."""
    options: list[str] = []
    for name, value in settings.items():
        if isinstance(value, bool):
            options.append(as_option(name) if value else f"--no-{as_option(name)[2:]}")
        else:
            options += [piece for word in words(value) for piece in (as_option(name), word)]
    return options


def in_the_environment(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables that give these settings, with spaces between items."""
    return {as_variable(name): " ".join(words(value)) for name, value in settings.items()}


def write_table(folder: Path, settings: Mapping[str, Any]) -> Path:
    """Write a ``pyproject.toml`` that gives these settings."""
    lines = [f"{name} = {_toml(value)}" for name, value in settings.items()]
    path = folder / "pyproject.toml"
    path.write_text("\n".join(["[tool.reseller_sandbox]", *lines, ""]))
    return path


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(name)} = {_toml(item)}" for name, item in value.items()) + "}"
    return json.dumps(value)


@contextmanager
def started(words: Sequence[str], folder: Path, variables: dict[str, str]) -> Iterator[Any]:
    """Run ``serve`` in a folder; yield the content of its ready file, which exists while it listens.

    The server logs to a file. A ready file of an earlier server is removed first.
    """
    file = folder / "ready.json"
    file.write_text('{"url": "http://127.0.0.1:1"}')
    with open(folder / "log", "wb") as log:
        command = [PROGRAM, "serve", "--ready-file", str(file), *words]
        process = subprocess.Popen(command, cwd=folder, env=os.environ | variables, stdout=log, stderr=log)
    try:
        url = printed("wait", "--ready-file", str(file), "--timeout", "60").strip()
        ready = json.loads(file.read_text())
        assert (ready["url"], ready["pid"]) == (url, process.pid)
        yield ready
    finally:
        process.send_signal(signal.SIGTERM)
        status = process.wait(60)
    assert (status, file.exists()) == (0, False)
