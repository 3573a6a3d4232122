"""What v3 calls the terms and the actions of the domain."""

from __future__ import annotations

from reseller_sandbox.core.lifecycle import Action
from reseller_sandbox.core.refusals import Term, Wording

WORDING = Wording(
    {
        Term.YEARS: "years",
        Term.AGREED_PRICE: "purchaseCost",
        Term.NAMESERVERS: "nameservers",
        Term.ADDRESSES: "ips",
        Term.HOST: "hostname",
        Term.AUTH_CODE: "authCode",
        Action.LOCK_TRANSFER: "lockTransfer",
        Action.UNLOCK_TRANSFER: "unlockTransfer",
        Action.LOCK_UPDATE: "lockUpdate",
        Action.UNLOCK_UPDATE: "unlockUpdate",
        Action.SET_FLAGS: "v2.0 domain edit",
        Action.RESTORE: "restore in v2.0",
        Action.DELETE: "delete in v2.0",
        Action.CHECK_HOST: "check for a glue record in v2.0",
    },
    lacks=frozenset({Action.SET_FLAGS, Action.RESTORE, Action.DELETE, Action.CHECK_HOST}),
)
