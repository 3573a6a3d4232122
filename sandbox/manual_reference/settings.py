"""The reference page of the settings: the option, variable, key and default of each setting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from manual_reference.markdown import block, code, prose, table
from reseller_sandbox.config_sources import option, variable
from reseller_sandbox.settings import ServerSettings, Settings, help_of
from reseller_sandbox.values.parameters import Parameter, declared

_EXAMPLE = """\
[tool.reseller_sandbox]  # in the nearest pyproject.toml that has it, from the working directory upwards
fixture = "tests/world.yaml"  # from the folder of this file
profile = "observed"
assume = { "v3.ids" = "integer" }
"""


def page() -> Iterator[str]:
    """Yield the parts of the page."""
    yield "# Settings"
    yield "Every setting of a sandbox and of a server: its option, its variable, its default."
    yield (
        "A setting is an option of `reseller-sandbox serve`, an environment variable, and a key of a table "
        "in a `pyproject.toml`. Settings marked ● are also parameters of `Sandbox(...)` and of "
        "`@pytest.mark.reseller_sandbox(...)`. The others exist only for a server."
    )
    yield (
        "Precedence, highest first: the argument, the environment, the file, the default. This applies to "
        "each assumption separately. The command line and the pytest plugin read the environment and the "
        "file; `Sandbox(...)` reads only its arguments. An invalid setting raises `BadSetting`, or prints "
        "one line."
    )
    yield block("toml", _EXAMPLE)
    headings = ("setting", "", "option", "variable", "default", "purpose")
    yield table(headings, map(_row, declared(ServerSettings)))
    yield (
        "The log goes to standard error and never blocks the server. Lines that cannot be written, for "
        "example on a full disk, are dropped, and the log reports their number when writing works again."
    )


def _row(setting: Parameter) -> Sequence[str]:
    default = "" if setting.default in (None, (), False) else str(setting.default)
    everywhere = {known.name for known in declared(Settings)}
    return (
        code(setting.name),
        "●" if setting.name in everywhere else "",
        code(option(setting)),
        code(variable(setting)),
        code(default),
        prose(help_of(ServerSettings)[setting.name]),
    )
