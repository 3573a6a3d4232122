"""What pages of the manual say in numbers and words is what the code has."""

from __future__ import annotations

from pathlib import Path

from reseller_sandbox.core.assumptions import profile, spelt
from reseller_sandbox.core.refusals import BODY_TOO_LARGE, MALFORMED_BODY, UNSUPPORTED_MEDIA_TYPE
from reseller_sandbox.manual.pages import Manual
from reseller_sandbox.v2.errors import TRANSPORT
from tests.contract.v2_pairs import PAIRS, fail, unreadable
from tests.documents import python

PAGES = Manual().pages
REFUSALS = " ".join(PAGES["explanation/refusals"].text.split())


def test_the_script_of_a_names_life_is_the_one_in_the_tests() -> None:
    """The script is shown as it is."""
    tour = (Path(__file__).parents[1] / "tour.py").read_text("utf-8")
    assert [one.content for one in python(PAGES["how-to/life"].text)] == [tour]


def test_the_page_states_how_many_errors_are_documented() -> None:
    """As many pairs of an error and an operation as the contract's data has."""
    assert f"{len(PAIRS)} pairs of an error and an operation are documented" in REFUSALS


def test_the_page_states_how_the_errors_are_raised() -> None:
    """Which of the pairs have their real reason, and what is answered before any operation is reached."""
    arranged = [pair.arrange for pair in PAIRS.values()]
    injected, permitted = arranged.count(fail), arranged.count(unreadable)
    real = len(PAIRS) - injected
    assert f"{real} of them for their real reason, the {injected} of `System Error`" in REFUSALS
    assert permitted == 1
    assert f"one of the {real} is raised in a world whose `lifecycle` does not permit it" in REFUSALS
    assert {MALFORMED_BODY, BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE} <= set(TRANSPORT)


def test_the_reference_shows_the_values_of_both_profiles() -> None:
    """Of each assumption: the default and, where it is another one, what callers were seen to rely on."""
    lines = PAGES["reference/assumptions"].text.splitlines()
    rows = [[cell.strip() for cell in line.split(" | ")] for line in lines if line.startswith("| `")]
    shown = {name.strip("|` "): (default, observed) for name, default, observed, *_ in rows}
    documented, observed = profile("documented").values(), profile("observed").values()
    assert shown == {
        name: (f"`{spelt(value)}`", f"`{spelt(observed[name])}`" if observed[name] != value else "")
        for name, value in documented.items()
    }
