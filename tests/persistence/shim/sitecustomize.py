"""Records how a Python program makes its files durable: what it opens, synchronises and renames, in order.

Python imports this by its name at the start, where its folder is in ``PYTHONPATH``. Each event is a JSON line
in ``$RECORDED_EVENTS``. The content of a file is what it has then, in hexadecimal.
"""

import builtins
import io
import json
import os
from typing import Any

EVENTS = os.open(os.environ["RECORDED_EVENTS"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
_open, _fsync, _replace, _rename, _io_open = os.open, os.fsync, os.replace, os.rename, io.open


def record(event: str, path: Any, **more: Any) -> None:
    """Write an event about a file."""
    row = {"event": event, "path": os.path.abspath(os.fsdecode(path)), **more}
    os.write(EVENTS, json.dumps(row).encode() + b"\n")


def content(path: Any) -> str:
    """Return what a file has."""
    with _io_open(path, "rb") as file:
        return file.read().hex()


def recording_open(path: Any, flags: int, *args: Any, **named: Any) -> int:
    """Open a file. Record it when that may change the file."""
    opened = _open(path, flags, *args, **named)
    if flags & (os.O_WRONLY | os.O_RDWR):
        record("open", path, inode=os.fstat(opened).st_ino, truncated=bool(flags & (os.O_TRUNC | os.O_EXCL)))
    return opened


def recording_io_open(file: Any, mode: str = "r", *args: Any, **named: Any) -> Any:
    """Open a file object. Record it when that may change the file."""
    opened = _io_open(file, mode, *args, **named)
    if not isinstance(file, int) and set(mode) & set("wax+"):
        record("open", file, inode=os.fstat(opened.fileno()).st_ino, truncated="w" in mode)
    return opened


def recording_fsync(descriptor: Any) -> None:
    """Synchronise a file or a folder."""
    number = descriptor if isinstance(descriptor, int) else descriptor.fileno()
    path = os.readlink(f"/proc/self/fd/{number}")
    _fsync(descriptor)
    is_folder = os.path.isdir(path)
    record("fsync", path, inode=os.fstat(number).st_ino, content=None if is_folder else content(path))


def recording_rename(source: Any, target: Any, **named: Any) -> None:
    """Give a file another name."""
    held, inode = content(source), os.stat(source).st_ino
    _replace(source, target, **named)
    record("rename", target, source=os.path.abspath(os.fsdecode(source)), inode=inode, content=held)


RECORDING: list[tuple[Any, str, Any]] = [
    (os, "open", recording_open),
    (os, "fsync", recording_fsync),
    (os, "replace", recording_rename),
    (os, "rename", recording_rename),
    (io, "open", recording_io_open),
    (builtins, "open", recording_io_open),
]
for module, name, function in RECORDING:
    setattr(module, name, function)
