"""Mutation testing: small changes are made to the source, one at a time, and the tests have to notice each.

``make mutants`` runs it on a sample. It is not part of the tests and takes hours for a whole package. What it
needs is installed in a folder of its own, which stands after everything else on the path.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / ".venv" / "mutants"))
