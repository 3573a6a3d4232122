"""HTML pages that need no network, from the templates of this package."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reseller_sandbox.recording import open_command


def rendered(
    template: str, filters: Mapping[str, Callable[..., object]] | None = None, **values: object
) -> str:
    """Render ``template`` with ``values`` as an HTML page."""
    # Imported here, because only HTML pages need jinja2.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("reseller_sandbox.reports", "")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters.update(open_command=open_command, **(filters or {}))
    return environment.get_template(template).render(**values)
