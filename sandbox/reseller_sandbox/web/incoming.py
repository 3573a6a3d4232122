"""An HTTP request, read whole, and whose it turns out to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from werkzeug.datastructures import EnvironHeaders
from werkzeug.wsgi import get_input_stream

from reseller_sandbox.core.assumptions import Assumptions, watched
from reseller_sandbox.core.model import Account
from reseller_sandbox.core.names import well_formed
from reseller_sandbox.core.refusals import MALFORMED_BODY, Refused
from reseller_sandbox.server.wsgi import UNMARKED, environ_key
from reseller_sandbox.web.errors import in_header
from reseller_sandbox.web.headers import IGNORED
from reseller_sandbox.web.strict_json import BadJson, read
from reseller_sandbox.worlds import World

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment
    from flask import Request

#: Key of the WSGI environment for the part of the path that chose the world.
ENV_PREFIX = "sandbox.prefix"

#: Under which keys a path or a body says which name it is about.
NAME_KEYS = ("domainName", "domain_name")


class _Headers(EnvironHeaders):
    """The headers in a WSGI environment, of which the same few are asked for again and again."""

    def get(self, key: str, default: Any = None) -> Any:  # type: ignore[override]
        """Return the value of a header, whatever the case of its name."""
        return self.environ.get(environ_key(key), default)


@dataclass
class Incoming:
    """One HTTP request.

    ``target`` is the request target as sent, ``prefix`` the part of it that chose the world,
    ``port`` the one it came in on, ``arguments`` what the path's placeholders matched. ``world`` and
    ``account`` are set as soon as they are known, whether the request is let in or not. ``assumed`` collects
    the assumptions that the answer rests on, ``ignored`` the keys that have no effect, ``headers_out`` what
    the answer's headers say beside the usual. ``environ`` is what WSGI says of the request.
    """

    method: str
    target: str
    path: str
    scheme: str
    headers: Mapping[str, str]
    query: Sequence[tuple[str, str]] = ()
    body: bytes = b""
    arguments: dict[str, str] = field(default_factory=dict)
    prefix: str = ""
    port: str = ""
    world: World | None = None
    account: Account | None = None
    credentials_in_query: bool = False
    ignored: tuple[str, ...] = ()
    assumed: set[str] = field(default_factory=set)
    headers_out: dict[str, str] = field(default_factory=dict)
    environ: WSGIEnvironment = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, request: Request, arguments: dict[str, str]) -> Incoming:
        """Return Flask's ``request``, of which the body is still to be read."""
        environ = request.environ
        return cls(
            method=request.method,
            target=environ.get("REQUEST_URI") or environ.get("RAW_URI") or request.full_path.rstrip("?"),
            path=request.path,
            scheme=request.scheme,
            headers=cast(Mapping[str, str], _Headers(environ)),
            query=list(request.args.items(multi=True)) if environ.get("QUERY_STRING") else (),
            arguments=arguments,
            prefix=environ.get(ENV_PREFIX, ""),
            port=environ.get("SERVER_PORT", ""),
            environ=environ,
        )

    def read_body(self) -> None:
        """Take the body from the connection, if the request says that it has one."""
        if "CONTENT_LENGTH" in self.environ or "HTTP_TRANSFER_ENCODING" in self.environ:
            self.body = get_input_stream(self.environ).read()

    @cached_property
    def object(self) -> dict[str, Any]:
        """The JSON object in the body; refuse with ``malformed_body``."""
        return _object(self.body)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The domain names in the path and the body, as the registry keeps them, without malformed ones."""
        texts = self._texts()
        if not texts:
            return ()
        found = dict.fromkeys([well_formed(text) for text in texts if isinstance(text, str)])
        return tuple([name for name in found if name is not None])

    @property
    def object_if_any(self) -> dict[str, Any]:
        """The JSON object in the body; an empty one where the body is something else."""
        try:
            return self.object if self.body else {}
        except Refused:
            return {}

    def _texts(self) -> list[Any]:
        """Return what may be names, in the order of their places."""
        holders: list[Mapping[str, Any]] = [self.arguments]
        many: Any = ()
        if self.body:
            body = self.object_if_any
            inner, many = body.get("domain"), body.get("domainNames")
            holders += [body, inner] if isinstance(inner, dict) else [body]
        found = [holder[key] for holder in holders for key in NAME_KEYS if key in holder]
        return found + many if isinstance(many, list) else found

    def sent(self) -> Mapping[str, str]:
        """Return the headers as they are at hand, where their names may be spelt as WSGI spells them."""
        environ = self.environ
        if not environ:
            return self.headers
        # The first letter alone, which takes half as long, tells most of what is no header.
        found = {name[5:]: value for name, value in environ.items() if name[0] == "H" and name[:5] == "HTTP_"}
        for name in UNMARKED:
            if value := environ.get(name):
                found[name] = value
        return found

    def query_value(self, name: str) -> str | None:
        """Return the first value of a query element."""
        return next((value for key, value in self.query if key == name), None)

    def ignore(self, keys: Sequence[str]) -> None:
        """Note keys that the operation reads, but that have no effect on this request."""
        new = [key for key in keys if key not in self.ignored]  # a fault may carry a request out twice
        if new:
            unread = self.headers_out.get(IGNORED)
            self.ignored = (*new, *self.ignored)
            self.headers_out[IGNORED] = in_header(", ".join([*new, *filter(None, [unread])]))

    def recognise(self, sender: tuple[World, Account] | None) -> None:
        """Note whose request this is although it is not let in, unless the path chose another world."""
        if sender is not None and self.world in (None, sender[0]):
            self.world, self.account = sender

    def assumed_in(self, world: World) -> Assumptions:
        """Return the assumptions of ``world``, noting for the answer which are read."""
        return watched(world.assumptions, self.assumed)


def _object(body: bytes) -> dict[str, Any]:
    """Return the object in ``body``, an empty one for nothing at all and for ``[]``.

    Refuse with ``malformed_body``.
    """
    try:
        value = read(body) if body.strip() else {}
    except BadJson as problem:
        raise Refused(MALFORMED_BODY, problem=str(problem)) from None
    if value == []:
        return {}
    if not isinstance(value, dict):
        raise Refused(MALFORMED_BODY, problem="it must be a JSON object")
    return value
