"""Capsules: a world's past in one file."""

from __future__ import annotations

from base64 import b64decode, b64encode
from pathlib import Path

from reseller_sandbox.powers.here import here
from reseller_sandbox.powers.power import Power, look
from reseller_sandbox.powers.result import Result


class CapsuleRecord(Result, frozen=True, kw_only=True):
    """A world's past: its file in Base64, how many requests are in it, and what of the past is not."""

    hidden = ("base64",)

    world: str
    requests: int
    notes: tuple[str, ...]
    base64: str

    @property
    def content(self) -> bytes:
        """The file."""
        return b64decode(self.base64)


class Capsule(Power):
    """This world's past in one file, from which all of it can be done again."""

    @look(long=True)
    def get(self) -> CapsuleRecord:
        """Return what the world began with and all that it has been asked and told since, as one file.

        The accounts' credentials and the names' codes are in it.
        """
        from reseller_sandbox.capsule.document import to_bytes
        from reseller_sandbox.capsule.steps import RequestStep
        from reseller_sandbox.capsule.writing import recording_of

        door = here(self)
        recording = recording_of(door.worlds, door.world)
        return CapsuleRecord(
            world=door.world.name,
            requests=sum(isinstance(step, RequestStep) for step in recording.steps),
            notes=recording.head.notes,
            base64=b64encode(to_bytes(recording)).decode(),
        )

    def write(self, file: Path | str) -> CapsuleRecord:
        """Write it to a file, in place of what is there; raise OSError."""
        made = self.get()
        Path(file).write_bytes(made.content)
        return made
