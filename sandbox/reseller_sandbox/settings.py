"""The settings of a sandbox and of a server.

Each setting is declared once, here or in ``limits``: its name, its kind, its default and a line of help. The
parameters of ``Sandbox``, the options of ``serve``, the variables of the environment, the keys of a table in
a ``pyproject.toml`` and the words of the pytest marker follow from that.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import wraps
from inspect import Parameter as Formal
from inspect import signature
from ipaddress import ip_address
from pathlib import Path
from socket import gethostname
from typing import Annotated, Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import urlsplit

from reseller_sandbox.registry.assumptions import PROFILES, Assumptions
from reseller_sandbox.registry.assumptions import profile as profile_called
from reseller_sandbox.registry.limits import Limits
from reseller_sandbox.registry.names import BadName, normalise
from reseller_sandbox.registry.parameters import declared, documented_parameters, read
from reseller_sandbox.registry.shards import NAME as SHARD_NAME
from reseller_sandbox.registry.text_checks import complaint, nearest
from reseller_sandbox.registry.values import (
    MOST,
    Instant,
    Kind,
    Switch,
    Text,
    choice,
    json_value,
    mapping,
    whole,
)

P = ParamSpec("P")
S = TypeVar("S")
M = TypeVar("M")
T = TypeVar("T")

#: The assumption that the setting ``token_headers`` sets.
TOKEN_HEADERS = "v2.token_headers"


class BadSetting(ValueError):
    """A setting is wrong; the message says which, and why."""


def _path(given: Any) -> str:
    if isinstance(given, str | Path) and str(given) and "\0" not in str(given):
        return str(given)
    raise ValueError("must be a path")


def _fixture(given: Any) -> str:
    from reseller_sandbox import fixture  # YAML is loaded for those who begin a world

    try:
        fixture.find(found := _path(given))
    except fixture.FixtureError as problem:
        raise ValueError(f"cannot be used: {problem}") from None
    return found


def _profile(given: Any) -> str:
    if not isinstance(given, str) or given not in PROFILES:
        _profile_file(given)
    return str(given)


def _profile_file(given: Any) -> Mapping[str, object]:
    """Return what the file of a profile assumes: it is a fixture, of which nothing else counts."""
    from reseller_sandbox import fixture

    path = Path(_path(given))
    if not os.path.isfile(path):  # which a name that is too long is not
        near = nearest(str(given), PROFILES)
        raise ValueError(f"must be {', '.join(PROFILES)} or a file{near}")
    try:
        return fixture.load(path).assume
    except fixture.FixtureError as problem:
        raise ValueError(f"cannot be used: {problem}") from None


def profile_of(setting: str) -> Assumptions:
    """Return the assumptions of a profile: one with a name, or a file's. Raise ``BadSetting``."""
    if setting in PROFILES:
        return profile_called(setting)
    try:
        return Assumptions().with_values(_profile_file(setting))
    except ValueError as problem:  # the file has changed since the setting was read
        raise BadSetting(f"profile {problem}") from None


def _like(pattern: str, wanted: str) -> Kind[str]:
    """Return the kind of texts that match a pattern; ``wanted`` is the complaint about others."""

    def read(given: Any) -> str:
        if isinstance(given, str) and re.fullmatch(pattern, given):
            return given
        raise ValueError(wanted)

    return Kind({"type": "string"}, read)


def read_url(given: Any) -> str:
    """Return the URL that is given; raise ValueError."""
    if "@" in str(given).partition("//")[2].partition("/")[0]:  # what came is not told: it may be a password
        raise ValueError("is a URL with a user in it, which nothing here uses and logs would tell")
    with suppress(ValueError, TypeError, AttributeError):
        parts = urlsplit(given)
        if parts.scheme in ("http", "https") and parts.netloc and parts.port != 0 and given.isprintable():
            return str(given)
    raise ValueError("must be a URL that begins with http:// or https://")


def _assumed(given: Any) -> dict[str, object]:
    """Read assumptions by their names; objects within objects are names with dots, as TOML has them."""
    if not isinstance(given, Mapping):
        raise ValueError("must be names with values (NAME=VALUE)")
    flat = _flat(mapping(given))
    try:
        Assumptions().with_values(flat)
    except ValueError as problem:
        raise ValueError(f"is wrong: {problem}") from None
    return flat


