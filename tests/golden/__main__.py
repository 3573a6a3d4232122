"""Record the golden files anew: ``python -m tests.golden``, or some: ``python -m tests.golden v3 files``."""

import shutil
import sys

from tests.golden.transcripts import FOLDER, TRANSCRIPTS, rerun

for name in sys.argv[1:] or TRANSCRIPTS:
    with rerun(name) as folder:
        for file in (f"{name}.txt", *TRANSCRIPTS[name]):
            shutil.copy(folder / file, FOLDER)
    print(f"{name} is recorded.")
