"""The reference page of the settings: the option, variable, key and default of each setting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from manual_reference.markdown import block, code, prose, table
from reseller_sandbox.config_sources import option, variable
from reseller_sandbox.settings import ServerSettings, Settings
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
    yield "Every setting of a sandbox and of a server, with its option, variable, default and purpose."
    yield (
        "You can give each setting as an option of `reseller-sandbox serve`, as an environment variable, or "
        "as a key of the table `[tool.reseller_sandbox]` in a `pyproject.toml`. In a variable, separate "
        "several values with spaces. The settings marked ● are also parameters of `Sandbox(...)` and of "
        "`@pytest.mark.reseller_sandbox(...)`. The other settings apply only to a server."
    )
    yield (
        "An argument takes precedence over an environment variable, a variable over the file, and the file "
        "over the default. This order applies to each assumption separately. The command line and the pytest "
        "plugin read the environment variables and the file. `Sandbox(...)` reads only its arguments. In "
        "Python, an invalid setting raises `BadSetting`. On the command line, the error is one line."
    )
    yield block("toml", _EXAMPLE)
    headings = ("setting", "", "option", "variable", "default", "purpose")
    yield table(headings, map(_row, declared(ServerSettings)))
    yield (
        "The log goes to standard error and never blocks the server. If the server cannot write a line, "
        "for example on a full disk, it drops the line. When writing works again, the log reports the number "
        "of dropped lines."
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
        prose(setting.words),
    )
