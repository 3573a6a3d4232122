"""Whether transcripts of a real service are what a sandbox with a profile would answer."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from reseller_sandbox.settings import Settings, profile_of
from reseller_sandbox.tools.calibrate import Calibration, calibrated, report
from reseller_sandbox.tools.calibrate.transcripts import read_transcript


def expect_explained(*files: str | PathLike[str], profile: str | PathLike[str] = "documented") -> Calibration:
    """Assert that the transcripts in ``files`` are explained by a profile: one with a name, or a file.

    The AssertionError shows each answer that is not, beside the sandbox's. Raise ``BadSetting`` for a
    profile that cannot be used, and ``UnusableTranscript`` for such a file.
    """
    named = str(Settings(profile=str(profile)).profile)
    exchanges = [one for file in files for one in read_transcript(Path(file)).exchanges]
    found = calibrated(exchanges, profile_of(named))
    if found.deviations:
        told = "\n".join(line for one in found.deviations for line in report.side_by_side(one))
        raise AssertionError(f"the profile {profile} does not explain:\n{told}")
    return found
