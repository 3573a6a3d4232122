"""Presets: rules for the failures that are tested most often, under one name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from reseller_sandbox.core.refusals import INTERNAL_ERROR, MAINTENANCE, UNAVAILABLE


class Preset(Struct, frozen=True):
    """Rules under a common name."""

    name: str
    about: str
    rules: tuple[Mapping[str, Any], ...]


def _sometimes(kind: str, chance: float, **parameters: Any) -> Mapping[str, Any]:
    return {"name": kind, "kind": kind, "when": {"chance": chance}, **parameters}


PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            "flaky",
            "About one request in five fails, each time in another way, and one in ten is slow.",
            (
                _sometimes("error", 0.05, error=INTERNAL_ERROR.code),
                {**_sometimes("error", 0.05, error=UNAVAILABLE.code, retry_after=1), "name": "unavailable"},
                _sometimes("reset", 0.05),
                _sometimes("truncate", 0.05),
                _sometimes("latency", 0.1, min=0.2, max=1),
            ),
        ),
        Preset(
            "outage",
            "Nothing gets through: each connection is closed without an answer, and nothing takes effect.",
            ({"kind": "close", "when": {"phase": "before"}},),
        ),
        Preset(
            "lost-responses",
            "What changes something takes effect, is paid for, and its answer is lost in a reset.",
            ({"kind": "reset", "match": {"changed": True}, "when": {"phase": "after"}},),
        ),
        Preset(
            "slow",
            "Everything takes two seconds as a rule, and now and then ten.",
            ({"kind": "latency", "median": 2, "sigma": 0.6, "max": 30},),
        ),
        Preset(
            "rate-limited",
            "Each account has ten requests a minute of the world's time; the others are answered 429.",
            ({"kind": "rate_limit", "limit": 10, "window": 60},),
        ),
        Preset(
            "maintenance",
            "Everything is answered 503, with the word to come back in half an hour.",
            ({"kind": "error", "error": MAINTENANCE.code, "retry_after": 1800},),
        ),
    )
}


def expanded(preset: Preset, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rules of a preset with what ``given`` says otherwise.

    ``name`` names them all, ``match`` and ``when`` are added to each rule's own, and a parameter goes
    to the rules of the kinds that have it (``read_rules`` adds those).
    """
    name = given.get("name", preset.name)
    rules = []
    for rule in preset.rules:
        sections = {
            section: {**rule.get(section, {}), **given[section]}
            if isinstance(given.get(section), Mapping)
            else given.get(section, rule.get(section))
            for section in ("match", "when")
        }
        own = name if len(preset.rules) == 1 or not isinstance(name, str) else f"{name}.{rule['name']}"
        rules.append({**rule, **sections, "name": own})
    return rules
