"""Check that a profile explains the transcripts of a real service."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from reseller_sandbox.server.secrecy import secrecy_of
from reseller_sandbox.settings import profile_of
from reseller_sandbox.tools.calibrate import Calibration, calibrated, report
from reseller_sandbox.tools.calibrate.transcripts import read_transcript


def expect_explained(
    *files: str | PathLike[str], profile: str | PathLike[str] = "documented", secret_names: Sequence[str] = ()
) -> Calibration:
    """Assert that a profile explains the transcripts in ``files``.

    ``profile`` is the name of a profile, or a file. The AssertionError shows each response that differs,
    beside the sandbox's response. Values of ``secret_names`` are masked. Raise ``BadSetting`` for an unusable
    profile, and ``UnusableTranscript`` for an unusable file.
    """
    secrecy = secrecy_of(tuple(secret_names))
    base = profile_of(str(profile))
    exchanges = [exchange for file in files for exchange in read_transcript(Path(file)).exchanges]
    calibration = calibrated(exchanges, base)
    if deviations := calibration.deviations:
        texts = (line for deviation in deviations for line in report.side_by_side(deviation, secrecy))
        lines = "\n".join(texts)
        raise AssertionError(f"the profile {profile} does not explain:\n{lines}")
    return calibration
