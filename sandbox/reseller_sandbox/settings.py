"""The settings of a sandbox and of a server.

Each setting is declared once, here or in ``limits``: its name, its kind, its default and a line of help.
These follow from the declaration: the parameters of ``Sandbox``, the options of ``serve``, the environment
variables, the keys in ``pyproject.toml`` and the arguments of the pytest marker.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
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

from reseller_sandbox.registry.assumptions import PROFILES, Assumptions, public_name, read_values
from reseller_sandbox.registry.assumptions import profile as profile_called
from reseller_sandbox.registry.limits import Limits
from reseller_sandbox.registry.shards import NAME as SHARD_NAME
from reseller_sandbox.values.kinds import (
    MOST,
    Instant,
    Kind,
    Switch,
    Text,
    Within,
    choice,
    each,
    items_of,
    mapping,
    matching,
    mistakes,
    span,
    whole,
)
from reseller_sandbox.values.names import BadName, normalise_zone
from reseller_sandbox.values.parameters import declared, read
from reseller_sandbox.values.text_checks import complaint, nearest, shortened

P = ParamSpec("P")
S = TypeVar("S")
M = TypeVar("M")

#: Name of the assumption that the setting ``token_headers`` sets.
TOKEN_HEADERS = public_name("token_headers")


class BadSetting(ValueError):
    """A setting is invalid. The message has the name of the setting and the reason."""


def require_known(names: Iterable[str], known: Collection[str]) -> None:
    """Raise ``BadSetting`` if some ``names`` are not ``known``. Suggest a known name for each."""
    if unknown := [f"{name} is not known here{nearest(name, known)}" for name in names if name not in known]:
        raise BadSetting(complaint(unknown))


def _path(value: object) -> str:
    if isinstance(value, str | Path) and str(value) and "\0" not in str(value):
        return str(value)
    raise ValueError("must be a path")


def _fixture(value: object) -> str:
    from reseller_sandbox import fixture  # Import late, because YAML is slow to load.

    try:
        fixture.find(path := _path(value))
    except fixture.FixtureError as problem:
        raise ValueError(f"cannot be used: {problem}") from None
    return path


def _profile(value: object) -> str:
    if not isinstance(value, str) or value not in PROFILES:
        _profile_file(value)
    return str(value)


def _profile_file(value: object) -> Mapping[str, object]:
    """Return the assumptions in a profile file.

    The file is a fixture. All its other keys are ignored.
    """
    from reseller_sandbox import fixture

    path = Path(_path(value))
    if not os.path.isfile(path):  # ``Path.is_file`` would raise for a name that is too long.
        near = nearest(str(value), PROFILES)
        raise ValueError(f"must be {', '.join(PROFILES)} or a file, not {shortened(value)}{near}")
    try:
        return fixture.load(path).assume
    except fixture.FixtureError as problem:
        raise ValueError(f"cannot be used: {problem}") from None


def profile_of(setting: str) -> Assumptions:
    """Return the assumptions of a profile: a packaged one or a file.

    Raise ``BadSetting`` if ``setting`` is neither, or if the file cannot be used.
    """
    if setting in PROFILES:
        return profile_called(setting)
    try:
        return Assumptions().with_values(_profile_file(setting))
    except ValueError as problem:
        raise BadSetting(complaint(mistakes("profile", setting, problem))) from None


#: A host, optionally with a port. An IPv6 address is in brackets and can have a zone.
_HOST_AND_PORT = re.compile(r"[\w.:%\[\]-]+")


def read_url(value: Any) -> str:
    """Return ``value`` if it is an HTTP or HTTPS URL. Raise ValueError otherwise."""
    if "@" in str(value).partition("//")[2].partition("/")[0]:
        raise ValueError("is a URL with a user. Remove the user and the password")
    with suppress(ValueError, TypeError, AttributeError):
        parts = urlsplit(value)
        is_valid = _HOST_AND_PORT.fullmatch(parts.netloc) and parts.port != 0
        if parts.scheme in ("http", "https") and is_valid and value.isprintable():
            return str(value)
    if str(value).lower().startswith(("http://", "https://")):
        raise ValueError("must be a URL with a valid host and port")
    raise ValueError("must be a URL that begins with http:// or https://")


def _assumed(value: object) -> dict[str, object]:
    """Read assumptions by name. Nested objects, as in TOML, become names with dots."""
    if not isinstance(value, Mapping):
        raise ValueError("must be NAME=VALUE pairs")
    flat = _flat(mapping(value))
    try:
        read_values(flat)
    except Within as problem:
        # ``Within`` would name a place in the value. A message begins with the option or variable.
        raise ValueError(f"is invalid: {problem}") from None
    return flat


def _flat(values: Mapping[str, object]) -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, value in values.items():
        within = _flat(mapping(value)) if isinstance(value, Mapping) else None
        flat |= {name: value} if within is None else {f"{name}.{inner}": within[inner] for inner in within}
    return flat


def _tls_name(value: object) -> str:
    """Return a valid certificate name: a host, ``*.`` and a host, or an IP address."""
    if not isinstance(value, str):
        raise ValueError("must be a host name")
    with suppress(ValueError):
        return str(ip_address(value))
    try:
        bare = normalise_zone(value.removeprefix("*.").removesuffix("."))
    except BadName as problem:
        raise ValueError(f"cannot be {value[:80]!r}: {problem}") from None
    return f"*.{bare}" if value.startswith("*.") else bare


#: The beginning of a value of ``token_headers`` that excludes the default headers.
_ONLY = "only:"


def _token_headers(value: object) -> tuple[str, ...]:
    names = tuple(items_of(value))
    if names:
        plain = [name.removeprefix(_ONLY) if isinstance(name, str) else name for name in names]
        _assumed({TOKEN_HEADERS: plain})
    return names


def _shard(value: object) -> str:
    name = value
    if value == "hostname":
        number = re.search(r"-([0-9]{1,4})$", gethostname())
        if number is None:
            raise ValueError(
                f"is hostname, but the host name {gethostname()} does not end with a hyphen and a number"
            )
        name = f"s{number[1]}"
    if isinstance(name, str) and re.fullmatch(SHARD_NAME, name):
        return name
    raise ValueError("must be letters and a number, such as s3, or the word hostname")


_POSITIVE = whole(1, MOST)
_HOST = matching(r"[!-~]*", "an address or a name")  # An empty string means all addresses.
_PREFIX = matching(r"[A-Za-z0-9-]*", "the beginning of a header's name: letters, digits and hyphens")
_INTERFACE = matching(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", "package.module:NAME")
_TOKEN = matching(r"[!-~]+", "printable ASCII characters without spaces", is_secret=True)

#: Kinds of paths. FIXTURE and PROFILE also accept the name of a packaged fixture or profile.
FIXTURE = Kind({"type": "string", "format": "path"}, _fixture)
FILE = Kind({"type": "string", "format": "path"}, _path)
PROFILE = Kind({"type": "string", "format": "path", "examples": list(PROFILES)}, _profile)


@dataclass(frozen=True, kw_only=True)
class ServiceSettings(Limits):
    """Settings of a whole service. They hold for all its worlds and cannot change while it runs.

    Args:
        public_urls: A URL at which clients reach the server through a proxy. Clients sign this URL, and its
            host name is allowed in control requests. Can be repeated.
        header_prefix: The prefix of the headers that sign a request: X-SVC- gives X-SVC-APIKEY and
            X-SVC-SIGNATURE.
        interfaces: An additional API that the server offers, as package.module:NAME of its PublicInterface.
            Can be repeated.
        max_body: The maximum size of a request body in bytes.
        max_control_body: The maximum size in bytes of a request body to /_sandbox. Such a body can
            contain a whole world.
        max_connections: The maximum number of open connections. Further clients get the status 503.
        keep_alive: The seconds after which the server closes an idle connection.
        control_token: The token that each request to /_sandbox must send in the header X-Sandbox-Token.
        control_open: Accept requests to /_sandbox without a token, even from other machines.
        shard: The name of this server, such as s3, if several servers share the load. Its worlds and
            credentials begin with this name. The value hostname means s and the number at the end of the
            machine's host name.
    """

    public_urls: Annotated[Sequence[str], each(read_url)] = ()
    header_prefix: Annotated[str, _PREFIX] = "X-SVC-"
    interfaces: Annotated[Sequence[str], each(_INTERFACE.read)] = ()
    max_body: Annotated[int, _POSITIVE] = 1 << 20
    max_control_body: Annotated[int, _POSITIVE] = 64 << 20
    max_connections: Annotated[int, _POSITIVE] | None = None
    keep_alive: Annotated[float, span(0.001)] = 75
    control_token: Annotated[str, _TOKEN] | None = field(default=None, repr=False)
    control_open: Switch = False
    shard: Annotated[str, Kind({"type": "string"}, _shard)] | None = None


@dataclass(frozen=True, kw_only=True)
class Settings(ServiceSettings):
    """Settings of one sandbox: of its default world, and of the whole service.

    Raise ``BadSetting``.

    Args:
        fixture: The initial state: the name of a packaged fixture, or a fixture file.
        now: The start time of the world's clock (ISO 8601). The value real means the present time.
        frozen: Whether the world's clock stands still. By default, it is frozen in Python and runs in a
            server.
        seed: The seed of generated codes and identifiers. The same seed gives the same values.
        assume: An assumption about behaviour that the contract leaves open, such as
            v3.errors.http_status=always_200. Can be repeated.
        profile: The set of assumptions to begin with: documented, observed, or a file that calibrate --write
            wrote.
        token_headers: An additional header that can carry the v2.0 token, beside those of the assumption
            v2.token_headers. With only:NAME, just this header and others that are given. Can be repeated.
    """

    fixture: Annotated[str | Path, FIXTURE] = field(default="default", kw_only=False)
    now: Instant | None = None
    frozen: Switch | None = None
    seed: Text | None = None
    assume: Annotated[Mapping[str, object] | None, Kind({"type": "object"}, _assumed)] = None
    profile: Annotated[str | Path, PROFILE] = "documented"
    token_headers: Annotated[Sequence[str], Kind({"type": "array"}, _token_headers)] = ()

    def __post_init__(self) -> None:
        known = declared(type(self))
        values, mistakes = read(known, {setting.name: getattr(self, setting.name) for setting in known})
        if mistakes:
            raise BadSetting(complaint(mistakes))
        for setting in known:
            object.__setattr__(self, setting.name, values.get(setting.name, setting.default))
        if self.control_token is not None and self.control_open:
            raise BadSetting("control_token and control_open cannot be combined. Set only one of them")

    def assumed_over(self, base: Assumptions) -> Assumptions:
        """Return ``base`` with the assumptions that are set. ``token_headers`` adds to the other headers."""
        assumed = base.with_values(self.assume or {})
        names = [name.removeprefix(_ONLY) for name in self.token_headers]
        is_more = names == list(self.token_headers)
        headers: dict[str, str] = {}
        for name in (*(assumed.token_headers if is_more else ()), *names):
            headers.setdefault(name.lower(), name)
        return assumed.with_values({TOKEN_HEADERS: tuple(headers.values())}) if names else assumed


@dataclass(frozen=True, kw_only=True)
class ServerSettings(Settings):
    """The settings of a server and of its sandbox. Raise ``BadSetting``.

    Args:
        host: The address to listen on.
        port: The port to listen on. With 0, the server takes a free port and prints it in its first line.
        tls: Also serve HTTPS, on a separate port, with a certificate that the server makes.
        tls_port: The port for HTTPS. By default, the port after --port, or any free port if --port is 0.
        tls_names: A host name or IP address for the certificate, in addition to localhost. Can be repeated.
        tls_folder: The folder that keeps the certificate authority, so that clients trust later runs too. By
            default, each run makes a new authority.
        certfile: Your own TLS certificate (PEM file) for --port. If you also set --tls, it is for the HTTPS
            port.
        keyfile: The private key of the certificate, if the key is in a separate file.
        quiet: Do not print a line for each request.
        log: The format of the log lines: text or json. The text log omits requests with which the page only
            reads.
        ready_file: A file that exists while the server listens. It contains the server's URLs as JSON.
        watch: Load the fixture again each time its file is edited.
        state_file: A file that keeps the worlds between runs. If the file exists, the server starts with its
            worlds.
    """

    host: Annotated[str, _HOST] = "127.0.0.1"
    port: Annotated[int, whole(0, 65535)] = 8053
    tls: Switch | None = None
    tls_port: Annotated[int, whole(0, 65535)] | None = None
    tls_names: Annotated[Sequence[str], each(_tls_name)] = ()
    tls_folder: Annotated[str, FILE] | None = None
    certfile: Annotated[str, FILE] | None = None
    keyfile: Annotated[str, FILE] | None = None
    quiet: Switch = False
    log: Annotated[str, choice("text", "json")] = "text"
    ready_file: Annotated[str, FILE] | None = None
    watch: Switch = False
    state_file: Annotated[str, FILE] | None = None


#: The URL of a server with default settings.
DEFAULT_URL = f"http://{ServerSettings.host}:{ServerSettings.port}"


def configured(
    settings: Callable[P, S],
) -> Callable[[Callable[[M, S], None]], Callable[Concatenate[M, P], None]]:
    """Return a decorator for a method that takes the fields of ``settings`` as parameters.

    The decorated method itself gets the settings object. A call with an unknown name or an invalid value
    raises ``BadSetting``.
    """

    def decorate(method: Callable[[M, S], None]) -> Callable[Concatenate[M, P], None]:
        taken = signature(settings)
        known = taken.parameters

        @wraps(method)
        def called(self: M, /, *args: P.args, **kwargs: P.kwargs) -> None:
            require_known(kwargs, known)
            try:
                taken.bind(*args, **kwargs)
            except TypeError as problem:
                raise BadSetting("only the fixture can be a positional argument") from problem
            method(self, settings(*args, **kwargs))

        instance = Formal("self", Formal.POSITIONAL_ONLY)
        called.__signature__ = taken.replace(parameters=[instance, *known.values()])  # type: ignore[attr-defined]
        return called

    return decorate
