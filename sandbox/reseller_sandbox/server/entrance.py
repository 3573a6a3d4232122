"""The socket that connections come in by: it leaves the process some descriptors for files."""

from __future__ import annotations

import errno
import os
import socket
import sys
from typing import Any

#: How many descriptors no connection takes, and the part of all there are that this is at the most.
KEPT = 8
_PART = 5


class Entrance(socket.socket):
    """A listening socket that takes in nobody to whom one of the last descriptors would go.

    Modules are loaded, and files read and written, for those who are in. It says what the system would say
    with none left, and whoever comes then waits.
    """

    def accept(self) -> tuple[socket.socket, Any]:
        """Take in the next connection; raise OSError where too few descriptors are left."""
        free = os.dup(self.fileno())  # the lowest number there is, as the connection would get
        os.close(free)
        if free >= _first_kept():
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return super().accept()


def _first_kept() -> int:
    """Return the lowest of the descriptors that are kept."""
    if sys.platform == "win32":
        return sys.maxsize
    import resource

    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return sys.maxsize if most == resource.RLIM_INFINITY else most - min(KEPT, most // _PART)
