"""Numbers and words of the manual's pages are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

from tests.command import printed
from tests.contract.v2_pairs import PAIRS, fail
from tests.documents import python
from tests.manual import pages


def test_the_script_of_a_names_life_is_the_script_in_the_tests() -> None:
    tour = (Path(__file__).parents[1] / "tour.py").read_text("utf-8")
    assert [block.content for block in python(pages()["how-to/life"])] == [tour]


def test_the_page_of_refusals_counts_the_documented_errors() -> None:
    text = " ".join(pages()["explanation/refusals"].split())
    injected = [pair.arrange for pair in PAIRS.values()].count(fail)
    real = len(PAIRS) - injected
    assert f"{len(PAIRS)} pairs of an error and an operation are documented" in text
    assert f"{real} of them for their real reason, the {injected} of `System Error`" in text


def test_the_reference_shows_the_values_of_both_profiles() -> None:
    lines = pages()["reference/assumptions"].splitlines()
    rows = [[cell.strip("| `") for cell in line.split(" | ")] for line in lines if line.startswith("| `")]
    shown = {name: (default, observed or default) for name, default, observed, *_ in rows}
    documented, observed = (
        dict(re.findall(r"(?m)^([a-z][\w.]+)=(\S*)", printed("assumptions", *words)))
        for words in ((), ("--profile", "observed"))
    )
    assert len(documented) > 40
    assert shown == {name: (value, observed[name]) for name, value in documented.items()}
