"""``reseller-sandbox deploy``: files that put a sandbox to work elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from reseller_sandbox.cli.base import Command, give_up
from reseller_sandbox.cli.lazy_groups import Listing

if TYPE_CHECKING:
    from reseller_sandbox.deploy.wheel import Wheel

#: What the name of an image may be made of, a registry's name, a tag and a digest included.
_IMAGE = re.compile(r"[a-z0-9][\w.:/@-]*")


deploy = Listing("deploy", help="Print files that put a sandbox to work elsewhere, and what it is made of.")


def _image(_context: click.Context, _parameter: click.Parameter, given: str | None) -> str | None:
    if given is not None and not _IMAGE.fullmatch(given):
        give_up(f"{given!r} is no name of an image, such as registry.example/tools/name:1.0")
    return given


def _wheel(_context: click.Context, _parameter: click.Parameter, given: str | None) -> Wheel:
    from reseller_sandbox.deploy.wheel import BadWheel, wheel_at

    try:
        return wheel_at(given)
    except BadWheel as problem:
        give_up(str(problem))


_WHEEL = click.option(
    "--wheel",
    metavar="PATH|URL",
    callback=_wheel,
    help="This version's wheel: a path from here, or https://…#sha256=…; by itself it lies in this folder.",
)


def _named(about: str) -> Callable[[Any], Any]:
    return click.option("--image", "name", metavar="NAME", callback=_image, help=about)


_OURS = _named("The image's name; by itself reseller-sandbox with this version.")
_SERVICE = _named("Run the server from this image, beside the job; by itself the job starts one.")
_INSTALL = click.option(
    "--install",
    default='python -m pip install ".[test]"',
    show_default=True,
    help="What installs your project with its tests.",
)
_TEST = click.option("--test", default="python -m pytest -n 2", show_default=True, help="What runs them.")


def _shards(usual: int) -> Callable[[Any], Any]:
    return click.option(
        "--shards",
        type=click.IntRange(1, 1000),
        default=usual,
        show_default=True,
        help="How many servers share the worlds.",
    )


@deploy.command(cls=Command)
@_WHEEL
@click.option("--base", metavar="IMAGE", callback=_image, help="The image to begin with, one of Python.")
@_OURS
def dockerfile(wheel: Wheel, base: str | None, name: str | None) -> None:
    """Print a Dockerfile: a small image, everything in it pinned by hash, no rights."""
    from reseller_sandbox.deploy.files import BASE

    _print("Dockerfile", name, wheel=wheel, base=base or BASE)


@deploy.command(cls=Command)
@_OURS
@_shards(1)
def compose(name: str | None, shards: int) -> None:
    """Print a file for Docker Compose: the image, or several side by side, which can write nowhere."""
    from reseller_sandbox.deploy.router import in_compose

    if shards > 1:
        _print("compose-shards.yaml", name, **in_compose(shards))
    else:
        _print("compose.yaml", name)


@deploy.command(cls=Command)
@_shards(4)
@click.option("--listen", help="Where nginx is to listen; by itself on the usual port of this machine alone.")
@click.option(
    "--first-port", default=8060, show_default=True, help="The first shard's port; others follow it."
)
@click.option("--header-prefix", default="X-SVC-", show_default=True, help="As it is set for the shards.")
def nginx(shards: int, listen: str | None, first_port: int, header_prefix: str) -> None:
    """Print a configuration of nginx, which sends each request to the shard that has its world."""
    from reseller_sandbox.deploy.router import router, shards_here

    _print("nginx.conf", None, **router(shards_here(shards, first_port), listen, header_prefix))


@deploy.command("github-actions", cls=Command)
@_WHEEL
@_SERVICE
@_INSTALL
@_TEST
def github_actions(wheel: Wheel, name: str | None, install: str, test: str) -> None:
    """Print a workflow of GitHub Actions: a job with a server, where each test has a world of its own."""
    _print("github-actions.yaml", name, wheel=wheel, service=name, install=install, test=test)


@deploy.command("gitlab-ci", cls=Command)
@_WHEEL
@_SERVICE
@_INSTALL
@_TEST
def gitlab_ci(wheel: Wheel, name: str | None, install: str, test: str) -> None:
    """Print a job for GitLab CI, with a server beside it, where each test has a world of its own."""
    from reseller_sandbox.deploy.files import BASE

    _print("gitlab-ci.yaml", name, wheel=wheel, service=name, install=install, test=test, base=BASE)


@deploy.command(cls=Command)
@_OURS
@_shards(1)
def kubernetes(name: str | None, shards: int) -> None:
    """Print a Deployment and a Service for Kubernetes; for several shards a StatefulSet, and a router."""
    from reseller_sandbox.deploy.router import in_kubernetes

    if shards > 1:
        _print("kubernetes-shards.yaml", name, **in_kubernetes(shards))
    else:
        _print("kubernetes.yaml", name)


@deploy.command(cls=Command)
def sbom() -> None:
    """Print the bill of materials of this installation (CycloneDX, JSON)."""
    from reseller_sandbox.deploy.bill import bill_of_materials

    click.echo(json.dumps(bill_of_materials(), indent=2))


def _print(template: str, name: str | None, **told: Any) -> None:
    from reseller_sandbox.deploy.files import image, rendered

    click.echo(rendered(template, image=name or image(), **told), nl=False)
