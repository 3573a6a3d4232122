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
        "Every operation of the reseller API, of both generations: where it is, what it takes, "
        "and what it may refuse, in the order of the checks.",
    ),
    Made(
        "errors",
        "Errors",
        "Every reason to refuse a request, with the sentence that is answered and what would do.",
    ),
    Made(
        "headers",
        "Headers of answers",
        "What each answer of the reseller API says of itself beside its body, for you and for your tests.",
    ),
    Made(
        "lifecycle",
        "The life of a name",
        "What is possible at which stage of a name, and what time does by itself.",
    ),
    Made(
        "assumptions",
        "Assumptions",
        "Every point that the contract of the reseller API leaves open, and what the sandbox makes of it.",
    ),
    Made(
        "settings",
        "Settings",
        "Every setting of a sandbox and of a server: its option, its variable, its default.",
    ),
    Made("commands", "Commands", "Every command, with what `--help` says of it."),
    Made(
        "control",
        "Resources",
        "Everything that can be done to a world, through every interface: Python, HTTP and the command line.",
    ),
    Made(
        "faults",
        "Faults",
        "Every kind of fault with its parameters, every preset, and the parts of any rule.",
    ),
    Made("fixture", "The fixture's format", "Every key of a fixture, with what it takes."),
)