def _flat(given: Mapping[str, Any]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in given.items():
        within = _flat(mapping(value)) if isinstance(value, Mapping) else None
        found |= {name: value} if within is None else {f"{name}.{one}": within[one] for one in within}
    return found


def _tls_name(given: Any) -> str:
    """Return a name that a certificate can be for: of one label or more, ``*.`` before it, or an address."""
    if not isinstance(given, str):
        raise ValueError("must be names of hosts")
    with suppress(ValueError):
        return str(ip_address(given))
    try:
        bare = normalise(f"{given.removeprefix('*.').removesuffix('.')}.x").removesuffix(".x")
    except BadName as problem:
        raise ValueError(f"cannot be {given[:80]!r}: {problem}") from None
    return f"*.{bare}" if given.startswith("*.") else bare


def _items(given: Any) -> list[Any]:
    items = [given] if isinstance(given, str | Mapping) else json_value(given)
    if isinstance(items, list):
        return items
    raise ValueError("must be an array")


def _each(read_one: Callable[[Any], T]) -> Kind[tuple[T, ...]]:
    """Return the kind of one or several of what ``read_one`` takes."""
    return Kind({"type": "array"}, lambda given: tuple(map(read_one, _items(given))))


def _token_headers(given: Any) -> tuple[str, ...]:
    names = tuple(_items(given))
    if names:
        _assumed({TOKEN_HEADERS: names})
    return names


def _shard(given: Any) -> str:
    named = given
    if given == "hostname":
        number = re.search(r"-([0-9]{1,4})$", gethostname())
        if number is None:
            raise ValueError(f"is hostname, and {gethostname()} does not end in a hyphen and a number")
        named = f"s{number[1]}"
    if isinstance(named, str) and re.fullmatch(SHARD_NAME, named):
        return named
    raise ValueError("must be letters and a number such as s3, or hostname")


_SOME = whole(1, MOST)
_SHARD = Kind({"type": "string"}, _shard)
_HOST = _like(r"[!-~]*", "must be an address or a name")  # nothing is every address
_PREFIX = _like(r"[A-Za-z0-9-]*", "must be the beginning of a header's name: letters, digits and hyphens")
_TOKEN = _like(r"[!-~]+", "takes one or more printable ASCII characters, and no spaces")  # without telling it

#: The kinds of paths: a fixture may also be a packaged one's name.
FIXTURE = Kind({"type": "string", "format": "path"}, _fixture)
FILE = Kind({"type": "string", "format": "path"}, _path)
PROFILE = Kind({"type": "string", "format": "path", "examples": list(PROFILES)}, _profile)


@dataclass(frozen=True, kw_only=True)
class ServiceSettings(Limits):
    """The settings that hold for every world of a service, from its start to its end.

    Args:
        public_urls: Where clients believe the service to be, behind a proxy: it is what they sign, and a name
            that control answers to; may come often.
        header_prefix: What the v3 headers' names begin with.
        max_body: In bytes, of what clients send.
        max_control_body: In bytes, of what is sent to /_sandbox: it carries whole worlds.
        max_connections: Past so many, clients are answered 503.
        control_token: What requests to /_sandbox must carry, as X-Sandbox-Token.
        control_open: Requests to /_sandbox need no token, whoever may reach it.
        shard: Its name among servers side by side, such as s3, with which all that it makes begins; or
            hostname, for the number at the end of the machine's.
    """

    public_urls: Annotated[Sequence[str], _each(read_url)] = ()
    header_prefix: Annotated[str, _PREFIX] = "X-SVC-"
    max_body: Annotated[int, _SOME] = 1 << 20
    max_control_body: Annotated[int, _SOME] = 64 << 20
    max_connections: Annotated[int, _SOME] | None = None
    control_token: Annotated[str, _TOKEN] | None = field(default=None, repr=False)
    control_open: Switch = False
    shard: Annotated[str, _SHARD] | None = None


@dataclass(frozen=True, kw_only=True)
class Settings(ServiceSettings):
    """The settings of one sandbox: those of its first world beside the service's. Raise ``BadSetting``.

    Args:
        fixture: A packaged fixture's name, or a file.
        now: The instant the world begins at (ISO 8601, or: real).
        frozen: Whether the clock stands still; by itself it does in Python, and runs in a server.
        seed: What codes and identifiers are drawn from.
        assume: What a silence of the contract means; may come often.
        profile: A whole set of assumptions: documented, observed, or a file that calibrate has written.
        token_headers: Where a v2.0 token is taken from: v2.token_headers, in short; may come often.
    """

    fixture: Annotated[str | Path, FIXTURE] = field(default="default", kw_only=False)
    now: Instant | None = None
    frozen: Switch | None = None
    seed: Text | None = None
    assume: Annotated[Mapping[str, object] | None, Kind({"type": "object"}, _assumed)] = None
    profile: Annotated[str | Path, PROFILE] = "documented"
    token_headers: Annotated[Sequence[str], Kind({"type": "array"}, _token_headers)] = ()

    def __post_init__(self) -> None:
        own: Any = type(self)
        known = declared(own)
        found, wrong = read(known, {one.name: getattr(self, one.name) for one in known})
        if wrong:
            raise BadSetting(complaint(wrong))
        for one in known:
            object.__setattr__(self, one.name, found.get(one.name, one.default))
        if self.control_token is not None and self.control_open:
            raise BadSetting("either a control token is wanted or the control interface is open, not both")

    @property
    def assumed(self) -> Mapping[str, object]:
        """Return every assumption that is set, by its name."""
        short = {TOKEN_HEADERS: self.token_headers} if self.token_headers else {}
        return {**(self.assume or {}), **short}

    @property
    def own_names(self) -> Sequence[str]:
        """Return the names that a server's own certificate is for."""
        return getattr(self, "tls_names", ())


@dataclass(frozen=True, kw_only=True)
class ServerSettings(Settings):
    """The settings of a server, and of the sandbox in it; raise ``BadSetting``.

    Args:
        host: The address to listen on.
        port: 0 takes any free one; the first line printed says which.
        tls: HTTPS too, on a port of its own, with a certificate that is made for it.
        tls_port: The port for HTTPS; by itself the one after --port, or any free one.
        tls_names: A name or an address that the certificate is for, beside localhost; may come often.
        tls_folder: Where its authority stays, to be trusted the next time as well; by itself it is made anew.
        certfile: A certificate (PEM) to speak TLS with: on --port, or with --tls on the port for HTTPS.
        keyfile: Its key, where that is in a file of its own.
        quiet: No line for each request.
        log: What a line for a request is: json, or text for people, without what the page looks at.
        ready_file: A file that is there while the server listens; it says in JSON where.
        watch: The fixture is loaded again whenever it has been edited.
        state_file: A file that the worlds are kept in from run to run; where it is there, they go on from it.
    """

    host: Annotated[str, _HOST] = "127.0.0.1"
    port: Annotated[int, whole(0, 65535)] = 8053
    tls: Switch | None = None
    tls_port: Annotated[int, whole(0, 65535)] | None = None
    tls_names: Annotated[Sequence[str], _each(_tls_name)] = ()
    tls_folder: Annotated[str, FILE] | None = None
    certfile: Annotated[str, FILE] | None = None
    keyfile: Annotated[str, FILE] | None = None
    quiet: Switch = False
    log: Annotated[str, choice("text", "json")] = "text"
    ready_file: Annotated[str, FILE] | None = None
    watch: Switch = False
    state_file: Annotated[str, FILE] | None = None


#: Where a server is that was told nothing else.
DEFAULT_URL = f"http://{ServerSettings.host}:{ServerSettings.port}"


def help_of(typed: type) -> Mapping[str, str]:
    """Return the line of help of each setting."""
    return {name: line for base in typed.__mro__ for name, line in documented_parameters(base).items()}


def configured(
    settings: Callable[P, S],
) -> Callable[[Callable[[M, S], None]], Callable[Concatenate[M, P], None]]:
    """Give a method the parameters of ``settings``; it is called with the ``settings`` made of them.

    Every mistake in a call, in its names too, is refused with ``BadSetting``.
    """

    def decorate(method: Callable[[M, S], None]) -> Callable[Concatenate[M, P], None]:
        taken = signature(settings)
        known = taken.parameters

        @wraps(method)
        def called(self: M, /, *args: P.args, **kwargs: P.kwargs) -> None:
            strange = [f"{one} is not known here{nearest(one, known)}" for one in kwargs if one not in known]
            if strange:
                raise BadSetting(complaint(strange))
            try:
                taken.bind(*args, **kwargs)
            except TypeError as problem:
                raise BadSetting("one argument may stand without a name: the fixture") from problem
            method(self, settings(*args, **kwargs))

        itself = Formal("self", Formal.POSITIONAL_ONLY)
        called.__signature__ = taken.replace(parameters=[itself, *known.values()])  # type: ignore[attr-defined]
        return called

    return decorate
