"""Hold the style of docstrings and manual to its ceilings; ``make lint`` runs this."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "sandbox" / "reseller_sandbox"
NOUN_WHAT = re.compile(r"\b[Ww]hat\b(?!\?)")
VAGUE = re.compile(
    r"\b([Ww]hoever|those who|told|tells|of (?:its|their) own|amiss|by itself|let in|so already)\b"
)
SEMICOLON = re.compile(";")
YOU = re.compile(r"\b[Yy]ou(r|rs)?\b")

#: The largest share of texts with a mark, in percent.
DOCSTRINGS = {NOUN_WHAT: 0.5, VAGUE: 0.3, SEMICOLON: 1.0}
PAGES = {NOUN_WHAT: 2.0, VAGUE: 1.0, SEMICOLON: 4.0}
#: The smallest share of sentences of the manual that address the reader, in percent.
LEAST_YOU = 15.0


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield the place and the first paragraph of each docstring."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, documented) and (text := ast.get_docstring(node)):
                name = getattr(node, "name", "")
                yield f"{path.relative_to(SOURCE)} {name}", " ".join(text.split("\n\n")[0].split())


def sentences() -> Iterator[tuple[str, str]]:
    """Yield the page and the text of each sentence, without code and tables."""
    for path in sorted((SOURCE / "manual").rglob("*.md")):
        text = re.sub(r"```.*?```", "", path.read_text("utf-8"), flags=re.DOTALL)
        text = " ".join(re.sub(r"^[|#].*$", "", text, flags=re.MULTILINE).split())
        for sentence in re.split(r"(?<=[.!?:])\s+", text):
            if len(sentence.split()) > 2:
                yield str(path.relative_to(SOURCE)), sentence


def main() -> None:
    """Print the texts with a mark whose share is too large; exit with 1 if there are any."""
    failed = False
    for name, texts, ceilings in (
        ("docstrings", [*docstrings()], DOCSTRINGS),
        ("pages", [*sentences()], PAGES),
    ):
        for mark, most in ceilings.items():
            marked = [f"{place}: {text}" for place, text in texts if mark.search(text)]
            if 100 * len(marked) > most * len(texts):
                failed = True
                print(*marked, f"{len(marked)} of {len(texts)} {name} match {mark.pattern}", sep="\n")
        if name == "pages" and 100 * sum(bool(YOU.search(text)) for _, text in texts) < LEAST_YOU * len(
            texts
        ):
            failed = True
            print(f"fewer than {LEAST_YOU} % of the sentences of the manual say you")
    sys.exit(failed)


if __name__ == "__main__":
    main()
