"""Where settings come from besides a call: the environment, and a ``pyproject.toml``.

What is nearer to the call counts: an argument, then the environment, then the file, then the default.
Assumptions count one by one.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from reseller_sandbox.control.parameter_text import spoken
from reseller_sandbox.registry.parameters import Parameter, declared, read
from reseller_sandbox.registry.text_checks import close, complaint
from reseller_sandbox.settings import FILE, FIXTURE, PROFILE, TOKEN_HEADERS, BadSetting, ServerSettings

_FILE = "pyproject.toml"
_TABLE = "reseller_sandbox"
_PREFIX = "RESELLER_SANDBOX_"
_SWITCH = dict.fromkeys(("1", "true", "yes", "on"), True) | dict.fromkeys(("0", "false", "no", "off"), False)


def option(one: Parameter) -> str:
    """Return the option for a setting; it is given once for each item of a list, and so in the singular."""
    name = one.name.replace("_", "-")
    return f"--{name.removesuffix('s') if one.kind.shape.get('type') == 'array' else name}"


def variable(one: Parameter) -> str:
    """Return the variable of the environment for a setting."""
    return f"{_PREFIX}{option(one)[2:]}".replace("-", "_").upper()


def variables() -> dict[str, str]:
    """Return the variables of the environment for the settings of a server, by the names of those."""
    return {one.name: variable(one) for one in declared(ServerSettings)}


def misspelt() -> Iterator[str]:
    """Yield what to say of each variable of the environment that is nearly one for a setting."""
    known = {name.removeprefix(_PREFIX) for name in variables().values()}
    for name in sorted(os.environ):
        word = name.removeprefix(_PREFIX)
        if word != name and word not in known and (near := close(word, known, 1, 0.75)):
            yield f"{name} is not known here; the nearest is {_PREFIX}{near[0]}"


def around(known: Sequence[Parameter], folder: Path | None = None) -> dict[str, Any]:
    """Return what of ``known`` the environment and a file say, from ``folder`` or here upwards.

    Raise ``BadSetting``.
    """
    try:
        in_file = from_file(folder or Path.cwd())
    except FileNotFoundError:  # the working directory is gone
        in_file = {}
    names = {one.name for one in known}
    return over({name: in_file[name] for name in in_file if name in names}, from_environment(known))


def over(farther: Mapping[str, Any], nearer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of two sources: the nearer one counts, for each setting and each assumption."""
    assumed = nearer.get("assume")
    if isinstance(assumed, Mapping) and TOKEN_HEADERS in assumed:  # which the setting is short for
        farther = {name: value for name, value in farther.items() if name != "token_headers"}
    both = {
        name: {**value, **nearer[name]}
        for name, value in farther.items()
        if isinstance(value, Mapping) and isinstance(nearer.get(name), Mapping)
    }
    return {**farther, **nearer, **both}


def from_environment(known: Sequence[Parameter]) -> dict[str, Any]:
    """Return what the environment says; a variable that is empty says nothing. Raise ``BadSetting``."""
    words = {one.name: os.environ.get(variable(one), "") for one in known}
    return from_words(known, {name: word for name, word in words.items() if word}, variable)


def from_words(
    known: Sequence[Parameter], given: Mapping[str, Any], spelt: Callable[[Parameter], str] = option
) -> dict[str, Any]:
    """Return the settings that are given as words; complaints name each as ``spelt`` does.

    Raise ``BadSetting``.
    """
    names = {spelt(one): one.name for one in known}
    told = {spelt(one): _value(one, given[one.name]) for one in known if one.name in given}
    found, wrong = read([replace(one, name=spelt(one)) for one in known], told)
    if wrong:
        raise BadSetting(complaint(wrong))
    return {names[name]: value for name, value in found.items()}


def _value(one: Parameter, words: Any) -> Any:
    """Return the words of a setting as JSON; a list comes as several words, or as one with spaces."""
    sort = one.kind.shape.get("type")
    if sort in ("array", "object"):
        parts = words.split() if isinstance(words, str) else list(words)
        pairs = [part.partition("=") for part in parts]
        if sort == "array" or not all(mark and name for name, mark, _ in pairs):
            return parts
        return {name.strip(): value.strip() for name, _, value in pairs}
    if sort == "boolean" and isinstance(words, str):
        return _SWITCH.get(words.lower(), words)
    return spoken(one.kind.shape, words) if isinstance(words, str) else words


def from_file(folder: Path) -> dict[str, Any]:
    """Return what the nearest ``pyproject.toml`` with a table for this says, from ``folder`` upwards.

    Paths in it start from its own folder. Raise ``BadSetting``, with the file and the key.
    """
    for place in (folder, *folder.parents):
        path = place / _FILE
        told = _table(path)
        if told is None:
            continue
        known = declared(ServerSettings)
        for one in known:
            if one.name in told and one.kind in (FIXTURE, FILE, PROFILE):
                told[one.name] = _beside(place, told[one.name], one.kind is FILE and place != folder)
        found, wrong = read(known, told)
        if wrong:
            raise BadSetting(complaint([f"{path}: [tool.{_TABLE}] {problem}" for problem in wrong]))
        return found
    return {}


def _table(path: Path) -> dict[str, Any] | None:
    try:
        tool = tomllib.loads(path.read_bytes().decode()).get("tool", {})
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as problem:
        raise BadSetting(f"{path}: {problem.strerror}") from None
    except ValueError as problem:
        raise BadSetting(f"{path}: {problem}") from None
    table = tool.get(_TABLE) if isinstance(tool, Mapping) else None
    if table is None or isinstance(table, dict):
        return table
    raise BadSetting(f"{path}: [tool.{_TABLE}] must be a table")


def _beside(folder: Path, value: Any, yet_to_be: bool) -> Any:
    """Return the path of a file in ``folder``, or ``value`` where there is no such file, nor is to be."""
    is_path = isinstance(value, str) and value and "\0" not in value
    return str(folder / value) if is_path and (yet_to_be or os.path.isfile(folder / value)) else value
