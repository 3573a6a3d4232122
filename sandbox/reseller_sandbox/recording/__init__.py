"""Recordings: files from which the past of a world can be replayed.

``writing.recording_of`` makes the recording of a world. ``document`` turns it into bytes and reads them
strictly. In Python, ``sandbox.recording.get()`` returns the bytes, and ``sandbox.recording.write(path)``
writes them to a file. ``reseller_sandbox.replay`` takes the bytes or a path, repeats every step and returns
the first difference. Its result holds the sandbox in the state that the replay reached.
"""

from __future__ import annotations

from pathlib import Path
from shlex import quote


def open_command(file: str | Path) -> str:
    """Return the command that serves a recording, on a free port: the default one can be taken."""
    return f"reseller-sandbox recording open --port 0 {quote(str(file))}"
