"""A fixture's regular expressions are matched in linear time, wherever a client's text meets one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from reseller_sandbox import Sandbox
from reseller_sandbox.core import patterns
from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.settings import BadSetting
from tests.v2.works import CARD, NAME

V2 = Path(__file__).parent.parent / "v2" / "registry.yaml"

#: What makes an engine that goes back and forth do so without end.
GREEDY = ["(a+)+$", "(a|aa)+$", "(a|a?)+$", "(.*a){20}", "(a*)*b", "([a-z]+)*[0-9]"]


def made(tmp_path: Path, **changed: Any) -> Sandbox:
    """A sandbox of the v2.0 tests' registry with other top-level sections."""
    written = yaml.safe_load(V2.read_text("utf-8"))
    for name, value in changed.items():
        written[name] |= value
    (tmp_path / "fixture.yaml").write_text(yaml.safe_dump(written, allow_unicode=True), "utf-8")
    return Sandbox(tmp_path / "fixture.yaml")


@pytest.mark.parametrize("pattern", GREEDY)
def test_a_greedy_pattern_answers_at_once(pattern: str) -> None:
    """For as long a text as is looked at."""
    began = stopwatch()
    patterns.matches(pattern, "a" * (patterns.LONGEST_TEXT - 1) + "!")
    assert stopwatch() - began < 20  # another matcher would take years


@pytest.mark.parametrize("pattern", GREEDY)
@pytest.mark.parametrize("length", [28, patterns.LONGEST_TEXT - 1, 500_000])
def test_contact_parameters_and_licences_are_bounded(tmp_path: Path, pattern: str, length: int) -> None:
    """A client's text against either kind of pattern: it is refused, and nobody has waited."""
    zone = yaml.safe_load(V2.read_text("utf-8"))["zones"]["com.ua"]
    sandbox = made(
        tmp_path, contact_params={"tax_number": pattern}, zones={"com.ua": {**zone, "license": pattern}}
    )
    client, hostile = sandbox.client(), "a" * length + "!"
    began = stopwatch()
    contact = client.post("/V2.0/contact/NEW", json={**CARD, "tax_number": hostile})
    bought = client.post("/V2.0/domain/new.com.ua", json={**NAME, "license": hostile})
    assert stopwatch() - began < 20
    assert [entry.outcome for entry in sandbox.world.journal] == ["invalid_extra", "invalid_license"]
    assert (contact.status_code, bought.status_code) == (400, 400)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "missing )"),
        ("(?=a)b", "(?="),
        (r"(a)\1", "invalid escape sequence"),
        ("a{2000}", "invalid repetition size"),
        (".{900}", "repeats too much"),
        ("x" * 1001, "1 to 1000 characters"),
    ],
)
def test_what_cannot_be_used_is_refused_at_the_door(tmp_path: Path, pattern: str, reason: str) -> None:
    """With the reason and the place, wherever a fixture takes a pattern."""
    zone = yaml.safe_load(V2.read_text("utf-8"))["zones"]["com.ua"]
    for changed in (
        {"contact_params": {"tax_number": pattern}},
        {"zones": {"com.ua": {**zone, "license": pattern}}},
    ):
        with pytest.raises(BadSetting) as refused:
            made(tmp_path, **changed)
        assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("pattern", "text", "like"),
    [
        ("[A-Z]{2}[0-9]{6}", "AB123456", True),
        ("[A-Z]{2}[0-9]{6}", "AB1234567", False),
        ("(?i)ab|cd", "CD", True),
        ("\\pL+", "жé", True),
        ("a.", "a\ud800", False),
        (".*", "a" * 1001, False),
    ],
)
def test_the_whole_text_has_to_agree(pattern: str, text: str, like: bool) -> None:
    """And a text beyond the limit, or one that is half a character, agrees with nothing."""
    assert patterns.matches(pattern, text) is like
