"""The sentences of the list of commands are those of the powers and of the commands."""

from __future__ import annotations

import inspect
from typing import Any

import click

from reseller_sandbox.cli import main as command_line
from reseller_sandbox.powers import SUMMARIES
from reseller_sandbox.powers.catalogue import POWERS

main: Any = command_line.main


def test_each_power_has_its_first_sentence_as_summary() -> None:
    first = {name: (inspect.getdoc(power) or "").partition("\n\n")[0] for name, power in POWERS.items()}
    assert {name: " ".join(sentence.split()) for name, sentence in first.items()} == dict(SUMMARIES)


def test_each_other_command_has_the_first_sentence_of_its_help_as_summary() -> None:
    context = click.Context(main)
    for name, summary in main.summaries().items():
        command = main.get_command(context, name)
        assert command is not None, name
        if name not in SUMMARIES:
            text = " ".join((command.help or "").split())
            assert text.startswith(summary.removesuffix(".")), name
