"""Record the golden files anew: ``python -m tests.golden``, or some: ``python -m tests.golden v3 files``.

``python -m tests.golden --check`` only prints the differences, and fails if there are any.
"""

import shutil
import sys

from tests.golden.transcripts import FOLDER, TRANSCRIPTS, differences, rerun

names = [name for name in sys.argv[1:] if name != "--check"] or list(TRANSCRIPTS)
if "--check" in sys.argv:
    sys.exit("\n".join(line for name in names for line in differences(name)) or 0)
for name in names:
    with rerun(name) as folder:
        for file in (f"{name}.txt", *TRANSCRIPTS[name]):
            shutil.copy(folder / file, FOLDER)
    print(f"{name} is recorded.")
