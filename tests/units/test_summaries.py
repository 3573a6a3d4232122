"""Sentences: of the list of commands, and of lists that are cut."""

from __future__ import annotations

import inspect
from typing import Any

import click

from reseller_sandbox.cli import main as command_line
from reseller_sandbox.control import SUMMARIES
from reseller_sandbox.control.catalogue import RESOURCES
from reseller_sandbox.values.text_checks import complaint, names_phrase

main: Any = command_line.main


def test_summary_of_a_control_operation_is_its_first_sentence() -> None:
    first = {
        name: (inspect.getdoc(resource) or "").partition("\n\n")[0] for name, resource in RESOURCES.items()
    }
    assert {name: " ".join(sentence.split()) for name, sentence in first.items()} == dict(SUMMARIES)


def test_each_other_command_has_the_first_sentence_of_its_help_as_summary() -> None:
    context = click.Context(main)
    for name, summary in main.summaries().items():
        command = main.get_command(context, name)
        assert command is not None, name
        if name not in SUMMARIES:
            text = " ".join((command.help or "").split())
            assert text.startswith(summary.removesuffix(".")), name


def test_many_names_and_problems_are_cut_with_the_count_of_the_rest() -> None:
    names = [f"n{number}" for number in range(40)]
    shown = complaint(names).split("; ")
    assert shown[-1] == f"and {40 - len(shown[:-1])} more"
    assert shown[:-1] == names[: len(shown) - 1]
    assert names_phrase(names, "x") == f"there are {', '.join(shown[:-1])} {shown[-1]}"
    assert complaint(names[: len(shown) - 1]) == "; ".join(shown[:-1])
    assert names_phrase(["a"], "x") == "there is a"
    assert names_phrase([], "names") == "there are no names"
