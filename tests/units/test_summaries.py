"""The sentences of the list of commands are those of the powers."""

from __future__ import annotations

import inspect

from reseller_sandbox.powers import SUMMARIES
from reseller_sandbox.powers.catalogue import POWERS


def test_each_power_has_its_first_sentence_as_summary() -> None:
    first = {name: (inspect.getdoc(power) or "").partition("\n\n")[0] for name, power in POWERS.items()}
    assert {name: " ".join(sentence.split()) for name, sentence in first.items()} == dict(SUMMARIES)
