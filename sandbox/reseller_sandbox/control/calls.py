"""Writes a control operation with its arguments as a shell command and as Python."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping

from reseller_sandbox.control.resource import Operation


def command(operation: Operation, arguments: Mapping[str, object], world: str = "") -> str:
    """Return the shell command that calls ``operation``. Without ``world``, it acts on the default world."""
    words = ["reseller-sandbox", *operation.id.replace("_", "-").split(".")]
    if world:
        words += ["--world", world]
    for parameter in operation.parameters:
        if parameter.name not in arguments:
            continue
        value, name = arguments[parameter.name], parameter.name.replace("_", "-")
        if parameter.place != "option":
            words.append(word(value))
        elif isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no-{name}")
        else:
            words += [f"--{name}", word(value)]
    return shlex.join(words)


def word(value: object) -> str:
    """Return a JSON value as a word of a command. An object of plain texts becomes NAME=VALUE pairs."""
    if isinstance(value, str):
        return value
    texts = value.items() if isinstance(value, dict) else ()
    if texts and all(isinstance(text, str) and not {",", "="} & set(text) for _, text in texts):
        return ",".join(f"{name}={text}" for name, text in texts)
    return json.dumps(value, ensure_ascii=False)


def python(operation: Operation, arguments: Mapping[str, object], sandbox: str) -> str:
    """Return the Python call of ``operation``. ``sandbox`` is the expression for the world.

    After a missing argument, each argument is given by name.
    """
    words, is_complete = [], True
    for parameter in operation.parameters:
        if parameter.name not in arguments:
            is_complete = False
            continue
        name = "" if is_complete and parameter.place != "option" else f"{parameter.attribute}="
        words.append(f"{name}{arguments[parameter.name]!r}")
    return f"{sandbox}.{operation.id}({', '.join(words)})"
