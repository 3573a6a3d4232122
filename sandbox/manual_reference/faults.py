"""The reference page of the faults: every kind, every preset, and the parts of each rule."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from manual_reference.markdown import block, code, prose, table
from reseller_sandbox.control.faults import KindRecord, PartRecord, PresetRecord
from reseller_sandbox.faults import KINDS
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.values.parameters import without_arguments

_HEADINGS = ("part", "takes", "default", "description")


def page() -> Iterator[str]:
    """Yield the parts of the page."""
    yield "# Kinds of faults"
    yield "Every kind of fault with its parameters, every preset, and the other parts of a fault rule."
    faults = Sandbox("empty").faults
    known = faults.kinds()
    yield (
        "A fault is a rule with three parts. The kind, with its parameters, is the effect of the fault. "
        "`match` selects requests. `when` selects the matching requests to which the fault applies. The page "
        "[Faults](../how-to/faults.md) has examples. * = required."
    )
    yield "## Kinds"
    for kind in known.kinds:
        yield from _kind(kind)
    yield "## match"
    yield (
        "`match` selects the requests of a rule. If `match` has only the keys `method`, `path`, `headers` "
        "and `query`, the rule applies before authentication, and also to unknown paths. You can search the "
        "journal with the same keys."
    )
    yield table(_HEADINGS, map(_part, known.match))
    yield "## when"
    yield table(_HEADINGS, map(_part, known.when))
    yield "## The rest of a rule"
    yield table(_HEADINGS, map(_part, known.kept))
    yield "## Presets"
    for preset in faults.presets().presets:
        yield from _preset(preset)


def _kind(kind: KindRecord) -> Iterator[str]:
    yield f"### {kind.kind}"
    yield prose(without_arguments(KINDS[kind.kind]))
    first, *others = map(code, kind.phases)
    yield (
        f"The phase is {first} by default, or {' or '.join(others)}."
        if others
        else f"The phase is always {first}."
    )
    if kind.parameters:
        yield table(_HEADINGS, map(_part, kind.parameters))


def _part(part: PartRecord) -> Sequence[str]:
    default = "" if part.default is None else json.dumps(part.default)
    return (
        code(part.name) + (" *" if part.required else ""),
        prose(part.takes),
        code(default),
        prose(part.about),
    )


def _preset(preset: PresetRecord) -> Iterator[str]:
    yield f"### {preset.preset}"
    yield prose(preset.about)
    yield block("json", json.dumps([dict(rule) for rule in preset.rules], indent=2))
