"""Settings from the environment and from ``pyproject.toml``.

Precedence, highest first: an argument, the environment, the file, the default. Each assumption has its own
precedence.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from reseller_sandbox.control.parameter_text import parse_text
from reseller_sandbox.settings import FILE, FIXTURE, PROFILE, TOKEN_HEADERS, BadSetting, ServerSettings
from reseller_sandbox.values.kinds import Kind
from reseller_sandbox.values.parameters import Parameter, declared, read
from reseller_sandbox.values.text_checks import close, complaint

_FILE = "pyproject.toml"
_TABLE = "reseller_sandbox"
_PREFIX = "RESELLER_SANDBOX_"
_SWITCH = dict.fromkeys(("1", "true", "yes", "on"), True) | dict.fromkeys(("0", "false", "no", "off"), False)


def option(setting: Parameter) -> str:
    """Return the command-line option of a setting, such as ``--tls-name`` for ``tls_names``.

    The option of a list is singular and repeatable.
    """
    name = setting.name.replace("_", "-")
    return f"--{name.removesuffix('s') if setting.kind.shape.get('type') == 'array' else name}"


def variable(setting: Parameter) -> str:
    """Return the environment variable of a setting, such as ``RESELLER_SANDBOX_TLS_NAME``."""
    return f"{_PREFIX}{option(setting)[2:]}".replace("-", "_").upper()


def variables() -> dict[str, str]:
    """Return the environment variables of all server settings, by the name of the setting."""
    return {setting.name: variable(setting) for setting in declared(ServerSettings)}


def misspelt() -> Iterator[str]:
    """Yield a warning for each environment variable that looks like a misspelt setting."""
    known = {name.removeprefix(_PREFIX) for name in variables().values()}
    for name in sorted(os.environ):
        word = name.removeprefix(_PREFIX)
        if word != name and word not in known and (near := close(word, known, 1, 0.75)):
            yield f"{name} is not known here; did you mean {_PREFIX}{near[0]}?"


def from_environment_and_file(known: Sequence[Parameter], folder: Path | None = None) -> dict[str, object]:
    """Return the settings in ``known`` from the environment and ``pyproject.toml``.

    Empty variables and white space around a value are ignored. The search for the file begins in
    ``folder``, by default the working directory, and goes upwards. Raise ``BadSetting``.
    """
    try:
        in_file = from_file(folder or Path.cwd())
    except FileNotFoundError:  # The working directory was deleted.
        in_file = {}
    # Strip white space, because an env file with Windows line ends leaves "\\r" at the end of each value.
    words = {setting.name: os.environ.get(variable(setting), "").strip() for setting in known}
    in_environment = from_words(known, {name: word for name, word in words.items() if word}, variable)
    return merged({name: in_file[name] for name in in_file if name in words}, in_environment)


def merged(weaker: Mapping[str, object], stronger: Mapping[str, Any]) -> dict[str, object]:
    """Merge the settings of two sources. ``stronger`` takes precedence.

    Assumptions are merged one by one.
    """
    assumed = stronger.get("assume")
    # Drop the weaker ``token_headers``, which would set this assumption again.
    if isinstance(assumed, Mapping) and TOKEN_HEADERS in assumed:
        weaker = {name: value for name, value in weaker.items() if name != "token_headers"}
    both = {
        name: {**value, **stronger[name]}
        for name, value in weaker.items()
        if isinstance(value, Mapping) and isinstance(stronger.get(name), Mapping)
    }
    return {**weaker, **stronger, **both}


def from_words(
    known: Sequence[Parameter], texts: Mapping[str, object], spelt: Callable[[Parameter], str] = option
) -> dict[str, object]:
    """Read settings from text: from options or from environment variables.

    ``spelt`` returns the name of a setting for error messages. Raise ``BadSetting``.
    """
    names = {spelt(setting): setting.name for setting in known}
    spelt_texts = {
        spelt(setting): value_of(setting.kind, texts[setting.name])
        for setting in known
        if setting.name in texts
    }
    values, mistakes = read([replace(setting, name=spelt(setting)) for setting in known], spelt_texts)
    if mistakes:
        raise BadSetting(complaint(mistakes))
    return {names[name]: value for name, value in values.items()}


def value_of(kind: Kind[Any], words: Any) -> object:
    """Convert the text of a setting or an option to a JSON value, which ``kind`` reads.

    A list is several texts, or one with spaces.
    """
    json_type = kind.shape.get("type")
    if json_type in ("array", "object"):
        parts = words.split() if isinstance(words, str) else list(words)
        pairs = [part.partition("=") for part in parts]
        if json_type == "array" or not all(mark and name for name, mark, _ in pairs):
            return parts
        return {name.strip(): value.strip() for name, _, value in pairs}
    if json_type == "boolean" and isinstance(words, str):
        return _SWITCH.get(words.lower(), words)
    return parse_text(kind.shape, words) if isinstance(words, str) else words


def from_file(folder: Path) -> dict[str, object]:
    """Return the settings in the nearest ``pyproject.toml``.

    The search begins in ``folder`` and goes upwards. Only files with a table for this program count. Paths in
    the table start from the folder of the file. Raise ``BadSetting`` with the file and the key.
    """
    for place in (folder, *folder.parents):
        path = place / _FILE
        values = _table(path)
        if values is None:
            continue
        known = declared(ServerSettings)
        for setting in known:
            if setting.name in values and setting.kind in (FIXTURE, FILE, PROFILE):
                is_output = setting.kind is FILE and place != folder
                values[setting.name] = _in_folder(place, values[setting.name], is_output)
        settings, mistakes = read(known, values)
        if mistakes:
            raise BadSetting(complaint([f"{path}: [tool.{_TABLE}] {mistake}" for mistake in mistakes]))
        return settings
    return {}


def _table(path: Path) -> dict[str, object] | None:
    try:
        tool = tomllib.loads(path.read_bytes().decode("utf-8-sig")).get("tool", {})
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as problem:
        raise BadSetting(f"{path}: {problem.strerror}") from None
    except ValueError as problem:
        raise BadSetting(f"{path}: {problem}") from None
    tables = tool if isinstance(tool, Mapping) else {}
    table = tables.get(_TABLE)
    if table is None and (near := close(_TABLE, tables, 1, 0.9)):
        raise BadSetting(f"{path}: [tool.{near[0]}] is not known here; did you mean [tool.{_TABLE}]?")
    if table is None or isinstance(table, dict):
        return table
    raise BadSetting(f"{path}: [tool.{_TABLE}] must be a table")


def _in_folder(folder: Path, value: Any, is_output: bool) -> object:
    """Resolve a path against ``folder`` if the file exists or is an output. Else return ``value``."""
    is_path = isinstance(value, str) and value and "\0" not in value
    return str(folder / value) if is_path and (is_output or os.path.isfile(folder / value)) else value
