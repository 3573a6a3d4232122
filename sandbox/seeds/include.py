"""Sections taken from other fixtures."""

from __future__ import annotations

from collections.abc import Callable

from marshmallow import ValidationError

from sandbox.seeds.fields import Listing, Table, Text, Word
from sandbox.seeds.problems import FixtureError, Problem, problem, shown
from sandbox.seeds.reader import Tree
from sandbox.seeds.schema import SECTIONS

#: Reads the fixture that a name or a path stands for; raises FixtureError when there is none.
Read = Callable[[str], tuple[Tree, list[Problem]]]

_INCLUDES = Table(keys=Text(), values=Listing(Word(SECTIONS)))
_DEEPEST = 8


def included(tree: Tree, read: Read, depth: int = 0) -> tuple[Tree, list[Problem]]:
    """``tree`` with the sections that it includes, and what is wrong with where they come from.

    A section that is in several places is put together; the including file's entries win.
    """
    node = tree.get("include")
    if node is None:
        return tree, []
    try:
        wanted: dict[str, list[str]] = _INCLUDES.deserialize(node)
    except ValidationError:
        return tree, []  # the schema will say what is wrong with it
    if depth == _DEEPEST:
        return tree, [problem(node.place, f"fixtures include one another more than {_DEEPEST} times over")]
    problems: list[Problem] = []
    whole = Tree(tree.place)
    for source, sections in wanted.items():
        try:
            other, found = read(source)
            other, deeper = included(other, read, depth + 1)
        except FixtureError as error:
            place = node.place_of(source) if isinstance(node, Tree) else node.place
            problems.append(problem(place, f"cannot include {shown(source)}: {error.problems[0].message}"))
            continue
        problems += found + deeper
        for section in sections:
            _take(whole, other, section)
    for key in tree:
        _take(whole, tree, key)
    return whole, problems


def _take(whole: Tree, source: Tree, section: str) -> None:
    """Lay a section of ``source`` over what ``whole`` has of it."""
    for key, value in source.items():
        if key != section:
            continue
        under = whole.get(key)
        if isinstance(under, Tree) and isinstance(value, Tree):
            both = Tree(value.place)
            both.update(under)
            both.update(value)
            value = both
        whole[key] = value
