"""Print how sweep and explore judge each careless program and its twin: ``python -m tests.tools.twins``."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic
from typing import Any

from reseller_sandbox import BadSetting, Sandbox
from reseller_sandbox.tools.sweep import SweepReport  # noqa: TID251  users import it
from reseller_sandbox.tools.sweep import sweep as sweep_function  # noqa: TID251
from tests.tools.test_careless import TWINS

#: The kinds that are options of the command themselves.
_FLAGS = ("assumptions", "external-changes", "time")


def _swept(program: Any, options: dict[str, Any]) -> tuple[str, SweepReport]:
    with Sandbox() as sandbox:
        try:
            report = sweep_function(program, sandbox, **options)
        except BadSetting as problem:
            return str(problem), SweepReport()
    return "\n".join(f"{run.title}: {words}" for run in report.findings for words in run.violations), report


def _rows() -> Iterator[dict[str, str]]:
    for careless, careful, options, words in TWINS:
        began = monotonic()
        found, report = _swept(careless, options)
        seconds = monotonic() - began
        kinds = options["kinds"]
        yield {
            "pattern": careless.__name__,
            "options": f"--{kinds[0]}" if kinds[0] in _FLAGS else f"--kinds {','.join(kinds)}",
            "found": "yes" if words in found else "NO",
            "twin clean": "NO" if _swept(careful, options)[0] else "yes",
            "runs": str(len(report.runs)),
            "seconds": f"{seconds:.1f}",
        }


if __name__ == "__main__":
    for number, row in enumerate(_rows()):
        if not number:
            print("| " + " | ".join(row) + " |\n" + "|---" * len(row) + "|")
        print("| " + " | ".join(row.values()) + " |", flush=True)
