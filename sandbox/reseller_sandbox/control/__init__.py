"""The control operations of a world: each resource is a class of typed methods.

The signature and the docstring of a method define all its forms: the local and the remote Python method, the
HTTP endpoint with its OpenAPI document, and the command. A resource may import the engine (``worlds``)
and the packages below it. Begin with ``clock.py``.
"""

from __future__ import annotations

from collections.abc import Mapping

#: The first sentence of each resource's docstring, copied. The command that lists all commands prints these
#: copies. It does not import the resources, because the import takes longer than the rest of the command.
SUMMARIES: Mapping[str, str] = {
    "accounts": "The accounts of the service: their money and their credentials.",
    "advice": "Findings about requests that would lose money, names or secrets in production.",
    "answers": "Canned answers to requests that no operation of the contract takes.",
    "assumptions": "A named setting for each behaviour that the contract leaves open.",
    "branches": "The histories that this world left at a rewind, a restore, a switch or a load.",
    "recording": "The past of this world in one file that you can replay.",
    "clock": "The clock of this world: read the clock, move the clock, and list due events.",
    "contacts": "The contacts of names, by handle.",
    "coverage": "The share of the contract that your requests have exercised.",
    "customers": "The end clients of the accounts.",
    "events": "Every event of this world: requests, control calls, timers and scheduled actions.",
    "faults": "Rules that make requests fail, before or after the requests take effect.",
    "health": "Whether the sandbox answers requests.",
    "history": "The past of this world, which you can rewind, reset, compare, export and load.",
    "hosts": "Name servers below names of the registry, with their glue addresses.",
    "journal": "The requests to this world, with their responses, changes and refusals.",
    "ledger": "Every movement of money, its cause, and the totals.",
    "names": "The names of the registry: their holders and lifecycle stages.",
    "simulate": "Actions of third parties: other registrars, registries and the service's staff.",
    "scheduled": "The scheduled actions of third parties, and their results.",
    "snapshots": "Named snapshots to which this world can go back.",
    "transfers": "The latest transfer of each name between registrars.",
    "worlds": "The worlds of the server, each with its own registry, accounts, clock and past.",
}
