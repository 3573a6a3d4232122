"""YAML as plain mappings, lists and texts that remember where they stood.

Values stay as they are written: a :class:`Scalar` is its text, and ``kind`` says what YAML would
make of it. So a price never becomes a float, and a bare ``no`` can be told from the word in quotes.
The tree is built from PyYAML's events rather than by its composer, which follows nesting with the
machine's stack and so can be made to fall over.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from sandbox.seeds.problems import FixtureError, Place, Problem, problem, shown

#: The largest fixture that is read, in bytes.
LARGEST = 64 * 1024 * 1024
#: The deepest nesting that is followed; the format itself needs six levels.
DEEPEST = 24
#: How many values aliases may add up to, so that a few lines cannot stand for billions.
MOST_REPEATED = 1_000_000

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CORE = "tag:yaml.org,2002:"
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

#: What libyaml says, and what to do about it.
_ADVICE = (
    ("mapping values are not allowed", "a colon cannot stand here; put a text that has one in quotes"),
    ("did not find expected key", "a key is expected here; is this line indented like its neighbours?"),
    ("did not find expected '-'", "a '-' is expected here; is this line indented like its neighbours?"),
    ("could not find expected ':'", "a key without its colon"),
    ("did not find expected ',' or", "a ',' or a closing bracket is missing before this"),
    ("found unexpected end of stream", "the file ends inside quotes"),
    ("cannot start any token", "a plain text cannot begin with this character; put it in quotes"),
    ("undefined tag handle", "tags are not used in fixtures"),
)


class Scalar(str):
    """The text of a single value. ``kind`` is str, bool, int, float, null, timestamp or merge."""

    __slots__ = ("kind", "place")
    kind: str
    place: Place
    weight = 1


class Tree(dict[Any, "Node"]):
    """A mapping from scalars, with the place where it begins and the number of values in it."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place
        self.weight = 1
        self._places: dict[str, Place] = {}

    def place_of(self, key: str) -> Place:
        """Where the key ``key`` stands."""
        if len(self._places) != len(self):
            self._places = {known: known.place for known in self}
        return self._places[key]


