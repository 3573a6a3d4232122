"""What is known of names from earlier answers of a transcript: whose they are, and how they stand.

It holds as long as nobody else changes them between two requests; what may have changed a name is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from reseller_sandbox.core.model import Flag
from reseller_sandbox.tools.calibrate.exchanges import ObservedExchange
from reseller_sandbox.tools.calibrate.subject import Subject

#: What a switch that was carried out leaves on or off.
_SWITCHES: Mapping[str, tuple[Flag | str, bool]] = {
    "v3.lock": (Flag.HOLD, True),
    "v3.unlock": (Flag.HOLD, False),
    "v3.lockTransfer": (Flag.TRANSFER_PROHIBITED, True),
    "v3.unlockTransfer": (Flag.TRANSFER_PROHIBITED, False),
    "v3.lockUpdate": (Flag.UPDATE_PROHIBITED, True),
    "v3.unlockUpdate": (Flag.UPDATE_PROHIBITED, False),
    "v3.enableAutorenew": ("autorenew", True),
    "v3.disableAutorenew": ("autorenew", False),
}

#: What shows a name of the account's and changes nothing.
_SHOWING = frozenset({"v3.getDomain", "v2.domain.info", *_SWITCHES})

#: What changes no name, but perhaps the one it is about in a way that is not known here.
_READING = frozenset({"v3.checkAvailability", "v2.domain.check", "v3.listDomains", "v3.balance"})

#: What is known of a name beside its flags, as fixtures call it.
KEPT = ("autorenew", "nameservers", "privacy")

#: For how long a name is taken to be the account's.
_LASTS = timedelta(days=1)

Known = Mapping[str, Any]


class Belief:
    """What is known of each name: the switches that are on or off, and its name servers."""

    def __init__(self) -> None:
        self._names: dict[str, dict[str, Any]] = {}
        self._seen: dict[str, tuple[datetime, list[str]]] = {}

    def of(self, one: ObservedExchange, subject: Subject) -> Known | None:
        """Return what is known of the one name that a request is about; None where nothing is."""
        if len(subject.names) != 1 or subject.name not in self._names:
            return None
        at, who = self._seen[subject.name]
        is_fresh = who == one.credentials and timedelta(0) <= one.at - at < _LASTS
        return dict(self._names[subject.name]) if is_fresh else None

    def learn(self, one: ObservedExchange, subject: Subject) -> None:
        """Take up what an exchange tells."""
        refused = not isinstance(one.answer, Mapping) or bool(one.answer.get("error")) or "msg" in one.answer
        if refused or subject.operation in _READING:
            return
        shows = (
            subject.operation in _SHOWING and subject.name in subject.shown and not _is_pending(one.answer)
        )
        if not shows or self.of(one, subject) is None:
            for name in subject.names:
                self._names.pop(name, None)
        if not shows:
            return
        self._seen[subject.name] = one.at, one.credentials
        known = self._names.setdefault(subject.name, {})
        known.update(_shown(subject))
        if subject.operation in _SWITCHES:
            switch, on = _SWITCHES[subject.operation]
            known[str(switch)] = on


def _is_pending(answer: Mapping[str, Any]) -> bool:
    data = answer.get("data")
    status = answer.get("status"), data.get("status") if isinstance(data, Mapping) else None
    return not {"pending", "0", "1"}.isdisjoint(filter(lambda one: isinstance(one, str), status))


def _shown(subject: Subject) -> Iterator[tuple[str, Any]]:
    shown = subject.shown[subject.name]
    for key in KEPT:
        if key in shown:
            yield key, shown[key]
    if subject.operation == "v3.getDomain":
        yield str(Flag.TRANSFER_PROHIBITED), str(Flag.TRANSFER_PROHIBITED) in shown["flags"]


def agrees(scene: Mapping[str, Any], name: str, known: Known) -> bool:
    """Whether a scene is as it is known to be."""
    entry = scene["domains"].get(name)
    if entry is None:
        return False
    for key, value in known.items():
        if key in KEPT:
            if key in entry and entry[key] != value:
                return False
        elif (key in entry.get("flags", ())) is not value:
            return False
    return True
