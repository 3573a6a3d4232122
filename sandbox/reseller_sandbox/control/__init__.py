"""What can be done to a world: each resource is a class, and each of its operations one typed method.

From a method's signature and docstring follow the same method in Python, in this process and through a
remote sandbox; the row of the control interface with its document; and the command. A resource may import the
engine (``worlds``) and the packages below it. Begin with ``clock.py``.
"""

from __future__ import annotations

from collections.abc import Mapping

#: The first sentence about each resource. The list of all commands shows it, and loads no resource for that,
#: because to load them takes longer than everything else that such a command does.
SUMMARIES: Mapping[str, str] = {
    "accounts": "The accounts of the service: their money and their credentials.",
    "advice": "What your program did that would have cost money, names or secrets in production.",
    "assumptions": "What the silences of the contract are taken to mean: each is named, and can be set.",
    "branches": "The futures of this world that were left behind when it went back.",
    "recording": "This world's past in one file, from which all of it can be done again.",
    "clock": "Time in this world: look at it, move it, see what is coming.",
    "contacts": "The contacts of names, under their handles.",
    "coverage": "How much of the contract has been exercised: its operations, errors, stages, events, "
    "faults, silences.",
    "customers": "The end clients of the accounts.",
    "events": "What has changed this world, in one line: requests, control calls, timers, scheduled actions.",
    "faults": "Rules that make requests fail as they really would, before or after they take effect.",
    "health": "Whether the sandbox is up.",
    "history": "The past of this world as a whole: go back, begin again, compare two points, export it.",
    "hosts": "The name servers below names of the registry, with their glue addresses.",
    "journal": "The requests that the world remembers, with their answers, changes and refusals.",
    "ledger": "Every movement of money, its cause, and the totals.",
    "names": "The names of the registry, and who holds them at which stage of their lives.",
    "simulate": "The rest of the world, to play: strangers, other registrars, registries, the service's own "
    "staff.",
    "scheduled": "What third parties are planned to do, and what came of it.",
    "snapshots": "The moments of this world that are kept under a name, so that it can go back to them.",
    "transfers": "The transfers of names between registrars: the latest one of each name.",
    "worlds": "The worlds of the server: each a registry of its own, with its own accounts, clock and past.",
}
