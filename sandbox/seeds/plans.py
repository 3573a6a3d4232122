"""The plans of a fixture: what the rest of the world will do, and what it has done already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.core import outside
from sandbox.core.assumptions import Assumptions
from sandbox.core.model import After, Plan
from sandbox.core.refusals import INVALID_PARAMETER, Refused
from sandbox.core.state import Draft
from sandbox.seeds.fields import number_in
from sandbox.seeds.problems import nearest_or_all, shown
from sandbox.seeds.reader import Node, Rows, Tree
from sandbox.seeds.site import Path, Site

#: What a later instant may mend: such plans may wait.
_HOPELESS = outside.HOPELESS - {INVALID_PARAMETER}


def build(site: Site) -> None:
    """Put the plans into the state, which is whole by now."""
    site.put(
        Plan(
            id=number,
            action=entry["action"],
            given=_given(site, ("plans", number), entry),
            at=site.date(entry["at"], site.now) if "at" in entry else None,
            after=_after(site, ("plans", number, "after"), entry.get("after")),
            struck=site.date(entry["struck"], site.now) if "struck" in entry else None,
            refused=entry.get("refused", ""),
        )
        for number, entry in site.section("plans").items()
    )
    for number, entry in site.section("plans").items():
        if ("at" in entry) is ("after" in entry):
            site.report(("plans", number), "a plan has either 'at' or 'after'", key=True)
        elif "struck" not in entry and not site.problems:
            _require_hope(site, number)


def _after(site: Site, path: Path, given: Mapping[str, str] | None) -> After | None:
    if given is None:
        return None
    name = site.spelled((*path, "domain"), given.get("domain", ""))
    return After(operation=given["operation"], name=name, answer=given.get("answer", "accepted"))


def _given(site: Site, path: Path, entry: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """What the action is told, each parameter as its kind reads it."""
    known = {one.name: one for one in outside.parameters(entry["action"])}
    given = entry.get("given", {})
    for one in known.values():
        if one.required and one.name not in given:
            site.report((*path, "given") if given else path, f"{shown(one.name)} is missing here")
    found = {}
    for name, node in given.items():
        if name not in known:
            hint = nearest_or_all(name, known)
            site.report((*path, "given", name), f"unknown key {shown(name)}{hint}", key=True)
            continue
        try:
            found[name] = known[name].kind.read(_plain(node))
        except ValueError as reason:
            site.report((*path, "given", name), f"{name} {reason}")
    return tuple(sorted(found.items()))


def _plain(node: Node) -> object:
    """What an action takes for ``node``; amounts stay exact."""
    if isinstance(node, Tree | Rows):
        return node
    if node.kind == "bool" and node in ("true", "false"):
        return node == "true"
    return number_in(node) if node.kind in ("int", "float") else str(node)


def _require_hope(site: Site, number: int) -> None:
    plan = site.state.plans[number]
    draft = Draft(site.state, site.now, Assumptions(), "")
    try:
        outside.carry_out(draft, plan.action, dict(plan.given))
    except Refused as refused:
        if refused.rule in _HOPELESS:
            site.report(("plans", number, "given"), refused.message.rstrip("."))
