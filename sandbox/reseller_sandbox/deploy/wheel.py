"""The wheel that a file installs, given by a path or by an address."""

from __future__ import annotations

import hashlib
import re
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from msgspec import Struct

NAME = "reseller-sandbox"

_HASH = re.compile(r"sha256=([0-9a-f]{64})")
#: What may stand in the files as it is, whether a shell, YAML or Docker reads it.
_PLAIN = re.compile(r"[\w./:@+~%=?&-]+")


class BadWheel(ValueError):
    """What is given is no wheel of this version; the message says why."""


class Wheel(Struct, frozen=True):
    """Where a wheel is, and the SHA-256 of its bytes where that is known."""

    place: str
    sha256: str = ""

    @property
    def remote(self) -> bool:
        """Whether it is downloaded."""
        return "://" in self.place

    @property
    def wanted(self) -> str:
        """What pip is told, without a shell's quotes."""
        if not self.remote:
            return f"./{self.place}"
        return f"{NAME} @ {self.place}" + (f"#sha256={self.sha256}" if self.sha256 else "")


def own_version() -> str:
    """Return the version of this package."""
    return version(NAME)


def own_name() -> str:
    """Return the file name of this version's wheel."""
    return f"{NAME.replace('-', '_')}-{own_version()}-py3-none-any.whl"


def wheel_at(given: str | None) -> Wheel:
    """Return the wheel at a path from here downwards, or at an address; raise ``BadWheel``.

    Without one it is the wheel of this version, which is to lie beside the file.
    """
    if given is None:
        here = Path(own_name())
        return Wheel(str(here), _hash_of(here) if here.is_file() else "")
    if not _PLAIN.fullmatch(given.partition("#")[0]):
        raise BadWheel(f"{given!r}: must be of letters, digits and . / _ -, so that it can stand in a file")
    if "://" in given:
        return _remote(given)
    path = PurePosixPath(given.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        raise BadWheel(
            f"{given}: must be a path below this folder, which is the one that files are taken from"
        )
    _require_own(path.name, given)
    try:
        return Wheel(str(path), _hash_of(Path(path)))
    except OSError as problem:
        raise BadWheel(f"{given}: {problem.strerror}") from None


def _remote(given: str) -> Wheel:
    address, _, fragment = given.partition("#")
    parts = urlsplit(address)
    if parts.scheme != "https" or not parts.hostname:
        raise BadWheel(f"{given}: must be an address that begins with https://")
    if parts.username is not None or parts.password is not None:
        raise BadWheel("the address of the wheel has a password in it, which would stand in the file")
    _require_own(parts.path.rpartition("/")[2], given)
    found = _HASH.fullmatch(fragment)
    if found is None:
        raise BadWheel(f"{address}: must end with #sha256= and the hash of the wheel")
    return Wheel(address, found[1])


def _require_own(name: str, given: str) -> None:
    if name != own_name():
        raise BadWheel(f"{given}: the wheel of this version is named {own_name()}")


def _hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
