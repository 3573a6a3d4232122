"""Whatever a fixture's text is, reading it ends in a seed or in a FixtureError."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from sandbox.seeds import FixtureError, Problem, find, load, loads

WHOLE = find("default").read_text(encoding="utf-8")
LINES = WHOLE.splitlines()
#: Pieces that YAML, or the format, gives a meaning to.
PIECES = [
    *"{}[]:,-?&*!|>'\"%@`#~=\t\n ",
    "<<: *a",
    "&a ",
    "*a",
    "!!binary ",
    "!!python/name:os.system ",
    "---\n",
    "...\n",
    "%YAML 1.2\n",
    "\ufeff",
    "\x85",
    "\u2028",
    "\U0001f600",
    "\\ud800",
    "null",
    "-P99999999999Y",
    "+99999999999d",
    "9" * 5000,
    "0b_",
    "0x",
    "1:2:3",
    "2026-02-31",
    "0001-01-01",
    "9999-12-31T23:59:59-23:59",
    "(((((",
    "[[a]]",
    "a{99999999999}",
    "xn--",
    "xn--a",
    "." * 300,
    "٣",
    "ß",
    "include: {default: [domains]}",
    "outside",
    "A1001",
]


def read(text: str) -> None:
    """Read ``text``; every mistake that is told is one line, and has a place in a file."""
    for problem in mistakes(text):
        assert problem.file
        assert problem.line >= 0
        assert len(str(problem).splitlines()) == 1


def mistakes(text: str) -> tuple[Problem, ...]:
    """The mistakes in ``text``, none for a good one."""
    try:
        loads(text, name="f")
    except FixtureError as error:
        return error.problems
    return ()


@given(st.text(max_size=200) | st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
@example("\ud800")
@example("a: !<> b")
@example("now: 9999-12-31T23:59:59-23:59")
@example("{" * 100_000)
def test_any_text(text: str) -> None:
    """Text without rhyme or reason."""
    read(text)


@given(st.data())
def test_a_good_fixture_with_pieces_put_in_and_taken_out(data: st.DataObject) -> None:
    """The default fixture, broken in a few places, within lines."""
    text = WHOLE
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        gone = data.draw(st.integers(0, 12))
        text = text[:at] + data.draw(st.sampled_from(["", *PIECES])) + text[at + gone :]
    read(text)


@given(st.data())
def test_a_good_fixture_with_lines_moved_about(data: st.DataObject) -> None:
    """The default fixture with lines missing, doubled, and out of their order."""
    lines = list(LINES)
    for _ in range(data.draw(st.integers(1, 4))):
        line = data.draw(st.sampled_from(LINES))
        at = data.draw(st.integers(0, len(lines) - 1))
        if data.draw(st.booleans()):
            lines[at] = line
        else:
            lines.insert(at, line)
    read("\n".join(lines))


SCALARS = st.sampled_from(
    [
        "no",
        "012",
        "1.5",
        "-1",
        "2026-01-01",
        "-3d",
        "x",
        "''",
        "~",
        "[]",
        "{}",
        "main",
        "com",
        "[x]",
        "{x: y}",
    ]
)
KEYS = st.sampled_from(
    [
        *("now", "zones", "accounts", "contacts", "customers", "domains", "taken", "transfers", "ledger"),
        *("assume", "counters", "include", "com", "a.com", "main", "A1001", "1", "prices", "contact", "id"),
        *("stage", "created", "expires", "to", "from", "status", "order", "charges", "amount", "at", "hosts"),
    ]
)


@given(
    st.recursive(
        SCALARS,
        lambda inner: st.dictionaries(KEYS, inner, max_size=6).map(
            lambda made: "{" + ", ".join(f"{key}: {value}" for key, value in made.items()) + "}"
        ),
        max_leaves=25,
    )
)
def test_the_words_of_the_format_in_the_wrong_places(text: str) -> None:
    """Keys and values that have a meaning, each of them anywhere."""
    read(text)
    with suppress(FixtureError):
        loads(WHOLE + "\nsnapshot: " + text)


@given(st.binary(max_size=100))
@settings(max_examples=30)
def test_any_bytes(tmp_path_factory: object, content: bytes) -> None:
    """A file that need not even be text."""
    path = Path(tmp_path_factory.mktemp("fuzz")) / "f.yaml"  # type: ignore[attr-defined]
    path.write_bytes(content)
    with suppress(FixtureError):
        load(path)
