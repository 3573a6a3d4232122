"""The worlds of a server in a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from reseller_sandbox.keeping import file
from reseller_sandbox.keeping.codec import Reader, Writer
from reseller_sandbox.keeping.file import BadFile, Put
from reseller_sandbox.keeping.kinds import Sorts
from reseller_sandbox.keeping.states import States
from reseller_sandbox.server.collector import without_collections
from reseller_sandbox.worlds.kept import KeptWorlds

#: The version of the format: another one where a file means something else than it did.
VERSION = 3

_SHAPE = "shape"


def save(path: Path, kept: KeptWorlds, put_in_place: Callable[[Path, Path], object]) -> None:
    """Write worlds into a file, in place of what was there once all is written; raise OSError."""
    file.write(path, VERSION, lambda put: _write(put, kept), put_in_place)


def _write(put: Put, kept: KeptWorlds) -> None:
    kinds = Sorts()
    put([_SHAPE, kinds.shape], b"")
    writer = Writer(put, kinds)
    states = States(writer)
    for world in kept.worlds:
        states.take(world)
    writer.number(kept)


def opened(path: Path) -> KeptWorlds:
    """Return the worlds in a file; raise ``BadFile``, and OSError."""
    kinds = Sorts()
    blocks = file.read(path, VERSION)
    told = next(blocks, None)
    if told is None or told.head[0] != _SHAPE:
        raise BadFile(f"{path}: it does not say what its records look like")
    _require_shape(path, kinds.shape, told.head[1:])
    reader = Reader(kinds.values())
    with without_collections():
        for block in blocks:
            try:
                reader.take(block)
            except BadFile as problem:
                raise BadFile(f"{path}: {problem}") from None
    found = reader.objects[-1] if reader.objects else None
    if not isinstance(found, KeptWorlds):
        raise BadFile(f"{path}: it holds no worlds")
    return found


def _require_shape(path: Path, ours: Sequence[str], theirs: Any) -> None:
    if theirs == [ours]:
        return
    other = theirs[0] if theirs and isinstance(theirs[0], list) else []
    differ = [one for one in [*ours, *other] if (one in ours) is not (one in other)]
    named = str(differ[0]).partition("(")[0] if differ else "a record"
    raise BadFile(f"{path}: another version of this program wrote it, whose {named} has other fields")
