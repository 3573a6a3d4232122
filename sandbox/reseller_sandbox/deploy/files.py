"""The files that ``reseller-sandbox deploy`` prints, made from their templates."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from reseller_sandbox.config_sources import variables
from reseller_sandbox.deploy.wheel import Wheel, own_name, own_version
from reseller_sandbox.settings import ServerSettings

#: The image that the Dockerfile begins with. A tag moves and a digest does not; both say what it is.
BASE = "python:3.13-slim@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b"

#: The actions that a workflow uses, at the commit of a version.
CHECKOUT = "actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8  # v5.0.0"
SETUP_PYTHON = "actions/setup-python@e797f83bcb11b83ae66e0230d6156d7c80228e7c  # v6.0.0"

#: Who the server runs as in a container: nobody that the image knows.
USER = 10001


def image() -> str:
    """Return the name of the image that the Dockerfile of this version makes."""
    return f"reseller-sandbox:{own_version()}"


def rendered(template: str, *, wheel: Wheel | None = None, **told: Any) -> str:
    """Return the file that a template makes."""
    from jinja2 import Environment, StrictUndefined  # loaded for those who ask for a file

    environment = Environment(
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        autoescape=False,
    )
    text = files(__package__).joinpath("templates", template).read_text("utf-8")
    return environment.from_string(text).render(
        wheel=wheel,
        file=own_name(),
        version=own_version(),
        port=ServerSettings.port,
        settings=variables(),
        user=USER,
        checkout=CHECKOUT,
        setup_python=SETUP_PYTHON,
        **told,
    )
