"""The reference pages. A module of the same name yields the content of each page."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from msgspec import Struct

from reseller_sandbox.control.resource import Resource

Resources = Mapping[str, type[Resource]]


class Made(Struct, frozen=True):
    """A page of the reference: name, title and summary."""

    name: str
    title: str
    summary: str

    def text(self, resources: Resources) -> str:
        """Return the page as Markdown."""
        parts = import_module(f"manual_reference.{self.name}").page(resources)
        return "\n\n".join([f"# {self.title}", self.summary, *filter(None, parts)]) + "\n"


#: The pages, in their order.
REFERENCE = (
    Made(
        "operations",
        "Operations",
        "Every operation of the reseller API, in v2.0 and v3: its path, its parameters, and its "
        "refusals in the order of the checks.",
    ),
    Made("errors", "Errors", "Every reason to refuse a request, with its message and its remedy."),
    Made(
        "headers",
        "Headers of answers",
        "The headers that the sandbox adds to each response of the reseller API, for you and your tests.",
    ),
    Made(
        "lifecycle",
        "The life of a name",
        "The possible actions at each stage of a domain, and the transitions that the clock makes.",
    ),
    Made(
        "assumptions",
        "Assumptions",
        "Every open point of the contract of the reseller API, and the choice of the sandbox.",
    ),
    Made(
        "settings",
        "Settings",
        "Every setting of a sandbox and of a server: its option, its variable, its default.",
    ),
    Made("commands", "Commands", "Every command, with its `--help` text."),
    Made(
        "control",
        "Resources",
        "Every control operation on a world, in Python, over HTTP and on the command line.",
    ),
    Made(
        "faults",
        "Faults",
        "Every kind of fault with its parameters, every preset, and the parts of any rule.",
    ),
    Made("fixture", "The fixture's format", "Every key of a fixture, with its accepted values."),
)
