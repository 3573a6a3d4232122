"""All kinds of faults: the subclasses of ``FaultKind`` in the modules of this package."""

from collections.abc import Mapping

from reseller_sandbox.faults.kind import FaultKind
from reseller_sandbox.faults.kinds import answers, connection, replays, timing

_MODULES = (answers, timing, connection, replays)

#: Every kind of fault, by name.
KINDS: Mapping[str, type[FaultKind]] = {
    kind.name: kind
    for module in _MODULES
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, FaultKind) and kind is not FaultKind
}
