"""What a holder may ask for a name."""

from __future__ import annotations

from enum import StrEnum


class Action(StrEnum):
    """What a holder may ask for a name; the value reads on after "where"."""

    RENEW = "renewal"
    RESTORE = "restore"
    DELETE = "delete"
    HOLD = "lock"
    RELEASE_HOLD = "unlock"
    LOCK_TRANSFER = "locking against transfer"
    UNLOCK_TRANSFER = "unlocking for transfer"
    LOCK_UPDATE = "locking against updates"
    UNLOCK_UPDATE = "unlocking for updates"
    SET_AUTORENEW = "switching auto-renewal"
    SET_FLAGS = "setting a status"
    SET_NAMESERVERS = "changing name servers"
    SET_CONTACTS = "changing contacts"
    CHANGE_HOSTS = "changing glue records"
    CHECK_HOST = "checking for a glue record"
    READ_HOSTS = "reading glue records"
    SET_AUTH_CODE = "setting the code"
    READ_AUTH_CODE = "reading the code"
    TRANSFER_OUT = "transfer to another registrar"
    APPROVE_TRANSFER = "approving a transfer"
    REJECT_TRANSFER = "rejecting a transfer"
    CANCEL_TRANSFER = "cancelling a transfer"

    @property
    def key(self) -> str:
        """What fixtures call it."""
        return self.name.lower()


#: The actions that change nothing.
LOOKS = frozenset({Action.CHECK_HOST, Action.READ_HOSTS, Action.READ_AUTH_CODE})