class Rows(list["Node"]):
    """A list, with the place where it begins and the number of values in it."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place
        self.weight = 1


Node = Scalar | Tree | Rows


def scalar(text: str, kind: str, place: Place) -> Scalar:
    """A :class:`Scalar` of the given kind."""
    made = Scalar(text)
    made.kind = kind
    made.place = place
    return made


def decode(content: bytes, file: str) -> str:
    """``content`` as text; raises :class:`FixtureError` when it is too large or not UTF-8."""
    if len(content) > LARGEST:
        limit = LARGEST // (1024 * 1024)
        raise FixtureError(
            [Problem(file, 0, 0, f"it has {len(content)} bytes; at most {limit} MiB are read")]
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8-sig", "replace")
        byte = content[error.start]
        raise FixtureError(
            [problem(_end_of(before, file), f"byte 0x{byte:02x} is not UTF-8, which fixtures are written in")]
        ) from None


def read(text: str, file: str) -> tuple[Tree, list[Problem]]:
    """The top level of ``text``, and the mistakes that did not keep it from being read.

    Raises :class:`FixtureError` where reading on makes no sense: broken YAML, no mapping, too deep.
    """
    if len(text) > LARGEST:
        raise FixtureError(
            [Problem(file, 0, 0, f"it has {len(text)} characters; at most {LARGEST} are read")]
        )
    text = text.removeprefix("\ufeff")
    bad = _UNPRINTABLE.search(text)
    if bad is not None:
        place = _end_of(text[: bad.start()], file)
        raise FixtureError([problem(place, f"the character U+{ord(bad[0]):04X} is not allowed in YAML")])
    reader = _Reader(text, file)
    try:
        return reader.document(), reader.problems
    except yaml.YAMLError as error:
        raise FixtureError([_syntax(error, text, file)]) from None
    finally:
        reader.loader.dispose()


def _end_of(text: str, file: str) -> Place:
    return Place(file, text.count("\n") + 1, len(text) - text.rfind("\n"))


def _syntax(error: yaml.YAMLError, text: str, file: str) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    said = getattr(error, "problem", None) or str(error)
    if mark is None:
        return Problem(file, 1, 1, f"this is not YAML: {said}")
    lines = text.splitlines()
    line = lines[mark.line] if mark.line < len(lines) else ""
    advice = next((words for phrase, words in _ADVICE if phrase in said), said)
    if "\t" in line[: mark.column + 1]:
        advice = "a tab cannot stand here; YAML is indented with spaces"
    return Problem(file, mark.line + 1, mark.column + 1, f"this is not YAML: {advice}")


class _Reader:
    """Builds the tree of one document from its events."""

    def __init__(self, text: str, file: str) -> None:
        self.loader = _Loader(text)
        self.file = file
        self.problems: list[Problem] = []
        self._anchors: dict[str, Node | None] = {}
        self._repeated = 0

    def document(self) -> Tree:
        """The one document of the file, which must be a mapping."""
        self.loader.get_event()
        if self.loader.check_event(yaml.StreamEndEvent):
            raise FixtureError([Problem(self.file, 1, 1, "the file is empty")])
        self.loader.get_event()
        root = self._node(self.loader.get_event(), 0)
        self.loader.get_event()
        if not self.loader.check_event(yaml.StreamEndEvent):
            place = self._place(self.loader.get_event())
            self.problems.append(problem(place, "a second document begins here; a fixture is a single one"))
        if isinstance(root, Tree):
            return root
        if isinstance(root, Scalar) and root.kind == "null":
            raise FixtureError([problem(root.place, "the file is empty")])
        raise FixtureError(
            [
                problem(
                    root.place,
                    f"a fixture is a mapping, with keys such as zones and accounts, not {what(root)}",
                )
            ]
        )

    def _place(self, event: Any) -> Place:
        return Place(self.file, event.start_mark.line + 1, event.start_mark.column + 1)

    def _report(self, place: Place, message: str) -> None:
        self.problems.append(problem(place, message))

    def _node(self, event: Any, depth: int) -> Node:
        place = self._place(event)
        if depth > DEEPEST:
            raise FixtureError([problem(place, f"nested more than {DEEPEST} levels deep")])
        if isinstance(event, yaml.AliasEvent):
            return self._alias(str(event.anchor), place)
        if event.tag not in (None, "!") and event.tag != _CORE + "str":
            self._report(place, f"the tag {shown(_short(event.tag))} is not used in fixtures; leave it out")
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        node: Node
        if isinstance(event, yaml.ScalarEvent):
            node = scalar(event.value, self._kind(event), place)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = self._rows(Rows(place), depth)
        else:
            node = self._tree(Tree(place), depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _kind(self, event: Any) -> str:
        if event.tag is not None or not event.implicit[0]:
            return "str"
        tag: str = self.loader.resolve(yaml.ScalarNode, event.value, (True, False))
        kind = tag.removeprefix(_CORE)
        return "str" if kind == "value" else kind

    def _alias(self, anchor: str, place: Place) -> Node:
        node = self._anchors.get(anchor)
        if node is None:
            inside = anchor in self._anchors
            reason = "stands inside what it repeats" if inside else "repeats an anchor that is not there"
            self._report(place, f"the alias {shown('*' + anchor)} {reason}")
            return scalar("", "null", place)
        self._repeated += node.weight
        if self._repeated > MOST_REPEATED:
            raise FixtureError([problem(place, f"aliases repeat more than {MOST_REPEATED} values")])
        return node

    def _rows(self, rows: Rows, depth: int) -> Rows:
        while not isinstance(event := self.loader.get_event(), yaml.SequenceEndEvent):
            rows.append(node := self._node(event, depth + 1))
            rows.weight += node.weight
        return rows

    def _tree(self, tree: Tree, depth: int) -> Tree:
        merged: list[Node] = []
        lines: dict[str, int] = {}
        while not isinstance(event := self.loader.get_event(), yaml.MappingEndEvent):
            key = self._node(event, depth + 1)
            value = self._node(self.loader.get_event(), depth + 1)
            tree.weight += key.weight + value.weight
            if not isinstance(key, Scalar):
                self._report(key.place, f"a key is a text, not {what(key)}")
            elif key.kind == "merge":
                merged.append(value)
            elif key in tree:
                self._report(key.place, f"the key {shown(key)} is there already, in line {lines[key]}")
            else:
                tree[key] = value
                lines[key] = key.place.line
        for value in merged:
            self._merge(tree, value)
        return tree

    def _merge(self, tree: Tree, value: Node) -> None:
        """What ``<<`` brings in; the mapping's own keys win, then those that were merged first."""
        for source in value if isinstance(value, Rows) else [value]:
            if not isinstance(source, Tree):
                self._report(source.place, f"'<<' takes a mapping, or a list of mappings, not {what(source)}")
                continue
            for key, item in source.items():
                tree.setdefault(key, item)


def _short(tag: str) -> str:
    return "!!" + tag.removeprefix(_CORE) if tag.startswith(_CORE) else tag


def what(node: Node) -> str:
    """What a message calls ``node``."""
    if isinstance(node, Tree):
        return "a mapping"
    if isinstance(node, Rows):
        return "a list"
    return "nothing" if node.kind == "null" else shown(node)
