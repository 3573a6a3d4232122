"""Why no row takes a request: a path that is none, another method, a body too large, HTTP that is none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, cast

from flask import current_app
from werkzeug.exceptions import HTTPException, MethodNotAllowed, RequestEntityTooLarge

from reseller_sandbox.core.refusals import (
    BODY_TOO_LARGE,
    MALFORMED_BODY,
    METHOD_NOT_ALLOWED,
    UNKNOWN_PATH,
    Refused,
)
from reseller_sandbox.web.incoming import Incoming
from reseller_sandbox.web.limits import BodyLimits
from reseller_sandbox.web.mount import Mount
from reseller_sandbox.web.routing import VERSION, Application
from reseller_sandbox.worlds import World

if TYPE_CHECKING:
    from reseller_sandbox.web.nearest import Rows

_SHOWN = 200
_MOST_WORDS = 3

_VERSION = re.compile(f"/{VERSION}(/|$)")

#: What the contract calls an interface, where that is not its name here.
_CONTRACT_NAMES = {"v2": "v2.0"}


class Unmatched:
    """Says why no row of what is mounted takes a request."""

    def __init__(self, mounts: Sequence[Mount], limits: BodyLimits) -> None:
        self._mounts = mounts
        self._limits = limits

    @cached_property
    def _rows(self) -> dict[str, Rows]:
        """The rows of each interface by its name, and those that clients call under none."""
        from reseller_sandbox.web.nearest import Rows  # its patterns are compiled for those who ask amiss

        interfaces = [mount.interface for mount in self._mounts]
        journalled = [one for interface in interfaces if interface.journalled for one in interface.endpoints]
        return {"": Rows(journalled)} | {one.name: Rows(one.endpoints) for one in interfaces}

    def why(self, error: HTTPException, incoming: Incoming, world: World) -> Refused:
        """Return the refusal that ``error`` stands for; an unknown path is told the rows nearest to it."""
        path = incoming.prefix + incoming.path
        path = path if len(path) <= _SHOWN else f"{path[: _SHOWN - 1]}…"
        if isinstance(error, RequestEntityTooLarge):
            return Refused(
                BODY_TOO_LARGE,
                limit=self._limits.of(incoming.path),
                setting=self._limits.setting(incoming.path),
            )
        if isinstance(error, MethodNotAllowed):
            allowed = ", ".join(_methods_of(incoming.path, error))
            incoming.headers_out["Allow"] = allowed
            return Refused(METHOD_NOT_ALLOWED, method=incoming.method, path=path, allowed=allowed)
        if error.code == 404:
            return Refused(
                UNKNOWN_PATH, method=incoming.method, path=path, nearest=self._nearest(incoming, world)
            )
        return Refused(MALFORMED_BODY, problem=(error.description or str(error)).rstrip("."))

    def _nearest(self, incoming: Incoming, world: World) -> str:
        """Return which operations may have been meant, or what the interface has no operations on."""
        name = next((one.interface.name for one in self._mounts if one.owns(incoming.path)), "")
        if name == "v2" and not _VERSION.match(incoming.path):
            return f"the version must be {' or '.join(incoming.assumed_in(world).versions)}"
        rows, path = self._rows[name], incoming.path
        found = rows.nearest(incoming.method, path)
        if found:
            return f"the nearest {'is' if len(found) == 1 else 'are'} {', '.join(found)}"
        strange = rows.strange(path)
        if name:
            where = name if name == "control" else f"the contract's {_CONTRACT_NAMES.get(name, name)}"
            return f"{where} has " + (
                f"no operations on {' '.join(strange[:_MOST_WORDS])}" if strange else "nothing like it"
            )
        return "paths begin with /v3, with a version such as /V2.0, or with /_sandbox"


def _methods_of(path: str, error: MethodNotAllowed) -> list[str]:
    """Return the methods of the operations at a path, not those of ``/worlds/{world}`` at ``/worlds/fork``.

    HEAD is left out, because a GET takes it without an operation of its own.
    """
    find = cast(Application, current_app).row
    known = sorted(set(error.valid_methods or ()) - {"HEAD"})
    shapes = {method: ["<" in part for part in find(path, method)[0].rule.split("/")] for method in known}
    return [method for method in known if shapes[method] == min(shapes.values())]
