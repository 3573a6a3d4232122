"""Record the golden files anew where their texts differ: ``python -m tests.golden``.

``python -m tests.golden v3 files`` records these transcripts with all that they write, durations as well.
``python -m tests.golden --check`` only prints the differences, and fails if there are any.
"""

import shutil
import sys

from tests.golden.transcripts import FOLDER, TRANSCRIPTS, differences, rerun

named = [name for name in sys.argv[1:] if name != "--check"]
names = named or list(TRANSCRIPTS)
if "--check" in sys.argv:
    sys.exit("\n".join(line for name in names for line in differences(name)) or 0)
for name in names:
    with rerun(name) as folder:
        if named or differences(name, folder):
            for file in (f"{name}.txt", *TRANSCRIPTS[name]):
                shutil.copy(folder / file, FOLDER)
            print(f"{name} is recorded.")
